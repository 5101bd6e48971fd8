"""A folder of flows on the disk: it is confined, files keep their modes, and what somebody writes at the same moment is never lost."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.engine.folders import FileProblem
from stateward.runtime.session.chain import digest_of
from stateward.runtime.surfaces.cli.flows import folder as folder_module
from stateward.runtime.surfaces.cli.flows.folder import FlowFolder, TooMuch, opened_folder

SEEN = digest_of(b"seen")


@pytest.fixture(params=["exchanging", "in steps"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlowFolder]:
    """A folder on a system that exchanges two names at once, and on one that does not."""
    if request.param == "in steps":
        monkeypatch.setattr(folder_module, "_renameat2", lambda: None)
    at = tmp_path / "flows"
    at.mkdir()
    with opened_folder(at) as opened:
        yield opened


def names(folder: FlowFolder) -> list[str]:
    return sorted(each.name for each in folder.path.iterdir())


def test_flows_are_seen_by_name_and_nothing_else_is(folder: FlowFolder) -> None:
    for name in ("b.dcdl", "a.dcdl", "a.test.dcdl", ".hidden.dcdl", "readme.md"):
        (folder.path / name).write_bytes(name.encode())
    (folder.path / "below").mkdir()
    (folder.path / "below" / "c.dcdl").write_bytes(b"c")
    assert {"a": b"a.dcdl", "b": b"b.dcdl"} == folder.look()
    assert (b"a.dcdl", None) == (folder.read("a"), folder.read("c"))


def test_what_is_no_file_of_the_folder_is_named_and_not_looked_into(folder: FlowFolder, tmp_path: Path) -> None:
    (tmp_path / "secret.dcdl").write_bytes(b"mine")
    (folder.path / "link.dcdl").symlink_to(tmp_path / "secret.dcdl")
    (folder.path / "dir.dcdl").mkdir()
    os.mkfifo(folder.path / "pipe.dcdl")
    no_file = FileProblem("it is no file")
    assert {"dir": no_file, "link": FileProblem("it is a link"), "pipe": no_file} == folder.look()


@pytest.mark.parametrize("limit", [("FILES_MAX", 1, "more than 1 files"), ("BYTES_MAX", 3, "more than 3 bytes in its files")])
def test_a_folder_with_more_than_is_looked_at_is_not_looked_into(
    folder: FlowFolder, monkeypatch: pytest.MonkeyPatch, limit: tuple[str, int, str]
) -> None:
    name, number, said = limit
    monkeypatch.setattr(folder_module, name, number)
    (folder.path / "a.dcdl").write_bytes(b"aaa")
    folder.look()
    (folder.path / "b.dcdl").write_bytes(b"b")
    with pytest.raises(TooMuch, match=said):
        folder.look()


def test_a_new_file_is_whole_and_has_the_mode_that_new_files_have(folder: FlowFolder) -> None:
    (folder.path / "usual").write_bytes(b"")
    assert folder.write_if_unchanged("a", b"new", None) is True
    assert ["a.dcdl", "usual"] == names(folder)
    assert b"new" == (folder.path / "a.dcdl").read_bytes()
    assert (folder.path / "usual").stat().st_mode == (folder.path / "a.dcdl").stat().st_mode


def test_a_new_file_takes_the_place_of_nothing_that_is_there(folder: FlowFolder, tmp_path: Path) -> None:
    (folder.path / "a.dcdl").write_bytes(b"theirs")
    (folder.path / "b.dcdl").symlink_to(tmp_path / "elsewhere")
    assert (False, False) == (folder.write_if_unchanged("a", b"new", None), folder.write_if_unchanged("b", b"new", None))
    assert (["a.dcdl", "b.dcdl"], b"theirs") == (names(folder), (folder.path / "a.dcdl").read_bytes())
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_file_is_replaced_whole_and_keeps_its_mode(folder: FlowFolder, mode: int) -> None:
    file = folder.path / "a.dcdl"
    file.write_bytes(b"seen")
    file.chmod(mode)
    assert folder.write_if_unchanged("a", b"new", SEEN) is True
    assert (b"new", mode, ["a.dcdl"]) == (file.read_bytes(), file.stat().st_mode & 0o777, names(folder))


def test_a_file_that_was_changed_since_it_was_seen_stays(folder: FlowFolder) -> None:
    (folder.path / "a.dcdl").write_bytes(b"changed")
    assert (False, False) == (folder.write_if_unchanged("a", b"new", SEEN), folder.remove_if_unchanged("a", SEEN))
    assert (b"changed", ["a.dcdl"]) == ((folder.path / "a.dcdl").read_bytes(), names(folder))


def test_a_file_that_became_a_link_stays_one_and_nothing_is_written_through_it(folder: FlowFolder, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"seen")
    (folder.path / "a.dcdl").symlink_to(target)
    assert FileProblem("it cannot be written: too many levels of symbolic links") == folder.write_if_unchanged("a", b"new", SEEN)
    assert folder.remove_if_unchanged("a", SEEN) is False
    assert ((folder.path / "a.dcdl").is_symlink(), b"seen", ["a.dcdl"]) == (True, target.read_bytes(), names(folder))


def test_a_file_that_is_gone_stays_away(folder: FlowFolder) -> None:
    assert (False, False) == (folder.write_if_unchanged("a", b"new", SEEN), folder.remove_if_unchanged("a", SEEN))
    assert [] == names(folder)


def test_a_file_is_deleted_when_it_is_what_was_seen(folder: FlowFolder) -> None:
    (folder.path / "a.dcdl").write_bytes(b"seen")
    assert folder.remove_if_unchanged("a", SEEN) is True
    assert [] == names(folder)


def written_after_the_draft(folder: FlowFolder, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes) -> None:
    """Let somebody save a file in the last moment, in the manner of editors: a new one in its place."""
    drafted = FlowFolder._drafted

    def then_written(self: FlowFolder, *given: object, **named: object) -> str:
        draft = drafted(self, *given, **named)  # type: ignore[arg-type]
        theirs = folder.path.parent / "theirs"
        theirs.write_bytes(content)
        theirs.replace(folder.path / name)
        return draft

    monkeypatch.setattr(FlowFolder, "_drafted", then_written)


@pytest.mark.parametrize("seen", [b"seen", None])
def test_what_is_saved_in_the_last_moment_stays(folder: FlowFolder, monkeypatch: pytest.MonkeyPatch, seen: bytes | None) -> None:
    if seen is not None:
        (folder.path / "a.dcdl").write_bytes(seen)
    written_after_the_draft(folder, monkeypatch, "a.dcdl", b"theirs")
    assert folder.write_if_unchanged("a", b"new", None if seen is None else SEEN) is False
    assert (b"theirs", ["a.dcdl"]) == ((folder.path / "a.dcdl").read_bytes(), names(folder))


def test_what_is_saved_while_a_file_is_put_back_stays_too_beside_it(folder: FlowFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder.path / "a.dcdl").write_bytes(b"changed")
    holds = FlowFolder._holds
    asked: list[str] = []

    def then_written(self: FlowFolder, name: str, digest: str) -> bool:
        answer = holds(self, name, digest)
        asked.append(name)
        if len(asked) == 1:
            theirs = folder.path.parent / "theirs"
            theirs.write_bytes(b"later")
            theirs.replace(folder.path / "a.dcdl")
        return answer

    monkeypatch.setattr(FlowFolder, "_holds", then_written)
    answer = folder.write_if_unchanged("a", b"new", SEEN)
    first, second = names(folder)
    assert FileProblem(f"it was written twice at the same moment, and one of the two is now `{second}`") == answer
    assert ("a.dcdl", True) == (first, second.startswith("a.dcdl."))
    assert {b"changed", b"later"} == {(folder.path / each).read_bytes() for each in names(folder)}
