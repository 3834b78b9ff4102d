"""Reads a text, prints its most frequent words."""

import re
import sys
from collections import Counter

words = re.findall(r"\w+", sys.stdin.read().lower())
for word, count in Counter(words).most_common(3):
    print(f"{count} {word}")
