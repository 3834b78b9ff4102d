# What is printed of an uncaught error, and the exit code.
import json


def parse(text):
    return json.loads(text)


parse("{'a': 1}")
