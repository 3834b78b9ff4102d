# The interpreter waits for threads that are not daemons, and drops those that are.
import threading
import time


def patient():
    time.sleep(0.05)
    print("patient is done, main thread alive:", threading.main_thread().is_alive())


def daemon():
    time.sleep(60)
    print("never")


threading.Thread(target=daemon, daemon=True).start()
threading.Thread(target=patient).start()
print("main is done")
