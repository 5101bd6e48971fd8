"""Patterns that somebody else wrote, for lines and for paths: compiled by an engine whose time is linear in the text.

Invariants: matching never backtracks, so a pattern costs what its length and the text's cost; a pattern that the engine does not take is
an ordinary `BadPattern`. A pattern for paths knows `*` and `?` (within a part), `**` (over parts), `[…]`, `{a,b}` and a backslash before
a character that stands for itself.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from stateward.runtime.workdir.limits import PATTERN_BYTES_MAX, PATTERN_MEMORY_MAX

_TOKEN: Final = re.compile(
    r"(?P<folders>(?<![^/])\*\*/)|(?P<all>\*\*)|(?P<some>\*)|(?P<one>\?)|\[(?P<not>[!^]?)(?P<set>\]?[^\]]*)\]|\\(?P<itself>.)|(?P<other>.)",
    re.DOTALL,
)
"""One piece of a pattern for paths; each alternative reads on without going back."""
_PLAIN: Final = {"folders": "(?:[^/]+/)*", "all": ".*", "some": "[^/]*", "one": "[^/]"}


_BY_LINES: Final = "(?m)"
_ENDS: Final = re.compile(r"(?<!\\)(?:\\\\)*\\[Az]")


class BadPattern(ValueError):
    """The pattern is none; the message is one line and says why."""


def compiled(pattern: str, *, ignore_case: bool = False) -> Any:
    """Compile an expression that searches whole files of UTF-8 bytes for lines: it matches within a line only. Raises BadPattern."""
    _require_bounded(pattern)
    if _ENDS.search(pattern):
        raise BadPattern("the pattern names the ends of a text, and a search knows those of lines, `^` and `$`, alone")
    return _compile(f"{_BY_LINES}{pattern}", by_lines=True, ignore_case=ignore_case)


def compiled_glob(pattern: str) -> Any:
    """Compile a pattern that matches the UTF-8 bytes of a path as a whole. Raises BadPattern."""
    _require_bounded(pattern)
    return _compile(f"(?s)^(?:{''.join(_translated(pattern))})$", by_lines=False)


def depth_of(pattern: str) -> int | None:
    """Give how many parts a path has at most that matches a pattern for paths; None when there is no such number."""
    return None if "**" in pattern else pattern.count("/") + 1


def _require_bounded(pattern: str) -> None:
    if not pattern:
        raise BadPattern("the pattern is empty")
    try:
        size = len(pattern.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadPattern("the pattern holds half a surrogate pair") from None
    if size > PATTERN_BYTES_MAX:
        raise BadPattern(f"the pattern is longer than {PATTERN_BYTES_MAX} bytes")
    if "\0" in pattern:
        raise BadPattern("the pattern holds a zero character, which no text shown has")


def _compile(expression: str, *, by_lines: bool, ignore_case: bool = False) -> Any:
    import re2  # noqa: PLC0415 -- only the process that searches needs it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = PATTERN_MEMORY_MAX
    options.case_sensitive = not ignore_case
    options.never_capture = True
    options.never_nl = by_lines
    try:
        return re2.compile(expression.encode("utf-8"), options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        reason = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise BadPattern(f"the pattern is refused: {reason.replace(_BY_LINES, '', 1)}") from None


def _translated(pattern: str) -> Iterator[str]:
    open_braces = 0
    for token in _TOKEN.finditer(pattern):
        kind = token.lastgroup or ""
        if kind in _PLAIN:
            yield _PLAIN[kind]
        elif kind == "set":
            yield _class(token["set"], negated=bool(token["not"]))
        elif token[0] == "{":
            open_braces += 1
            yield "(?:"
        elif token[0] == "}" and open_braces:
            open_braces -= 1
            yield ")"
        elif token[0] == "," and open_braces:
            yield "|"
        else:
            yield _literal(token["itself"] or token[0])
    if open_braces:
        raise BadPattern("the pattern opens a brace that it does not close")


def _class(members: str, *, negated: bool) -> str:
    if "/" in members:
        raise BadPattern("a class of characters in the pattern holds a slash, which is in no name")
    escaped = "".join(each if each == "-" or each.isalnum() else _literal(each) for each in members)
    return f"[^/{escaped}]" if negated else f"[{escaped}]"


def _literal(character: str) -> str:
    return f"\\x{{{ord(character):x}}}" if not character.isalnum() else character
