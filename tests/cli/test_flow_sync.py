"""`stateward flow sync`: a folder and a Workspace are brought together, and what both sides changed is shown and left alone."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.flows import colleague, lines, source, write
from tests.cli.program import Ended, Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    """A folder `flows` in step with a Workspace: `a`, `b`, `c`."""
    made = place(tmp_path)
    for name in "abc":
        write(made, name, folder="flows")
    made.done("flow", "sync", "flows")
    return made


def changed_there(here: Place, name: str, task: str = "theirs") -> None:
    """Let a colleague save a flow."""
    file = here.folder / "theirs" / f"{name}.dcdl"
    file.parent.mkdir(exist_ok=True)
    file.write_text(source(name, task), "utf-8")
    base = lines(here.done("flow", "show", name, "--json"))[0]["revision"]
    here.done("flow", "save", str(file), "--base", str(base), "--note", "of a colleague")


def text(here: Place, name: str) -> str:
    return (here.work / "flows" / f"{name}.dcdl").read_text("utf-8")


def told(ended: Ended | str) -> dict[str, tuple[str, str]]:
    return {each["slug"]: (each["kind"], each["result"]) for each in lines(ended)}


def revisions(here: Place) -> dict[str, int]:
    return {each["slug"]: each["revision"] for each in lines(here.done("flow", "list", "--json"))}


def test_a_folder_begins_a_workspace_and_is_in_step_with_it(tmp_path: Path) -> None:
    here = place(tmp_path)
    write(here, "a", folder="flows")
    (here.work / "flows" / "settings.dcdl").write_text("{ a = 1; }", "utf-8")
    assert "would save workspace:a revision 1\n1 flow: 1 to save\n" == here.done("flow", "sync", "flows", "--dry-run")
    assert ["flows"] == [each.name for each in here.work.iterdir()]
    assert ["saved workspace:a revision 1", "1 flow: 1 saved"] == here.done("flow", "sync", "flows", "--note", "first").splitlines()[1:]
    assert "1 flow: 1 in step\n" == here.done("flow", "sync", "flows")
    assert "first" == lines(here.done("flow", "list", "--json"))[0]["note"]


def test_a_folder_in_which_nothing_can_be_kept_begins_none(tmp_path: Path) -> None:
    here = place(tmp_path)
    (here.work / "flows").mkdir()
    (here.work / "flows" / "a.dcdl").write_text("schema_version = 1;", "utf-8")
    assert 1 == here.call("flow", "sync", "flows").status
    assert ["flows"] == [each.name for each in here.work.iterdir()]


def test_what_changed_on_one_side_goes_to_the_other(here: Place) -> None:
    write(here, "a", "mine", folder="flows")
    changed_there(here, "b")
    write(here, "d", folder="flows")
    changed_there(here, "c")
    (here.work / "flows" / "c.dcdl").chmod(0o640)
    planned = lines(here.done("flow", "sync", "flows", "--dry-run", "--json"))
    assert [("a", "push"), ("b", "pull"), ("c", "pull"), ("d", "new_here")] == [(each["slug"], each["kind"]) for each in planned]
    assert {"planned"} == {each["result"] for each in planned}
    assert {"a": 1, "b": 2, "c": 2} == revisions(here)
    shown = here.done("flow", "sync", "flows").splitlines()
    assert "saved workspace:a revision 2, +1 -1 lines against revision 1" == shown[0]
    assert (True, True) == (shown[1].startswith("wrote flows/b.dcdl: revision 2  "), shown[1].endswith("  of a colleague"))
    assert "4 flows: 2 saved, 2 written" == shown[-1]
    assert ({"a": 2, "b": 2, "c": 2, "d": 1}, source("b", "theirs")) == (revisions(here), text(here, "b"))
    assert 0o640 == (here.work / "flows" / "c.dcdl").stat().st_mode & 0o777
    assert "4 flows: 4 in step\n" == here.done("flow", "sync", "flows")


def test_what_both_sides_changed_is_shown_and_left_alone_until_somebody_brings_it_together(here: Place) -> None:
    write(here, "a", "mine", folder="flows")
    changed_there(here, "a")
    for more in (["--dry-run"], []):
        ended = here.call("flow", "sync", "flows", *more)
        assert (1, "3 flows: 1 in conflict, 2 in step\n") == (ended.status, ended.out)
        assert "  of a colleague\n--- a revision 2\n+++ a in the folder\n" in ended.err
        assert "error: `flows/a.dcdl` and workspace:a both changed since revision 1\n" in ended.err
        assert ended.err.endswith("bring the two together in the file, then `stateward flow save flows/a.dcdl --base 2`\n")
    assert (source("a", "mine"), 2) == (text(here, "a"), revisions(here)["a"])
    (each,) = [each for each in lines(here.call("flow", "sync", "flows", "--json")) if each["slug"] == "a"]
    assert ("conflict", "left", 2, 1, True) == (
        *(each[key] for key in ("kind", "result", "revision", "base")),
        bool(each["difference"]["text"]),
    )
    here.done("flow", "save", "flows/a.dcdl", "--base", "2")
    assert "3 flows: 3 in step\n" == here.done("flow", "sync", "flows")


def test_two_people_who_sync_lose_nothing_of_each_other(here: Place) -> None:
    other = colleague(here)
    assert "3 flows: 3 written" == other.done("flow", "sync", ".").splitlines()[-1]
    write(here, "a", "mine", folder="flows")
    write(other, "a", "theirs")
    write(other, "b", "theirs")
    other.done("flow", "sync", ".")
    assert {"a": ("conflict", "left"), "b": ("pull", "done"), "c": ("in_step", "nothing")} == told(
        here.call("flow", "sync", "flows", "--json")
    )
    assert (source("a", "mine"), source("b", "theirs")) == (text(here, "a"), text(here, "b"))


def test_a_file_that_went_back_does_not_take_the_flow_back_unasked(here: Place) -> None:
    write(here, "a", "second", folder="flows")
    here.done("flow", "sync", "flows")
    write(here, "a", folder="flows")
    ended = here.call("flow", "sync", "flows")
    assert (1, 2) == (ended.status, revisions(here)["a"])
    assert "error: `flows/a.dcdl` went back to revision 1, and workspace:a is at revision 2\n" in ended.err
    assert ended.err.endswith("  = help: to go back to that one, `stateward flow save flows/a.dcdl --base 2`\n")
    here.done("flow", "save", "flows/a.dcdl", "--base", "2")
    assert "3 flows: 3 in step\n" == here.done("flow", "sync", "flows")


# --- removed on one side ------------------------------------------------------------------------------------------------------------


def test_what_is_gone_on_one_side_is_taken_away_on_the_other_only_when_that_is_asked_for(here: Place) -> None:
    (here.work / "flows" / "a.dcdl").unlink()
    here.done("flow", "remove", "b", "--base", "1")
    shown = here.done("flow", "sync", "flows").splitlines()
    assert "left flows/a.dcdl deleted; `--delete` removes workspace:a too" == shown[0]
    assert shown[1].startswith("left flows/b.dcdl; workspace:b was removed by ")
    assert ({"a": 1, "c": 1}, source("b")) == (revisions(here), text(here, "b"))
    planned = told(here.done("flow", "sync", "flows", "--delete", "--dry-run", "--json"))
    assert {"a": ("removed_here", "planned"), "b": ("removed_there", "planned"), "c": ("in_step", "nothing")} == planned
    shown = here.done("flow", "sync", "flows", "--delete").splitlines()
    assert "removed workspace:a at revision 1, as flows/a.dcdl was deleted" == shown[0]
    assert shown[1].startswith("deleted flows/b.dcdl, as workspace:b was removed by ")
    assert ({"c": 1}, ["c.dcdl"]) == (revisions(here), [each.name for each in (here.work / "flows").iterdir()])
    assert "1 flow: 1 in step\n" == here.done("flow", "sync", "flows", "--delete")


def test_what_was_removed_on_one_side_and_changed_on_the_other_is_left_alone(here: Place) -> None:
    (here.work / "flows" / "a.dcdl").unlink()
    changed_there(here, "a")
    write(here, "b", "mine", folder="flows")
    here.done("flow", "remove", "b", "--base", "1")
    ended = here.call("flow", "sync", "flows", "--delete")
    assert (1, "3 flows: 2 in conflict, 1 in step\n") == (ended.status, ended.out)
    assert "error: `flows/a.dcdl` was deleted, and workspace:a changed since revision 1\n" in ended.err
    assert "  = help: take it back with `stateward flow show a --output flows/a.dcdl`\n" in ended.err
    assert ", and `flows/b.dcdl` holds what no revision does\n" in ended.err
    assert "  = help: bring it back with `stateward flow save flows/b.dcdl --base 1`, or delete the file\n" in ended.err
    here.done("flow", "show", "a", "--output", "flows/a.dcdl")
    here.done("flow", "save", "flows/b.dcdl", "--base", "1")
    assert "3 flows: 3 in step\n" == here.done("flow", "sync", "flows")


# --- what is not kept ---------------------------------------------------------------------------------------------------------------


def test_what_cannot_be_kept_is_named_and_keeps_nothing_else_from_being_done(here: Place, tmp_path: Path) -> None:
    flows = here.work / "flows"
    (flows / "bad.dcdl").write_text("schema_version = 1;", "utf-8")
    (flows / "other.dcdl").write_text(source("another"), "utf-8")
    (flows / "my flow.dcdl").write_text(source("my flow"), "utf-8")
    (flows / "link.dcdl").symlink_to(tmp_path / "work" / "flows" / "a.dcdl")
    write(here, "a", "mine", folder="flows")
    ended = here.call("flow", "sync", "flows")
    assert "saved workspace:a revision 2, +1 -1 lines against revision 1\n" in ended.out
    assert (1, "7 flows: 1 saved, 2 in step, 2 not kept, 2 not looked into") == (ended.status, ended.out.splitlines()[-1])
    assert [
        "error: `flows/bad.dcdl` is not kept: it does not compile as `bad`",
        "error: `flows/link.dcdl` is left alone: it is a link",
        "error: `flows/my flow.dcdl` is left alone: `my flow` cannot be a slug",
        "error: `flows/other.dcdl` is not kept: the flow is named `another` and saved as `other`",
    ] == [line for line in ended.err.splitlines() if line.startswith("error: ")]
    assert "┌─ flows/bad.dcdl:1:1" in ended.err
    problems: dict[str, Any] = {
        each["slug"]: each["problem"] for each in lines(here.call("flow", "sync", "flows", "--json")) if each["problem"]
    }
    assert ["not_compiled", "file", "file", "refused"] == [problems[name]["kind"] for name in ("bad", "link", "my flow", "other")]


def test_a_file_that_holds_no_flow_is_passed_over_but_not_in_the_place_of_one(here: Place) -> None:
    (here.work / "flows" / "settings.dcdl").write_text("{ a = 1; }", "utf-8")
    assert "3 flows: 3 in step\n" == here.done("flow", "sync", "flows")
    (here.work / "flows" / "a.dcdl").write_text("{ a = 1; }", "utf-8")
    ended = here.call("flow", "sync", "flows")
    assert (1, "error: `flows/a.dcdl` is left alone: it holds no flow\n  = help: mend or move it\n") == (ended.status, ended.err)


def test_a_flow_that_was_saved_from_a_folder_below_is_not_written_a_second_time(here: Place) -> None:
    file = write(here, "d", folder="flows/below")
    here.done("flow", "save", "flows")
    for more in (["--dry-run"], []):
        told = here.done("flow", "sync", "flows", *more)
        assert "left flows/below/d.dcdl, which is in a folder below\n4 flows: 1 from folders below, 3 in step\n" == told
    assert ("new_there", "left") == {
        each["slug"]: (each["kind"], each["result"]) for each in lines(here.done("flow", "sync", "flows", "--json"))
    }["d"]
    file.unlink()
    assert "wrote flows/d.dcdl: revision 1  " in here.done("flow", "sync", "flows")


def test_nothing_outside_of_the_folder_is_read_or_written(here: Place, tmp_path: Path) -> None:
    precious = tmp_path / "precious.dcdl"
    precious.write_text(source("a", "precious"), "utf-8")
    file = here.work / "flows" / "a.dcdl"
    file.unlink()
    file.symlink_to(precious)
    changed_there(here, "a")
    assert 1 == here.call("flow", "sync", "flows", "--delete").status
    assert (True, source("a", "precious"), 2) == (file.is_symlink(), precious.read_text("utf-8"), revisions(here)["a"])


def test_without_its_record_what_is_a_revision_is_written_and_what_is_none_is_left_alone(here: Place) -> None:
    changed_there(here, "a")
    changed_there(here, "b")
    write(here, "b", "mine", folder="flows")
    (here.work / ".stateward" / "bases.json").unlink()
    ended = here.call("flow", "sync", "flows")
    assert (1, source("a", "theirs"), source("b", "mine")) == (ended.status, text(here, "a"), text(here, "b"))
    assert "error: `flows/b.dcdl` and workspace:b differ, and from which revision the file was made is not known\n" in ended.err


@pytest.mark.parametrize("folder", ["nowhere", "flows/a.dcdl", ""])
def test_what_is_no_folder_is_named(here: Place, folder: str) -> None:
    ended = here.call("flow", "sync", folder or "nowhere/at/all")
    assert (2, "", True) == (ended.status, ended.out, ended.err.endswith("` is no folder\n  = help: name one that is there\n"))


def test_a_file_that_is_changed_while_it_is_being_written_is_left_as_it_is(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from stateward.runtime.surfaces.cli.flows.folder import FlowFolder  # noqa: PLC0415 - beside what is done to it

    changed_there(here, "a")
    drafted = FlowFolder._drafted

    def then_edited(self: FlowFolder, *given: Any, **named: Any) -> str:
        draft = drafted(self, *given, **named)
        write(here, "a", "at this very moment", folder="flows")
        return draft

    monkeypatch.setattr(FlowFolder, "_drafted", then_edited)
    ended = here.call("flow", "sync", "flows")
    assert (1, source("a", "at this very moment")) == (ended.status, text(here, "a"))
    assert "error: `flows/a.dcdl` or workspace:a changed while this ran\n  = help: sync once more\n" == ended.err


def test_a_file_that_takes_a_change_of_somebody_else_back_shows_that_before_it_is_saved(here: Place) -> None:
    first = text(here, "a")
    changed_there(here, "a")
    here.done("flow", "sync", "flows")
    (here.work / "flows" / "a.dcdl").write_text(f"{first}# out of a stash\n", "utf-8")
    trial = here.call("flow", "sync", "flows", "--dry-run")
    assert "would save workspace:a revision 3, +2 -1 lines against revision 2\n" in trial.out
    assert "# out of a stash" in trial.err
    (step,) = [each for each in lines(here.done("flow", "sync", "flows", "--dry-run", "--json")) if each["kind"] == "push"]
    assert ("planned", "a revision 2", "a in the folder") == (step["result"], step["difference"]["old"], step["difference"]["new"])
    assert "saved workspace:a revision 3, +2 -1 lines against revision 2\n" in here.done("flow", "sync", "flows")
