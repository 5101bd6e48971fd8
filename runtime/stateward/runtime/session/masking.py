"""Keeps secrets out of whatever is stored or shown: each known value gives way to `«secret:NAME»`.

A value is found as it is, percent-encoded, and behind any escapes of JSON, one in another a few deep, for logs hold JSON within JSON; it
need not lie in sound JSON. Values that overlap give way together. Invariants: pure and deterministic; what is masked holds none of the
values in any of these forms, and is masked no further; every character outside of what gave way stays as it was, escapes included.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

from stateward.runtime.core.texts import is_unicode

VALUE_CHARACTERS_MIN: Final = 8
"""A shorter value would be found in texts that have nothing to do with it."""
VALUE_CHARACTERS_MAX: Final = 64 * 1024
SECRETS_MAX: Final = 256
DEPTH_MAX: Final = 4
"""Escapes within escapes that are looked behind."""
_OPEN, _CLOSE = "«", "»"
_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_ESCAPE: Final = re.compile(r'\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]')
_HEX: Final = re.compile(r"%[0-9A-F]{2}")


_SHAPES: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255}|glpat-[A-Za-z0-9_-]{20,255}"
    r"|sk-[A-Za-z0-9_-]{20,255}|xox[abeprs]-[A-Za-z0-9-]{10,255}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|sw_[A-Za-z0-9_-]{43})(?![A-Za-z0-9])"
)
"""Tokens that say by their shape what they are: those of GitHub, GitLab, OpenAI and its like, Slack, AWS and Google, and our own."""
SHAPED: Final = "token"
"""What stands in the placeholder of a value that only its shape gives away."""


class SecretProblem(ValueError):
    """A value that cannot be kept out of texts. The text names it and never holds it."""


class _Span(NamedTuple):
    """A part of a text that is to give way."""

    start: int
    end: int
    name: str


class _Needle(NamedTuple):
    text: str
    name: str


class Secrets:
    """Named values that are kept out of texts. Its own text shows none of them."""

    def __init__(self, values: Mapping[str, str], *, shapes: bool = False) -> None:
        """Take values by name; white space around them does not belong to them. With `shapes`, what looks like a token gives way too.

        Raises SecretProblem.
        """
        if len(values) > SECRETS_MAX:
            raise SecretProblem(f"{len(values)} secrets are over the limit of {SECRETS_MAX}")
        self._needles = tuple(_needles({name: value.strip() for name, value in values.items()}))
        self._shapes = shapes
        self.names: Final = tuple(values)

    def __repr__(self) -> str:
        """Name them."""
        return f"Secrets({', '.join(self.names)})"

    def mask(self, text: str) -> str:
        """Give a text without any of the values."""
        if not (self._needles or self._shapes):
            return text
        for _ in range(len(text) + 1):  # each pass takes characters away that none puts back
            spans = _merged(self._spans(text, DEPTH_MAX))
            if not spans:
                return text
            text = _replaced(text, spans)
        raise AssertionError("masking ends")

    def mask_bytes(self, data: bytes) -> bytes:
        """Give bytes without any of the values; what of them is no UTF-8 stays as it is."""
        if not (self._needles or self._shapes):
            return data
        return self.mask(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def _spans(self, text: str, depth: int) -> Iterator[_Span]:
        for needle in self._needles:
            at = text.find(needle.text)
            while at != -1:
                yield _Span(at, at + len(needle.text), needle.name)
                at = text.find(needle.text, at + 1)
        if self._shapes:
            yield from (_Span(*found.span(), SHAPED) for found in _SHAPES.finditer(text))
        if depth and "\\" in text:
            unescaped = _Unescaped(text)
            if unescaped.text != text:
                yield from (unescaped.back(each) for each in self._spans(unescaped.text, depth - 1))


def placeholder(name: str) -> str:
    """Give what stands where a secret stood."""
    return f"{_OPEN}secret:{name}{_CLOSE}"


def _needles(values: Mapping[str, str]) -> Iterator[_Needle]:
    for name, value in values.items():
        problem = _problem(name, value, values)
        if problem is not None:
            raise SecretProblem(f"secret `{name:.64}` {problem}")
        encoded = quote(value, safe="")
        lower = _HEX.sub(lambda found: found[0].lower(), encoded)
        # In JSON it may stand right behind a backslash, with which its first character makes another escape.
        written = (json.dumps(value, ensure_ascii=False)[1:-1], json.dumps(value)[1:-1])
        forms = (value, value.replace("\n", "\r\n"), encoded, lower, *written)
        yield from (_Needle(text, name) for text in dict.fromkeys(forms))


def _problem(name: str, value: str, values: Iterable[str]) -> str | None:
    if _NAME.fullmatch(name) is None:
        return "has a name that is more than 64 letters, digits, `_`, `.` and `-`, or has others"
    if not VALUE_CHARACTERS_MIN <= len(value) <= VALUE_CHARACTERS_MAX:
        return f"has {len(value)} characters, and {VALUE_CHARACTERS_MIN} to {VALUE_CHARACTERS_MAX} can be kept out of a text"
    if not is_unicode(value):
        return "is no Unicode text"
    if _OPEN in value or _CLOSE in value:
        return f"holds `{_OPEN}` or `{_CLOSE}`, which stand around what takes its place"
    if any(value in placeholder(each) for each in values):
        return "is a part of what takes the place of a secret"
    return None


def _merged(spans: Iterable[_Span]) -> list[tuple[int, int, list[str]]]:
    """Join the spans that overlap."""
    merged: list[tuple[int, int, list[str]]] = []
    for start, end, name in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, names = merged[-1]
            merged[-1] = (first, max(last, end), names if name in names else [*names, name])
        else:
            merged.append((start, end, [name]))
    return merged


def _replaced(text: str, spans: Iterable[tuple[int, int, list[str]]]) -> str:
    pieces, done = list[str](), 0
    for start, end, names in spans:
        pieces += [text[done:start], *map(placeholder, names)]
        done = end
    return "".join([*pieces, text[done:]])


class _Unescaped:
    """A text with the escapes of JSON resolved, and where each of its characters came from."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        """Where each piece begins here."""
        self._sources: list[tuple[int, int]] = []
        """Where it was there; a piece is an escape, which became one character, or what lies between two."""
        pieces, here, done = list[str](), 0, 0
        for found in _ESCAPE.finditer(text):
            for start, end, piece in ((done, found.start(), text[done : found.start()]), (*found.span(), _character(found[0]))):
                if piece:
                    self._starts.append(here)
                    self._sources.append((start, end))
                    pieces.append(piece)
                    here += len(piece)
            done = found.end()
        self._starts.append(here)
        self._sources.append((done, len(text)))
        self.text: Final = "".join([*pieces, text[done:]])

    def back(self, span: _Span) -> _Span:
        """Give where a span of this text lies in the one it was made of."""
        return _Span(self._source(span.start)[0], self._source(span.end - 1)[1], span.name)

    def _source(self, at: int) -> tuple[int, int]:
        place = bisect_right(self._starts, at) - 1
        start, end = self._sources[place]
        length = (self._starts[place + 1] if place + 1 < len(self._starts) else len(self.text)) - self._starts[place]
        if end - start != length:  # an escape
            return start, end
        return start + at - self._starts[place], start + at - self._starts[place] + 1


def _character(escape: str) -> str:
    """Resolve one escape; half a surrogate pair stays half a pair."""
    return str(json.loads(f'"{escape}"'))


NO_SECRETS: Final = Secrets({})
