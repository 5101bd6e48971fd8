"""What kind of text each part of a source is, for colours: one table from the kinds of tokens to a few classes that every editor has.

Invariants: parts are never empty, come in order and do not overlap; what lies between them is white space. Any text has an answer, and
nothing is raised. Classes are told by tokens alone, never by the tree, so an edit changes colours near it and no others.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final, TypeAlias

from stateward.compiler.syntax.builders import TYPE_WORDS
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.oddities import CONTROL
from stateward.compiler.syntax.tokens import CLOSERS, ERROR, PUNCTUATION, RESERVED, Tokens


class TokenClass(StrEnum):
    """A kind of text."""

    KEYWORD = "keyword"
    """`let in match import default as`, and `_`."""
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    """A string with its quotes, but for its escapes."""
    ESCAPE = "escape"
    """A backslash and what it escapes, in a string or a pattern."""
    PATTERN = "pattern"
    OPERATOR = "operator"
    """What stands between values, with `=` and `=>`."""
    PUNCTUATION = "punctuation"
    COMMENT = "comment"
    NAME = "name"
    FIELD = "field"
    """A plain name that is given a value, or asked for after a dot; quoted ones are strings."""
    TYPE = "type"
    """A word for a type, where no field is named."""
    INVALID = "invalid"
    """What is no part of the language: a stray character, a foreign comment or quote, an escape that means nothing, a string that is
    never closed."""


Part: TypeAlias = tuple[int, int, TokenClass]
"""Where a part begins, where it ends (code points), and what it is."""

_KEYWORDS: Final = frozenset(RESERVED.values()) - {"TRUE", "FALSE"} | {"WILDCARD"}
_MARKS: Final = frozenset({*CLOSERS, *CLOSERS.values(), "SEMICOLON", "COMMA", "DOT", "COLON", "ELLIPSIS"})
CLASSES: Final = {
    **dict.fromkeys(_KEYWORDS, TokenClass.KEYWORD),
    **dict.fromkeys(("TRUE", "FALSE"), TokenClass.BOOLEAN),
    **dict.fromkeys(("INT", "FLOAT"), TokenClass.NUMBER),
    **dict.fromkeys(_MARKS, TokenClass.PUNCTUATION),
    **dict.fromkeys({*PUNCTUATION.values(), "MERGE", "DIVIDE"} - _MARKS - _KEYWORDS, TokenClass.OPERATOR),
    "STRING": TokenClass.STRING,
    "REGEX": TokenClass.PATTERN,
    "NAME": TokenClass.NAME,
    ERROR: TokenClass.INVALID,
}
"""Every kind of token and its class. A name may also be a field or a type."""
_WITH_PARTS: Final = frozenset({TokenClass.STRING, TokenClass.PATTERN, TokenClass.COMMENT})
_NO_NESTING_MAX: Final = 2**31
"""Brackets are counted on a list here, so a text too deep for the parser still has its colours."""
_GAP: Final = re.compile(r"[^ \t\r\n]+")
_ODD: Final = rf"(?P<odd>[{CONTROL}]+)"
_IN_COMMENT: Final = re.compile(_ODD)
_IN_STRING: Final = re.compile(rf"{_ODD}|(?P<escape>\\[ntr\\\"'/\r\n])|\\(?:[^{CONTROL}]|(?=[{CONTROL}]))")
_IN_PATTERN: Final = re.compile(rf"{_ODD}|(?P<escape>\\[^{CONTROL}])")
_INNER: Final = {TokenClass.COMMENT: _IN_COMMENT, TokenClass.STRING: _IN_STRING, TokenClass.PATTERN: _IN_PATTERN}


def classes(text: str) -> list[Part]:
    """Tell what each part of a text is; `text` is a source without its byte-order mark."""
    tokens = scan(text, _NO_NESTING_MAX)
    parts: list[Part] = []
    at = 0
    for start, end, told in _told(tokens):
        parts += _left_over(text, at, start)
        if told in _WITH_PARTS:
            parts += _inside(text, start, end, told)
        elif start < end:
            parts.append((start, end, told))
        at = end
    parts += _left_over(text, at, len(text))
    return parts


def _told(tokens: Tokens) -> Iterator[Part]:
    """Go through tokens and comments in the order of the text."""
    fields, guessed = _fields(tokens), _guessed(tokens)
    comments = iter(tokens.comments)
    comment = next(comments, None)
    for at, kind in enumerate(tokens.kinds):
        start, end = tokens.starts[at], tokens.ends[at]
        while comment and comment.start < start:
            yield comment.start, comment.end, TokenClass.COMMENT
            comment = next(comments, None)
        told = CLASSES[kind]
        if at in guessed:
            told = TokenClass.INVALID
        elif at in fields:
            told = TokenClass.FIELD
        elif told is TokenClass.NAME and tokens.text[start:end] in TYPE_WORDS:
            told = TokenClass.TYPE
        yield start, end, told
        while comment and comment.start < end:  # a string without its first quote may hold what looked like a comment
            comment = next(comments, None)
    while comment:
        yield comment.start, comment.end, TokenClass.COMMENT
        comment = next(comments, None)


def _fields(tokens: Tokens) -> set[int]:
    """Find the plain names that are given a value, each with the path before it, or are asked for after a dot."""
    spans = zip(tokens.kinds, tokens.starts, tokens.ends, strict=True)
    kinds = [ERROR if kind == "DOT" and end - start > 1 else kind for kind, start, end in spans]
    fields = set()
    on_path = False
    for at in range(len(kinds) - 1, -1, -1):
        kind = kinds[at]
        if kind in {"NAME", "STRING"}:
            following = kinds[at + 1] if at + 1 < len(kinds) else ""
            on_path = following == "EQUAL" or (following == "DOT" and on_path)
            if kind == "NAME" and (on_path or (at and kinds[at - 1] == "DOT")):
                fields.add(at)
        elif kind != "DOT" or kinds[at + 1 : at + 2] not in (["NAME"], ["STRING"]):
            on_path = False
    return fields


def _guessed(tokens: Tokens) -> set[int]:
    """Find the tokens that stand where the author wrote something else; one odd character inside of a string does not spoil the string."""
    odd = iter(sorted(fault.start for fault in tokens.faults))
    fault = next(odd, None)
    guessed = set()
    for at, (start, end) in enumerate(zip(tokens.starts, tokens.ends, strict=True)):
        while fault is not None and fault < start:
            fault = next(odd, None)
        whole = CLASSES[tokens.kinds[at]] in _WITH_PARTS
        if fault is not None and (fault == start if whole else fault < end):
            guessed.add(at)
    return guessed


def _left_over(text: str, start: int, end: int) -> list[Part]:
    """Cover what lies between tokens and is no white space: characters nobody sees, comments of other languages."""
    return [(found.start(), found.end(), TokenClass.INVALID) for found in _GAP.finditer(text, start, end)]


def _inside(text: str, start: int, end: int, told: TokenClass) -> Iterator[Part]:
    """Take a string, a pattern or a comment apart."""
    at = start
    for found in _INNER[told].finditer(text, start, end):
        if at < found.start():
            yield at, found.start(), told
        yield found.start(), found.end(), TokenClass.ESCAPE if found.lastgroup == "escape" else TokenClass.INVALID
        at = found.end()
    if at < end:
        yield at, end, told
