# Endless recursion, with the repeated lines folded.
import sys

print(sys.getrecursionlimit())


def down(n):
    return down(n + 1)


try:
    down(0)
except RecursionError as error:
    print(error)


def depth(n=1):
    try:
        return depth(n + 1)
    except RecursionError:
        return n


print(depth())
sys.setrecursionlimit(400)
print(depth())
down(0)
