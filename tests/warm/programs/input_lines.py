# input(), with and without a prompt, to the end of the input.
import sys

print(repr(input()))
print(repr(input("prompt> ")))
print(repr(sys.stdin.readline()))
print([line for line in zip(sys.stdin, range(2))])
print(repr(sys.stdin.read(3)))
print(sys.stdin.readlines())
print(repr(sys.stdin.read()), repr(sys.stdin.readline()))
input("more? ")
