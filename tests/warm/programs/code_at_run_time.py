# compile, exec, eval, and the interactive interpreter.
import ast
import code
import codeop
import dis
import io
import sys

exec("def f(x):\n    return x + 1\n")
print(f(1), eval("[i for i in range(3)]"), compile("a b", "x", "exec", ast.PyCF_ONLY_AST) if 0 else "")
dis.dis(f)
print(ast.dump(ast.parse("x: int = 1")))
sys.stdin = io.StringIO("a = 1\nprint(a)\n1/0\nimport json\njson.nothing\n")
code.interact(banner="hello", exitmsg="bye", local={})
print(hasattr(sys, "ps1"), codeop.compile_command("if 1:"))
print(type(exit), exit, help, copyright)
exec(compile("raise ValueError(1)", "made up.py", "exec"))
