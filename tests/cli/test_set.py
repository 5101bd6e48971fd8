"""`stateward set`, `--input`, and variables in what is shown of a Worker."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.guarded import begun, kept
from tests.cli.program import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def values(here: Place) -> dict[str, Any]:
    """Give the variables that are set."""
    return {each["name"]: each["holds"] for each in here.status()["flow"]["variables"] if each["is_set"]}


def test_values_are_json_and_a_text_is_taken_as_it_stands_where_a_variable_holds_one(here: Place) -> None:
    begun(here)
    assert "set attempts, title in E00000003\n" == here.done("set", "attempts=2", "title=the first draft")
    assert {"attempts": 2, "files": [], "title": "the first draft"} == values(here)


@pytest.mark.parametrize(
    ("typed", "held"),
    [
        ("draft", "draft"),
        ('"draft"', "draft"),
        ('"\\u00e9"', "é"),
        ("1.10", "1.10"),
        ("true", "true"),
        ("null", "null"),
        ("", ""),
        ('{"a":', '{"a":'),
        ("a=b", "a=b"),
        ('["a"]', '["a"]'),
        ("9" * 500, "9" * 500),
    ],
)
def test_a_variable_that_holds_a_text_takes_any(here: Place, typed: str, held: str) -> None:
    begun(here)
    here.done("set", f"title={typed}")
    assert held == values(here)["title"]


@pytest.mark.parametrize(
    ("typed", "said", "help_"),
    [
        ("attempts=many", "`many` is no JSON, and `attempts` holds no such text", "give `attempts` a value of `Int & >= 0`"),
        ("files=a.py", "`a.py` is no JSON, and `files` holds no such text", "give `files` a value of `[...String]`"),
        ("attempts=NaN", "`NaN` is no JSON, and `attempts` holds no such text", "give `attempts` a value of `Int & >= 0`"),
        ('files={"a":1,"a":2}', '`{"a":1,"a":2}` is no JSON, and `files` holds no such text', "give `files` a value of `[...String]`"),
    ],
)
def test_a_bare_word_where_no_text_is_held_is_wrong_usage(here: Place, typed: str, said: str, help_: str) -> None:
    begun(here)
    ended = here.call("set", typed)
    assert (2, "", f"error: {said}\n  = help: {help_}\n") == (ended.status, ended.out, ended.err)


def test_what_is_refused_writes_nothing_and_is_told_with_what_may_be_set(here: Place) -> None:
    begun(here)
    ended = here.call("set", "attempts=1", "bugs=true")
    assert (1, "") == (ended.status, ended.err)
    assert ended.out.startswith("refused  variable_not_writable\nstate `work` does not write `bugs`; it writes `attempts`, `files` and")
    told = json.loads(here.call("set", "attempts=1", "nothing=x", "--json").out)
    assert ("refused", "variable_unknown") == (told["result"], told["code"])
    assert 2 == len(here.log())


def test_programs_are_told_the_names_and_the_entry(here: Place) -> None:
    worker = begun(here)
    told = json.loads(here.done("set", worker[-8:], "attempts=1", "--json"))
    assert {"version": 1, "result": "set", "worker": worker, "names": ["attempts"], "entry": "E00000003"} == told
    assert "attempts: set to that already, and nothing was written\n" == here.done("set", "attempts=1")


def test_values_come_out_of_a_file_too_and_each_once(here: Place) -> None:
    begun(here)
    (here.work / "values.json").write_text('{"files": ["a.py", "b.py"], "attempts": 1}')
    here.done("set", "title=x", "--from", "values.json")
    assert {"attempts": 1, "files": ["a.py", "b.py"], "title": "x"} == values(here)
    ended = here.call("set", "attempts=2", "--from", "values.json")
    assert (2, "error: `attempts` is given twice: in the file, and beside it\n  = help: give it once\n") == (ended.status, ended.err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no variable is named"),
        (("attempts=1", "attempts=2"), "`attempts` is given twice"),
        (("w", "attempts"), "`attempts` is no NAME=VALUE"),
        (("=1",), "`=1` is no NAME=VALUE"),
        (("--from", "nowhere.json"), "`nowhere.json` cannot be read: no such file or directory"),
        (("--from", "list.json"), "`list.json` is not usable: it is no object"),
        (("--from", "twice.json"), "`twice.json` is not usable: it names a member twice"),
    ],
)
def test_wrong_usage_is_told_and_writes_nothing(here: Place, arguments: tuple[str, ...], said: str) -> None:
    begun(here)
    (here.work / "list.json").write_text("[1]")
    (here.work / "twice.json").write_text('{"attempts": 1, "attempts": 2}')
    ended = here.call("set", *arguments)
    assert (2, "") == (ended.status, ended.out)
    assert said in ended.err.splitlines()[0]
    assert 2 == len(here.log())


# --- inputs ---------------------------------------------------------------------------------------------------------------------------


def test_a_flow_is_started_with_its_inputs(here: Place) -> None:
    begun(here, "--input", "limit=5")
    assert {"topic": "owls", "limit": 5} == here.status()["flow"]["inputs"]
    assert 'topic = "owls", limit = 5' in here.done("status")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "input_missing: flow `refine` is given no input `topic`"),
        (
            ("--input", "topic=owls", "--input", "depth=1"),
            "input_unknown: flow `refine` has no input `depth`; it takes `topic` and `limit`",
        ),
        (("--input", "topic=owls", "--input", "limit=0"), "input_misfit: input `limit` cannot hold this"),
        (("--input", "topic=owls", "--input", "limit=few"), "`few` is no JSON, and `limit` holds no such text"),
        (("--input", "topic=owls", "--input", "topic=cats"), "`topic` is given twice"),
    ],
)
def test_inputs_that_do_not_fit_start_nothing(here: Place, arguments: tuple[str, ...], said: str) -> None:
    kept(here)
    ended = here.call("start", "workspace:refine", *arguments)
    assert (2, "") == (ended.status, ended.out)
    assert said in ended.err
    assert "no Worker yet" in here.call("status").err


def test_a_new_workspace_is_not_begun_for_inputs_that_do_not_fit(here: Place) -> None:
    ended = here.call("start", "builtin:single-step", "--input", "topic=owls")
    assert (2, True) == (ended.status, "input_unknown: flow `single-step` has no input `topic`; it takes none" in ended.err)
    assert not here.store.exists()


# --- what is shown --------------------------------------------------------------------------------------------------------------------


def test_status_shows_guards_and_all_variables_with_who_wrote_them_where(here: Place) -> None:
    begun(here)
    here.done("set", "attempts=2", "title=x")
    here.done("request", "--reason", "done")
    shown = [line.split("  ") for line in here.done("status").splitlines()]
    lines = [" ".join(filter(None, map(str.strip, line))) for line in shown]
    assert "when !vars.bugs && vars.attempts < input.limit" in lines
    assert "attempts 2 worker, in work (visit 1), E00000003; read here" in lines
    assert "bugs not set set here: Bool" in lines
    assert "files [] definition, in work (visit 1), E00000002" in lines


def test_status_for_programs_has_guards_and_variables(here: Place) -> None:
    begun(here)
    here.done("set", "title=x")
    here.done("request", "--reason", "done")
    flow = here.status()["flow"]
    assert ["vars.bugs"] == [each["when"] for each in flow["transitions"] if each["id"] == "again"]
    (title,) = [each for each in flow["variables"] if each["name"] == "title"]
    assert {
        "name": "title",
        "constraint": "String",
        "is_set": True,
        "holds": "x",
        "written": {"by": "worker", "state": "work", "visit": 1, "entry": "E00000003"},
        "read_here": True,
        "set_here": False,
    } == title
    assert None is flow["halted"]


def test_the_log_shows_what_was_set(here: Place) -> None:
    begun(here)
    here.done("set", "title=\x1b[2J\u202e", "attempts=1")
    shown = here.done("log")
    assert "set by definition: attempts = 0, files = []" in shown
    assert "set by worker: title = " in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_a_halted_flow_is_shown_as_such_and_resumed(here: Place) -> None:
    begun(here)
    for round_ in range(2):
        here.done("set", f"title=draft {round_}")
        here.done("request", "--reason", f"done {round_}")
        here.done("set", "bugs=true")
        ended = here.call("request", "--reason", f"bugs {round_}")
    assert (1, True) == (ended.status, "limit_reached" in ended.out)
    assert {"state": "work", "visits": 2} == here.status()["flow"]["halted"]
    (row,) = map(json.loads, here.done("ps", "--stuck", "--json").splitlines())
    assert "halted: state `work` was entered 2 times, as often as it may be" == row["flow"]["stuck"]
    assert "instance_halted" in here.call("request", "--reason", "please").out
    here.done("operate", "resume", here.status()["worker"], "--reason", "once more")
    here.done("request", "--reason", "bugs, and allowed")
    assert "work" == here.status()["flow"]["state"]


# --- why ------------------------------------------------------------------------------------------------------------------------------


def test_why_says_for_each_guard_what_it_saw_and_what_was_not_set(here: Place) -> None:
    begun(here)
    here.done("set", "title=x", "attempts=2")
    here.done("request", "--reason", "done")
    lines = here.done("why").splitlines()
    for line in (
        "by checked, asked in E00000004; nobody had to judge it",
        "  guard could not check: !vars.bugs && vars.attempts < input.limit",
        "    vars.bugs was not set",
        "    vars.attempts = 2  E00000003",
        "    input.limit = 3",
        "  not judged in this visit",
    ):
        assert line in lines
    here.done("set", "bugs=true")
    assert "  guard not met: !vars.bugs && vars.attempts < input.limit" in here.done("why").splitlines()
    assert "    vars.bugs = true  E00000006" in here.done("why").splitlines()


def test_why_gives_programs_each_part_with_the_entry_it_rests_on(here: Place) -> None:
    begun(here)
    here.done("set", "title=x")
    here.done("request", "--reason", "done")
    ways = {each["transition"]: each for each in json.loads(here.done("why", "--json"))["ways"]}
    assert ["good", "again", "judged", "$cancel"] == list(ways)
    (guard,) = ways["good"]["parts"]
    assert ("guard", "indeterminate", ["vars.bugs"]) == (guard["kind"], guard["verdict"], guard["missing"])
    assert [
        {"name": "vars.bugs", "is_set": False, "value": None, "entry": ""},
        {"name": "vars.attempts", "is_set": True, "value": 0, "entry": "E00000002"},
        {"name": "input.limit", "is_set": True, "value": 3, "entry": ""},
    ] == guard["saw"]
    (condition,) = ways["judged"]["parts"]
    assert ("condition", "It is good enough.", None) == (condition["kind"], condition["text"], condition["verdict"])


# --- runs -----------------------------------------------------------------------------------------------------------------------------


def scripted(here: Place, *requests: dict[str, Any]) -> list[str]:
    kept(here)
    (here.work / "answers.json").write_text(json.dumps({"requests": requests}))
    return ["run", "workspace:refine", "--input", "topic=owls", "--answers", "answers.json"]


def test_a_script_sets_variables_before_its_requests(here: Place) -> None:
    run = scripted(
        here,
        {"reason": "written", "set": {"title": "x", "attempts": 3}},
        {"reason": "good enough", "set": {"bugs": False}, "verdicts": {"judged": "met"}},
    )
    shown = here.done(*run)
    assert 'set     title = "x", attempts = 3' in shown
    assert ("done", "completed") == (here.status()["flow"]["state"], here.status()["flow"]["status"])


def test_a_script_that_sets_what_may_not_be_set_ends_there_and_is_gone_on_with(here: Place) -> None:
    run = scripted(here, {"reason": "written", "set": {"bugs": True}})
    ended = here.call(*run)
    assert (1, True) == (ended.status, "refused  variable_not_writable" in ended.out)
    assert 0 == here.status()["flow"]["attempts"]
    run = scripted(here, {"reason": "written", "set": {"title": "x"}})
    assert 1 == here.call(*run, "--resume").status
    assert "look" == here.status()["flow"]["state"]
