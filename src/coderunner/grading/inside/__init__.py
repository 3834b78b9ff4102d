"""What runs in the box beside the code that is graded: standard library only, Python 3.8 and newer.

    main.py          loads the code, then runs the tests
    served.py        instead of it: the code alone, where the tests are in another box
    channel.py       how both speak with us
    loading.py       the code as a module
    remote.py        the same, where it is in another box
    plain.py         what can go from one box to the other
    space.py         the tests' own module
    asserts.py       asserts that say what they have compared
    running.py       tests, one after the other
    with_unittest.py with_pytest.py   tests that are made for these
    verdicts.py      what came of one, in words
    pristine.py      what the code has changed of others is put back before tests run
    tripwire.py      ends code that reaches into the interpreter

It shares a process with code that may want to forge its grade. So it uses nothing that such code
can have replaced: built-in functions that were taken before, no `json`, no `traceback`.
"""
