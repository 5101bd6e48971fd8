"""What a text holds that is no token of the language: characters without meaning, other kinds of comments and quotes, open strings.

Invariants: each function takes at least one character and gives the offset after it; each fault is reported once, and a token is left in
its place wherever the author's meaning is plain, so that the parser finds nothing to add.
"""

import re
import unicodedata
from typing import Final

from stateward.compiler.diagnostics.model import Fix
from stateward.compiler.diagnostics.wording import character, counted, quoted
from stateward.compiler.syntax.faults import Fault, Note, fix
from stateward.compiler.syntax.lookalikes import plain_like
from stateward.compiler.syntax.tokens import CLOSERS, ERROR, PUNCTUATION, Tokens

CONTROL: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff"
"""Characters that may stand nowhere, as the inside of a character class: controls, and halves of surrogate pairs."""
PLACES_MAX: Final = 1_000
"""Places of one invisible character that are remembered for its fix."""
FIX_MAX: Final = 10_000
"""Code points of a text that a fix repeats."""
_CONTROL: Final = re.compile(f"[{CONTROL}]+")
_RUN: Final = re.compile(r"([\s\S])\1*")
_STRING: Final = re.compile(r'"[^"\\]*(?:\\[\s\S][^"\\]*)*"')
_PATTERN: Final = re.compile(r"/(?:[^/\\\n]|\\[^\n])+/")
_FORMAT: Final = r"\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"
_ODD_WORD: Final = re.compile(rf"(?:[$@]?[^\W]|(?<=\w)[{_FORMAT}]+(?=\w))[\w$@\u0300-\u036f]*(?:[{_FORMAT}]+[\w$@\u0300-\u036f]+)*")
_BARE_QUOTE: Final = re.compile(r'(?<!\\)((?:\\\\)*)"')
_KEY_FOLLOWS: Final = re.compile(r"[ \t\r\n]*=(?![=>])")
_OTHER_STRING: Final = re.compile(
    rf"'[^'\n{CONTROL}]*'|`[^`\n{CONTROL}]*`|[“”„][^“”\n{CONTROL}]*[“”]|[‘’‚][^‘’\n{CONTROL}]*[‘’]|«[^»\n{CONTROL}]*»"
)
_CLOSES: Final = re.compile(r'(?<=[\w.!?])"[ \t]*(?:[;,)}\]]|\r?$)', re.MULTILINE)
"""A quote that ends a string, by what stands around it."""
_FIELD_FOLLOWS: Final = re.compile(r"([^;]+);[ \t]*[A-Za-z]\w*[ \t]*=[ \t]*\Z")
_MARKS_FOLLOW: Final = re.compile(r"([^;}\])]*[^;}\])\s])[ \t]*[;}\])][;}\]) \t\r]*\Z")
"""A text that lacks its quote, as the first group, and what goes on after it."""
_QUOTE_MEANT_TO_CLOSE: Final = re.compile(r'(?<!\\)\\"(?=[ \t]*[;,)}\]][;,)}\] \t]*\r?$)', re.MULTILINE)
"""A quote behind a backslash that ends a value, by what follows on its line."""
_BEFORE_STRINGS: Final = frozenset({"EQUAL", "SEMICOLON", "COMMA", "COLON", "CONCAT", "EQ", "NE", "MERGE", "COMPOSE", *CLOSERS})
_OTHER_QUOTES: Final = frozenset("'`“”„‘’‚«")
_OPENS_VALUE: Final = re.compile(r"[ \t]*[{\[(][{}\[\]() \t]*(?:\r?\n|\Z)")
"""What makes `//` a merge that lacks its left side, and no comment: a bracket that is open at the end of the line."""
_PATTERN_TAIL: Final = " \t\r;,)]}"


def control_in_comment(tokens: Tokens, at: int) -> int:
    """Note the control characters of a comment from `at` on; gives the end of its line."""
    line_end = _line_end(tokens.text, at)
    _note_controls(tokens, at, line_end)
    return line_end


def odd_slash(tokens: Tokens, start: int) -> int:
    """Take a slash that is no operator: a comment of another language, which leaves no token, or a pattern that is not right."""
    text = tokens.text
    if text.startswith("//", start):
        if _OPENS_VALUE.match(text, start + 2):
            return tokens.add("MERGE", start, start + 2)
        return _line_comment(tokens, start)
    if text.startswith("/*", start):
        return _block_comment(tokens, start)
    closed = _PATTERN.match(text, start)
    if closed:
        _note_controls(tokens, start, closed.end())
        return tokens.add("REGEX", start, closed.end())
    end = start + len(text[start : _line_end(text, start)].rstrip(_PATTERN_TAIL))
    tokens.faults.append(Fault(start, end, "a pattern is not closed on its line", "opened here", help="close the pattern with `/`"))
    return tokens.add(ERROR, start, end)


def odd_character(tokens: Tokens, start: int) -> int:
    """Take what begins with a character that begins no token."""
    char = tokens.text[start]
    if char == '"':
        return _string(tokens, start)
    if char in _OTHER_QUOTES:
        return _other_string(tokens, start)
    if char == ".":
        return _dots(tokens, start)
    if char == "|":
        tokens.faults.append(Fault(start, start + 1, "a single `|` is no operator", "not an operator", help="write `||` for “or”"))
        return tokens.add("OR", start, start + 1)
    word = _ODD_WORD.match(tokens.text, start)
    if word or unicodedata.category(char)[0] == "M":
        return _odd_word(tokens, start, word.end() if word else start + 1)
    if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}:
        return _invisible(tokens, start, _run_end(tokens.text, start), inside=False)
    return _stray(tokens, start)


def report_invisible(tokens: Tokens) -> None:
    """Report each invisible character once, with all its places."""
    for (char, inside), places in tokens.invisible.items():
        start, end = places[0]
        kind = {"Cc": "the control character ", "Cs": "the lone surrogate "}.get(unicodedata.category(char))
        what = f"{kind}U+{ord(char):04X}" if kind else character(char)
        more = (f"it stands in {counted(len(places) - 1, 'more place')}",) if len(places) > 1 else ()
        message = f"{what} stands in a text" if inside else f"{what} has no meaning in DCDL"
        tokens.faults.append(
            Fault(start, end, message, "this character", notes=more, fix=None if inside else _without_invisible(char, places))
        )


def _without_invisible(char: str, places: list[tuple[int, int]]) -> Fix | None:
    if len(places) == PLACES_MAX:
        return None
    blank = "" if unicodedata.category(char) in {"Cf", "Cs"} else " "
    title = "replace it by spaces" if blank else "take it out"
    return fix(title, *((start, end, blank * (end - start)) for start, end in places))


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end == -1 else end


def _run_end(text: str, start: int) -> int:
    """Give where a run of one character ends."""
    run = _RUN.match(text, start)
    assert run is not None
    return run.end()


def _note_controls(tokens: Tokens, start: int, end: int) -> None:
    for found in _CONTROL.finditer(tokens.text, start, end):
        at = found.start()
        while at < found.end():
            at = _invisible(tokens, at, min(_run_end(tokens.text, at), end), inside=True)


def _invisible(tokens: Tokens, start: int, end: int, *, inside: bool) -> int:
    places = tokens.invisible.setdefault((tokens.text[start], inside), [])
    if places and places[-1][1] == start:
        places[-1] = (places[-1][0], end)
    elif len(places) < PLACES_MAX:
        places.append((start, end))
    return end


def _line_comment(tokens: Tokens, start: int) -> int:
    end = _line_end(tokens.text, start)
    tokens.faults.append(
        Fault(
            start,
            start + 2,
            "`//` begins no comment",
            "merges two values elsewhere",
            help="begin a comment with `#`",
            fix=fix("replace `//` by `#`", (start, start + 2, "#")),
        )
    )
    return end


def _block_comment(tokens: Tokens, start: int) -> int:
    text = tokens.text
    closed = text.find("*/", start + 2)
    end = closed + 2 if closed != -1 else _line_end(text, start)
    mend = None
    if closed != -1 and not text[end : _line_end(text, end)].strip(" \t\r"):
        lines = [line.strip(" \t\r").removeprefix("*").strip() for line in text[start + 2 : closed].split("\n")]
        mend = fix("make it a `#` comment", (start, end, "\n".join(f"# {line}".rstrip() for line in lines)))
    tokens.faults.append(
        Fault(start, start + 2, "`/*` begins no comment", "no comment of DCDL", help="begin each line of a comment with `#`", fix=mend)
    )
    return end


def _string(tokens: Tokens, start: int) -> int:
    if tokens.text.startswith('"""', start):
        return _tripled_quotes(tokens, start)
    closed = _STRING.match(tokens.text, start)
    if closed:
        _note_controls(tokens, start, closed.end())
        return tokens.add("STRING", start, closed.end())
    start = _opened(tokens, start)
    if _CLOSES.match(tokens.text, start):
        return _unopened_string(tokens, start)
    tokens.faults.append(_never_closed(tokens, start))
    tokens.unclosed = True
    return tokens.add(ERROR, start, len(tokens.text))


def _never_closed(tokens: Tokens, start: int) -> Fault:
    found = _QUOTE_MEANT_TO_CLOSE.search(tokens.text, start + 1, _line_end(tokens.text, start))
    if found:
        at = found.start()
        doubled = fix("write the backslash twice", (at, at, "\\"), safe=False)
        notes = ('`\\"` is a quote inside of the string',)
        return Fault(
            start, start + 1, "a string is never closed", "opened here", help="write `\\\\` for a backslash", notes=notes, fix=doubled
        )
    mend = _closed_on_its_line(tokens.text, start)
    return Fault(start, start + 1, "a string is never closed", "opened here", help='close the string with `"`', fix=mend)


def _closed_on_its_line(text: str, start: int) -> Fix | None:
    """Close a string before the next field on its line, or before the marks that end the line."""
    line_end = _line_end(text, start)
    quote = text.find('"', start + 1, line_end)
    found = _FIELD_FOLLOWS.match(text, start + 1, quote) if quote != -1 else _MARKS_FOLLOW.match(text, start + 1, line_end)
    return fix('insert `"`', (found.end(1), found.end(1), '"'), safe=False) if found else None


def _opened(tokens: Tokens, start: int) -> int:
    """Find the quote that was left open. A string over several lines whose last quote touches a word took the opening quote of another."""
    for number, kind in enumerate(tokens.kinds):
        opened, end = tokens.starts[number], tokens.ends[number]
        touching = end == start or (number + 1 < len(tokens.starts) and tokens.starts[number + 1] == end)
        if kind == "STRING" and touching and "\n" in tokens.text[opened:end] and (end == start or _is_word(tokens, number + 1)):
            del tokens.kinds[number:], tokens.starts[number:], tokens.ends[number:]
            tokens.faults[:] = [fault for fault in tokens.faults if fault.start < opened]
            tokens.invisible = {key: places for key, places in tokens.invisible.items() if places[0][0] < opened}
            tokens.comments[:] = [comment for comment in tokens.comments if comment.start < opened]
            return opened
    return start


def _unopened_string(tokens: Tokens, quote: int) -> int:
    """Take a string whose opening quote was left out: it began after the last mark that stands before its end on its line."""
    text, kinds, starts, ends = tokens.text, tokens.kinds, tokens.starts, tokens.ends
    begin = len(kinds)
    while begin and kinds[begin - 1] not in _BEFORE_STRINGS and "\n" not in text[starts[begin - 1] : quote]:
        begin -= 1
    start = starts[begin]
    del kinds[begin:], starts[begin:], ends[begin:]
    tokens.faults[:] = [fault for fault in tokens.faults if fault.start < start]
    if text[start] == '"':
        tokens.faults.append(_never_closed(tokens, start))
        return tokens.add(ERROR, start, quote + 1)
    tokens.faults.append(
        Fault(
            start,
            start,
            "the opening quote of a string is missing",
            '`"` belongs here',
            help='write `"` where the string begins',
            secondary=(Note(quote, quote + 1, "closed here"),),
            fix=fix('insert `"`', (start, start, '"'), safe=False),
        )
    )
    return tokens.add(ERROR, start, quote + 1)


def _is_word(tokens: Tokens, number: int) -> bool:
    return tokens.kinds[number] not in CLOSERS and tokens.text[tokens.starts[number]].isalnum()


def _tripled_quotes(tokens: Tokens, start: int) -> int:
    """Take a string in tripled quotes, or, where those are not closed, the empty string that the first two are."""
    text = tokens.text
    closed = text.find('"""', start + 3)
    if closed == -1:
        return tokens.add("STRING", start, start + 2)
    body = _BARE_QUOTE.sub(r'\1\\"', text[start + 3 : closed])
    mend = fix('quote it by one `"`', (start, closed + 3, f'"{body}"')) if len(body) < FIX_MAX else None
    message, label = "a string is in tripled quotes", "one quote is enough"
    tokens.faults.append(Fault(start, start + 3, message, label, help='put strings in `"`; they may have many lines', fix=mend))
    return tokens.add(ERROR, start, closed + 3)


def _other_string(tokens: Tokens, start: int) -> int:
    found = _OTHER_STRING.match(tokens.text, start)
    if not found or tokens.text.startswith("```", start):
        return _stray(tokens, start)
    end = found.end()
    body = _BARE_QUOTE.sub(r'\1\\"', tokens.text[start + 1 : end - 1])
    tokens.faults.append(
        Fault(
            start,
            end,
            f"{'a backtick' if tokens.text[start] == '`' else character(tokens.text[start])} opens no string",
            "quoted in another way",
            help='put strings in `"`',
            fix=fix('replace the quotes by `"`', (start, end, f'"{body}"')),
        )
    )
    return tokens.add("STRING", start, end)


def _dots(tokens: Tokens, start: int) -> int:
    end = _run_end(tokens.text, start)
    rest = end - start > 3
    tokens.faults.append(
        Fault(
            start,
            end,
            f"{quoted(tokens.text[start:end])} has no meaning in DCDL",
            "too many dots" if rest else "two dots",
            help="write `...` before a rest" if rest else "write one dot between two names",
        )
    )
    return tokens.add("ELLIPSIS" if rest else "DOT", start, end)


def _odd_word(tokens: Tokens, start: int, end: int) -> int:
    """Take a word with letters that names cannot have; a name right before it is its beginning."""
    odd = start
    if tokens.kinds and tokens.ends[-1] == start and tokens.text[tokens.starts[-1]].isalpha():
        tokens.kinds.pop(), tokens.ends.pop()
        start = tokens.starts.pop()
    word = tokens.text[start:end]
    is_key = bool(_KEY_FOLLOWS.match(tokens.text, end)) or bool(tokens.kinds and tokens.kinds[-1] == "DOT")
    char = tokens.text[odd]
    help_, mend = None, None
    if unicodedata.category(char) == "Cf":
        help_, mend = "take it out", fix("take it out", (odd, odd + 1, ""), safe=False)
    elif is_key and (like := plain_like(word)) is not None:
        help_, mend = f"write {quoted(like)} in letters of ASCII", fix("write it in ASCII", (start, end, like), safe=False)
    elif is_key:
        help_, mend = f'quote the name: `"{word}"`', fix("quote the name", (start, end, f'"{word}"'))
    notes = () if char in "$@" else ("a plain name has the letters A to Z, digits and `_`",)
    tokens.faults.append(
        Fault(odd, odd + 1, f"{character(char)} stands in no plain name", "not a letter of names", help=help_, notes=notes, fix=mend)
    )
    return tokens.add("NAME" if is_key else ERROR, start, end)


def _stray(tokens: Tokens, start: int) -> int:
    char = tokens.text[start]
    end = _run_end(tokens.text, start)
    meant = unicodedata.normalize("NFKC", char)
    kind = PUNCTUATION.get(meant, ERROR)
    if kind != ERROR and kind not in CLOSERS and kind not in CLOSERS.values() and end == start + 1:
        tokens.faults.append(
            Fault(
                start,
                end,
                f"{character(char)} is not `{meant}`",
                "looks alike",
                help=f"write `{meant}`",
                fix=fix(f"replace it by `{meant}`", (start, end, meant)),
            )
        )
        return tokens.add(kind, start, end)
    help_ = "write `match condition { true: …; false: …; }`" if char == "?" else None
    tokens.faults.append(Fault(start, end, f"{character(char)} has no meaning in DCDL", "not a mark of DCDL", help=help_))
    return tokens.add(ERROR, start, end)
