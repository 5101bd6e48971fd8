"""Patterns on texts, by RE2: linear in the text, whoever wrote the pattern. The only file of the language that knows the library.

Invariants: the library is loaded at the first pattern; at most `COMPILED_MAX` compiled patterns are kept.
"""

from functools import lru_cache
from typing import Any, Final

COMPILED_MAX: Final = 256
PATTERN_MEMORY_MAX: Final = 1024 * 1024
"""Bytes that one compiled pattern may take, its automaton included."""


def fault_of(pattern: str) -> str | None:
    """Say what is wrong with a pattern, or None when it is sound."""
    try:
        _compiled(pattern)
    except _error() as error:
        return _said(error)
    return None


def matches(pattern: str, text: str) -> bool:
    """Tell whether a sound pattern is found anywhere in a text."""
    return _compiled(pattern).search(text.encode("utf-8", "surrogatepass")) is not None


@lru_cache(COMPILED_MAX)
def _compiled(pattern: str) -> Any:
    import re2  # noqa: PLC0415  # most sources hold no pattern

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = PATTERN_MEMORY_MAX
    return re2.compile(pattern.encode("utf-8", "surrogatepass"), options)


def _error() -> type[Exception]:
    import re2  # noqa: PLC0415  # as above

    error: type[Exception] = re2.error
    return error


def _said(error: Exception) -> str:
    said = error.args[0] if error.args else "not a pattern"
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
