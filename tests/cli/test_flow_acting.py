"""`stateward flow restore` and `remove`: nothing is done on another revision than the one that was seen."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.flows import colleague, lines, saved, source, write
from tests.cli.program import Place, place
from tests.cli.test_person import typing


@pytest.fixture
def here(tmp_path: Path) -> Place:
    made = place(tmp_path)
    saved(made, "paper", "first", "second")
    return made


def test_an_old_revision_is_made_current_again_as_a_new_one(here: Place) -> None:
    told = here.done("flow", "restore", "paper", "1", "--base", "2", "--note", "the second was worse")
    assert "restored workspace:paper revision 1 as revision 3\n" == told
    assert source(task="first") == here.done("flow", "show", "paper")
    first, third = (lines(here.done("flow", "show", "paper", "--revision", number, "--json"))[0] for number in "13")
    assert (first["definition_digest"], "the second was worse") == (third["definition_digest"], third["note"])
    assert "nothing changed: workspace:paper revision 3 is the same\n" == here.done("flow", "restore", "paper", "3", "--base", "3")


def test_a_file_that_was_made_from_the_one_before_is_refused_after_a_restore(here: Place) -> None:
    here.done("flow", "restore", "paper", "1", "--base", "2")
    write(here, "paper", "third")
    assert 1 == here.call("flow", "save", "paper.dcdl").status


def test_a_removed_flow_is_resolved_no_more_and_keeps_its_revisions(here: Place) -> None:
    assert "removed workspace:paper at revision 2\n" == here.done("flow", "remove", "paper", "--base", "2")
    assert 2 == here.call("flow", "resolve", "workspace:paper").status
    assert source(task="first") == here.done("flow", "show", "paper", "--revision", "1")
    again = here.done("flow", "remove", "paper")
    assert (True, True) == (again.startswith("nothing changed: workspace:paper was removed by "), again.endswith(" at revision 2\n"))
    assert "restored workspace:paper revision 1 as revision 3\n" == here.done("flow", "restore", "paper", "1", "--base", "2")
    assert source(task="first") == here.done("flow", "show", "paper")


@pytest.mark.parametrize("command", [["restore", "paper", "1"], ["remove", "paper"]])
def test_what_was_changed_since_it_was_seen_is_left_alone_and_shown(here: Place, command: list[str]) -> None:
    other = colleague(here)
    write(other, "paper", "third")
    other.done("flow", "save", "paper.dcdl", "--base", "2", "--note", "theirs")
    ended = here.call("flow", *command, "--base", "2")
    assert (1, "", True) == (ended.status, ended.out, "theirs" in ended.err)
    assert "--- paper revision 2\n+++ paper revision 3\n" in ended.err
    assert ended.err.endswith(", not at revision 2\n  = help: look at what changed, then say `--base 3`\n")
    (told,) = lines(here.call("flow", *command, "--base", "2", "--json"))
    assert ("conflict", 2, 3) == (told["result"], told["conflict"]["named"], told["conflict"]["current"]["revision"])
    assert 3 == lines(here.done("flow", "list", "--json"))[0]["revision"]


@pytest.mark.parametrize("command", [["restore", "paper", "1"], ["remove", "paper"]])
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_where_nobody_can_be_asked_the_base_has_to_be_named(here: Place, command: list[str], more: list[str]) -> None:
    ended = here.call("flow", *command, *more)
    assert (2, "", True) == (ended.status, ended.out, ended.err.startswith("error: nobody can be asked whether to "))
    assert ended.err.endswith("  = help: name the revision that was seen last: `--base 2`\n")
    assert [2] == [each["revision"] for each in lines(here.done("flow", "list", "--json"))]


@pytest.mark.parametrize("command", [["restore", "paper", "1"], ["remove", "paper"]])
def test_a_dry_run_asks_nobody_and_changes_nothing(here: Place, command: list[str]) -> None:
    before = here.store.read_bytes()
    assert here.done("flow", *command, "--dry-run").startswith("would re")
    (told,) = lines(here.done("flow", *command, "--dry-run", "--json"))
    assert (True, True) == (told["dry_run"], told["result"] in {"restored", "removed"})
    assert 1 == here.call("flow", *command, "--dry-run", "--base", "1").status
    assert before == here.store.read_bytes()


def test_programs_are_told_what_was_done(here: Place) -> None:
    (told,) = lines(here.done("flow", "restore", "paper", "1", "--base", "2", "--json"))
    assert ("restored", 1, 3, False) == (told["result"], told["restored"], told["revision"]["revision"], told["dry_run"])
    (told,) = lines(here.done("flow", "remove", "paper", "--base", "3", "--json"))
    assert ("removed", "removed", 3) == (told["result"], told["act"]["kind"], told["act"]["revision"])
    (told,) = lines(here.done("flow", "remove", "paper", "--json"))
    assert "unchanged" == told["result"]


def test_a_revision_that_never_was_is_not_restored(here: Place) -> None:
    ended = here.call("flow", "restore", "paper", "9", "--base", "2")
    expected = "error: there is no revision 9 of flow `paper`\n  = help: name one from 1 to 2\n"
    assert (2, "", expected) == (ended.status, ended.out, ended.err)


@pytest.mark.parametrize(
    ("command", "question", "answer", "status", "revisions"),
    [
        (["restore", "paper", "1"], "restore revision 1 of `paper`? [y/N]: ", "y", 0, [3]),
        (["restore", "paper", "1"], "restore revision 1 of `paper`? [y/N]: ", "n", 2, [2]),
        (["remove", "paper"], "remove `paper`? [y/N]: ", "y", 0, []),
        (["remove", "paper"], "remove `paper`? [y/N]: ", "", 2, [2]),
    ],
)
def test_a_person_at_a_terminal_is_shown_the_last_revision_and_asked(
    here: Place, command: Sequence[str], question: str, answer: str, status: int, revisions: list[int]
) -> None:
    with typing(here, "flow", *command) as typist:
        typist.wait_for(question)
        assert "note 2" in typist.seen
        typist.answer(question, answer)
        assert status == typist.status()
    assert revisions == [each["revision"] for each in lines(here.done("flow", "list", "--json"))]
