"""Text to tokens, in one pass of one compiled expression.

Invariants: tokens and comments do not overlap and come in order; whatever the text holds, the pass ends and raises nothing. The token
before a slash decides what it is: after an operand `/` divides and `//` merges, elsewhere a slash starts a pattern. A parenthesis that
opens the parameters of a function has a kind of its own. What is no token of the language is left to `oddities`.
"""

import re
from typing import Final

from stateward.compiler.syntax.faults import FAULTS_MAX, too_deep
from stateward.compiler.syntax.oddities import CONTROL, control_in_comment, odd_character, odd_slash, report_invisible
from stateward.compiler.syntax.tokens import CLOSERS, ERROR, OPERAND_ENDS, PARAMETERS, PUNCTUATION, RESERVED, Tokens
from stateward.compiler.syntax.trivia import Comment

NAME, MARK, STRING, COMMENT, FLOAT, INT, SLASH, END_OF_TEXT, OTHER = range(1, 10)
"""The groups of the expression for tokens."""
_TOKEN: Final = re.compile(
    rf"""[ \t\r\n]*(?:
      ([A-Za-z][A-Za-z0-9_]*)
    | (=[=>]?|[;{{}},()\[\]:_*]|\.(?:\.\.)?(?!\.)|[!<>]=?|&&?|\|\||\+\+?|-)
    | ("(?!"")[^"\\{CONTROL}]*(?:\\[^{CONTROL}][^"\\{CONTROL}]*)*")
    | (\#[^\n{CONTROL}]*)
    | ([0-9]+\.[0-9]+)
    | ([0-9]+)
    | (/[/*]?)
    | (\Z)
    | ([\s\S])
    )""",
    re.VERBOSE,
)
_LITERALS: Final = {STRING: "STRING", FLOAT: "FLOAT", INT: "INT"}
_REGEX: Final = re.compile(rf"/(?:[^/\\\n{CONTROL}]|\\[^\n{CONTROL}])+/")


def scan(text: str, nesting_max: int) -> Tokens:
    """Find the tokens of a text.

    The pass ends early where brackets lie deeper than `nesting_max`, a string is never closed or too much is wrong.
    """
    tokens = Tokens(text)
    kinds, starts, ends = tokens.kinds, tokens.starts, tokens.ends
    openers: list[int] = []
    closed = -1
    at = 0
    find, reserved = _TOKEN.finditer, RESERVED.get
    while at >= 0:
        for found in find(text, at):
            group = found.lastindex or OTHER
            start, at = found.span(group)
            if group == NAME:
                kind = reserved(found[NAME], "NAME")
            elif group == MARK:
                mark = found[MARK]
                kind = PUNCTUATION[mark]
                if mark in "{[(":
                    openers.append(len(kinds))
                    if len(openers) > nesting_max:
                        tokens.stopped = too_deep(start, at, nesting_max)
                        return tokens
                elif mark in ")]}":
                    closed = openers.pop() if openers else -1
                elif mark == "=>" and closed >= 0 and kinds[-1] == "RPAR" and kinds[closed] == "LPAR":
                    kinds[closed] = PARAMETERS
            elif group in _LITERALS:
                kind = _LITERALS[group]
            else:
                at = _unusual(tokens, group, start, at)
                if at < start:
                    openers = _open_brackets(kinds)
                if at == found.end():
                    continue
                break
            kinds.append(kind)
            starts.append(start)
            ends.append(at)
    return tokens


def _open_brackets(kinds: list[str]) -> list[int]:
    """Find the brackets that are open after the last token, where tokens were taken back."""
    openers: list[int] = []
    for at, kind in enumerate(kinds):
        if kind in CLOSERS:
            openers.append(at)
        elif kind in CLOSERS.values() and openers:
            openers.pop()
    return openers


def _unusual(tokens: Tokens, group: int, start: int, end: int) -> int:
    """Take what is no word, mark or literal; gives the offset after it, or -1 where the pass ends."""
    if group == COMMENT:
        return _comment(tokens, start, end)
    if group == END_OF_TEXT:
        report_invisible(tokens)
        return -1
    end = _slash(tokens, start, end) if group == SLASH else odd_character(tokens, start)
    return end if len(tokens.faults) < FAULTS_MAX else _given_up(tokens, end)


def _given_up(tokens: Tokens, at: int) -> int:
    """Leave the rest of a text alone in which too much is wrong."""
    tokens.add(ERROR, at, len(tokens.text))
    tokens.unclosed = True
    report_invisible(tokens)
    return -1


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


def _slash(tokens: Tokens, start: int, end: int) -> int:
    after_operand = bool(tokens.kinds) and tokens.kinds[-1] in OPERAND_ENDS
    if after_operand and tokens.text[start:end] != "/*":
        return tokens.add("MERGE" if end - start == 2 else "DIVIDE", start, end)
    pattern = _REGEX.match(tokens.text, start) if end - start == 1 else None
    if pattern:
        return tokens.add("REGEX", start, pattern.end())
    return odd_slash(tokens, start)
