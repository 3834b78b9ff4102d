# What is printed of an error in a thread, and the exit code after it.
import threading


def work():
    raise ValueError("in a thread")


for number in range(2):
    thread = threading.Thread(target=work, name=f"worker {number}")
    thread.start()
    thread.join()
thread = threading.Thread(target=lambda: exit(3))
thread.start()
thread.join()
