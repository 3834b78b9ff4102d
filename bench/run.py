"""Entry point of `make bench`: `.venv/bin/python bench/run.py --help`."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)  # so that `bench` is a package
    from bench.main import main

    sys.exit(main(sys.argv[1:]))
