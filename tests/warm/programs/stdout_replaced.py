# stdout is something else at the end.
import io
import sys


class Shouting(io.TextIOBase):
    def write(self, text):
        return sys.__stdout__.write(text.upper())

    def flush(self):
        sys.__stdout__.write("[flush]")


sys.stdout = Shouting()
sys.stderr = Shouting()
print("quiet")
raise ValueError("an error in capitals")
