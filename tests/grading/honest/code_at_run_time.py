exec('def g(): return 1')

def f():
    return eval('g()') * eval(compile('1', '<mine>', 'eval'))
