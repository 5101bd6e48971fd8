"""What stands before the cursor, told by the tokens alone, so that it is known in a text that is half written.

Invariants: only the text before the cursor counts, and the rest of its line; nothing is evaluated.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from stateward.compiler.limits import LIMITS
from stateward.compiler.source import Span
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.tokens import CLOSERS, Tokens

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_REST_OF_WORD: Final = re.compile(r"[A-Za-z0-9_]*")
_REST_OF_STRING: Final = re.compile(r'[A-Za-z0-9_$-]*"?')


class Where(Enum):
    """What may be written at the cursor."""

    KEY = "key"
    VALUE = "value"
    STRING = "string"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class Context:
    """The cursor in its surroundings."""

    where: Where
    path: tuple[str, ...]
    """Of the object that a key is written in, or of the field whose value is written."""
    span: Span
    """What is written there already."""


def context_at(text: str, offset: int) -> Context:
    """Tell where the cursor stands."""
    tokens = scan(text[:offset], LIMITS.nesting)
    if any(comment.start < offset <= comment.end and "\n" not in text[comment.start : offset] for comment in tokens.comments[-1:]):
        return Context(Where.NOWHERE, (), Span(offset, offset))
    if tokens.unclosed and text[tokens.starts[-1] : tokens.starts[-1] + 1] == '"':
        start = tokens.starts[-1]
        _drop_last(tokens)
        path, is_value = _path(tokens)
        rest = _REST_OF_STRING.match(text, offset)
        end = rest.end() if rest is not None else offset
        return Context(Where.STRING if is_value else Where.NOWHERE, path, Span(start, end))
    word = _WORD.search(text, max(offset - 256, 0), offset)
    start = word.start() if word else offset
    if word and tokens.ends and tokens.ends[-1] == offset:
        _drop_last(tokens)
    rest = _REST_OF_WORD.match(text, offset)
    path, is_value = _path(tokens)
    return Context(Where.VALUE if is_value else Where.KEY, path, Span(start, rest.end() if rest is not None else offset))


def _drop_last(tokens: Tokens) -> None:
    for column in (tokens.kinds, tokens.starts, tokens.ends):
        column.pop()


def _path(tokens: Tokens) -> tuple[tuple[str, ...], bool]:
    """Give the path at the end of the tokens, and whether a value is to be written there."""
    levels: list[tuple[tuple[str, ...], bool]] = [((), False)]
    names: list[str] = []
    is_value = False
    for at, kind in enumerate(tokens.kinds):
        if kind in CLOSERS:
            around = levels[-1][0]
            levels.append(((*around, *names) if is_value or kind != "LBRACE" else around, is_value))
            names, is_value = [], kind != "LBRACE"
        elif kind in CLOSERS.values():
            _, was_value = levels.pop() if len(levels) > 1 else levels[0]
            names, is_value = [], was_value and kind != "RBRACE"
        elif kind in {"SEMICOLON", "LET"}:
            names, is_value = [], False
        elif kind == "IN":
            names, is_value = [], True
        elif kind in {"EQUAL", "ARROW"}:
            is_value = True
        elif kind in {"NAME", "STRING"} and not is_value:
            if at == 0 or tokens.kinds[at - 1] != "DOT":
                names = []
            names.append(tokens.text[tokens.starts[at] : tokens.ends[at]].strip('"'))
        elif is_value and kind == "NAME" and at + 1 < len(tokens.kinds) and tokens.kinds[at + 1] == "EQUAL":
            names, is_value = [tokens.text[tokens.starts[at] : tokens.ends[at]]], False
    is_dotted = not is_value and bool(tokens.kinds) and tokens.kinds[-1] == "DOT"
    around = levels[-1][0]
    return ((*around, *names) if is_value or is_dotted else around), is_value
