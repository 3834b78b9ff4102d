# Files that only the interpreter itself holds on to, until it takes itself apart: still written.
import builtins
import codecs
import contextvars
import os
import sys
import threading

HOLDERS = {
    "a context": lambda file: contextvars.ContextVar("kept").set(file),
    "a hook of forks": lambda file: os.register_at_fork(before=file.name.upper, after_in_child=file.tell),
    "a codec": lambda file: codecs.register(lambda name: file and None),
    "a handler of errors": lambda file: codecs.register_error("kept", lambda error: file),
    "a local of the thread": lambda file: setattr(threading.local(), "kept", file),
    "a profiler": lambda file: sys.setprofile(lambda *args: file and None),
    "a tracer": lambda file: sys.settrace(lambda *args: file and None),
    "an audit hook": lambda file: sys.addaudithook(lambda *args: file and None),
    "a generator's hook": lambda file: sys.set_asyncgen_hooks(lambda generator: file),
    "builtins": lambda file: setattr(builtins, "kept", file),
}
for number, (name, hold) in enumerate(HOLDERS.items()):
    pid = os.fork()
    if pid == 0:
        file = open(f"{number}.txt", "w")
        file.write("written")
        hold(file)
        del file, hold
        sys.exit(number)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(name, code, repr(open(f"{number}.txt").read()), flush=True)
