import threading
from concurrent.futures import ThreadPoolExecutor

def f():
    t = threading.Thread(target=print)
    t.start()
    t.join()
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(int, '100'))
