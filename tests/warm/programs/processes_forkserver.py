# multiprocessing by a server of its own, and a pool of concurrent.futures.
import concurrent.futures
import multiprocessing


def square(n):
    return n * n


if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        print(list(pool.map(square, range(3))))
