"""Where `run`, `status` and `flow` work: markers, stores and homes that are none, and that nothing is written where nothing comes of it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tests.cli.children import start
from tests.cli.program import ANSWERS, Place, place

ID: Final = "01890000-0000-7000-8000-000000000001"


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def planted(marker: Path, how: str) -> None:
    """Put into the place of a marker what is none."""
    marker.parent.mkdir()
    match how:
        case "folder":
            marker.mkdir()
        case "pipe":
            os.mkfifo(marker)
        case "link to nothing":
            marker.symlink_to("nowhere")
        case "link to itself":
            marker.symlink_to(marker.name)
        case text:
            marker.write_text(text, "utf-8")


# --- markers ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("folder", "is no file"),
        ("pipe", "is no file"),
        ("link to nothing", "is a link to nothing"),
        ("link to itself", "cannot be read: too many levels of symbolic links"),
        ("", "does not hold the id of a Workspace"),
        (f"{ID}\n{ID}\n", "does not hold the id of a Workspace"),
        ("\x1b[2J\u202e", "does not hold the id of a Workspace"),
    ],
)
def test_what_stands_in_the_place_of_a_marker_and_is_none_is_named_and_left_alone(here: Place, how: str, says: str) -> None:
    (here.folder / ".stateward").mkdir()
    (here.folder / ".stateward" / "workspace").write_text(ID, "utf-8")  # further up, and not to be taken instead
    planted(here.work / ".stateward" / "workspace", how)
    before = names(here.folder)
    for arguments in (here.scripted(), ["status"], ["log"], ["flow", "list"], ["run", "builtin:single-step", "--answers", str(ANSWERS)]):
        ended = here.call(*arguments)
        assert (3, "", True) == (ended.status, ended.out, says in ended.err)
        assert f"{here.work}/.stateward/workspace" in ended.err
    assert before == names(here.folder)


def test_a_marker_is_found_from_a_folder_further_down(here: Place) -> None:
    here.done(*here.scripted("--max-requests", "6"))
    below = here.work / "a" / "b"
    below.mkdir(parents=True)
    assert here.status() == json.loads(here.done("status", "--json", "--workdir", str(below)))


@pytest.mark.parametrize("is_link", [True, False])
def test_a_folder_of_markers_that_is_none_gets_none(here: Place, is_link: bool) -> None:
    elsewhere = here.folder / "elsewhere"
    elsewhere.mkdir()
    if is_link:
        (here.work / ".stateward").symlink_to(elsewhere)
    else:
        (here.work / ".stateward").write_text("", "utf-8")
    before = names(here.folder)
    ended = here.call(*here.scripted())
    assert (3, True) == (ended.status, "is no folder of its own" in ended.err)
    assert before == names(here.folder)


def test_nothing_is_written_through_a_link_that_a_project_planted(here: Place) -> None:
    precious = here.folder / "precious"
    precious.write_text("mine", "utf-8")
    (here.work / ".stateward").mkdir()
    (here.work / ".stateward" / ".gitignore").symlink_to(precious)
    here.done(*here.scripted())
    assert "mine" == precious.read_text("utf-8")


def test_a_marker_is_ignored_by_git_and_no_draft_of_it_stays(here: Place) -> None:
    here.done(*here.scripted())
    assert [".stateward", ".stateward/.gitignore", ".stateward/workspace"] == names(here.work)
    assert "*\n" == (here.work / ".stateward" / ".gitignore").read_text("utf-8")


def test_it_is_said_once_that_a_workspace_was_begun(here: Place) -> None:
    first, second = here.done(*here.scripted()), here.done(*here.scripted())
    workspace = (here.work / ".stateward" / "workspace").read_text("utf-8").strip()
    assert ["began", "Workspace", workspace] == first.split()[:3]
    assert "began" not in second


def test_several_that_begin_at_the_same_moment_begin_one_workspace(here: Place) -> None:
    processes = [start(_AtHome(here.folder), *here.scripted()) for _ in range(5)]
    for process in processes:
        process.join()
    assert [0] * 5 == [process.exitcode for process in processes]
    workspace = (here.work / ".stateward" / "workspace").read_text("utf-8").strip()
    assert [workspace] == [path.name for path in (here.folder / "state" / "stateward").iterdir()]
    assert [".stateward", ".stateward/.gitignore", ".stateward/workspace"] == names(here.work)


class _AtHome(Place):
    """A folder of work whose store lies at its usual place."""

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for name, value in super().environment.items() if name != "STATEWARD_STORE"}


# --- what is refused writes nothing -------------------------------------------------------------------------------------------------


def _noted(here: Place) -> list[str]:
    (here.work / "mine.dcdl").write_text("", "utf-8")
    return ["flow", "save", "mine.dcdl", "--note", "\udcff"]


def _broken(here: Place) -> list[str]:
    (here.work / "mine.dcdl").write_text("schema_version = 1;", "utf-8")
    return ["flow", "save", "mine.dcdl"]


REFUSED: Final[dict[str, tuple[Callable[[Place], list[str]], int, str]]] = {
    "no such flow": (lambda here: here.scripted(flow="builtin:nosuch"), 2, "there is no flow `builtin:nosuch`"),
    "no such flow here": (lambda here: here.scripted(flow="workspace:mine"), 2, "there is no flow `workspace:mine`"),
    "no selector": (lambda here: here.scripted(flow="coder-review"), 2, "`coder-review` is no selector"),
    "a text that is too large": (lambda here: here.scripted("--text", "x" * 1024 * 1024), 2, "input_too_large"),
    "too many texts": (lambda here: here.scripted(*["--text", "x"] * 64), 2, "the input has 66 segments"),
    "no such Worker": (lambda here: here.scripted("--resume", "--worker", ID), 2, f"no Worker `{ID}`"),
    "no answers": (lambda here: here.scripted(answers=here.folder / "nowhere.json"), 2, "cannot be read"),
    "answers that are a folder": (lambda here: here.scripted(answers=here.folder), 2, "cannot be read"),
    "a store that is a folder": (lambda here: here.scripted("--store", str(here.folder)), 3, "is a folder, not a store"),
    "a store below a file": (lambda here: here.scripted("--store", f"{ANSWERS}/store.db"), 3, "cannot be created: not a directory"),
    "a folder that is none": (lambda here: here.scripted("--workdir", "nowhere"), 2, "the folder nowhere does not exist"),
    "a folder that is a file": (lambda here: here.scripted("--workdir", str(ANSWERS)), 2, "is no folder"),
    "a name that cannot be": (lambda here: here.scripted("--workdir", "x" * 5000), 3, "file name too long"),
    "a flow that does not compile": (_broken, 1, "it does not compile as `mine`"),
    "a flow that is not there": (lambda here: ["flow", "save", "nowhere.dcdl"], 2, "`nowhere.dcdl` does not exist"),
    "a flow that is a folder": (lambda here: ["flow", "save", str(here.folder)], 2, "no flow in"),
    "a flow that is a selector": (lambda here: ["flow", "save", "builtin:single-step"], 2, "is no file"),
    "a note that is no Unicode": (_noted, 2, "the note is no Unicode text"),
    "no Workspace": (lambda here: ["status"], 2, "no Workspace at . or above it"),
    "no Workspace for flows": (lambda here: ["flow", "list"], 2, "no Workspace at . or above it"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_one_clear_line_and_writes_nothing(here: Place, name: str) -> None:
    arguments, status, says = REFUSED[name]
    given = arguments(here)
    before = names(here.folder)
    ended = here.call(*given)
    assert (status, "", True) == (ended.status, ended.out, says in ended.err)
    errors = [line for line in ended.err.splitlines() if line.startswith("error: ")]
    assert 1 == len(errors)
    assert before == names(here.folder)


def test_a_refused_flow_does_not_begin_the_store_of_a_workspace_either(here: Place) -> None:
    planted(here.work / ".stateward" / "workspace", ID)
    before = names(here.folder)
    assert 2 == here.call(*here.scripted(flow="builtin:nosuch")).status
    assert 1 == here.call(*_broken(here)).status
    assert [*before, "work/mine.dcdl"] == names(here.folder)


@pytest.mark.parametrize("keys", ["/dev/null", "/dev/null/keys", "store"])
def test_a_key_folder_that_is_none_is_named_before_anything_is_begun(here: Place, keys: str) -> None:
    (here.work / "store").write_text("", "utf-8")
    before = names(here.folder)
    ended = here.call(*here.scripted(), STATEWARD_STORE="", STATEWARD_KEYS=keys)
    assert (3, "", 1) == (ended.status, ended.out, ended.err.count("error: "))
    assert {*before} >= {*names(here.folder)} - {"state", "state/stateward"}


# --- homes --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("home", ["relative", "~x", "/nowhere/at/all"])
def test_a_home_that_is_none_is_named(here: Place, home: str) -> None:
    before = names(here.folder)
    ended = here.call(*here.scripted(), STATEWARD_STORE="", HOME=home, XDG_STATE_HOME="")
    assert (3, True) == (ended.status, f"there is no home folder {home}" in ended.err)
    assert before == names(here.folder)


def test_a_state_folder_that_is_named_relatively_counts_for_nothing(here: Place) -> None:
    ended = here.call(*here.scripted(), STATEWARD_STORE="", XDG_STATE_HOME="somewhere")
    assert 0 == ended.status
    assert (here.folder / ".local" / "state" / "stateward").is_dir()
    assert [".stateward", ".stateward/.gitignore", ".stateward/workspace"] == names(here.work)
