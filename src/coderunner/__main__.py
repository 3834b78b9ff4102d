"""`python -m coderunner` is the same as `coderunner`."""

from coderunner.cli import main

if __name__ == "__main__":
    main()
