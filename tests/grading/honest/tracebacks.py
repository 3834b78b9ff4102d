import traceback, sys

def f():
    try:
        1 / 0
    except ZeroDivisionError:
        traceback.print_exc()
        traceback.format_exc()
        traceback.format_tb(sys.exc_info()[2])
    return 1
