"""Texts that a careless program would look up, double or drop, all the way from a source to an export, on both databases (SEC)."""

import json
from typing import Any

from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Answered, RecordedEntry, RecordKey
from stateward.runtime.session.entries import Kind
from stateward.runtime.session.export import read_export
from tests.cases.opened import begin, opened
from tests.cases.stored import StoredPlace
from tests.runtime.engines import AGENT, HOST, PERSON, WORKSPACE, Judge, input_for, saying, submitted
from tests.runtime.flows import FORK, HALF, ODD_TEXT
from tests.runtime.judgements import MET

BRACES = "{x} {0.__class__} {{ %s ${HOME} {% if %} }"
SOURCE = f"""
schema_version = 1;
name = "odd";
initial = "work";
states = {{
    work = {{
        instructions = "Do it. {BRACES}";
        transitions = {{ finish = {{ target = "done"; condition = "It is done. {BRACES}"; }}; }};
    }};
    done = {{ instructions = "Done. {BRACES}"; terminal = true; }};
}};
"""


def test_braces_in_any_text_are_those_bytes_everywhere(here: StoredPlace) -> None:
    """S-SEC-4: braces in text crash the prompt builder, read attributes, or are doubled."""
    (here.work / "odd.dcdl").write_text(SOURCE, "utf-8")
    here.done("flow", "save", "odd.dcdl")
    requests = [{"reason": f"Done. {BRACES}", "verdicts": {"finish": {"verdict": "met", "rationale": f"Seen. {BRACES}"}}}]
    (here.work / "answers.json").write_text(json.dumps({"requests": requests}), "utf-8")
    told = " ".join(here.done(*here.scripted(flow="workspace:odd", answers=here.work / "answers.json")).split())
    for text in ("Do it.", "It is done.", "Done."):
        assert f"{text} {BRACES}" in told
    flow = here.status()["flow"]
    assert ("done", f"Done. {BRACES}") == (flow["state"], flow["instructions"])
    logged = [text for entry in here.log() for text in texts_in(json.loads(entry["payload"]))]
    exported = [text for entry in read_export(here.done("log", "export").splitlines(keepends=True)).entries for text in texts_of(entry)]
    assert logged == exported
    for text in ("Do it.", "Done.", "Seen."):
        assert any(f"{text} {BRACES}" in each for each in logged)


def test_what_worker_verifier_log_and_export_hold_is_what_came_byte_for_byte(here: StoredPlace) -> None:
    """S-SEC-4: the same, for what a worker says and a host records, in whatever characters."""
    begin(here)
    reason, output = f"done {ODD_TEXT}{HALF}", f"output {BRACES} ".encode() + b'"\\ud800" \xff\x00'
    judge = Judge(saying({"x": MET}))
    with opened(here) as desk:
        worker = submitted(desk.engine.start_worker(WORKSPACE, input_for("fork", ODD_TEXT), PERSON, worked_by=AGENT.actor_class)).worker
        recorded = desk.engine.record(worker, Kind.TOOL_RESULT, output, HOST, RecordKey("host", "session", "1"))
        assert isinstance(recorded, RecordedEntry)
        answered = desk.engine.request_transition(worker, reason, AGENT, judge)
        (asked,) = judge.asked
        captured = [each.payload for each in asked.captured]
        view = desk.engine.view(worker)
    state = FORK.state("a")
    assert (state.instructions, reason) == (asked.instructions, asked.reason)
    assert [each.condition for each in state.transitions] == [each.condition for each in asked.questions]
    assert output in captured
    assert isinstance(answered, Answered)
    assert isinstance(view, WorkerView)
    assert view.flow is not None
    assert FORK.state("b").instructions == answered.answer.instructions == view.flow.instructions
    read = read_export(here.done("log", "export").splitlines(keepends=True))
    assert [output] == [each.payload for each in read.entries if each.seq == recorded.head.seq]


def texts_of(entry: Any) -> list[str]:
    return texts_in(json.loads(entry.payload))


def texts_in(data: Any) -> list[str]:
    """Give every text in JSON data, in order."""
    match data:
        case str():
            return [data]
        case list():
            return [text for each in data for text in texts_in(each)]
        case dict():
            return [text for each in data.values() for text in texts_in(each)]
        case _:
            return []
