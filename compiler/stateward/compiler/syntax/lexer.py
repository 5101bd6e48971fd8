"""Text to tokens, in one pass of one compiled expression.

Invariants: tokens and comments do not overlap and come in order; whatever the text holds, the pass ends and raises nothing. The token
before a slash decides what it is: after an operand `/` divides and `//` merges, elsewhere a slash starts a pattern.
"""

import re
from dataclasses import dataclass, field
from typing import Final

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
    "//": "MERGE", "&": "COMPOSE", "||": "OR", "&&": "AND",
    "==": "EQ", "!=": "NE", "<": "LT", "<=": "LE", ">": "GT", ">=": "GE",
    "++": "CONCAT", "+": "PLUS", "-": "MINUS", "*": "TIMES", "/": "DIVIDE", "!": "NOT", "_": "WILDCARD",
}  # fmt: skip
OPERAND_ENDS: Final = frozenset(
    {"NAME", "STRING", "INT", "FLOAT", "REGEX", "TRUE", "FALSE", "WILDCARD", "RBRACE", "RSQB", "RPAR"}
)  # fmt: skip
BAD: Final = "BAD"
"""The kind of a token that has been reported and stands in no rule."""

_CONTROL: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
_TOKEN: Final = re.compile(
    rf"""[ \t\r\n]*(?:
      (?P<NAME>[A-Za-z][A-Za-z0-9_]*)
    | (?P<MARK>\.\.\.|=>|==|!=|<=|>=|\|\||&&|\+\+|[{{}}\[\]()=;,.:&<>+\-*!_])
    | (?P<STRING>"[^"\\{_CONTROL}]*(?:\\[^{_CONTROL}][^"\\{_CONTROL}]*)*")
    | (?P<COMMENT>\#[^\n{_CONTROL}]*)
    | (?P<FLOAT>[0-9]+\.[0-9]+)
    | (?P<INT>[0-9]+)
    | (?P<SLASH>//?)
    | (?P<END>\Z)
    | (?P<OTHER>[\s\S])
    )""",
    re.VERBOSE,
)
_REGEX: Final = re.compile(rf"/(?:[^/\\\n{_CONTROL}]|\\[^\n{_CONTROL}])+/")


@dataclass(slots=True)
class Tokens:
    """The tokens of a text as three lists side by side, and its comments."""

    kinds: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)


def scan(text: str) -> Tokens:
    """Find the tokens of a text."""
    tokens = Tokens()
    kinds, starts, ends = tokens.kinds, tokens.starts, tokens.ends
    openers: list[int] = []
    closed = -1
    at = 0
    match = _TOKEN.match
    while True:
        found = match(text, at)
        assert found is not None
        kind = found.lastgroup
        at = found.end()
        if kind == "NAME":
            word = found[1]
            kinds.append(RESERVED.get(word, "NAME"))
            starts.append(at - len(word))
            ends.append(at)
            continue
        start, at = found.span(found.lastindex)
        if kind == "MARK":
            word = found[2]
            kind = PUNCTUATION[word]
            if word in "{[(":
                openers.append(len(kinds))
            elif word in ")]}":
                closed = openers.pop() if openers else -1
            elif word == "=>" and kinds and kinds[-1] == "RPAR" and closed >= 0:
                kinds[closed] = "LPARAMS"
        elif kind == "COMMENT":
            end = at
            if text.startswith("\n", at):
                while end > start and text[end - 1] == "\r":
                    end -= 1
            tokens.comments.append(Comment(start, end))
            continue
        elif kind == "SLASH":
            if kinds and kinds[-1] in OPERAND_ENDS:
                kind = "MERGE" if at - start == 2 else "DIVIDE"
            else:
                pattern = _REGEX.match(text, start)
                kind = BAD
                if pattern:
                    kind = "REGEX"
                    at = pattern.end()
        elif kind == "END":
            return tokens
        elif kind == "OTHER":
            kind = BAD
        kinds.append(kind)
        starts.append(start)
        ends.append(at)
