"""What stands before the cursor, told by the tokens alone, so that it is known in a text that is half written.

Invariants: the text before the cursor counts, and the rest of its line; what stands behind counts only to tell that the cursor is inside of
a text. Nothing is evaluated; a part that is written already lies on the line of the cursor and holds it.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from stateward.compiler.limits import LIMITS
from stateward.compiler.source import Span
from stateward.compiler.syntax.lexer import scan
from stateward.compiler.syntax.tokens import CLOSERS, OPERAND_ENDS, Tokens, starts_field

WORD_MAX: Final = 256
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_REST_OF_WORD: Final = re.compile(r"[A-Za-z0-9_]*")
_REST_OF_STRING: Final = re.compile(r'(?:[^"\\;{}\r\n]*")?|[A-Za-z0-9_$-]*')
_MODULE: Final = "MODULE"
_ARMS: Final = "ARMS"
UNKNOWN: Final = ("",)
"""The path of what is no part of a flow: what a `let` binds."""
ITEM: Final = "[]"
"""Stands in a path for an item of a list."""
_FIELDS: Final = frozenset({_MODULE, "LBRACE", "LET"})
"""What holds names that are given values."""


class Where(Enum):
    """What may be written at the cursor."""

    KEY = "key"
    BINDING = "binding"
    """A name of a `let`, or the `in` behind the last one."""
    VALUE = "value"
    AFTER = "after"
    """What goes on behind a value."""
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
    is_first: bool = False
    """Whether nothing stands yet in the `let` that a name would be bound in."""


@dataclass(slots=True)
class _Open:
    """A bracket or a `let` that is open, with what was read of it."""

    kind: str
    path: tuple[str, ...]
    names: list[str] = field(default_factory=list)
    """The path of the field that is written."""
    is_value: bool = False
    """Whether its value is written."""
    is_matched: bool = False
    """Whether a `match` waits for its arms."""

    @property
    def inner(self) -> tuple[str, ...]:
        """The path of the value that is written."""
        return (*self.path, *self.names)


def context_at(text: str, offset: int) -> Context:
    """Tell where the cursor stands."""
    nowhere = Context(Where.NOWHERE, (), Span(offset, offset))
    tokens = scan(text[:offset], LIMITS.nesting)
    if any(comment.start < offset <= comment.end for comment in tokens.comments[-1:]):
        return nowhere
    if tokens.unclosed:
        return _in_string(tokens, text, offset) or nowhere
    if tokens.stopped is not None or _is_in_text(text, offset):
        return nowhere
    word = _WORD.search(text, max(offset - WORD_MAX, 0), offset)
    start = word.start() if word else offset
    if tokens.ends and tokens.ends[-1] == offset and (word or tokens.kinds[-1] in {"INT", "FLOAT", "STRING", "REGEX", "ERROR"}):
        if word is None or tokens.starts[-1] != start:
            return nowhere
        _drop_last(tokens)
    rest = _REST_OF_WORD.match(text, offset)
    return _told(tokens, Span(start, rest.end() if rest is not None else offset))


def _in_string(tokens: Tokens, text: str, offset: int) -> Context | None:
    """Tell of a string that is open; None where it goes over several lines, or is no value."""
    start = tokens.starts[-1]
    if text[start] != '"' or "\n" in text[start:offset] or "\r" in text[start:offset]:
        return None
    _drop_last(tokens)
    rest = _REST_OF_STRING.match(text, offset)
    told = _told(tokens, Span(start, rest.end() if rest is not None else offset))
    return Context(Where.STRING, told.path, told.span) if told.where is Where.VALUE else None


def _is_in_text(text: str, offset: int) -> bool:
    """Tell whether the whole text has a string around the cursor that what stands before it does not show."""
    whole = scan(text, LIMITS.nesting)
    at = bisect_left(whole.starts, offset) - 1
    return at >= 0 and whole.kinds[at] == "STRING" and offset < whole.ends[at]


def _drop_last(tokens: Tokens) -> None:
    for column in (tokens.kinds, tokens.starts, tokens.ends):
        column.pop()


def _told(tokens: Tokens, span: Span) -> Context:
    """Tell what may be written behind the tokens."""
    top = _open(tokens)
    last = tokens.kinds[-1] if tokens.kinds else ""
    is_new_line = bool(tokens.ends) and "\n" in tokens.text[tokens.ends[-1] : span.start]
    if top.is_value and last in OPERAND_ENDS:
        if not (is_new_line and top.names and top.kind in _FIELDS):
            return Context(Where.AFTER, top.inner, span)
    elif top.is_value:
        return Context(Where.VALUE if last != "DOT" else Where.NOWHERE, top.inner, span)
    elif last in OPERAND_ENDS and not is_new_line:
        return Context(Where.NOWHERE, (), span)
    if top.kind == "LET":
        return Context(Where.BINDING, (), span, is_first=last == "LET")
    if top.kind not in _FIELDS:
        return Context(Where.NOWHERE, (), span)
    return Context(Where.KEY, (*top.path, *top.names) if last == "DOT" else top.path, span)


def _open(tokens: Tokens) -> _Open:
    """Give what is open at the end of the tokens, the innermost."""
    open_ = [_Open(_MODULE, ())]
    for at, kind in enumerate(tokens.kinds):
        if kind in CLOSERS:
            open_.append(_opened(open_[-1], kind))
        elif kind in CLOSERS.values():
            _close(open_, kind)
        elif kind == "LET":
            open_.append(_Open("LET", UNKNOWN))
        elif kind == "IN":
            while len(open_) > 1 and open_.pop().kind != "LET":
                pass
            open_[-1].is_value = True
        elif kind == "SEMICOLON":
            _end_field(open_)
        else:
            _go_on(open_[-1], tokens, at)
    return open_[-1]


def _opened(around: _Open, kind: str) -> _Open:
    if kind == "LBRACE" and around.is_matched:
        around.is_matched = False
        return _Open(_ARMS, around.inner)
    if kind == "LBRACE":
        return _Open(kind, around.inner if around.is_value else around.path)
    if kind == "LSQB" and around.is_value and around.inner:
        return _Open(kind, (*around.inner, ITEM), is_value=True)
    return _Open(kind, around.inner if kind == "LPAR" else UNKNOWN, is_value=True)


def _close(open_: list[_Open], kind: str) -> None:
    """Close the innermost bracket of a kind, with what is open in it."""
    found = next((at for at in range(len(open_) - 1, 0, -1) if CLOSERS.get(open_[at].kind.replace(_ARMS, "LBRACE")) == kind), None)
    if found is not None:
        del open_[found:]


def _end_field(open_: list[_Open]) -> None:
    """End a field, with brackets that were left open in its value."""
    while open_[-1].kind not in {*_FIELDS, _ARMS}:
        open_.pop()
    top = open_[-1]
    top.names, top.is_value, top.is_matched = [], False, False


def _go_on(top: _Open, tokens: Tokens, at: int) -> None:
    """Take a token that opens and ends nothing."""
    kind, before = tokens.kinds[at], tokens.kinds[at - 1] if at else ""
    if top.is_value and top.kind in _FIELDS and before != "DOT" and starts_field(tokens.kinds, at):
        top.is_value, top.is_matched = False, False  # a field begins, so the one before it lacks its end
    if kind == "MATCH":
        top.is_value = top.is_matched = True
    elif kind in {"EQUAL", "ARROW"} or (kind == "COLON" and top.kind == _ARMS):
        top.is_value = True
    elif kind in {"NAME", "STRING"} and not top.is_value:
        name = tokens.text[tokens.starts[at] : tokens.ends[at]].strip('"')
        top.names = [*top.names, name] if before == "DOT" else [name]
