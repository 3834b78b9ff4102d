"""Says itself that it is expected to fail."""

def add(a, b):
    import pytest
    pytest.xfail("it always does")
