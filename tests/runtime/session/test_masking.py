"""Known secrets stay out of texts, in whatever form, and nothing else of a text changes."""

import json
import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.session.masking import (
    DEPTH_MAX,
    NO_SECRETS,
    SECRETS_MAX,
    VALUE_CHARACTERS_MAX,
    SecretProblem,
    Secrets,
)

TOKEN = "tok-12345678"  # noqa: S105 -- a secret of nobody
SECRETS = Secrets({"TOKEN": TOKEN, "PASSWORD": 'p"ss\\wörd\n2', "LONG": "tok-12345678-and-more", "OTHER": "5678-and-then"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nothing here", "nothing here"),
        (f"a {TOKEN} b {TOKEN}", "a «secret:TOKEN» b «secret:TOKEN»"),
        (TOKEN * 2, "«secret:TOKEN»«secret:TOKEN»"),
        ("tok-12345678-and-more!", "«secret:TOKEN»«secret:LONG»!"),
        ("tok-12345678-and-then", "«secret:TOKEN»«secret:OTHER»"),
        ("tok-1234567", "tok-1234567"),
        ('p"ss\\wörd\n2', "«secret:PASSWORD»"),
        (f"https://host/?key={quote(TOKEN, safe='')}&x", "https://host/?key=«secret:TOKEN»&x"),
        ("p%22ss%5Cw%C3%B6rd%0A2", "«secret:PASSWORD»"),
        ("p%22ss%5cw%c3%b6rd%0a2", "«secret:PASSWORD»"),
        ('p"ss\\wörd\r\n2', "«secret:PASSWORD»"),
    ],
)
def test_a_value_gives_way_to_its_name(text: str, expected: str) -> None:
    assert expected == SECRETS.mask(text)


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_value_is_found_behind_the_escapes_of_json_within_json(ascii_only: bool) -> None:
    inner: object = {"user": "é\t", "password": 'x p"ss\\wörd\n2 y'}
    for _ in range(DEPTH_MAX - 1):
        inner = {"text": json.dumps(inner, ensure_ascii=ascii_only), "n": 9007199254740993}
        masked = SECRETS.mask(json.dumps(inner, ensure_ascii=ascii_only))
        assert "«secret:PASSWORD»" in masked
        assert "«secret:PASSWORD»" in str(json.loads(masked))
        assert not re.search(r"p\\*\"ss", masked)


def test_every_escape_that_was_there_stays_as_it_was() -> None:
    written = r'{"a":"\u0041\/\ud83d\ude00\ud800", "t":"\u0074ok-\u00312345678\u0021", "n": 1.0, "big": 12345678901234567890123}'
    expected = r'{"a":"\u0041\/\ud83d\ude00\ud800", "t":"«secret:TOKEN»\u0021", "n": 1.0, "big": 12345678901234567890123}'
    assert expected == SECRETS.mask(written)


def test_bytes_that_are_no_text_stay_as_they_are() -> None:
    data = b"\xff\x00" + TOKEN.encode() + b"\xed\xa0\x80\xfe"
    assert b"\xff\x00" + "«secret:TOKEN»".encode() + b"\xed\xa0\x80\xfe" == SECRETS.mask_bytes(data)


def test_a_pair_of_surrogates_that_is_escaped_is_one_character() -> None:
    secrets = Secrets({"SMILE": "smile-😀-smile"})
    assert "«secret:SMILE»" == secrets.mask(r"smile-\ud83d\ude00-smile")


@pytest.mark.parametrize(
    "token",
    [
        "ghp_" + "a1" * 18,
        "sk-" + "A1b2" * 8,
        "AKIA" + "ABCD2345" * 2,
        "xoxb-12345-67890-abc",
        "AIza" + "Ab3_-" * 7,
        "glpat-" + "x9" * 10,
        "sw_" + "Ab3_-xy" * 6 + "Z",
        "sw_" + "0" * 42 + "-",
    ],
)
def test_what_looks_like_a_token_gives_way_though_nobody_named_it(token: str) -> None:
    secrets = Secrets({}, shapes=True)
    masked = secrets.mask(f"TOKEN={token}; and {json.dumps({'out': token})} but x{token}y")
    assert f'TOKEN=«secret:token»; and {{"out": "«secret:token»"}} but x{token}y' == masked
    assert masked == secrets.mask(masked)
    assert token == Secrets({}).mask(token)


def test_without_secrets_everything_stays() -> None:
    assert (TOKEN, b"\xff") == (NO_SECRETS.mask(TOKEN), NO_SECRETS.mask_bytes(b"\xff"))


def test_white_space_around_a_value_is_none_of_it() -> None:
    assert "«secret:TOKEN»" == Secrets({"TOKEN": f" {TOKEN}\n"}).mask(TOKEN)


def test_secrets_show_their_names_alone() -> None:
    assert "Secrets(TOKEN, PASSWORD, LONG, OTHER)" == repr(SECRETS)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("SHORT", "1234567", "has 7 characters"),
        ("BLANK", "        \n", "has 0 characters"),
        ("HUGE", "x" * (VALUE_CHARACTERS_MAX + 1), "has 65537 characters"),
        ("no name", TOKEN, "has a name"),
        ("", TOKEN, "has a name"),
        ("QUOTED", "«12345678»", "holds `«` or `»`"),
        ("secret12", "secret:secret12", "is a part of what takes the place"),
        ("HALF", "12345678\ud800", "is no Unicode text"),
    ],
)
def test_a_value_that_cannot_be_kept_out_of_texts_is_refused_and_not_told(name: str, value: str, why: str) -> None:
    with pytest.raises(SecretProblem) as problem:
        Secrets({name: value})
    assert why in str(problem.value)
    assert not value.strip() or value not in str(problem.value)


def test_there_are_so_many_secrets_and_no_more() -> None:
    Secrets({f"S{number}": f"value-{number:08}" for number in range(SECRETS_MAX)})
    with pytest.raises(SecretProblem):
        Secrets({f"S{number}": f"value-{number:08}" for number in range(SECRETS_MAX + 1)})


# --- laws ---------------------------------------------------------------------------------------------------------------------------

PIECES = st.lists(st.sampled_from([*'ab\\un"/06é%41«»\n', "\\u0061", "\\\\", "\\n", "secret:", "aaaa"]), max_size=60).map("".join)
VALUES = st.text('abun\\"06/é%4\n', min_size=8, max_size=12).filter(lambda value: len(value.strip()) >= 8)
TABLES = st.dictionaries(st.sampled_from(["A", "B", "C"]), VALUES, max_size=3)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Secrets, dict[str, str], str]:
    table = draw(TABLES)
    text = draw(PIECES)
    for value in table.values():
        for _ in range(draw(st.integers(0, 2))):
            form = draw(
                st.sampled_from([value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")])
            )
            at = draw(st.integers(0, len(text)))
            text = text[:at] + form + text[at:]
    return Secrets(table), table, text


@given(cases())
def test_masking_again_changes_nothing_and_no_value_remains(case: tuple[Secrets, dict[str, str], str]) -> None:
    secrets, table, text = case
    masked = secrets.mask(text)
    assert masked == secrets.mask(masked)
    for value in map(str.strip, table.values()):
        for form in (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], quote(value, safe="")):
            assert form not in masked


@given(cases())
def test_what_is_left_of_a_text_is_the_text_in_order(case: tuple[Secrets, dict[str, str], str]) -> None:
    secrets, _, text = case
    pieces = re.split("|".join(f"«secret:{name}»" for name in "ABC"), secrets.mask(text))
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        assert found != -1
        at = found + len(piece)


@given(st.binary(max_size=200))
def test_bytes_without_a_value_stay_byte_for_byte(data: bytes) -> None:
    assert data == Secrets({"TOKEN": TOKEN}).mask_bytes(data)
