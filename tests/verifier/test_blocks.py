"""Foreign text stands in a block that it cannot close."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.verifier import blocks
from stateward.runtime.verifier.blocks import block, boundary_of

_TEXT = st.text(st.characters(codec=None))


@given(attempt=st.text(max_size=40), content=_TEXT)
def test_a_block_holds_its_content_word_for_word_between_a_boundary_that_is_not_in_it(attempt: str, content: str) -> None:
    boundary = boundary_of(attempt, content)
    assert f"<data {boundary}>\n{content}\n</data {boundary}>" == block(attempt, content)
    assert boundary not in content
    assert 32 == len(boundary)


def test_the_boundary_is_the_same_each_time_and_another_for_another_attempt_or_content() -> None:
    boundaries = [boundary_of(attempt, content) for attempt in ("a", "b") for content in ("x", "y")]
    assert boundaries == [boundary_of(attempt, content) for attempt in ("a", "b") for content in ("x", "y")]
    assert 4 == len(set(boundaries))


def test_a_content_that_holds_the_boundary_of_another_cannot_close_its_own_block() -> None:
    guessed = block("attempt", "inner")
    outer = block("attempt", guessed)
    first, *_, last = outer.split("\n")
    assert first.replace("<data", "</data") == last
    assert 1 == outer.count(last)


def test_a_boundary_that_is_in_the_content_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_BOUNDARY_CHARACTERS", 1)
    contents = [f"{digit:x}{attempt}" for digit in range(16) for attempt in "ghij"]
    assert all(boundary_of("attempt", content) not in content for content in contents)
    with pytest.raises(AssertionError):
        boundary_of("attempt", "0123456789abcdef")
