# "Did you mean": names, attributes, forgotten imports.
import json
import sys
import traceback


def attempt(code):
    try:
        exec(code, {"json": json, "number": 1})
    except Exception:
        traceback.print_exc(file=sys.stdout)


attempt("numbr")
attempt("json.loadz")
attempt("import json; json.dmps(1)")
attempt("math.sqrt(2)")
attempt("sys.path")
attempt("from json import dmps")
collections.Counter()
