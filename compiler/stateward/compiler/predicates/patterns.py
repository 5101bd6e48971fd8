"""Patterns on texts, by RE2: linear in the text, whoever wrote the pattern. The only file of the language that knows the library.

Invariants: the library is loaded at the first pattern; at most `COMPILED_MAX` compiled patterns are kept. What a pattern costs is known
from its text and that of the searched one, not from what happens to be kept.
"""

from functools import lru_cache
from typing import Any, Final

COMPILED_MAX: Final = 64
PATTERN_MEMORY_MAX: Final = 1024 * 1024
"""Bytes that one compiled pattern may take, its automaton included."""
REFUSED_STEPS: Final = 4_000
"""Steps that a pattern costs that is refused, beyond one for each character: it may have been refused for its size."""
SEARCHED_PER_STEP: Final = 256
"""Instructions that may look at a character for the price of one step."""
INSTRUCTIONS_LEAST: Final = 32
"""A search costs as much as if the pattern had so many more instructions: its states are made while it searches."""


class PatternCosts:
    """What the patterns of one evaluation cost, in steps."""

    def __init__(self) -> None:
        self._lately: dict[str, None] = {}
        """The patterns used last, the latest at the end."""

    def making(self, pattern: str) -> int:
        """Give what it costs to have a pattern ready, a step for each instruction: nothing when it was used lately."""
        known = pattern in self._lately
        self._lately.pop(pattern, None)
        self._lately[pattern] = None
        if known:
            return 0
        if len(self._lately) > COMPILED_MAX:
            del self._lately[next(iter(self._lately))]
        if fault_of(pattern) is not None:
            return REFUSED_STEPS + len(pattern)
        return _instructions(pattern)

    def searching(self, pattern: str, characters: int) -> int:
        """Give what it costs to search a text of so many characters for a sound pattern."""
        return self.making(pattern) + characters * (_instructions(pattern) + INSTRUCTIONS_LEAST) // SEARCHED_PER_STEP


def _instructions(pattern: str) -> int:
    size: int = _compiled(pattern).programsize
    return size


def fault_of(pattern: str) -> str | None:
    """Say what is wrong with a pattern, or None when it is sound."""
    made = _made(pattern)
    return made if isinstance(made, str) else None


def matches(pattern: str, text: str) -> bool:
    """Tell whether a sound pattern is found anywhere in a text."""
    return _compiled(pattern).search(text.encode("utf-8", "surrogatepass")) is not None


def _compiled(pattern: str) -> Any:
    made = _made(pattern)
    assert not isinstance(made, str), "only sound patterns are searched for"
    return made


@lru_cache(COMPILED_MAX)
def _made(pattern: str) -> Any:
    """Compile a pattern, or say why it cannot be read."""
    import re2  # noqa: PLC0415  # most sources hold no pattern

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = PATTERN_MEMORY_MAX
    try:
        return re2.compile(pattern.encode("utf-8", "surrogatepass"), options)
    except re2.error as error:
        return _said(error)


def _said(error: Exception) -> str:
    said = error.args[0] if error.args else "not a pattern"
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
