"""The tokens of a text and the words and marks they are made of.

Invariants: the three lists are equally long, tokens come in order and do not overlap; `ERROR` is a token that was reported when it was
found and fits where an expression or a field may stand.
"""

from dataclasses import dataclass, field
from typing import Final

from stateward.compiler.syntax.faults import Fault
from stateward.compiler.syntax.trivia import Comment

RESERVED: Final = {
    "as": "AS",
    "default": "DEFAULT",
    "false": "FALSE",
    "import": "IMPORT",
    "in": "IN",
    "let": "LET",
    "match": "MATCH",
    "true": "TRUE",
}
PUNCTUATION: Final = {
    "{": "LBRACE", "}": "RBRACE", "[": "LSQB", "]": "RSQB", "(": "LPAR", ")": "RPAR",
    "=": "EQUAL", ";": "SEMICOLON", ",": "COMMA", ".": "DOT", ":": "COLON", "=>": "ARROW", "...": "ELLIPSIS",
    "&": "COMPOSE", "||": "OR", "&&": "AND",
    "==": "EQ", "!=": "NE", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE",
    "++": "CONCAT", "+": "PLUS", "-": "MINUS", "*": "TIMES", "!": "NOT", "_": "WILDCARD",
}  # fmt: skip
"""Marks and their kinds; those that begin with a slash are told by the token before them."""
ERROR: Final = "ERROR"
PARAMETERS: Final = "LPARAMS"
"""A parenthesis that opens the parameters of a function."""
OPERAND_ENDS: Final = frozenset(
    {"NAME", "STRING", "INT", "FLOAT", "REGEX", "TRUE", "FALSE", "WILDCARD", "RBRACE", "RSQB", "RPAR", ERROR}
)  # fmt: skip
CLOSERS: Final = {"LBRACE": "RBRACE", "LSQB": "RSQB", "LPAR": "RPAR", PARAMETERS: "RPAR"}
"""Opening brackets and what closes them."""

_KEYS: Final = frozenset({"NAME", "STRING"})


@dataclass(slots=True)
class Tokens:
    """The tokens of a text as three lists side by side, its comments, and what was found wrong on the way."""

    text: str
    kinds: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    invisible: dict[tuple[str, bool], list[tuple[int, int]]] = field(default_factory=dict)
    """Characters that have no place in a text, with whether they stand inside of a string, pattern or comment, and where."""
    stopped: Fault | None = None
    """The limit that was passed; the tokens end there."""
    unclosed: bool = False
    """Whether the last token is a string that is never closed, or the rest of a text that was left alone: what it holds is not known."""

    def add(self, kind: str, start: int, end: int) -> int:
        """Put a token at the end; gives where it ends."""
        self.kinds.append(kind)
        self.starts.append(start)
        self.ends.append(end)
        return end


def starts_field(kinds: list[str], at: int) -> bool:
    """Tell whether `path =` stands at a token."""
    last = len(kinds) - 1
    while at < last and kinds[at] in _KEYS:
        if kinds[at + 1] != "DOT":
            return kinds[at + 1] == "EQUAL"
        at += 2
    return False
