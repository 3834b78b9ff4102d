# Modules that are not there, and names that are not in them.
import sys
import traceback

for statement in (
    "import nothing_of_this_name",
    "import json.nothing",
    "from json import nothing",
    "from collections import Mapping",
    "from . import x",
    "import os.path.nothing",
    "import xml.etree.nothing",
    "from typing import Typo",
):
    try:
        exec(statement)
    except ImportError as error:
        traceback.print_exc(file=sys.stdout)
        print(repr(error), error.name, error.path)
import random_misspelled
