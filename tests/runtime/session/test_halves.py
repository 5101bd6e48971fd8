"""Halves of characters, where only UTF-8 will do."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core.events import Verdict
from stateward.runtime.session.halves import whole

TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@dataclass(frozen=True, slots=True)
class Told:
    text: str
    inner: tuple["Told", ...] = ()


@given(JSON)
def test_what_comes_out_can_be_written_as_utf_8_and_is_whole(value: object) -> None:
    made = whole(value)
    repr(made)
    assert made == whole(made)
    str(made).encode("utf-8")


@given(st.text())
def test_what_is_whole_is_given_as_it_is(text: str) -> None:
    assert text is whole(text)


def test_each_half_is_told_by_what_stands_for_it_and_values_keep_their_type() -> None:
    assert Told("a\ufffd\ufffdb", (Told("é"),)) == whole(Told("a\ud800\ud800b", (Told("é"),)))
    assert Verdict.MET is whole(Verdict.MET)
    assert {"\ufffd": [None, 1, 0.5, "\U0001f600"]} == whole({"\udc00": [None, 1, 0.5, "\U0001f600"]})
