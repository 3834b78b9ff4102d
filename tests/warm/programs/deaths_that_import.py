# Importing when it is too late.
import sys


class Late:
    def __del__(self):
        import decimal

        print(decimal.Decimal(1))


class Later:
    def __del__(self):
        print(sys.meta_path, sys.modules is None)
        import fractions

        print(fractions.Fraction(1, 2))


late = Late()
sys.later = Later()
