"""What tools and habits leave in a text that is DCDL otherwise: marks of a merge, and `//` comments after a value.

Invariants: this is asked about texts that do not parse; offsets stay those of the text as it was.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from stateward.compiler.syntax.faults import Fault, Note, fix
from stateward.compiler.syntax.tokens import Tokens

MARK_SIZE: Final = 7
_CONFLICT: Final = re.compile(
    r"^<{7}(?: [^\n]*)?\r?\n(?:[^\n]*\n)*?(?P<theirs>={7}\r?\n(?:[^\n]*\n)*?(?P<end>>{7}(?: [^\n]*)?\r?(?=\n|\Z)))", re.MULTILINE
)
_BASE: Final = re.compile(r"^\|{7}(?: |\r?$)", re.MULTILINE)
_VISIBLE: Final = re.compile(r"[^\r\n]")


def without_conflicts(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Blank the marks of merge conflicts and the second side of each; gives the text and what to say."""
    text, faults, pieces, done = tokens.text, [], [], 0
    for found in _CONFLICT.finditer(text):
        start, end = found.span()
        if not _token_at(tokens, start):
            continue
        base = _BASE.search(text, start, found.start("theirs"))
        first_end = base.start() if base else found.start("theirs")
        ours = text.index("\n", start)
        pieces += [text[done:start], _blank(text[start:ours]), text[ours:first_end], _blank(text[first_end:end])]
        done = end
        theirs, last = found.start("theirs"), found.start("end")
        faults.append(
            Fault(
                start,
                start + MARK_SIZE,
                "a merge conflict is left in the text",
                "one side begins here",
                secondary=(Note(theirs, theirs + MARK_SIZE, "the other side"), Note(last, last + MARK_SIZE, "its end")),
                help="keep one side and take the marks out",
            )
        )
    return "".join([*pieces, text[done:]]), faults


def _blank(text: str) -> str:
    return _VISIBLE.sub(" ", text)


def _token_at(tokens: Tokens, start: int) -> bool:
    at = bisect_left(tokens.starts, start)
    return at < len(tokens.starts) and tokens.starts[at] == start


def without_slash_comments(tokens: Tokens) -> Tokens:
    """Take out what stands from `//` to the end of its line where that reads like prose."""
    ranges = list(_slash_comments(tokens))
    if not ranges:
        return tokens
    made = Tokens(tokens.text, comments=tokens.comments, depth=tokens.depth, unclosed=tokens.unclosed)
    taken = iter([*ranges, (len(tokens.kinds), 0)])
    first, end = next(taken)
    for at, kind in enumerate(tokens.kinds):
        if at >= end > first:
            first, end = next(taken)
        if at < first:
            made.add(kind, tokens.starts[at], tokens.ends[at])
    made.faults = [*_outside(tokens, ranges), *(_begins_no_comment(tokens, first) for first, _ in ranges)]
    return made


def _slash_comments(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """Give the tokens (first, end) of each `//` comment."""
    text, kinds, starts = tokens.text, tokens.kinds, tokens.starts
    done = 0
    for at, kind in enumerate(kinds):
        if kind != "MERGE" or at < done:
            continue
        line_end = text.find("\n", starts[at])
        done = bisect_left(starts, line_end if line_end != -1 else len(text))
        words = [kinds[number] == "NAME" for number in range(at + 1, done)]
        fits = line_end == -1 or tokens.ends[done - 1] <= line_end
        if fits and any(left and right for left, right in pairwise(words)):
            yield at, done


def _outside(tokens: Tokens, ranges: list[tuple[int, int]]) -> list[Fault]:
    """Give the faults that do not lie in comments."""
    firsts = [tokens.starts[first] for first, _ in ranges]
    ends = [tokens.ends[end - 1] for _, end in ranges]
    outside = []
    for fault in tokens.faults:
        at = bisect_left(firsts, fault.start + 1) - 1
        if at < 0 or fault.start >= ends[at]:
            outside.append(fault)
    return outside


def _begins_no_comment(tokens: Tokens, at: int) -> Fault:
    start, end = tokens.starts[at], tokens.ends[at]
    return Fault(
        start,
        end,
        "`//` begins no comment",
        "merges two values",
        help="begin a comment with `#`",
        fix=fix("replace `//` by `#`", (start, end, "#")),
    )
