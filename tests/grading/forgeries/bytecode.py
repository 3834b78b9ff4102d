"""Code that no compiler would make."""
import marshal

def add(a, b):
    code = (lambda: 1).__code__
    return eval(marshal.loads(marshal.dumps(code.replace(co_consts=(None, -1)))))
