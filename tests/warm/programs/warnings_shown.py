# Which warnings are shown, and how.
import sys
import warnings

warnings.warn("to the user")
warnings.warn("to the user")
warnings.warn("old", DeprecationWarning)
warnings.warn("leak", ResourceWarning)
with open("library.py", "w") as file:
    file.write("import warnings\ndef f():\n    warnings.warn('hidden', DeprecationWarning)\nf()\n")
import library

print(f"{__warningregistry__.keys()}")
exec("x = 1 is 1")
exec(r"y = '\d'")
open("/dev/null")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    open("/dev/null")
    library.f()
print([(w.category.__name__, str(w.message)[:20], w.lineno) for w in caught])
warnings.simplefilter("error")
warnings.warn("now an error")
