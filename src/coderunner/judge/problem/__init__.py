"""Problems: what they are, how they are read, and how submissions are judged by them.

model.py                                  a problem, whatever it was read from
reading.py                                from a path to a problem
  icpc/ plain.py one_file.py              ICPC's and Kattis's packages; a folder of tests; a file
  submissions.py submission_rules.py      what is handed in, and what should become of it
  expectations.py sources.py              folders and comments that say so; files to a program
  folder.py document.py                   files, YAML and JSON, read with care
judging.py timing.py report.py            submissions judged; the time limit; what came out
selection.py author.py                    a part of a problem; a part of a report
"""
