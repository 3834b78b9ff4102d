# A crash with its traceback.
import sys

import faulthandler
import ctypes
import re
faulthandler.enable()


def crash():
    ctypes.string_at(8)


lines = crash()
