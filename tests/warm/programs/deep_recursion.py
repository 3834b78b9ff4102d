# Down to where contest solutions go: the stack is as large as the limit says.
import sys
import threading

sys.setrecursionlimit(60_000)


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


print(depth(50_000))
threading.stack_size(32 << 20)
thread = threading.Thread(target=lambda: print(depth(30_000)))
thread.start()
thread.join()


class Node:
    def __init__(self, child):
        self.child = child

    def __repr__(self):
        return f"<{self.child!r}>"


node = None
for _ in range(5000):
    node = Node(node)
print(len(repr(node)))
