"""Differences between two texts: true, small where they can be, and bounded."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core.texts import size_of
from stateward.runtime.engine import differences
from stateward.runtime.engine.differences import difference
from stateward.runtime.ports import DIFFERENCE_BYTES_MAX

LINES = st.sampled_from(
    ["", "a", "b", "c", "-x", "+x", "@@ -1 +1 @@", "\\ No newline at end of file", "é\u2028\x85\x0b", "\r", "a\r", "\ufeff"]
)
TEXTS = st.lists(LINES, max_size=40).map("\n".join)


def applied(old: bytes, shown: str) -> bytes:
    """Apply a unified diff as anybody would who reads it line by line."""
    before = old.split(b"\n")
    ended = before.pop() == b""
    if not ended:
        before = old.split(b"\n")
    lines = [line + b"\n" for line in before]
    if lines and not ended:
        lines[-1] = lines[-1][:-1]
    result: list[bytes] = []
    at = 0
    body = shown.split("\n")[:-1]
    body = body[next((n for n, line in enumerate(body) if line.startswith("+++ ")), len(body)) + 1 :]
    for number, line in enumerate(body):
        if line.startswith("@@ "):
            start, _, count = line.split()[1][1:].partition(",")
            first = int(start) - (0 if count == "0" else 1)
            result += lines[at:first]
            at = first
        elif not line.startswith("\\"):
            unended = number + 1 < len(body) and body[number + 1].startswith("\\")
            text = line[1:].encode() + (b"" if unended else b"\n")
            if line[0] in " -":
                assert text == lines[at]
                at += 1
            if line[0] in " +":
                result.append(text)
    return b"".join([*result, *lines[at:]])


def shown(old: str | bytes, new: str | bytes) -> str:
    first, second = (text.encode() if isinstance(text, str) else text for text in (old, new))
    answer = difference(first, second, "paper revision 1", "paper revision 2")
    assert not answer.cut
    return answer.text


def test_the_same_bytes_have_no_difference() -> None:
    answer = difference(b"a\n", b"a\n", "one", "two")
    assert ("one", "two", "", False) == (answer.old, answer.new, answer.text, answer.cut)


def test_a_changed_line_is_shown_with_the_lines_around_it() -> None:
    old = "".join(f"{number}\n" for number in range(1, 21))
    expected = """--- paper revision 1
+++ paper revision 2
@@ -2,7 +2,8 @@
 2
 3
 4
-5
+five
+and more
 6
 7
 8
@@ -14,7 +15,6 @@
 14
 15
 16
-17
 18
 19
 20
"""
    assert expected == shown(old, old.replace("\n5\n", "\nfive\nand more\n").replace("\n17\n", "\n"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
        ("a\n", "", "@@ -1 +0,0 @@\n-a\n"),
        ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("a\nb", "b", "@@ -1,2 +1 @@\n-a\n b\n\\ No newline at end of file\n"),
    ],
)
def test_texts_that_are_empty_or_end_without_a_line_end_are_told_as_such(old: str, new: str, expected: str) -> None:
    assert "--- paper revision 1\n+++ paper revision 2\n" + expected == shown(old, new)


def test_line_ends_that_differ_are_said_in_words_and_are_in_the_lines() -> None:
    expected = """line ends: 2 CR LF in the first, 2 LF in the second
--- paper revision 1
+++ paper revision 2
@@ -1,2 +1,2 @@
-a\r
-b\r
+a
+b
"""
    assert expected == shown("a\r\nb\r\n", "a\nb\n")


def test_one_line_end_among_others_that_differs_is_said_in_words() -> None:
    assert shown("a\r\nb\n", "a\r\nb\r\n").startswith("line ends: 1 CR LF and 1 LF in the first, 2 CR LF in the second\n")
    assert shown("a\r\nb\nc\r\n", "a\r\nb\nc\n").startswith("line ends: 2 CR LF and 1 LF in the first, 1 CR LF and 2 LF in the second\n")


@pytest.mark.parametrize(("old", "new", "which"), [("\ufeffa\n", "a\n", "first"), ("a\n", "\ufeffa\n", "second")])
def test_a_byte_order_mark_is_said_in_words(old: str, new: str, which: str) -> None:
    assert shown(old, new).startswith(f"byte-order mark: only in the {which}\n--- ")


def test_bytes_that_are_no_unicode_are_shown_and_told_apart() -> None:
    assert "-\\xff\n+\\xfe\n" in shown(b"\xff\n", b"\xfe\n")


def test_only_a_line_feed_ends_a_line() -> None:
    assert "-a\u2028b\x85c\x0bd\re\n" in shown("a\u2028b\x85c\x0bd\re\n", "a\n")


@given(TEXTS, TEXTS)
def test_a_difference_leads_from_the_first_text_to_the_second(old: str, new: str) -> None:
    assert new.encode() == applied(old.encode(), shown(old, new))


@given(TEXTS, TEXTS, st.integers(0, 30))
def test_it_does_so_too_where_the_effort_is_spent(old: str, new: str, effort: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "EFFORT_MAX", effort)
        patch.setattr(differences, "CHANGED_LINES_MAX", effort % 4)
        assert new.encode() == applied(old.encode(), shown(old, new))


@given(TEXTS.filter(lambda text: "\n" in text), TEXTS)
def test_tools_that_apply_differences_take_it(tmp_path_factory: pytest.TempPathFactory, old: str, new: str) -> None:
    if old == new or not old or not new:
        return
    folder: Path = tmp_path_factory.mktemp("git")
    (folder / "flow").write_bytes(old.encode())
    text = difference(old.encode(), new.encode(), "flow", "flow").text
    command = ["git", "apply", "-p0", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, cwd=folder, input=text.encode(), capture_output=True, check=False)
    assert (0, new.encode()) == (done.returncode, (folder / "flow").read_bytes()), done.stderr


@given(TEXTS, TEXTS, st.integers(0, 120))
def test_more_than_the_limit_is_cut_between_two_characters_and_says_so(old: str, new: str, limit: int) -> None:
    whole = difference(old.encode(), new.encode(), "old", "new")
    part = difference(old.encode(), new.encode(), "old", "new", limit)
    assert size_of(whole.text) > limit or part == whole
    assert part.cut == (size_of(whole.text) > limit)
    assert size_of(part.text) <= limit
    assert whole.text.startswith(part.text)


def test_a_long_line_is_cut_at_the_limit() -> None:
    answer = difference(b"x" * DIFFERENCE_BYTES_MAX, b"y\n", "old", "new")
    assert (True, DIFFERENCE_BYTES_MAX) == (answer.cut, size_of(answer.text))


def test_few_changes_among_many_equal_lines_are_found_exactly() -> None:
    old = b"\n" * 260_000
    text = shown(old, old[:1000] + b"x\n" + old[1000:200_000] + b"y\n" + old[200_010:])
    assert ["+x", *["-"] * 10, "+y"] == [line for line in text.split("\n")[2:] if line[:1] in ("+", "-")]


def test_lines_that_occur_once_hold_texts_together_that_differ_in_too_many() -> None:
    old = [f"kept {number}\n" if number % 3 == 0 else f"old {number % 7}\n" for number in range(6000)]
    new = [line.replace("old", "new") for line in old]
    text = shown("".join(old), "".join(new))
    assert 4000 == sum(line.startswith("-") for line in text.split("\n")[2:])
