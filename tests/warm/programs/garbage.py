# Garbage collection collects the program's own.
import gc
import weakref


class Node:
    pass


a = Node()
a.self = a
gone = []
reference = weakref.ref(a, gone.append)
del a
print(gc.collect() > 0, len(gone), gc.garbage, gc.isenabled())
mine = [Node() for _ in range(10)]
print(sum(isinstance(thing, Node) for thing in gc.get_objects()), len(gc.get_referrers(mine[0])))
holder = {"x": mine}
print(holder in gc.get_referrers(mine), gc.is_tracked(mine), gc.get_referents(holder))
