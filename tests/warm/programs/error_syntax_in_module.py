# A module that does not compile.
with open("broken.py", "w") as file:
    file.write("def f(:\n    pass\n")
import broken
