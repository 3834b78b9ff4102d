# multiprocessing by fork: pools, queues, shared values.
import multiprocessing
import os


def square(n):
    return n * n


def put(queue):
    queue.put(multiprocessing.current_process().name)


if __name__ == "__main__":
    print(multiprocessing.get_start_method(), multiprocessing.get_all_start_methods())
    print(multiprocessing.current_process(), multiprocessing.parent_process())
    print(multiprocessing.current_process().pid == os.getpid())
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        print(pool.map(square, range(5)))
    queue = context.SimpleQueue()
    process = context.Process(target=put, args=(queue,))
    process.start()
    print(queue.get())
    process.join()
    print(process.exitcode, len(multiprocessing.current_process().authkey))
