# A number that does not fit.
import sys

sys.exit(300)
