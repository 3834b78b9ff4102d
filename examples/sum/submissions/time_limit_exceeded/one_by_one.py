input()
total = 0
for number in map(int, input().split()):
    step = 1 if number > 0 else -1
    for _ in range(abs(number)):
        total += step
print(total)
