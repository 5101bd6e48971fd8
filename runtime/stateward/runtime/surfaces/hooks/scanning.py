"""JSON that another program wrote, taken apart without being rewritten: each value is kept as the text that stood there.

Invariants: a number keeps all its digits and half a surrogate pair its escape; nothing fails but with Unreadable, however the text is
nested or long its numbers are.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder(parse_int=str, parse_float=str)


class Unreadable(ValueError):
    """A text is not the JSON that is wanted."""


def members_of(text: str) -> Mapping[str, str]:
    """Give the members of an object, each as it was written; of two with one name the later. Raises Unreadable."""
    try:
        return _members(text)
    except (ValueError, RecursionError, IndexError):
        raise Unreadable("it is no object in JSON") from None


def elements_of(text: str) -> tuple[str, ...]:
    """Give the elements of an array, each as it was written. Raises Unreadable."""
    try:
        return _elements(text)
    except (ValueError, RecursionError, IndexError):
        raise Unreadable("it is no array in JSON") from None


def value_of(text: str) -> Any:
    """Give the value of a text; numbers as they were written. Raises Unreadable."""
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise Unreadable("it is no JSON") from None


def text_in(members: Mapping[str, str], name: str) -> str:
    """Give the text of a member; empty where there is none, or where it is no text."""
    raw = members.get(name, "")
    value = value_of(raw) if raw.startswith('"') else ""
    return value if isinstance(value, str) else ""


def object_of(**members: str) -> str:
    """Write an object out of members that are written already."""
    return "{" + ",".join(f'"{name}":{raw}' for name, raw in members.items()) + "}"


def _after(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _members(text: str) -> Mapping[str, str]:
    members = dict[str, str]()
    at = _after(text, _expected(text, _after(text, 0), "{"))
    while text[at] != "}":
        if members:
            at = _after(text, _expected(text, at, ","))
        _expected(text, at, '"')
        name, at = _DECODER.raw_decode(text, at)
        start = _after(text, _expected(text, _after(text, at), ":"))
        _, end = _DECODER.raw_decode(text, start)
        members[name] = text[start:end]
        at = _after(text, end)
    _require_end(text, at + 1)
    return members


def _elements(text: str) -> tuple[str, ...]:
    elements = list[str]()
    at = _after(text, _expected(text, _after(text, 0), "["))
    while text[at] != "]":
        if elements:
            at = _after(text, _expected(text, at, ","))
        _, end = _DECODER.raw_decode(text, at)
        elements.append(text[at:end])
        at = _after(text, end)
    _require_end(text, at + 1)
    return tuple(elements)


def _expected(text: str, at: int, character: str) -> int:
    if text[at] != character:
        raise Unreadable(f"`{character}` is missing")
    return at + 1


def _require_end(text: str, at: int) -> None:
    if _after(text, at) != len(text):
        raise Unreadable("something follows")
