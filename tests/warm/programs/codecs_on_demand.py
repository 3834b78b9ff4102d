# A codec is a module that comes when it is asked for.
import codecs
import sys

before = list(sys.modules)
for name in ("ascii", "latin-1", "utf-16", "cp1252", "idna", "punycode", "hex", "rot13", "utf-8-sig"):
    codecs.lookup(name)
    print(name, [module for module in sys.modules if module not in before])
open("/dev/null", encoding="ascii").close()
open("/dev/null", "w", encoding="shift_jis").close()
print([module for module in sys.modules if module not in before])
print("gr\u00fc\u00df".encode("idna"), codecs.encode("abc", "rot13"))
b"x".decode("nothing")
