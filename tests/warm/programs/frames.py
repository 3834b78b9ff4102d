# No frame but the program's own, here and while a module is imported.
import inspect
import sys
import threading
import traceback

print(sys._getframe().f_back, len(inspect.stack()), sys._getframe().f_code)
traceback.print_stack()
print([(frame.filename, frame.lineno, frame.function) for frame in inspect.stack()])
with open("helper.py", "w") as file:
    file.write("import traceback, sys, json\ntraceback.print_stack(file=sys.stdout)\n")
import helper

print(threading.current_thread().name, list(sys._current_frames().values())[0].f_code)


def tracer(frame, event, arg):
    if event == "call":
        calls.append((frame.f_code.co_filename, frame.f_code.co_name))
    return None


calls = []
sys.setprofile(tracer)
def f(): pass
f()
sys.setprofile(None)
print(calls)
print(sys.gettrace(), sys.getprofile())
