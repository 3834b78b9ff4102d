import contextlib, io

def f():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        print('x')
    return len(out.getvalue()) - 1
