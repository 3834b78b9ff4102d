"""How hard the properties are tried: a little in every test run, a lot when asked for.

HYPOTHESIS_PROFILE=long make test ARGS=tests/properties

It is the switch for other tests, too, that are worth their time now and then.
"""

from __future__ import annotations

import os

import hypothesis

LONG = os.environ.get("HYPOTHESIS_PROFILE") == "long"


def examples(count: int) -> hypothesis.settings:
    """For a test whose examples are too slow for the profile's usual number of them."""
    return hypothesis.settings(max_examples=count * 50 if LONG else count)
