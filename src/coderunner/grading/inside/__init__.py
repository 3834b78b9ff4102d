"""What runs in the box beside the code that is graded: standard library only, Python 3.8 and newer.

    main.py          loads the code, then asks for the tests, then runs them
    pristine.py      what the code has changed of others is put back before tests run
    asserts.py       asserts that say what they have compared
    with_unittest.py with_pytest.py   tests that are made for these

It shares a process with code that may want to forge its grade. So it uses nothing that such code
can have replaced: built-in functions that were taken before, no `json`, no `traceback`.
"""
