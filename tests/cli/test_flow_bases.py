"""The record of what files were made from: kept for the next save, and no harm where it is lost, broken or planted."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stateward.runtime.surfaces.cli.flows import bases as bases_module
from stateward.runtime.surfaces.cli.flows.bases import Base, Bases, project_folder


def base(revision: int = 1) -> Base:
    return Base("01890000-0000-7000-8000-000000000001", "paper", revision, f"sha256:{'0' * 64}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "project"
    (folder / ".stateward").mkdir(parents=True)
    (folder / ".stateward" / "workspace").write_text("", "utf-8")
    return folder


def record(project: Path) -> Path:
    return project / ".stateward" / "bases.json"


def test_what_is_remembered_of_a_file_is_found_by_every_way_to_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "flows").mkdir()
    (project / "link").symlink_to("flows")
    Bases(project).remember({str(project / "flows" / "paper.dcdl"): base()})
    monkeypatch.chdir(project / "flows")
    for path in ("paper.dcdl", "../flows/paper.dcdl", "../link/paper.dcdl", str(project / "flows" / "paper.dcdl")):
        assert base() == Bases(project).of(path)
    assert Bases(project).of("other.dcdl") is None
    assert ["flows/paper.dcdl"] == list(json.loads(record(project).read_bytes())["files"])


def test_files_of_one_folder_are_found_together_and_those_below_it_are_not(project: Path) -> None:
    paths = {str(project / name): base(number) for number, name in enumerate(("flows/a.dcdl", "flows/below/b.dcdl", "c.dcdl"), start=1)}
    Bases(project).remember(paths)
    assert {"a.dcdl": base(1)} == Bases(project).within(project / "flows")
    assert {"c.dcdl": base(3)} == Bases(project).within(project)


def test_files_of_folders_further_down_are_found_by_what_they_are_kept_as(project: Path) -> None:
    Bases(project).remember({str(project / name): base() for name in ("flows/a.dcdl", "flows/x/y/b.dcdl", "../c/d.dcdl")})
    assert {"paper": project / "flows" / "x" / "y" / "b.dcdl"} == Bases(project).below(project / "flows", base().workspace)
    assert {} == Bases(project).below(project / "flows", "another")
    assert {"paper"} == {*Bases(project).below(project, base().workspace)}


def test_a_file_outside_of_the_project_is_remembered_too(project: Path) -> None:
    Bases(project).remember({str(project.parent / "a.dcdl"): base()})
    assert base() == Bases(project).of(project.parent / "a.dcdl")
    assert {"a.dcdl": base()} == Bases(project).within(project.parent)


def test_what_is_forgotten_is_not_found_any_more(project: Path) -> None:
    Bases(project).remember({str(project / "a.dcdl"): base(), str(project / "b.dcdl"): base(2)})
    Bases(project).remember({str(project / "a.dcdl"): None})
    assert {"b.dcdl": base(2)} == Bases(project).within(project)


def test_a_project_whose_workspace_lies_elsewhere_gets_a_folder_that_is_not_shared(tmp_path: Path) -> None:
    Bases(tmp_path).remember({str(tmp_path / "a.dcdl"): base()})
    assert [".gitignore", "bases.json"] == sorted(each.name for each in (tmp_path / ".stateward").iterdir())
    assert "*\n" == (tmp_path / ".stateward" / ".gitignore").read_text("utf-8")


def test_the_files_that_were_saved_longest_ago_are_forgotten_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bases_module, "FILES_MAX", 2)
    for name in ("a", "b", "a", "c"):
        Bases(project).remember({str(project / name): base()})
    assert ["a", "c"] == list(Bases(project).within(project))


ENTRY = {"workspace": "w", "slug": "paper", "revision": 1, "content_digest": "d"}


def document(version: int = 1, **entries: object) -> str:
    return json.dumps({"version": version, "files": entries})


BROKEN = {
    "nothing": "",
    "no JSON": "{",
    "no object": "[]",
    "another version": document(2, a=ENTRY),
    "no files": '{"version": 1}',
    "files that are none": '{"version": 1, "files": [1]}',
    "a number too small": document(a={**ENTRY, "revision": 0}),
    "no slug": document(a={**ENTRY, "slug": "../paper"}),
    "a deep one": "[" * 100_000,
    "no text": "\udcff",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_record_is_as_one_that_is_not_there_and_is_written_anew(project: Path, name: str) -> None:
    record(project).write_bytes(BROKEN[name].encode("utf-8", "surrogateescape"))
    assert Bases(project).of(project / "a") is None
    Bases(project).remember({str(project / "b"): base()})
    assert {"b": base()} == Bases(project).within(project)


def test_an_entry_that_is_none_spoils_no_other(project: Path) -> None:
    record(project).write_text(document(a=ENTRY, b={}, c=1), "utf-8")
    assert {"a": Base("w", "paper", 1, "d")} == Bases(project).within(project)


def test_a_record_that_is_too_large_is_not_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Bases(project).remember({str(project / "a"): base()})
    monkeypatch.setattr(bases_module, "BASES_BYTES_MAX", 10)
    assert Bases(project).of(project / "a") is None


def linked(project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.write_text(document(a=ENTRY), "utf-8")
    record(project).symlink_to(elsewhere)


def linked_folder(project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    (project / ".stateward").rename(elsewhere)
    (project / ".stateward").symlink_to(elsewhere)


@pytest.mark.parametrize("plant", [linked, linked_folder])
def test_nothing_is_read_or_written_through_a_link(project: Path, plant: Callable[[Path], None]) -> None:
    plant(project)
    before = sorted((each, each.read_bytes()) for each in project.parent.rglob("*") if each.is_file())
    assert Bases(project).of(project / "a") is None
    with pytest.raises(OSError, match=r"symbolic|directory"):
        Bases(project).remember({str(project / "b"): base()})
    assert before == sorted((each, each.read_bytes()) for each in project.parent.rglob("*") if each.is_file())


def test_a_pipe_in_its_place_is_not_waited_for(project: Path) -> None:
    os.mkfifo(record(project))
    assert Bases(project).of(project / "a") is None


def test_several_that_remember_at_the_same_moment_all_stay(project: Path) -> None:
    names = [f"{number}.dcdl" for number in range(40)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: Bases(project).remember({str(project / name): base()}), names))
    assert set(names) == set(Bases(project).within(project))
    assert ["bases.json", "workspace"] == sorted(each.name for each in (project / ".stateward").iterdir())


def test_a_project_is_the_folder_of_the_nearest_marker(project: Path) -> None:
    below = project / "a" / "b"
    below.mkdir(parents=True)
    assert (project, project.parent) == (project_folder(below), project_folder(project.parent))
