"""The page on the command verifier says what is so: its schemas are held against a request that is made and the answers that are read."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.core.events import Verdict
from stateward.runtime.ports import Question
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Assurance, Kind, NewEntry
from stateward.runtime.verifier.command import ENTRIES_BYTES_MAX, ENTRIES_MAX, Command, CommandVerifier
from stateward.runtime.verifier.finish import FINISH, parse_finish
from stateward.store.memory_transcripts import MemoryTranscripts
from tests.contracts.verifiers import FOUND, GIVEN, HELD, HOSTILE, request_for

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "command-verifier.md").read_text("utf-8")
BLOCKS = {name: json.loads(text) for name, text in re.findall(r"```json (\w+)\n(.*?)\n```", PAGE, re.DOTALL)}
TYPES: dict[str, type] = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict}


def faults(schema: dict[str, Any], value: object, where: str = "") -> list[str]:
    """Hold a value against a schema of the kind that the page uses."""
    if "type" not in schema:  # any JSON
        return []
    if type(value) is not TYPES[schema["type"]] or value not in schema.get("enum", [value]):
        return [f"{where}: {value!r}"]
    if isinstance(value, list):
        return [fault for place, each in enumerate(value) for fault in faults(schema["items"], each, f"{where}[{place}]")]
    if not isinstance(value, dict):
        return []
    if "properties" not in schema:
        return []
    known = schema["properties"]
    wrong = [f"{where}: {name}" for name in {*value} - {*known} | {*schema.get("required", ())} - {*value}]
    return wrong + [fault for name in value if name in known for fault in faults(known[name], value[name], f"{where}.{name}")]


def plain(schema: Any) -> Any:
    """A schema without what is only said to people."""
    if isinstance(schema, dict):
        return {name: plain(each) for name, each in schema.items() if name != "description" or not isinstance(each, str)}
    return [plain(each) for each in schema] if isinstance(schema, list) else schema


@pytest.mark.parametrize("workdir", [None, Path("/nothing/there")])
def test_a_request_has_the_form_that_the_page_gives(workdir: Path | None) -> None:
    actors = [Actor(each, "mcp", "", assurance) for each in ActorClass for assurance in Assurance]
    kinds = [*map(str, Kind), "of another program"]
    new = [
        NewEntry(kind, actor, datetime(2026, 1, 1, tzinfo=UTC), HOSTILE.encode("utf-8", "replace")) for kind in kinds for actor in actors
    ]
    kept = MemoryTranscripts()
    request = request_for(reason=HOSTILE, captured=link_all("w", GENESIS, new))
    CommandVerifier(Command(Path("/bin/cat"), seconds=60.0), kept, lambda _: workdir).verify(request)
    given = json.loads(kept.records("w", "t")[0])
    assert [] == faults(BLOCKS["request"], given)
    assert len(new) == len(given["entries"])


def test_a_request_about_a_flow_with_variables_has_the_form_that_the_page_gives_and_any_other_has_none_of_it() -> None:
    kept = MemoryTranscripts()
    for attempt, changed in (("without", {}), ("with", {"inputs": GIVEN, "variables": HELD, "parts": FOUND})):
        request = replace(request_for(), attempt=attempt, **changed)  # type: ignore[arg-type]
        CommandVerifier(Command(Path("/bin/cat"), seconds=60.0), kept, lambda _: None).verify(request)
    without, given = (json.loads(kept.records("w", each)[0]) for each in ("without", "with"))
    assert [] == faults(BLOCKS["request"], given)
    assert {"inputs", "variables", "parts"} == {*given} - {*without}
    assert {"topic": "owls", "limit": 3} == given["inputs"]
    assert {"name": "attempts", "value": 2, "by": "worker", "claim": True, "state": "work", "visit": 1, "entry": "E00000007"} == given[
        "variables"
    ][0]
    assert [("x", "when", "not_met", ""), ("y", "check", "met", "E00000009")] == [
        (each["transition_id"], each["kind"], each["verdict"], each["entry"]) for each in given["parts"]
    ]


def test_the_form_of_an_answer_is_that_of_the_call_by_which_a_model_finishes() -> None:
    assert plain(BLOCKS["answer"]) == plain(FINISH.parameters)


def test_the_example_is_an_answer() -> None:
    questions = [Question(each["transition_id"], "", "", synthetic=False) for each in BLOCKS["example"]["results"]]
    assert [Verdict.MET, Verdict.NOT_MET] == [each.verdict for each in parse_finish(BLOCKS["example"], questions)]


def test_the_limits_are_those_of_the_program() -> None:
    assert f"{ENTRIES_BYTES_MAX // 1024 // 1024} MiB or {ENTRIES_MAX} entries" in PAGE
    assert f"{Command(Path('/x')).answer_bytes // 1024 // 1024} MiB at most" in PAGE
