"""Text to tokens, in one pass of one compiled expression.

Invariants: tokens and comments do not overlap and come in order; whatever the text holds, the pass ends and raises nothing. The token
before a slash decides what it is: after an operand `/` divides and `//` merges, elsewhere a slash starts a pattern. A parenthesis that
opens the parameters of a function has a kind of its own. What is no token of the language is left to `oddities`.
"""

import re
from typing import Final

from stateward.compiler.syntax.faults import too_deep
from stateward.compiler.syntax.oddities import CONTROL, control_in_comment, odd_character, odd_slash, report_invisible
from stateward.compiler.syntax.tokens import OPERAND_ENDS, PARAMETERS, PUNCTUATION, RESERVED, Tokens
from stateward.compiler.syntax.trivia import Comment

_TOKEN: Final = re.compile(
    rf"""[ \t\r\n]*(?:
      (?P<NAME>[A-Za-z][A-Za-z0-9_]*)
    | (?P<MARK>=[=>]?|[;{{}},()\[\]:_*]|\.(?:\.\.)?(?!\.)|[!<>]=?|&&?|\|\||\+\+?|-)
    | (?P<STRING>"[^"\\{CONTROL}]*(?:\\[^{CONTROL}][^"\\{CONTROL}]*)*")
    | (?P<COMMENT>\#[^\n{CONTROL}]*)
    | (?P<FLOAT>[0-9]+\.[0-9]+)
    | (?P<INT>[0-9]+)
    | (?P<SLASH>/[/*]?)
    | (?P<END>\Z)
    | (?P<OTHER>[\s\S])
    )""",
    re.VERBOSE,
)
_REGEX: Final = re.compile(rf"/(?:[^/\\\n{CONTROL}]|\\[^\n{CONTROL}])+/")


def scan(text: str, nesting_max: int) -> Tokens:
    """Find the tokens of a text; the pass ends early where brackets lie deeper than `nesting_max` or a string is never closed."""
    tokens = Tokens(text)
    kinds, starts, ends = tokens.kinds, tokens.starts, tokens.ends
    openers: list[int] = []
    closed = -1
    at = 0
    match = _TOKEN.match
    reserved = RESERVED.get
    while True:
        found = match(text, at)
        assert found is not None
        kind = found.lastgroup or "OTHER"
        start, at = found.span(kind)
        if kind == "NAME":
            kind = reserved(found[1], "NAME")
        elif kind == "MARK":
            mark = found[2]
            kind = PUNCTUATION[mark]
            if mark in "{[(":
                openers.append(len(kinds))
                if len(openers) > nesting_max:
                    tokens.stopped = too_deep(start, at, nesting_max)
                    return tokens
            elif mark in ")]}":
                tokens.depth = max(tokens.depth, len(openers))
                closed = openers.pop() if openers else -1
            elif mark == "=>" and closed >= 0 and kinds[-1] == "RPAR" and kinds[closed] == "LPAR":
                kinds[closed] = PARAMETERS
        elif kind == "COMMENT":
            at = _comment(tokens, start, at)
            continue
        elif kind == "SLASH":
            kind, at = _slash(tokens, start, at)
            if not kind:
                continue
        elif kind == "END":
            tokens.depth = max(tokens.depth, len(openers))
            report_invisible(tokens)
            return tokens
        elif kind == "OTHER":
            at = odd_character(tokens, start)
            continue
        kinds.append(kind)
        starts.append(start)
        ends.append(at)


def _comment(tokens: Tokens, start: int, end: int) -> int:
    text = tokens.text
    if end < len(text) and text[end] != "\n":
        end = control_in_comment(tokens, end)
    line_end = end
    if end < len(text):
        while text[line_end - 1] == "\r":
            line_end -= 1
    tokens.comments.append(Comment(start, line_end))
    return end


def _slash(tokens: Tokens, start: int, end: int) -> tuple[str, int]:
    after_operand = bool(tokens.kinds) and tokens.kinds[-1] in OPERAND_ENDS
    size = end - start
    if after_operand and tokens.text[start:end] != "/*":
        return ("MERGE", end) if size == 2 else ("DIVIDE", end)
    if size == 1:
        pattern = _REGEX.match(tokens.text, start)
        if pattern:
            return "REGEX", pattern.end()
    return odd_slash(tokens, start)
