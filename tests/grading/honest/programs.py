import subprocess, sys

def f():
    return int(subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True, text=True).stdout)
