"""Every limit of a Flow source accepts its exact value and refuses one more; limits count UTF-8 bytes."""

import pytest

from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX, IDENTIFIER_BYTES_MAX, STATES_MAX, TEXT_BYTES_MAX, TRANSITIONS_MAX, FlowLimits
from stateward.compiler.pipeline import compile_source
from tests.compiler.flow.sources import GOOD, changed, states_of, transitions_of


def codes(source: str | bytes, limits: FlowLimits | None = None) -> list[str]:
    data = source if isinstance(source, bytes) else source.encode()
    compilation = compile_source(data) if limits is None else compile_source(data, limits=limits)
    return [each.code for each in compilation.diagnostics]


def padded(size: int, head: bytes = GOOD.encode()) -> bytes:
    return head + b" " * (size - len(head))


@pytest.mark.parametrize(
    ("fits", "code", "one_more"),
    [
        (states_of(STATES_MAX), "too_many_states", states_of(STATES_MAX + 1)),
        (transitions_of(TRANSITIONS_MAX), "too_many_transitions", transitions_of(TRANSITIONS_MAX + 1)),
        (padded(FLOW_SOURCE_BYTES_MAX), "source_too_large", padded(FLOW_SOURCE_BYTES_MAX + 1)),
        (
            padded(FLOW_SOURCE_BYTES_MAX, b"\xef\xbb\xbf" + GOOD.encode()),
            "source_too_large",
            padded(FLOW_SOURCE_BYTES_MAX + 1, b"\xef\xbb\xbf" + GOOD.encode()),
        ),
    ],
    ids=["states", "transitions", "bytes", "bytes with a mark"],
)
def test_counts_and_sizes(fits: str | bytes, code: str, one_more: str | bytes) -> None:
    assert (codes(fits), codes(one_more)) == ([], [code])


@pytest.mark.parametrize(
    ("old", "code"),
    [('name = "paper"', "invalid_name"), ('target = "review"', "invalid_state_id"), ("submit = ", "invalid_transition_id")],
)
def test_identifiers(old: str, code: str) -> None:
    def sized(size: int) -> str:
        name = "n" * size
        if code == "invalid_state_id":
            return changed((old, f'target = "{name}"'), ("    review = {", f"    {name} = {{"))
        return changed((old, old.replace("paper", name).replace("submit", name)))

    assert (codes(sized(IDENTIFIER_BYTES_MAX)), codes(sized(IDENTIFIER_BYTES_MAX + 1))) == ([], [code])


@pytest.mark.parametrize(("old", "code"), [('"Read it."', "instructions_too_large"), ('"It is written."', "condition_too_large")])
@pytest.mark.parametrize(("char", "size"), [("x", 1), ("é", 2), ("日", 3), ("\U0001f600", 4)])
def test_texts_count_bytes(old: str, code: str, char: str, size: int) -> None:
    exact = char * (TEXT_BYTES_MAX // size) + "x" * (TEXT_BYTES_MAX % size)
    assert (codes(changed((old, f'"{exact}"'))), codes(changed((old, f'"{exact}x"')))) == ([], [code])


def test_the_texts_of_an_end_are_bounded_too() -> None:
    assert codes(changed(('instructions = ""', f'instructions = "{" " * (TEXT_BYTES_MAX + 1)}"'))) == ["instructions_too_large"]


def test_what_counts_is_the_value_and_not_how_it_is_written() -> None:
    assert codes(changed(('"Read it."', f'"{chr(92)}{chr(34)}{"x" * (TEXT_BYTES_MAX - 1)}"'))) == []


def test_the_limit_is_shown_where_it_is_passed() -> None:
    for data in (padded(FLOW_SOURCE_BYTES_MAX + 9), b"\xef\xbb\xbf" + padded(FLOW_SOURCE_BYTES_MAX), "é".encode() * FLOW_SOURCE_BYTES_MAX):
        (found,) = compile_source(data).diagnostics
        place = found.primary.place
        assert place.source.byte_offset(place.span.start) == FLOW_SOURCE_BYTES_MAX


def test_too_large_comes_before_anything_else() -> None:
    assert codes(b"\xff" * (FLOW_SOURCE_BYTES_MAX + 1)) == ["source_too_large"]


def test_limits_can_be_lifted() -> None:
    lifted = FlowLimits(states=STATES_MAX + 1, source_bytes=FLOW_SOURCE_BYTES_MAX * 2)
    assert (codes(states_of(STATES_MAX + 1), lifted), codes(padded(FLOW_SOURCE_BYTES_MAX + 1), lifted)) == ([], [])
