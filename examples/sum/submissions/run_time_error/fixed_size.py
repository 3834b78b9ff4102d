count = int(input())
numbers = [0] * 100
for place, number in enumerate(map(int, input().split())):
    numbers[place] = number
print(sum(numbers))
