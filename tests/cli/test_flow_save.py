"""`stateward flow save`: files, folders and patterns into the Workspace; what a file was made from is remembered."""

import json
from pathlib import Path

import pytest

from stateward.runtime.surfaces.cli.flows import sources
from tests.cli.flows import colleague, lines, saved, source, write
from tests.cli.program import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def test_a_file_is_saved_edited_and_saved_again_without_naming_what_it_was_made_from(here: Place) -> None:
    for number in (1, 2, 3):
        write(here, task=f"task {number}")
        assert f"saved workspace:paper revision {number}\n" in here.done("flow", "save", "paper.dcdl")
    assert "nothing changed: workspace:paper revision 3\n" == here.done("flow", "save", "paper.dcdl")


def test_without_its_record_a_file_is_known_by_its_content_and_else_not_at_all(here: Place) -> None:
    path = saved(here)
    (here.work / ".stateward" / "bases.json").unlink()
    assert "nothing changed: workspace:paper revision 1\n" == here.done("flow", "save", "paper.dcdl")
    path.write_text(source(task="edited"), "utf-8")
    (here.work / ".stateward" / "bases.json").write_text("{", "utf-8")
    ended = here.call("flow", "save", "paper.dcdl")
    assert (1, "") == (ended.status, ended.out)
    assert "error: `paper` is at revision 1 by" in ended.err
    assert "and what `paper.dcdl` was made from is not known\n" in ended.err
    assert "  = help: where it is meant to follow that revision, save with `--base 1`\n" in ended.err
    assert "saved workspace:paper revision 2\n" == here.done("flow", "save", "paper.dcdl", "--base", "1")


def test_an_old_copy_of_a_file_is_refused_by_what_it_holds(here: Place) -> None:
    path = saved(here, "paper", "first", "second")
    (here.work / ".stateward" / "bases.json").unlink()
    path.write_text(source(task="first"), "utf-8")
    ended = here.call("flow", "save", "paper.dcdl")
    assert (1, True) == (ended.status, "and `paper.dcdl` is the same as revision 1" in ended.err)


def test_a_file_that_went_back_does_not_take_the_flow_back_unasked(here: Place) -> None:
    path = saved(here, "paper", "first", "second")
    path.write_text(source(task="first"), "utf-8")  # as a checkout of another branch does
    ended = here.call("flow", "save", "paper.dcdl")
    assert (1, True) == (ended.status, "--- paper revision 1\n+++ paper revision 2\n" in ended.err)
    assert ended.err.endswith(", and `paper.dcdl` is the same as revision 1\n  = help: to go back to that one, save with `--base 2`\n")
    assert "saved workspace:paper revision 3\n" == here.done("flow", "save", "paper.dcdl", "--base", "2")
    assert "nothing changed: workspace:paper revision 3\n" == here.done("flow", "save", "paper.dcdl")


def test_a_conflict_shows_both_revisions_what_changed_and_the_one_next_step(here: Place) -> None:
    saved(here, "paper", "first")
    other = colleague(here)
    theirs = write(other, task="theirs")
    other.done("flow", "save", theirs.name, "--base", "1", "--note", "was too long")
    write(here, task="mine")
    ended = here.call("flow", "save", "paper.dcdl")
    told = ended.err.splitlines()
    assert (1, "") == (ended.status, ended.out)
    assert (True, True) == (told[0].startswith("  revision 1  "), told[0].endswith("  note 1"))
    assert (True, True) == (told[1].startswith("  revision 2  "), told[1].endswith("  was too long"))
    assert ["--- paper revision 1", "+++ paper revision 2"] == told[2:4]
    assert {"-first", "+theirs"} <= {line[:1] + line.partition('instructions = "')[2].partition('"')[0] for line in told[4:]}
    assert "and `paper.dcdl` was made from revision 1" in told[-2]
    assert "  = help: bring what changed into `paper.dcdl`, then save with `--base 2`" == told[-1]
    assert "saved workspace:paper revision 3\n" == here.done("flow", "save", "paper.dcdl", "--base", "2")


def test_a_conflict_is_told_to_programs_with_both_revisions(here: Place) -> None:
    saved(here, "paper", "first", "second")
    write(here, task="third")
    ended = here.call("flow", "save", "paper.dcdl", "--base", "1", "--json")
    (told,) = lines(ended)
    assert (1, "", "conflict", "paper.dcdl", "paper") == (ended.status, ended.err, told["result"], told["file"], told["slug"])
    conflict = told["conflict"]
    assert (1, 1, 2, None) == (conflict["named"], conflict["base"]["revision"], conflict["current"]["revision"], conflict["removed"])
    assert ("paper revision 1", "paper revision 2", False) == tuple(conflict["difference"][key] for key in ("old", "new", "cut"))
    assert ("note 2", True) == (conflict["current"]["note"], told["help"].endswith("`--base 2`"))


def test_a_base_that_never_was_is_named_as_one(here: Place) -> None:
    saved(here)
    write(here, task="edited")
    ended = here.call("flow", "save", "paper.dcdl", "--base", "7")
    assert (1, True) == (ended.status, "and there is no revision 7 of it\n" in ended.err)
    write(here, "fresh")
    ended = here.call("flow", "save", "fresh.dcdl", "--base", "7")
    expected = "error: no flow `fresh` is kept, so there is no revision 7 of it\n  = help: leave out `--base`\n"
    assert (1, expected) == (ended.status, ended.err)


def test_with_override_it_is_kept_on_whatever_is_last_and_the_note_says_so(here: Place) -> None:
    saved(here, "paper", "first", "second")
    write(here, task="third")
    assert "saved workspace:paper revision 3\n" == here.done("flow", "save", "paper.dcdl", "--base", "1", "--override", "--note", "urgent")
    note = lines(here.done("flow", "list", "--json"))[0]["note"]
    assert "urgent\nsaved over revision 2 by " in note
    assert note.endswith("; it was made from revision 1")


def test_a_removed_flow_comes_back_only_when_that_is_said(here: Place) -> None:
    path = saved(here)
    here.done("flow", "remove", "paper", "--base", "1", "--note", "not used")
    path.write_text(source(task="edited"), "utf-8")
    ended = here.call("flow", "save", "paper.dcdl")
    assert (1, True, True) == (ended.status, "`paper` was removed by" in ended.err, "  removed  " in ended.err)
    assert "  = help: bring it back by saving with `--base 1`\n" in ended.err
    assert "saved workspace:paper revision 2, which brings it back\n" == here.done("flow", "save", "paper.dcdl", "--base", "1")


# --- many ---------------------------------------------------------------------------------------------------------------------------


def test_every_file_of_a_folder_is_saved_and_what_is_no_flow_is_passed_over(here: Place) -> None:
    for name in ("b", "a"):
        write(here, name, folder="flows")
    write(here, "c", folder="flows/below")
    (here.work / "flows" / "a.test.dcdl").write_text("{ a = 1; }", "utf-8")
    (here.work / "flows" / "settings.dcdl").write_text("{ a = 1; }", "utf-8")
    told = here.done("flow", "save", "flows").splitlines()
    assert [f"saved workspace:{name} revision 1" for name in "abc"] == told[1:-1]
    assert "3 files: 3 saved, 0 unchanged; passed over 2 files that are no flow" == told[-1]
    assert "3 files: 0 saved, 3 unchanged; passed over 2 files that are no flow" == here.done("flow", "save", "flows").splitlines()[-1]


@pytest.mark.parametrize("pattern", ["flows/*.dcdl", "flows/**", "**/[ab].dcdl"])
def test_a_pattern_in_quotes_is_expanded(here: Place, pattern: str) -> None:
    write(here, "a", folder="flows")
    write(here, "b", folder="flows")
    (here.work / "flows" / "readme.md").write_text("", "utf-8")
    told = here.done("flow", "save", pattern).splitlines()[1:]
    assert ["saved workspace:a revision 1", "saved workspace:b revision 1", "2 files: 2 saved, 0 unchanged"] == told


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(here: Place) -> None:
    write(here, "a").rename(here.work / "[ab].dcdl")
    write(here, "b")
    assert "saved workspace:a revision 1\n" in here.done("flow", "save", "[ab].dcdl", "--slug", "a")


def test_a_file_that_is_named_twice_is_saved_once(here: Place) -> None:
    write(here, "a", folder="flows")
    assert "1 file: 1 saved, 0 unchanged" == here.done("flow", "save", "flows", "flows/a.dcdl", "flows/*").splitlines()[-1]


def test_what_is_not_kept_keeps_no_other_from_being_kept(here: Place) -> None:
    write(here, "a")
    (here.work / "b.dcdl").write_text("schema_version = 1;", "utf-8")
    write(here, "c").write_text(source("another"), "utf-8")
    write(here, "d")
    write(here, "d", folder="flows")
    ended = here.call("flow", "save", "a.dcdl", "b.dcdl", "c.dcdl", "d.dcdl", "flows", "nowhere.dcdl", "no-*")
    assert 2 == ended.status
    assert ["saved workspace:a revision 1", "saved workspace:d revision 1"] == ended.out.splitlines()[1:3]
    assert "7 files: 2 saved, 0 unchanged, 5 not kept" == ended.out.splitlines()[-1]
    assert [
        "error: `b.dcdl` is not kept: it does not compile as `b`",
        "error: the flow is named `another` and saved as `c`",
        "error: `flows/d.dcdl` would be kept as `d`, as `d.dcdl` is",
        "error: `nowhere.dcdl` does not exist",
        "error: no flow in `no-*`",
    ] == [line for line in ended.err.splitlines() if line.startswith("error: ")]
    assert "┌─ b.dcdl:1:1" in ended.err
    assert ["a", "d"] == [each["slug"] for each in lines(here.done("flow", "list", "--json"))]


def test_one_that_does_not_compile_ends_with_1(here: Place) -> None:
    write(here, "a")
    (here.work / "b.dcdl").write_text("schema_version = 1;", "utf-8")
    assert 1 == here.call("flow", "save", "a.dcdl", "b.dcdl").status


def test_programs_get_a_line_for_every_file_and_nothing_on_standard_error(here: Place) -> None:
    write(here, "a")
    (here.work / "b.dcdl").write_text("schema_version = 1;", "utf-8")
    write(here, "c").write_text(source("another"), "utf-8")
    ended = here.call("flow", "save", "a.dcdl", "b.dcdl", "c.dcdl", "nowhere.dcdl", "--json")
    told = lines(ended)
    assert (2, "", {1}) == (ended.status, ended.err, {each["version"] for each in told})
    assert ["saved", "not_compiled", "refused", "failed"] == [each["result"] for each in told]
    assert (1, "missing_field", "name_differs") == (
        told[0]["revision"]["revision"],
        told[1]["diagnostics"][0]["code"],
        told[2]["refusal"]["code"],
    )
    assert all(each["message"] and each["help"] for each in told[1:])


@pytest.mark.parametrize("option", [["--slug", "x"], ["--base", "1"]])
def test_a_slug_or_a_base_is_for_one_file(here: Place, option: list[str]) -> None:
    write(here, "a")
    ended = here.call("flow", "save", "*.dcdl", *option)
    assert (2, True) == (ended.status, "are for one file" in ended.err)
    assert not (here.work / ".stateward").exists()


@pytest.mark.parametrize("limit", ["FOUND_MAX", "BYTES_MAX"])
def test_more_than_is_saved_at_a_time_is_refused_before_anything_is_kept(here: Place, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, limit, 1 if limit == "FOUND_MAX" else 300)
    for name in "ab":
        write(here, name, folder="flows")
    ended = here.call("flow", "save", "flows")
    assert (2, "", True) == (ended.status, ended.out, ended.err.startswith("error: the files that are named are more than "))
    assert not (here.work / ".stateward").exists()


# --- trying -------------------------------------------------------------------------------------------------------------------------


def test_a_dry_run_says_what_would_be_and_writes_nothing(here: Place) -> None:
    write(here)
    assert "would save workspace:paper revision 1\n" == here.done("flow", "save", "paper.dcdl", "--dry-run")
    assert ["paper.dcdl"] == [each.name for each in here.work.iterdir()]
    here.done("flow", "save", "paper.dcdl")
    write(here, task="edited")
    before = (here.work / ".stateward" / "bases.json").read_bytes(), here.store.read_bytes()
    assert "would save workspace:paper revision 2\n" == here.done("flow", "save", "paper.dcdl", "--dry-run")
    (told,) = lines(here.done("flow", "save", "paper.dcdl", "--dry-run", "--json"))
    assert (True, "saved", 2) == (told["dry_run"], told["result"], told["revision"]["revision"])
    assert 1 == here.call("flow", "save", "paper.dcdl", "--dry-run", "--base", "9").status
    assert before == ((here.work / ".stateward" / "bases.json").read_bytes(), here.store.read_bytes())


def test_a_record_that_cannot_be_kept_fails_nothing_and_is_told(here: Place) -> None:
    saved(here)
    record = here.work / ".stateward" / "bases.json"
    record.unlink()
    record.mkdir()
    write(here, task="edited")
    ended = here.call("flow", "save", "paper.dcdl", "--base", "1")
    assert (0, "saved workspace:paper revision 2\n") == (ended.status, ended.out)
    assert (
        "warning: what the file was made from is not remembered: `.stateward/bases.json` cannot be written: is a directory\n" == ended.err
    )


def test_what_people_write_does_not_act_on_a_terminal(here: Place) -> None:
    odd = "\x1b[2J\u202e\x07"
    write(here)
    here.done("flow", "save", "paper.dcdl", "--note", odd)
    write(here, task=f"odd {odd[:3]}\u202e")
    ended = here.call("flow", "save", "paper.dcdl", "--base", "9")
    shown = [here.call("flow", *command).out for command in (["list"], ["history", "paper"])]
    assert not set(odd) - set("[2J") & set("".join([ended.out, ended.err, *shown]))
    assert odd == lines(here.done("flow", "list", "--json"))[0]["note"]
    assert json.dumps(odd) in here.done("flow", "list", "--json").replace("\u202e", "\\u202e")


def test_an_empty_slug_is_refused_and_not_taken_for_none(here: Place) -> None:
    write(here)
    ended = here.call("flow", "save", "paper.dcdl", "--slug", "")
    assert (2, "") == (ended.status, ended.out)
    assert "an empty slug names no flow" in ended.err
