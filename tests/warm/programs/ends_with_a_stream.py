# A stream that imports something when it is flushed finds the library as it was.
import json
import os
import sys


class Stream:
    def flush(self):
        import json as found

        os.write(1, b"flushed\n" if found is json else b"flushed by another\n")


sys.stdout = Stream()
