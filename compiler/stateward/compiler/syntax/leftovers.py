"""What tools and habits leave in a text that is DCDL otherwise: marks of a merge and of a diff, and comments that begin with `//` or `--`.

Invariants: this is asked about texts that do not parse; offsets stay those of the text as it was.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final, TypeAlias

from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.syntax.faults import FAULTS_MAX, MERGE_CODE, Fault, Note, fix
from stateward.compiler.syntax.tokens import Tokens

Line: TypeAlias = tuple[int, int]
"""Where a line begins and ends."""
MARK_SIZE: Final = 7
_MARK: Final = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?= |\r?$)[^\n]*", re.MULTILINE)
_MARK_OPENS: Final = "<<<<<<< "
_BEGINNINGS: Final = frozenset({"MERGE", "MINUS"})
"""What a comment of another language may begin with."""
_BEFORE_NAMES: Final = frozenset({"SEMICOLON", "LBRACE", "RBRACE"})
"""Tokens after which no sign can stand."""
NUMBERS_MIN: Final = 3
"""Lines that begin with consecutive numbers, no fewer than which are taken for line numbers."""
_NUMBERED: Final = re.compile(r"^[ \t]*([0-9]{1,6})(?:[ \t]*[|:.)\u2502])?(?:[ \t]|\r?$)", re.MULTILINE)
_DIFF_SIGNS: Final = frozenset({"PLUS", "MINUS"})
_SIGNS: Final = re.compile(r"--(?=[ \t\r\n]|\Z)")
_VISIBLE: Final = re.compile(r"[^\r\n]")


def without_conflicts(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Blank the marks of merge conflicts and the second side of each; gives the text and what to say."""
    text, faults, pieces, done = tokens.text, [], [], 0
    for ours, other, theirs, end in _conflicts(tokens):
        pieces += [text[done : ours[0]], _blank(text[slice(*ours)]), text[ours[1] : other], _blank(text[other : end[1]])]
        done = end[1]
        faults.append(
            Fault(
                ours[0],
                ours[0] + MARK_SIZE,
                "a merge conflict is left in the text",
                "one side begins here",
                secondary=(Note(theirs[0], theirs[0] + MARK_SIZE, "the other side"), Note(end[0], end[0] + MARK_SIZE, "its end")),
                help="keep one side and take the marks out",
            )
        )
    left, more = _without_lone_marks(tokens, "".join([*pieces, text[done:]]))
    return left, [*faults, *more]


def _without_lone_marks(tokens: Tokens, text: str) -> tuple[str, list[Fault]]:
    """Blank the marks that belong to no whole conflict; `text` is that of the tokens, with the conflicts blanked."""
    lone = [found for found in _MARK.finditer(text) if _token_at(tokens, found.start())]
    pieces, done = [], 0
    for found in lone:
        pieces += [text[done : found.start()], _blank(found[0])]
        done = found.end()
    return "".join([*pieces, text[done:]]), [_lone_mark(text, found.start(), found.end()) for found in lone[:FAULTS_MAX]]


def _lone_mark(text: str, start: int, line_end: int) -> Fault:
    mend = fix("take the line out", (start, min(line_end + 1, len(text)), ""), safe=False)
    end = start + MARK_SIZE
    return Fault(start, end, "a mark of a merge conflict is left in the text", "a single mark", help="take the line out", fix=mend)


def marks_in_texts(tokens: Tokens) -> list[Fault]:
    """Warn of each string that holds a whole merge conflict, at its first mark: the string is sound, and says both sides and the marks."""
    text = tokens.text
    if _MARK_OPENS not in text:
        return []
    strings = [(start, end) for kind, start, end in zip(tokens.kinds, tokens.starts, tokens.ends, strict=True) if kind == "STRING"]
    found = (_conflict_in(text, start, end) for start, end in strings if text.find(_MARK_OPENS, start, end) >= 0)
    return [_marks_in_text(at) for at in islice((at for at in found if at is not None), FAULTS_MAX)]


def _conflict_in(text: str, start: int, end: int) -> int | None:
    """Find where the first whole conflict of a part of a text begins."""
    opened, between = None, False
    for found in _MARK.finditer(text, start, end):
        mark = found[0][0]
        if mark == "<":
            opened, between = found.start(), False
        elif mark == "=":
            between = opened is not None
        elif mark == ">" and between:
            return opened
    return None


def _marks_in_text(at: int) -> Fault:
    return Fault(
        at,
        at + MARK_SIZE,
        "a string holds the marks of a merge conflict",
        "one side begins here",
        help="keep one side and take the marks out",
        warning=True,
        code=MERGE_CODE,
    )


def without_diff_marks(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Blank the signs with which the lines of a diff begin, and the lines that it took away; gives the text and what to say."""
    text = tokens.text
    lines = list(_diff_lines(tokens))
    if not lines:
        return text, []
    pieces, edits, done = [], [], 0
    for start, end in lines:
        away = text[start] == "-"
        pieces += [text[done:start], _blank(text[start : end if away else start + 1])]
        done = end if away else start + 1
        edits.append((start, min(end + 1, len(text)), "") if away else (start, start + 1, ""))
    first = lines[0][0]
    more = (f"it has {counted(len(lines) - 1, 'more line')} of that kind",) if len(lines) > 1 else ()
    fault = Fault(
        first,
        first + 1,
        "a line of a diff is left in the text",
        "the sign of a diff",
        help="take the `+` away, and the lines that begin with `-`",
        notes=more,
        fix=fix("keep what the diff added", *edits, safe=False),
    )
    return "".join([*pieces, text[done:]]), [fault]


def without_line_numbers(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Blank the numbers with which all lines begin, as in a text that was copied from a page; gives the text and what to say."""
    text = tokens.text
    found = list(_NUMBERED.finditer(text))
    numbers = [int(each[1]) for each in found]
    written = sum(not line.isspace() for line in text.split("\n") if line)
    if len(numbers) < NUMBERS_MIN or written > len(numbers) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return text, []
    first = found[0]
    mend = fix("take the numbers out", *((each.start(), each.end(), "") for each in found), safe=False)
    fault = Fault(first.start(1), first.end(1), "each line begins with its number", "a line number", help="take the numbers out", fix=mend)
    return _NUMBERED.sub(lambda each: _blank(each[0]), text), [fault]


def _diff_lines(tokens: Tokens) -> Iterator[Line]:
    """Give the lines that begin with a sign at the margin, where one with `+` stands after what no sign can follow."""
    text, kinds, starts = tokens.text, tokens.kinds, tokens.starts
    signs = [at for at, kind in enumerate(kinds) if kind in _DIFF_SIGNS and (starts[at] == 0 or text[starts[at] - 1] == "\n")]
    signs = [at for at in signs if not text.startswith("--", starts[at])]
    if any(kinds[at] == "PLUS" and (at == 0 or kinds[at - 1] in _BEFORE_NAMES) for at in signs):
        for at in signs:
            end = text.find("\n", starts[at])
            yield starts[at], end if end != -1 else len(text)


def _conflicts(tokens: Tokens) -> Iterator[tuple[Line, int, Line, Line]]:
    """Give each conflict: the line that opens it, where its first side ends, the line between the sides, the line that closes it."""
    text = tokens.text
    opened: Line | None = None
    between: Line | None = None
    first_end = 0
    for found in _MARK.finditer(text):
        mark, line = found[0][0], found.span()
        if mark == "<" and _token_at(tokens, line[0]):
            opened, between, first_end = line, None, 0
        elif opened and not between and mark in "|=":
            first_end = first_end or line[0]
            between = line if mark == "=" else None
        elif opened and between and mark == ">":
            yield opened, first_end, between, line
            opened = between = None


def _blank(text: str) -> str:
    return _VISIBLE.sub(" ", text)


def _token_at(tokens: Tokens, start: int) -> bool:
    at = bisect_left(tokens.starts, start)
    return at < len(tokens.starts) and tokens.starts[at] == start


def without_odd_comments(tokens: Tokens) -> Tokens:
    """Take out what stands from `//` or `--` to the end of its line where that reads like prose, or where nothing else can stand."""
    ranges = list(islice(_odd_comments(tokens), FAULTS_MAX)) if _BEGINNINGS.intersection(tokens.kinds) else []
    if not ranges:
        return tokens
    made = Tokens(tokens.text, comments=tokens.comments, unclosed=tokens.unclosed)
    done = 0
    for first, end in [*ranges, (len(tokens.kinds), 0)]:
        made.kinds += tokens.kinds[done:first]
        made.starts += tokens.starts[done:first]
        made.ends += tokens.ends[done:first]
        done = end
    made.faults = [*_outside(tokens, ranges), *(_begins_no_comment(tokens, first) for first, _ in ranges)]
    return made


def _odd_comments(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """Give the tokens (first, end) of each comment of another language."""
    text, kinds, starts = tokens.text, tokens.kinds, tokens.starts
    done = ended = 0
    for at, kind in enumerate(kinds):
        if kind not in _BEGINNINGS or at < done or (kind == "MINUS" and not _SIGNS.match(text, starts[at])):
            continue
        line_end = text.find("\n", starts[at])
        done = bisect_left(starts, line_end if line_end != -1 else len(text))
        words = [kinds[number] == "NAME" for number in range(at + 1, done)]
        is_alone = kind == "MINUS" and (at == ended or kinds[at - 1] in _BEFORE_NAMES)
        fits = line_end == -1 or tokens.ends[done - 1] <= line_end
        if fits and (is_alone or any(left and right for left, right in pairwise(words))):
            ended = done
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
    start = tokens.starts[at]
    mark, label = ("//", "merges two values") if tokens.kinds[at] == "MERGE" else ("--", "two signs")
    end = start + len(mark)
    return Fault(
        start,
        end,
        f"`{mark}` begins no comment",
        label,
        help="begin a comment with `#`",
        fix=fix(f"replace `{mark}` by `#`", (start, end, "#")),
    )
