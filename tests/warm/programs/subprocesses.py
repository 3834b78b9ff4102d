# Another interpreter, started by the program: cold, but otherwise the same.
import os
import subprocess
import sys

LOOK = "import sys, os; print(sys.argv, sys.path, sys.flags, sorted(os.environ), list(sys.modules))"
print(subprocess.run([sys.executable, "-c", LOOK, "x"], capture_output=True, text=True))
print(subprocess.run([sys.executable, "-m", "json.tool"], input="[1]", capture_output=True, text=True))
print(subprocess._args_from_interpreter_flags())
print(subprocess.run("echo $0 $PWD; env | sort", shell=True, capture_output=True, text=True).stdout)
print(os.system("exit 3"), os.popen("echo popen").read())
