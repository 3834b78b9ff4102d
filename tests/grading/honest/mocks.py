from unittest import mock

def f():
    with mock.patch('time.time', return_value=1):
        import time
        return time.time()
