"""Patterns that are closed sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.predicates.closed import ALTERNATIVES_MAX, alternatives
from stateward.compiler.predicates.patterns import fault_of, matches


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("^(a|b|c)$", ("a", "b", "c")),
        ("^(?:a|b)$", ("a", "b")),
        ("^(a)$", ("a",)),
        ("^a$", ("a",)),
        ("^$", ("",)),
        ("^(a||a)$", ("a", "")),
        (r"^(v1\.0|a\-b|x\|y)$", None),
        (r"^(v1\.0|a\-b)$", ("v1.0", "a-b")),
        ("^(not done|größer)$", ("not done", "größer")),
        ("^(a\nb)$", ("a\nb",)),
    ],
)
def test_a_pattern_of_literal_alternatives_names_its_texts(pattern: str, texts: tuple[str, ...] | None) -> None:
    assert texts == alternatives(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "a|b",
        "^a|b$",
        "^(a|b)",
        "(a|b)$",
        "^(a|b)*$",
        "^(a.b)$",
        "^(a|b+)$",
        "^[ab]$",
        r"^(\d)$",
        r"^(\n)$",
        "^((a)|b)$",
        "^(?i:a)$",
        "",
        "^a^$",
    ],
)
def test_another_pattern_names_none(pattern: str) -> None:
    assert alternatives(pattern) is None


def test_a_pattern_that_names_too_many_texts_is_not_closed() -> None:
    texts = [f"t{at}" for at in range(ALTERNATIVES_MAX + 1)]
    assert tuple(texts[:-1]) == alternatives(f"^({'|'.join(texts[:-1])})$")
    assert alternatives(f"^({'|'.join(texts)})$") is None


@given(st.text("ab|()^$.\\*?:\n", max_size=8).map(lambda inner: f"^{inner}$"), st.text("ab|()^$.\\*?:\n", max_size=4))
def test_the_texts_are_those_that_the_pattern_matches(pattern: str, text: str) -> None:
    texts = alternatives(pattern)
    if texts is None:
        return
    assert fault_of(pattern) is None
    assert all(matches(pattern, each) for each in texts)
    assert (text in texts) == matches(pattern, text)
