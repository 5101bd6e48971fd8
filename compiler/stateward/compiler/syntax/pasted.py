"""What a text brings along from where it was copied: the head of a diff, the signs of quoted mail, comments and quotes of HTML.

Invariants: this is asked about texts that do not parse; offsets stay those of the text as it was.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import Final

from stateward.compiler.syntax.faults import FAULTS_MAX, Fault, fix
from stateward.compiler.syntax.tokens import Tokens

_DIFF_HEAD: Final = re.compile(r"(?:(?:diff|index) [^\n]*\n){0,8}--- [^\n]*\n\+\+\+ [^\n]*\n(?:@@ [^\n]*(?:\n|\Z))?")
_MAIL_SIGN: Final = re.compile(r"^>(?: ?>)* ?", re.MULTILINE)
_QUOTE: Final = re.compile(r"&(?:quot|#34|#x22);")
_HERE: Final = re.compile(r"=[ \t]*(<<[-~]?)([A-Z][A-Z0-9_]{0,31})[ \t]*\r?(?=\n)")
_VISIBLE: Final = re.compile(r"[^\r\n]")


def without_diff_head(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Blank the lines with which a diff begins; gives the text and what to say."""
    text = tokens.text
    head = _DIFF_HEAD.match(text)
    if not head:
        return text, []
    end = text.index("\n")
    mend = fix("take the head out", (0, head.end(), ""), safe=False)
    fault = Fault(0, end, "the head of a diff is left in the text", "a diff begins here", help="take these lines out", fix=mend)
    return _blank(head[0]) + text[head.end() :], [fault]


def without_mail_signs(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Blank the `>` with which all lines begin, as in an answer to a mail; gives the text and what to say."""
    text = tokens.text
    if not text.startswith(">") or any(line.strip() and not line.startswith(">") for line in text.split("\n")):
        return text, []
    mend = fix("take the signs out", *((each.start(), each.end(), "") for each in _MAIL_SIGN.finditer(text)), safe=False)
    fault = Fault(0, 1, "each line begins with the `>` of quoted mail", "a sign of mail", help="take the `>` out of each line", fix=mend)
    return _MAIL_SIGN.sub(lambda each: _blank(each[0]), text), [fault]


def without_html_comments(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Blank the comments of HTML that stand outside of strings; gives the text and what to say."""
    text = tokens.text
    if "<!--" not in text:
        return text, []
    found = list(islice((each for each in _html_comments(text) if not _is_in_string(tokens, each[0])), FAULTS_MAX))
    pieces, done = [], 0
    for start, end in found:
        pieces += [text[done:start], _blank(text[start:end])]
        done = end
    return "".join([*pieces, text[done:]]), [_begins_no_comment(start) for start, _ in found]


def _html_comments(text: str) -> Iterator[tuple[int, int]]:
    """Give where each begins and ends."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start)
        if end < 0:
            return
        yield start, end + 3
        start = text.find("<!--", end)


def _begins_no_comment(start: int) -> Fault:
    return Fault(start, start + 4, "`<!--` begins no comment", "no comment of DCDL", help="begin each line of a comment with `#`")


def without_html_quotes(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Put quotes where those of HTML stand outside of strings, in pairs; gives the text and what to say."""
    text = tokens.text
    if "&" not in text:
        return text, []
    found = [each for each in _QUOTE.finditer(text) if not _is_in_string(tokens, each.start())]
    if not found or len(found) % 2:
        return text, []
    pieces, done = [], 0
    for number, each in enumerate(found):
        blanks = " " * (len(each[0]) - 1)
        pieces += [text[done : each.start()], f'"{blanks}' if number % 2 else f'{blanks}"']
        done = each.end()
    first = found[0]
    mend = fix('write `"`', *((each.start(), each.end(), '"') for each in found))
    fault = Fault(*first.span(), f"`{first[0]}` is a quote of HTML", "opens no string", help='put strings in `"`', fix=mend)
    return "".join([*pieces, text[done:]]), [fault]


def without_here_texts(tokens: Tokens) -> tuple[str, list[Fault]]:
    """Put an empty string in place of each text that goes from `<<WORD` to a line with the word; gives the text and what to say."""
    text = tokens.text
    pieces, faults, done = [], [], 0
    for found in islice(_HERE.finditer(text), FAULTS_MAX):
        end = text.find(f"\n{found[2]}", found.end())
        if found.start(1) < done or end < 0 or _is_in_string(tokens, found.start(1)):
            continue
        end += 1 + len(found[2])
        pieces += [text[done : found.start(1)], '""', _blank(text[found.start(1) + 2 : end])]
        done = end
        start, mark_end = found.start(1), found.end(2)
        mark = f"`{text[start:mark_end]}`"
        faults.append(
            Fault(start, mark_end, f"{mark} opens no string", "no string of DCDL", help='put the text in `"`; it may have many lines')
        )
    return "".join([*pieces, text[done:]]), faults


def _is_in_string(tokens: Tokens, at: int) -> bool:
    token = bisect_right(tokens.starts, at) - 1
    in_string = token >= 0 and tokens.kinds[token] == "STRING" and at < tokens.ends[token]
    comment = bisect_right(tokens.comments, at, key=lambda each: each.start) - 1
    return in_string or (comment >= 0 and at < tokens.comments[comment].end)


def _blank(text: str) -> str:
    return _VISIBLE.sub(" ", text)
