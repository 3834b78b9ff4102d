# runpy, zipimport and packages of the program.
import os
import runpy
import sys
import zipfile

with zipfile.ZipFile("bundle.zip", "w") as bundle:
    bundle.writestr("packed.py", "import sys\nprint(__name__, __file__, sys.argv)\n")
    bundle.writestr("__main__.py", "print('main of the zip', __name__)\nimport packed\n")
    bundle.writestr("pack/__init__.py", "from . import inner\n")
    bundle.writestr("pack/inner.py", "x = __spec__.loader.__class__.__name__\n")
sys.path.insert(0, "bundle.zip")
import packed
import pack

print(pack.inner.x, packed.__loader__)
runpy.run_path("bundle.zip")
os.makedirs("own/deep")
open("own/__main__.py", "w").write("print(__name__, __package__, __file__)\n")
open("own/deep/thing.py", "w").write("from .. import deep\nprint(deep, __package__)\n")
sys.path.pop(0)
runpy.run_module("own", run_name="__main__", alter_sys=True)
import own.deep.thing

print(runpy.run_path("own/deep/../__main__.py")["__name__"], own)
sys.argv[:] = ["json.tool", "--help"]
runpy.run_module("json.tool", run_name="__main__")
