"""JSON is read strictly, and no bytes whatever make the reader fail otherwise than by saying why."""

from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.session.strict import (
    COUNT,
    DIGITS_MAX,
    FLAG,
    TEXT,
    Form,
    JsonValue,
    Malformed,
    Newer,
    choice,
    optional,
    parse,
    record,
    render,
    sequence,
    versioned,
    versions,
)


class Colour(StrEnum):
    RED = "red"


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_a_reason(data: bytes) -> None:
    with suppress(Malformed):
        parse(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is no JSON"),
        (b"\xff", "it is no JSON"),
        (b"{} x", "it is no JSON"),
        (b'{"a":1,"a":1}', "it names a member twice"),
        (b'{"a":{"b":1,"b":2}}', "it names a member twice"),
        (b"NaN", "it holds `NaN`"),
        (b"[-Infinity]", "it holds `-Infinity`"),
        (b"[" * 200_000, "it is nested too deep"),
    ],
)
def test_what_is_no_json_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=f"^{why}"):
        parse(data)


def test_long_integers_neither_fail_nor_lose_a_digit() -> None:
    digits = "9" * (DIGITS_MAX + 1)
    found = parse(f"[9007199254740993, {'1' * DIGITS_MAX}, {digits}]".encode())
    assert found == [2**53 + 1, int("1" * DIGITS_MAX), digits]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_is_written_as_it_is(text: str) -> None:
    data = render(text)
    assert text == parse(data)
    assert data.decode("utf-8")


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\\\ud800", '"\udc00"', "\ud800\ud800"])
def test_half_a_surrogate_pair_comes_back_as_it_was_and_the_bytes_are_utf_8(text: str) -> None:
    data = render({"text": text})
    assert parse(data) == {"text": text}
    assert data.decode("utf-8")


def test_two_halves_that_make_a_character_come_back_as_the_character() -> None:
    expected = "\U0001f600"
    assert expected == parse(render("\ud83d\ude00"))


POINT = record(lambda x, y: (x, y), x=COUNT, y=optional(TEXT))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([], "an object is missing"),
        ({"x": 1}, "member `y` is missing"),
        ({"x": 1, "y": None, "z": 1}, "member `z` is unknown"),
        ({"x": -1, "y": None}, "a count is missing"),
        ({"x": True, "y": None}, "a count is missing"),
        ({"x": 1.0, "y": None}, "a count is missing"),
        ({"x": 1, "y": 2}, "a text is missing"),
    ],
)
def test_an_object_has_exactly_its_members(value: object, why: str) -> None:
    with pytest.raises(Malformed, match=f"^{why}$"):
        POINT.read(value)


@pytest.mark.parametrize(
    ("form", "value"),
    [(FLAG, 1), (TEXT, None), (sequence(TEXT), "ab"), (sequence(TEXT), [1]), (choice(Colour), "blue"), (choice(Colour), [])],
)
def test_a_value_of_another_type_is_refused(form: Form[Any], value: object) -> None:
    with pytest.raises(Malformed):
        form.read(value)


def test_a_payload_of_a_later_version_is_a_newer_programs() -> None:
    form = versioned(2, POINT)
    with pytest.raises(Newer, match="payload version 3"):
        form.read({"v": 3, "anything": 1})
    for version in (1, 0, None, "2"):
        with pytest.raises(Malformed):
            form.read({"v": version, "x": 1, "y": None})
    assert form.read({"v": 2, "x": 1, "y": None}) == (1, None)


# --- values that grew members -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grown:
    """Had a name at first, and a count later."""

    name: str
    count: int = 0


GROWN = versions(record(Grown, name=TEXT), record(Grown, name=TEXT, count=COUNT))


@pytest.mark.parametrize(
    ("value", "written"),
    [(Grown("a"), {"v": 1, "name": "a"}), (Grown("a", 2), {"v": 2, "name": "a", "count": 2})],
)
def test_a_value_that_grew_members_is_written_in_the_earliest_version_that_loses_nothing(value: Grown, written: JsonValue) -> None:
    assert written == GROWN.write(value)
    assert value == GROWN.read(written)


def test_a_later_version_is_read_though_it_says_no_more_than_an_earlier_one() -> None:
    assert Grown("a") == GROWN.read({"v": 2, "name": "a", "count": 0})


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"v": 3, "name": "a", "count": 2, "more": 1}, Newer),
        ({"v": 1, "name": "a", "count": 2}, Malformed),
        ({"v": 2, "name": "a"}, Malformed),
        ({"v": 0, "name": "a"}, Malformed),
        ({"v": True, "name": "a"}, Malformed),
        ({"name": "a"}, Malformed),
        ([], Malformed),
    ],
)
def test_what_no_version_of_it_is_is_told(value: object, problem: type[ValueError]) -> None:
    with pytest.raises(problem):
        GROWN.read(value)
