"""The languages by name, as a request says them."""

from __future__ import annotations

import functools
from enum import Enum

from coderunner.errors import UnknownLanguage
from coderunner.language import Languages
from coderunner.settings import Settings


class Language(Enum):
    """The built-in ones. `Language("c++")` finds one by an alias, and `Language("zig")` one that
    you have added yourself: they all come from the registry."""

    BASH = "bash"
    C = "c"
    CPP = "cpp"
    GO = "go"
    JAVA = "java"
    JAVASCRIPT = "javascript"
    LUA = "lua"
    PERL = "perl"
    PHP = "php"
    PYTHON = "python"
    PYTHON3 = "python3"  # the same language by another name
    RUBY = "ruby"
    RUST = "rust"
    TYPESCRIPT = "typescript"

    @classmethod
    def _missing_(cls, value: object) -> Language | None:
        """Asked for a value that is none of the above."""
        if not isinstance(value, str):
            return None
        try:
            name = registry().get(value).name
        except UnknownLanguage:
            return None
        known = cls._value2member_map_.get(name)
        return known if isinstance(known, Language) else _added(name)

    def __reduce_ex__(self, protocol: object) -> tuple[type[Language], tuple[str]]:
        """Pickled by value: one that was added has no place in the class to be found at."""
        return Language, (self.value,)


@functools.cache
def _added(name: str) -> Language:
    """A language that the user has added. Always the same object, as members of an enum are."""
    member = object.__new__(Language)
    member._name_ = name.upper().replace("-", "_").replace("+", "P")
    member._value_ = name
    return member


@functools.cache
def registry() -> Languages:
    """All languages that this process knows."""
    return Settings().languages()
