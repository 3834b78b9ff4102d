def f():
    try:
        input()
    except EOFError:
        return 1
