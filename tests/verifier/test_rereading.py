"""A cited file is looked at again when a judgement is reported."""

from collections.abc import Callable
from pathlib import Path

import pytest

from stateward.runtime.core.events import FileCitation
from stateward.runtime.verifier.rereading import still_shows
from stateward.runtime.workdir.limits import ViewBounds
from stateward.runtime.workdir.view import WorkdirView

TEXT = "one\ntwo\u200b\nthree\n\nfive\n"
CITED = FileCitation("a.txt", 2, 4, "two‹U+200B›\nthree\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text(TEXT)
    return tmp_path


def shows(root: Path, cited: FileCitation = CITED, **bounds: int) -> bool:
    with WorkdirView(root, ViewBounds(**bounds)) as view:  # type: ignore[arg-type]
        return still_shows(view, cited)


def test_lines_that_are_as_they_were_still_are_what_was_quoted(root: Path) -> None:
    assert shows(root)


@pytest.mark.parametrize("bounds", [{"read_bytes": 8}, {"read_lines": 1}])
def test_lines_are_read_in_as_many_parts_as_the_bounds_ask_for(root: Path, bounds: dict[str, int]) -> None:
    assert shows(root, **bounds)


CHANGES: dict[str, Callable[[Path], object]] = {
    "changed": lambda path: path.write_text(TEXT.replace("three", "Three")),
    "moved down": lambda path: path.write_text(f"new\n{TEXT}"),
    "cut": lambda path: path.write_text("one\ntwo\u200b\n"),
    "gone": lambda path: path.unlink(),
    "binary": lambda path: path.write_bytes(b"\0"),
    "a hidden character gone": lambda path: path.write_text(TEXT.replace("\u200b", "")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_lines_that_are_no_longer_there_are_told(root: Path, change: Callable[[Path], object]) -> None:
    change(root / "a.txt")
    assert not shows(root)


def test_a_file_that_was_replaced_by_a_link_to_another_of_the_same_text_is_another_file(root: Path) -> None:
    (root / "b.txt").write_text(TEXT)
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to("b.txt")
    assert not shows(root)


def test_a_change_elsewhere_in_the_file_is_none_of_the_quote(root: Path) -> None:
    (root / "a.txt").write_text(TEXT.replace("five", "Five"))
    assert shows(root)


@pytest.mark.parametrize(
    "cited", [FileCitation("../a.txt", 1, 1, "one"), FileCitation("a.txt", 1, 10**9, "one"), FileCitation("a.txt", 9, 9, "")]
)
def test_what_cannot_be_read_is_no_longer_what_was_quoted(root: Path, cited: FileCitation) -> None:
    assert not shows(root, cited)


def test_no_more_lines_are_read_than_the_quote_can_have_and_fewer_than_are_cited_are_not_what_was_quoted(root: Path) -> None:
    assert not shows(root, FileCitation("a.txt", 4, 5, ""), read_lines=1)
    assert shows(root, FileCitation("a.txt", 4, 4, ""), read_lines=1)
