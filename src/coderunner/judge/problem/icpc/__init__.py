"""Problem packages of ICPC's and Kattis's format: https://icpc.io/problem-package-format

package.py                       a package as a whole
metadata.py time_limit.py        problem.yaml; the other places where a time limit may stand
constants.py                     {{NAME}} in programs
tests.py                         the tests below data/, and what is said of each
legacy_groups.py scored_groups.py  how they are grouped: testdata.yaml; test_group.yaml
validators.py included.py        the programs that judge; files that every submission gets
"""
