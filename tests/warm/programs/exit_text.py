# A text goes to stderr, the code is 1.
import sys

print('out', end='')
sys.exit('a last word \u00fc')
