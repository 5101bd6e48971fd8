"""The widths of texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.drawing.measure import cut, text_width, wrap

ANY = st.text(st.sampled_from("abcWiil_- 状態é…"), max_size=80)


@pytest.mark.parametrize(
    ("text", "bold", "thousandths"),
    [
        ("", False, 0),
        ("Hello", False, 722 + 556 + 222 + 222 + 556),
        ("Hello", True, 722 + 556 + 278 + 278 + 611),
        ("iiii", False, 888),
        ("MMMM", False, 3332),
        ("状態", False, 2000),
        ("e\u0301", False, 556),
        ("é", False, 667),
    ],
)
def test_a_text_is_as_wide_as_the_font_says(text: str, bold: bool, thousandths: int) -> None:
    assert thousandths / 100 == pytest.approx(text_width(text, 10, bold=bold))


@pytest.mark.parametrize("bold", [False, True])
def test_every_character_of_ascii_has_a_width_of_its_own(bold: bool) -> None:
    widths = [text_width(chr(code), 1000, bold=bold) for code in range(0x20, 0x7F)]
    assert (191 if not bold else 238, 1015 if not bold else 975) == (min(widths), max(widths))


@given(ANY, st.floats(20, 300), st.integers(1, 4))
def test_a_wrapped_text_is_whole_and_fits(text: str, width: float, lines_max: int) -> None:
    lines = wrap(text, width, 12, lines_max)
    assert len(lines) <= lines_max
    assert [line for line in lines if text_width(line, 12) > width and len(line) > 1 + line.endswith("…")] == []
    whole = "".join(lines).replace(" ", "")
    assert text.replace(" ", "").startswith(whole.removesuffix("…"))
    assert whole == text.replace(" ", "") or lines[-1].endswith("…")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("short", ("short",)),
        ("waiting_for_the_operator", ("waiting_for_", "the_operator")),
        ("request-changes-again", ("request-", "changes-again")),
        ("WWWWWWWWWWWWWWWW", ("WWWWWWW", "WWWWWW…")),
    ],
)
def test_names_are_broken_where_they_have_joints(text: str, lines: tuple[str, ...]) -> None:
    assert lines == wrap(text, 80, 12, 2)


def test_what_is_cut_says_so() -> None:
    assert ("abc", "ab…") == (cut("abc", 60, 12), cut("abcdefgh", 26, 12))
