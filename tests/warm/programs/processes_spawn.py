# multiprocessing by spawn: the child starts cold, and imports this file under another name.
import multiprocessing
import sys


def look(pipe):
    pipe.send((__name__, sys.argv, sys.path, sorted(sys.modules) == sorted(set(sys.modules))))


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=look, args=(theirs,))
    process.start()
    print(ours.recv())
    process.join()
    print(process.exitcode)
