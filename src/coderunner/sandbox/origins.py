"""Where the things that code speaks of come from: `sp.run` is `subprocess.run`, if there is an
`import subprocess as sp`.

Told by dotted names, and without a thought for scopes: a name is all that it is anywhere.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable

from coderunner.sandbox.texts import Texts

IMPORTERS = frozenset({"__import__", "import_module", "_gcd_import"})
EVALUATORS = frozenset({"builtins.exec", "builtins.eval", "builtins.compile"})
_BUILTINS = ("exec", "eval", "compile", "getattr", "vars", "globals", "__import__")
_GIVEN = {
    **{name: frozenset({f"builtins.{name}"}) for name in _BUILTINS},
    "__builtins__": frozenset({"builtins"}),
    "__loader__": frozenset({"importlib.loader"}),
    "__spec__": frozenset({"importlib.spec"}),
}
_NOTHING: frozenset[str] = frozenset()
_MOST_LENGTH = 200
_MOST_ORIGINS = 16  # of one name, or reading takes for ever
_MOST_ROUNDS = 4  # of names that are given to names


class Origins:
    def __init__(self, nodes: Collection[ast.AST]) -> None:
        self.texts = Texts(_values(nodes))
        self._names: dict[str, frozenset[str]] = dict(_GIVEN)
        self._known: dict[int, frozenset[str]] = {}
        self._bound = set(_stored(nodes))
        for node in nodes:
            self._imported(node)
        self._given_to_names([n for n in nodes if isinstance(n, (ast.Assign, ast.NamedExpr))])

    def of(self, node: ast.expr) -> frozenset[str]:
        """Dotted names; none of what comes from no module."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id, _NOTHING)
        if id(node) not in self._known:
            self._known[id(node)] = _NOTHING
            self._known[id(node)] = self._found(node)
        return self._known[id(node)]

    def imports_by(self, call: ast.Call) -> bool:
        """Whether it is a call of an importer."""
        return any(is_importer(origin) for origin in self.of(call.func))

    def _imported(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for name in node.names:
                top = name.name.partition(".")[0]
                self._add(name.asname or top, name.name if name.asname else top)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            for name in node.names:
                if name.name != "*":
                    self._add(name.asname or name.name, f"{node.module}.{name.name}")
                elif node.module == "importlib":
                    self._add("import_module", "importlib.import_module")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._bound.add(node.name)
        elif isinstance(node, ast.arg):
            self._bound.add(node.arg)

    def _add(self, name: str, origin: str) -> None:
        self._bound.add(name)
        self._may_be(name, frozenset({origin}))

    def _may_be(self, name: str, origins: frozenset[str]) -> None:
        known = self._names.get(name, _NOTHING)
        if origins and len(known) < _MOST_ORIGINS:
            self._names[name] = frozenset([*known, *sorted(origins - known)][:_MOST_ORIGINS])

    def is_bound(self, name: str) -> bool:
        """Whether the code itself gives this name to something."""
        return name in self._bound

    def _given_to_names(self, given: list[ast.Assign | ast.NamedExpr]) -> None:
        for _ in range(_MOST_ROUNDS):
            before = dict(self._names)
            self._known.clear()
            for node in given:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for name in (target.id for target in targets if isinstance(target, ast.Name)):
                    self._may_be(name, self.of(node.value))
            if self._names == before:
                return

    def _found(self, node: ast.expr) -> frozenset[str]:
        if isinstance(node, ast.NamedExpr):
            return self.of(node.value)
        if isinstance(node, ast.IfExp):
            return self.of(node.body) | self.of(node.orelse)
        if isinstance(node, ast.Attribute):
            return self._attribute(node.value, node.attr)
        if isinstance(node, ast.Subscript):
            return self._item(node)
        return self._called(node) if isinstance(node, ast.Call) else _NOTHING

    def _attribute(self, base: ast.expr, name: str) -> frozenset[str]:
        if name == "__builtins__":
            return frozenset({"builtins"})
        if name == "__import__":
            return frozenset({"builtins.__import__"})
        return frozenset(f"{origin[:_MOST_LENGTH]}.{name}" for origin in self.of(base))

    def _item(self, node: ast.Subscript) -> frozenset[str]:
        """`vars(module)["name"]` and its like are `module.name`."""
        key = self.texts.of(node.slice)
        if not isinstance(key, str):
            return _NOTHING
        bases = self.of(node.value)
        if key == "__builtins__":
            return frozenset({"builtins"})
        if "builtins.globals()" in bases:
            return self._names.get(key, _NOTHING)
        if "sys.modules" in bases:
            return frozenset({key.partition(".")[0]})
        through = {base[: -len(".__dict__")] for base in bases if base.endswith(".__dict__")}
        return frozenset(f"{base}.{key}" for base in through | (bases & {"builtins"}))

    def _called(self, node: ast.Call) -> frozenset[str]:
        called = self.of(node.func)
        if not called or not node.args:
            return frozenset({"builtins.globals()"}) if "builtins.globals" in called else _NOTHING
        if "builtins.vars" in called:
            return frozenset(f"{origin}.__dict__" for origin in self.of(node.args[0]))
        if "builtins.getattr" in called and len(node.args) > 1:
            name = self.texts.of(node.args[1])
            return self._attribute(node.args[0], name) if isinstance(name, str) else _NOTHING
        if any(is_importer(origin) for origin in called):
            name = self.texts.of(node.args[0])
            return frozenset({name}) if isinstance(name, str) else _NOTHING
        return _NOTHING


def is_importer(origin: str) -> bool:
    """Python's own: anybody may have a function of such a name."""
    *where, name = origin.split(".")
    return name in IMPORTERS and not {"importlib", "builtins"}.isdisjoint(where)


def _stored(nodes: Iterable[ast.AST]) -> list[str]:
    names = [node for node in nodes if isinstance(node, ast.Name)]
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


def _values(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """What names stand for that are given a value once, and by nothing but an assignment."""
    stored = Counter(_stored(nodes))
    taken = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {
        target.id: node.value
        for node in nodes
        if isinstance(node, (ast.Assign, ast.NamedExpr))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and stored[target.id] == 1 and target.id not in taken
    }
