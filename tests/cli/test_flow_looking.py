"""`stateward flow list`, `show`, `history`, `diff`, `resolve`: what is kept and how it came to be. Nothing in the Workspace changes."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.surfaces.cli.flows.folder import FlowFolder
from tests.cli.flows import lines, saved, source, write
from tests.cli.guarded import REFINE
from tests.cli.program import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    """Three flows: `paper` with two revisions, `pamphlet`, and `review`, which was removed."""
    made = place(tmp_path)
    saved(made, "paper", "first", "second")
    saved(made, "pamphlet")
    saved(made, "review")
    made.done("flow", "remove", "review", "--base", "1", "--note", "nobody needs it")
    return made


# --- list ---------------------------------------------------------------------------------------------------------------------------


def test_flows_are_listed_with_their_last_revision_and_removed_ones_when_asked_for(here: Place) -> None:
    rows = lines(here.done("flow", "list", "--json"))
    assert [("pamphlet", 1, None), ("paper", 2, None)] == [(each["slug"], each["revision"], each["removed"]) for each in rows]
    assert "review" not in here.done("flow", "list")
    every = lines(here.done("flow", "list", "--removed", "--json"))
    assert ["pamphlet", "paper", "review"] == [each["slug"] for each in every]
    assert ("removed", 1, "nobody needs it") == tuple(every[-1]["removed"][key] for key in ("kind", "revision", "note"))
    assert "removed by" in here.done("flow", "list", "--removed")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("pa*", ["pamphlet", "paper"]), ("paper", ["paper"]), ("workspace:pap*", ["paper"]), ("p[!a]*", []), ("PA*", [])],
)
def test_a_pattern_names_some_of_them(here: Place, pattern: str, found: list[str]) -> None:
    assert found == [each["slug"] for each in lines(here.done("flow", "list", pattern, "--json"))]


def test_where_nothing_is_found_that_is_said(here: Place) -> None:
    assert "no flow fits `x*`\n" == here.done("flow", "list", "x*")
    for slug in ("paper", "pamphlet"):
        here.done("flow", "remove", slug, "--base", "2" if slug == "paper" else "1")
    assert "no flow is kept in this Workspace" in here.done("flow", "list")


# --- show ---------------------------------------------------------------------------------------------------------------------------


def test_a_source_is_shown_byte_by_byte_where_it_is_no_terminal(here: Place) -> None:
    assert source(task="second") == here.done("flow", "show", "paper")
    assert source(task="first") == here.done("flow", "show", "workspace:paper", "--revision", "1", "--output", "-")
    assert source("review", "Write it.") == here.done("flow", "show", "review", "--revision", "1")


def test_what_is_known_of_a_revision_is_one_object(here: Place) -> None:
    (told,) = lines(here.done("flow", "show", "paper", "--revision", "1", "--json"))
    digest = hashlib.sha256(source(task="first").encode()).hexdigest()
    assert (1, "workspace:paper", 1, f"sha256:{digest}", "note 1", None) == tuple(
        told[key] for key in ("version", "selector", "revision", "content_digest", "note", "removed")
    )


def test_a_source_is_written_to_a_file_which_is_then_known_to_be_that_revision(here: Place) -> None:
    assert "wrote workspace:paper revision 2 to copy.dcdl\n" == here.done("flow", "show", "paper", "--output", "copy.dcdl")
    (here.work / "copy.dcdl").write_text(source(task="third"), "utf-8")
    assert "saved workspace:paper revision 3\n" == here.done("flow", "save", "copy.dcdl", "--slug", "paper")


def test_a_file_that_holds_what_is_kept_nowhere_is_left_alone(here: Place) -> None:
    file = write(here, "paper", "mine alone")
    ended = here.call("flow", "show", "paper", "--output", "paper.dcdl")
    expected = "error: `paper.dcdl` holds what no revision of `paper` does\n  = help: save it first, name another file, or add `--force`\n"
    assert (1, "", expected, source(task="mine alone")) == (ended.status, ended.out, ended.err, file.read_text("utf-8"))
    here.done("flow", "show", "paper", "--output", "paper.dcdl", "--force")
    assert source(task="second") == file.read_text("utf-8")
    here.done("flow", "show", "paper", "--revision", "1", "--output", "paper.dcdl")
    assert source(task="first") == file.read_text("utf-8")


def test_a_file_that_is_changed_while_it_is_being_written_is_left_as_it_is(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    file = here.work / "paper.dcdl"
    file.chmod(0o640)
    drafted = FlowFolder._drafted

    def then_edited(self: FlowFolder, *given: Any, **named: Any) -> str:
        draft = drafted(self, *given, **named)
        file.write_text(source(task="mine"), "utf-8")
        return draft

    with monkeypatch.context() as patch:
        patch.setattr(FlowFolder, "_drafted", then_edited)
        ended = here.call("flow", "show", "paper", "--revision", "1", "--output", "paper.dcdl")
    expected = "error: `paper.dcdl` was changed at this very moment\n  = help: look at it, then try once more\n"
    assert (1, expected, source(task="mine")) == (ended.status, ended.err, file.read_text("utf-8"))
    here.done("flow", "show", "paper", "--output", "paper.dcdl", "--force")
    here.done("flow", "show", "paper", "--revision", "1", "--output", "paper.dcdl")
    assert (0o640, source(task="first")) == (file.stat().st_mode & 0o777, file.read_text("utf-8"))


@pytest.mark.parametrize("command", ["show", "history", "diff", "restore", "remove", "export"])
def test_a_flow_that_is_not_there_is_named_with_the_nearest_one(here: Place, command: str) -> None:
    more = {"restore": ["1"], "export": ["-o", "b.jsonl"]}.get(command, [])
    ended = here.call("flow", command, "papre", *more)
    assert (2, "error: the Workspace keeps no flow `papre`\n  = help: did you mean `paper`?\n") == (ended.status, ended.err)
    ended = here.call("flow", command, "builtin:coder-review", *more)
    assert (2, True) == (ended.status, "is built in, and no Workspace keeps it" in ended.err)


@pytest.mark.parametrize("odd", ["", "../paper", "\x1b[2J", "x" * 5000, "\udcff", "workspace:"])
def test_what_cannot_be_a_slug_is_no_flow(here: Place, odd: str) -> None:
    for command in ("show", "history", "diff", "remove"):
        ended = here.call("flow", command, odd)
        assert (2, "", True) == (ended.status, ended.out, ended.err.startswith("error: the Workspace keeps no flow "))
        assert "\x1b" not in ended.err


def test_of_a_removed_flow_a_revision_has_to_be_named(here: Place) -> None:
    ended = here.call("flow", "show", "review")
    assert (2, True) == (ended.status, ended.err.endswith(" at revision 1\n  = help: name a revision: `--revision 1`\n"))
    ended = here.call("flow", "show", "paper", "--revision", "7")
    assert (2, "error: `paper` has no revision 7\n  = help: name one from 1 to 2\n") == (ended.status, ended.err)


# --- history ------------------------------------------------------------------------------------------------------------------------


def test_revisions_and_acts_are_told_together_the_latest_first(here: Place) -> None:
    here.done("flow", "save", "review.dcdl", "--base", "1", "--note", "after all")
    here.done("flow", "remove", "review", "--base", "2")
    steps = lines(here.done("flow", "history", "review", "--json"))
    assert [("removed", 2), ("saved", 2), ("removed", 1), ("saved", 1)] == [(each["kind"], each["revision"]) for each in steps]
    assert ["", "after all", "nobody needs it", "note 1"] == [each["note"] for each in steps]
    shown = here.done("flow", "history", "review").splitlines()[1:]
    assert ["removed", "saved", "removed", "saved"] == [
        next(word for word in line.split() if word in {"saved", "removed"}) for line in shown
    ]


def test_people_are_shown_the_latest_ones_and_programs_all(here: Place) -> None:
    ended = here.call("flow", "history", "paper", "--max", "1")
    assert (0, 2, "more happened before; `--max 0` shows all\n") == (ended.status, len(ended.out.splitlines()), ended.err)
    assert 3 == len(here.done("flow", "history", "paper", "--max", "0").splitlines())
    assert [2] == [each["revision"] for each in lines(here.done("flow", "history", "paper", "--max", "1", "--json"))]


# --- diff ---------------------------------------------------------------------------------------------------------------------------


def test_revisions_are_compared_as_they_are_named(here: Place) -> None:
    write(here, "paper", "third")
    here.done("flow", "save", "paper.dcdl")
    for arguments, names in (
        ([], ("paper revision 2", "paper revision 3")),
        (["1"], ("paper revision 1", "paper revision 3")),
        (["1", "2"], ("paper revision 1", "paper revision 2")),
        (["3", "1"], ("paper revision 3", "paper revision 1")),
    ):
        (told,) = lines(here.done("flow", "diff", "paper", *arguments, "--json"))
        assert (names, False) == ((told["old"], told["new"]), told["same"])
        assert told["text"] == here.done("flow", "diff", "paper", *arguments)


def test_a_file_is_compared_with_the_last_revision(here: Place) -> None:
    path = write(here, "paper", "third")
    told = here.done("flow", "diff", "paper", "paper.dcdl").splitlines()
    assert ["--- paper revision 2", "+++ paper.dcdl"] == told[:2]
    path.rename(here.work / "7")
    assert "+++ 7" == here.done("flow", "diff", "paper", "./7").splitlines()[1]
    assert 1 == here.call("flow", "diff", "paper", "./7", "--check").status


def test_what_is_the_same_is_called_that(here: Place) -> None:
    assert "paper revision 2 and paper.dcdl are the same\n" == here.done("flow", "diff", "paper", "paper.dcdl", "--check")
    assert "paper revision 2 and paper revision 2 are the same\n" == here.done("flow", "diff", "paper", "2")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["pamphlet"], "`pamphlet` has one revision, and no other to compare it with"),
        (["paper", "7"], "there is no revision 7 of flow `paper`"),
        (["paper", "0"], "there is no revision 0 of flow `paper`"),
        (["paper", "9" * 40], "`" + "9" * 40 + "` does not exist"),
        (["paper", "1", "x"], "`x` is no number of a revision"),
        (["paper", "nowhere.dcdl"], "`nowhere.dcdl` does not exist"),
        (["paper", "."], "`.` is a folder"),
    ],
)
def test_what_cannot_be_compared_is_named(here: Place, arguments: list[str], said: str) -> None:
    ended = here.call("flow", "diff", *arguments)
    assert (2, "", True) == (ended.status, ended.out, ended.err.startswith(f"error: {said}\n  = help: "))


# --- resolve ------------------------------------------------------------------------------------------------------------------------


def test_a_selector_is_resolved_to_revision_and_digests(here: Place) -> None:
    (told,) = lines(here.done("flow", "resolve", "workspace:paper", "--json"))
    (shown,) = lines(here.done("flow", "show", "paper", "--json"))
    assert [shown[key] for key in ("revision", "content_digest", "definition_digest", "flow_id", "workspace")] == [
        told[key] for key in ("revision", "content_digest", "definition_digest", "flow_id", "workspace")
    ]
    for value in ("workspace:paper", "2", told["content_digest"], told["definition_digest"]):
        assert value in here.done("flow", "resolve", "workspace:paper")


def test_the_definition_is_what_its_digest_covers(here: Place) -> None:
    (told,) = lines(here.done("flow", "resolve", "workspace:paper", "--json"))
    definition = here.done("flow", "resolve", "workspace:paper", "--definition")
    assert told["definition_digest"] == f"sha256:{hashlib.sha256(definition.encode()).hexdigest()}"


def test_a_built_in_flow_is_resolved_without_a_workspace(tmp_path: Path) -> None:
    nowhere = place(tmp_path)
    (told,) = lines(nowhere.done("flow", "resolve", "builtin:coder-review", "--json"))
    assert ("builtin:coder-review", None) == (told["selector"], told["workspace"])
    assert 2 == nowhere.call("flow", "resolve", "workspace:paper").status
    assert [] == list(nowhere.work.iterdir())


@pytest.mark.parametrize("selector", ["workspace:review", "workspace:nosuch", "builtin:nosuch", "paper", ""])
def test_what_names_nothing_is_told_with_a_remedy(here: Place, selector: str) -> None:
    ended = here.call("flow", "resolve", selector)
    assert (2, "", 1, 1) == (ended.status, ended.out, ended.err.count("error: "), ended.err.count("  = help: "))


def test_looking_changes_nothing(here: Place) -> None:
    files = {each: each.read_bytes() for each in [here.store, *here.work.rglob("*")] if each.is_file()}
    for command in (
        ["list"],
        ["show", "paper"],
        ["history", "paper"],
        ["diff", "paper"],
        ["resolve", "workspace:paper"],
        ["export", "-o", "-"],
    ):
        here.call("flow", *command)
    assert files == {each: each.read_bytes() for each in [here.store, *here.work.rglob("*")] if each.is_file()}


def test_provenance_shows_for_each_read_where_it_can_come_from(here: Place) -> None:
    (here.work / "refine.dcdl").write_text(REFINE, "utf-8")
    assert here.done("flow", "provenance", "refine.dcdl").splitlines() == [
        "work",
        "  guard of checked: vars.title  on every way  written in work",
        "look",
        "  shown: vars.attempts  on every way  default; written in work",
        "  shown: vars.title  on every way  written in work",
        "  guard of good: vars.bugs  on every way  written in look",
        "  guard of good: vars.attempts  on every way  default; written in work",
        "  guard of good: input.limit  on every way  default; input",
        "  guard of again: vars.bugs  on every way  written in look",
    ]
    assert "the flow reads no variables and no inputs\n" == here.done("flow", "provenance", "builtin:single-step")
