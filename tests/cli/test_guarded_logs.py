"""The log of a flow with variables: verified, exported, stated, forked, replayed and followed, as the installed program does it."""

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.session.event_codec import _NAMES
from stateward.runtime.session.export import read_export
from tests.cli.guarded import REFINE, begun
from tests.cli.program import Place, place

LOG_PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "log.md").read_text("utf-8")


@pytest.fixture
def here(tmp_path: Path) -> Place:
    """A Worker that went through the flow, with one round back."""
    made = place(tmp_path)
    begun(made)
    made.done("set", "title=The first draft", "attempts=1")
    made.done("request", "--reason", "written")
    made.done("set", "bugs=true")
    made.done("request", "--reason", "there are bugs")
    made.done("set", 'files=["a.py"]')
    made.done("request", "--reason", "mended")
    made.done("set", "bugs=false")
    made.done("request", "--reason", "there are none")
    assert ("done", "completed") == (made.status()["flow"]["state"], made.status()["flow"]["status"])
    return made


def held(state: Any) -> dict[str, Any]:
    return {name: each.value for name, each in state.instance.variables.items()}


def test_it_verifies_and_an_export_folds_to_what_is_shown(here: Place) -> None:
    assert ("yes", "yes") == tuple(json.loads(here.done("log", "verify", "--json"))[each] for each in ("intact", "complete"))
    here.done("log", "export", "--output", "log.jsonl")
    with (here.work / "log.jsonl").open(encoding="utf-8") as lines:
        exported = read_export(lines)
    shown = {each["name"]: each["holds"] for each in here.status()["flow"]["variables"] if each["is_set"]}
    assert {"attempts": 1, "bugs": False, "files": ["a.py"], "title": "The first draft"} == shown == held(exported.state)
    assert {"topic": "owls", "limit": 3} == dict(exported.state.instance.inputs) if exported.state.instance else None


def test_a_statement_says_by_which_guards_it_moved(here: Place) -> None:
    here.done("attest", "create", "--output", "statement.json")
    here.done("attest", "verify", "statement.json")
    envelope = json.loads((here.work / "statement.json").read_text())
    (flow,) = json.loads(b64decode(envelope["payload"]))["predicate"]["flows"]
    assert [None, "checked", "again", "checked", "good"] == [each.get("transition") for each in flow["path"]]
    last = flow["path"][-1]
    assert ([], "there are none") == (last["verdicts"], last["reason"])
    assert [
        {"transition": "good", "kind": "when", "verdict": "met"},
        {"transition": "again", "kind": "when", "verdict": "not_met"},
    ] == last["parts"]


def test_it_is_replayed_through_its_own_flow_and_through_another(here: Place) -> None:
    assert "leads the same way" in here.done("replay", "--against", "refine.dcdl")
    (here.work / "other.dcdl").write_text(REFINE.replace("when = vars.bugs;", "when = vars.bugs && vars.attempts > 1;"), "utf-8")
    ended = here.call("replay", "--against", "other.dcdl", "--json")
    told = json.loads(ended.out)
    assert (1, "look", "work") == (ended.status, told["divergence"]["state"], told["divergence"]["recorded"])
    assert "of which nobody was asked" in told["divergence"]["why"]
    assert ["state `look`: guard of `again`"] == told["changes"]


def test_a_fork_goes_on_with_its_variables_and_is_rewound_with_them(here: Place) -> None:
    worker = here.status()["worker"]
    here.done("operate", "fork", worker, "--at", "8", "--reason", "another way")
    flow = here.status()["flow"]
    assert ("work", {"attempts": 1, "bugs": True, "files": [], "title": "The first draft"}) == (
        flow["state"],
        {each["name"]: each["holds"] for each in flow["variables"]},
    )
    here.done("operate", "rewind", here.status()["worker"], "--to", "look", "--reason", "look again")
    assert [False] == [each["is_set"] for each in here.status()["flow"]["variables"] if each["name"] == "bugs"]
    assert "leads the same way" in here.done("replay", "--against", "refine.dcdl")
    assert ("yes", "yes") == tuple(json.loads(here.done("log", "verify", "--json"))[each] for each in ("intact", "complete"))


def test_it_is_followed_with_what_was_set(here: Place) -> None:
    shown = here.done("watch")
    assert 'set by worker: title = "The first draft", attempts = 1' in shown
    lines = [json.loads(each) for each in here.done("watch", "--json").splitlines()]
    assert 5 == sum(event["type"] == "variables_set" and event["source"] == "worker" for each in lines for event in each["events"]) + 1


def test_a_secret_is_taken_out_of_a_variable_afterwards(here: Place) -> None:
    (here.work / "secret").write_text("The first draft")
    here.done("operate", "redact", here.status()["worker"], "--name", "TITLE", "--from", "secret", "--reason", "leaked")
    assert "The first draft" not in here.done("log", "--json")
    (title,) = [each["holds"] for each in here.status()["flow"]["variables"] if each["name"] == "title"]
    assert "«secret:TITLE»" == title
    assert "yes" == json.loads(here.done("log", "verify", "--json"))["intact"]


def test_the_page_on_the_log_lists_every_event() -> None:
    table = LOG_PAGE.partition("## Events")[2].partition("\n## ")[0]
    listed = [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)]
    assert sorted(_NAMES.values()) == sorted(listed)
