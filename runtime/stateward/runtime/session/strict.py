"""JSON between values and bytes, strictly: what is read is exactly what this program writes, or it is refused with the reason.

Invariants: bytes are UTF-8, members in order of declaration; half a surrogate pair is written as its JSON escape, so that any text
comes back as it was (two halves that make a character come back as that character); nothing here fails on a number, however long.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

JsonValue: TypeAlias = "str | int | bool | list[JsonValue] | dict[str, JsonValue] | None"
T = TypeVar("T")
E = TypeVar("E", bound=Enum)

DIGITS_MAX: Final = 400
"""Digits up to which an integer is read as one; a longer one can only be foreign data, which is kept in the payload's bytes."""


class Malformed(ValueError):
    """The bytes are not what any version of this program writes there."""


class Newer(ValueError):
    """The bytes are of a form that a newer program writes."""


def render(value: JsonValue) -> bytes:
    """Write a value as JSON bytes."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def parse(data: bytes) -> object:
    """Read JSON bytes. Raises Malformed when they are none, or name a member twice."""
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_once_each, parse_constant=_no_constant, parse_int=_integer)
    except Malformed:
        raise
    except RecursionError:
        raise Malformed("it is nested too deep") from None
    except ValueError as problem:  # of JSON or of UTF-8
        raise Malformed(f"it is no JSON: {problem}") from None


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("it names a member twice")
    return members


def _no_constant(name: str) -> object:
    raise Malformed(f"it holds `{name}`, which is no JSON")


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= DIGITS_MAX else digits


class Form(NamedTuple, Generic[T]):
    """How values of one type are written and read. `read` raises Malformed or Newer."""

    write: Callable[[T], JsonValue]
    read: Callable[[object], T]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Malformed("a text is missing")
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Malformed("a count is missing")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Malformed("true or false is missing")
    return value


TEXT: Final[Form[str]] = Form(str, _text)
COUNT: Final[Form[int]] = Form(int, _count)
FLAG: Final[Form[bool]] = Form(bool, _flag)


def optional(form: Form[T]) -> Form[T | None]:
    """Give the form of a value or null."""
    return Form(
        lambda value: None if value is None else form.write(value),
        lambda value: None if value is None else form.read(value),
    )


def sequence(form: Form[T]) -> Form[tuple[T, ...]]:
    """Give the form of a tuple, written as an array."""

    def read(value: object) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise Malformed("an array is missing")
        return tuple(map(form.read, value))

    return Form(lambda values: [form.write(each) for each in values], read)


def mapping(form: Form[T]) -> Form[Mapping[str, T]]:
    """Give the form of values by name, written as an object in order of its names."""

    def read(value: object) -> Mapping[str, T]:
        if not isinstance(value, dict):
            raise Malformed("an object is missing")
        return MappingProxyType({name: form.read(given) for name, given in value.items()})

    return Form(lambda values: {name: form.write(values[name]) for name in sorted(values)}, read)


def choice(choices: type[E]) -> Form[E]:
    """Give the form of a member of an enumeration, written as its value."""

    def read(value: object) -> E:
        try:
            return choices(value)
        except ValueError:
            raise Malformed(f"{value!r:.80} is no {choices.__name__}") from None

    return Form(lambda value: str(value.value), read)


def members(value: object, names: tuple[str, ...]) -> dict[str, object]:
    """Read an object that has exactly these members."""
    if not isinstance(value, dict):
        raise Malformed("an object is missing")
    for name in names:
        if name not in value:
            raise Malformed(f"member `{name}` is missing")
    unknown = next((name for name in value if name not in names), None)
    if unknown is not None:
        raise Malformed(f"member `{unknown:.80}` is unknown")
    return value


def record(make: Callable[..., T], **forms: Form[Any]) -> Form[T]:
    """Give the form of a dataclass: an object with a member for each field, all of them there and no other."""
    names = tuple(forms)

    def write(value: T) -> JsonValue:
        return {name: form.write(getattr(value, name)) for name, form in forms.items()}

    def read(value: object) -> T:
        given = members(value, names)
        return make(**{name: form.read(given[name]) for name, form in forms.items()})

    return Form(write, read)


def versioned(version: int, form: Form[T]) -> Form[T]:
    """Give the form of an object that says its version in a first member `v`."""

    def write(value: T) -> JsonValue:
        inner = form.write(value)
        assert isinstance(inner, dict)
        return {"v": version, **inner}

    def read(value: object) -> T:
        if not isinstance(value, dict):
            raise Malformed("an object is missing")
        given = _count(value.get("v"))
        if given < version:
            raise Malformed(f"its payload version is {given}")
        if given > version:
            raise Newer(f"payload version {given}")
        return form.read({name: member for name, member in value.items() if name != "v"})

    return Form(write, read)


def earliest(forms: Sequence[Form[T]], value: T) -> tuple[int, JsonValue]:
    """Write a value in the first form that loses nothing of it, else in the last; give the number of that form, from 1."""
    *earlier, latest = forms
    for number, form in enumerate(earlier, start=1):
        written = form.write(value)
        if form.read(written) == value:
            return number, written
    return len(forms), latest.write(value)


def versions(*forms: Form[T]) -> Form[T]:
    """Give the form of a value that grew members: `forms` are those of version 1 and on.

    A value is written in the earliest version that loses nothing of it, so that what an earlier program can read it goes on reading.
    """
    numbered = [versioned(number, form) for number, form in enumerate(forms, start=1)]

    def read(value: object) -> T:
        number = value.get("v") if isinstance(value, dict) else None
        known = isinstance(number, int) and not isinstance(number, bool) and 1 <= number <= len(numbered)
        return numbered[number - 1 if known and isinstance(number, int) else -1].read(value)

    return Form(lambda value: earliest(numbered, value)[1], read)
