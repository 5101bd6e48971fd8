"""The scripted verifier, under the contract of every verifier, and the answers file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.core.events import EntryCitation, FailureCause, Verdict
from stateward.runtime.ports import VerifierFailed
from stateward.runtime.verifier.script import (
    ANSWERS_BYTES_MAX,
    REQUESTS_MAX,
    AnswersFile,
    AnswersProblem,
    ScriptedRequest,
    parse_answers,
    read_answers,
)
from stateward.runtime.verifier.scripted import ScriptedVerifier
from tests.contracts.verifiers import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.verifiers import MakeJudge, answered, request_for
from tests.runtime.engines import Desk
from tests.runtime.flows import ODD_TEXT


def scripted(*requests: Any) -> AnswersFile:
    """Make an answers file of plain values."""
    return parse_answers(json.dumps({"requests": list(requests)}).encode(), "`answers.json`")


@pytest.fixture
def judge() -> MakeJudge:
    def make(reason: str, verdicts: Mapping[str, Verdict]) -> ScriptedVerifier:
        return ScriptedVerifier(scripted({"reason": reason, "verdicts": dict(verdicts)}))

    return make


def asking(reason: str, **verdicts: Any) -> dict[str, Any]:
    return {"reason": reason, "verdicts": verdicts}


# --- the verifier -------------------------------------------------------------------------------------------------------------------


def test_the_kth_request_of_the_file_answers_the_kth_attempt() -> None:
    verifier = ScriptedVerifier(scripted(asking("one", x="met"), asking("two", y="met")))
    assert Verdict.MET is answered(verifier, request_for(reason="two", number=2)).judgements[1].verdict
    assert Verdict.MET is answered(verifier, request_for(reason="one", number=1)).judgements[0].verdict


def test_a_transition_left_out_is_not_met_because_it_is_not_scripted() -> None:
    result = answered(ScriptedVerifier(scripted(asking("done"))), request_for()).judgements[0]
    assert (Verdict.NOT_MET, "not scripted", ("a verdict in the answers file",)) == (result.verdict, result.rationale, result.missing)


def test_a_verdict_in_full_is_given_word_for_word() -> None:
    full = {"verdict": "not_met", "rationale": ODD_TEXT, "missing": [ODD_TEXT, "tests"], "citations": ["E00000001"]}
    result = answered(ScriptedVerifier(scripted(asking("done", x=full))), request_for()).judgements[0]
    assert (ODD_TEXT, (ODD_TEXT, "tests"), (EntryCitation("E00000001"),)) == (result.rationale, result.missing, result.citations)


@pytest.mark.parametrize(
    ("reason", "number", "cause", "message"),
    [
        ("done", 2, FailureCause.UNAVAILABLE, "the answers file has 1 requests, this is attempt 2"),
        ("other", 1, FailureCause.INCONSISTENT, "attempt 1 has another reason than request 1 of the answers file"),
    ],
)
def test_an_attempt_that_the_file_does_not_answer_fails(reason: str, number: int, cause: FailureCause, message: str) -> None:
    outcome = ScriptedVerifier(scripted(asking("done", x="met"))).verify(request_for(reason=reason, number=number))
    assert VerifierFailed(cause, message) == outcome


def test_a_verdict_for_no_transition_of_the_state_is_passed_on_for_the_core_to_refuse() -> None:
    desk = Desk()
    verifier = ScriptedVerifier(scripted(asking("done", x="met", fnish="met")))
    answer = desk.request("done", verifier).answer
    assert ("invalid_verifier_output", "a") == (answer.code, desk.flow.state)


def test_a_script_runs_a_flow_to_its_end_over_restarts() -> None:
    script = scripted(asking("a", ready="met"), asking("b", bad="met"), asking("c", fixed="met"), asking("d"), asking("e", good="met"))
    desk = Desk("review")
    states = []
    for request in script.requests:
        desk.begin(request.reason)
        desk.restart()
        states.append(desk.request(request.reason, ScriptedVerifier(script)).answer.state)
    assert states == ["check", "fix", "check", "check", "done"]


# --- the file -----------------------------------------------------------------------------------------------------------------------


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text('{"requests": [{"reason": "done", "verdicts": {"x": "met"}}]}')
    expected = ScriptedRequest.model_validate({"reason": "done", "verdicts": {"x": "met"}})
    assert (expected,) == read_answers(path).requests


BROKEN: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{", "is not usable: it is no JSON"),
    "no UTF-8": (b"\xff", "is not usable: it is no JSON"),
    "a member twice": (b'{"requests": [], "requests": []}', "is not usable: it names a member twice"),
    "an array": (b"[]", "is not usable at its root"),
    "no requests": (b"{}", "is not usable at `requests`: it is not there"),
    "an unknown member": (b'{"requests": [], "more": 1}', "is not usable at `more`: no such member is known"),
    "an unknown member of a request": (
        b'{"requests": [{"reason": "a", "verdict": {}}]}',
        "at `requests.0.verdict`: no such member is known",
    ),
    "an unknown word": (
        b'{"requests": [{"reason": "a", "verdicts": {"x": "yes"}}]}',
        "at `requests.0.verdicts.x.verdict`: it should be `met`",
    ),
    "an unknown member of a verdict": (
        b'{"requests": [{"reason": "a", "verdicts": {"x": {"verdict": "met", "confidence": 0}}}]}',
        "at `requests.0.verdicts.x.confidence`: no such member is known",
    ),
    "a verdict that is a number": (b'{"requests": [{"reason": "a", "verdicts": {"x": 1}}]}', "at `requests.0.verdicts.x`"),
    "a blank reason": (b'{"requests": [{"reason": " "}]}', "at `requests.0`: the reason is blank"),
    "the same reason twice": (
        b'{"requests": [{"reason": "a"}, {"reason": "b"}, {"reason": " b "}]}',
        "requests 2 and 3 have the same reason, so the second would repeat the first's answer",
    ),
}


@pytest.mark.parametrize(("data", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_file_that_cannot_be_used_is_refused_in_one_line_with_the_remedy(data: bytes, message: str) -> None:
    with pytest.raises(AnswersProblem) as refused:
        parse_answers(data, "`answers.json`")
    problem = refused.value
    assert message in problem.message
    assert problem.message.startswith("answers file `answers.json` ")
    assert problem.message.isprintable()
    assert problem.remedy


def test_the_same_reason_may_come_again_after_another() -> None:
    assert len(scripted(asking("a"), asking("b"), asking("a")).requests) == 3


def test_a_file_has_limits() -> None:
    parse_answers(json.dumps({"requests": [asking(str(each)) for each in range(REQUESTS_MAX)]}).encode(), "")
    with pytest.raises(AnswersProblem, match="at most 1000 items"):
        scripted(*(asking(str(each)) for each in range(REQUESTS_MAX + 1)))
    with pytest.raises(AnswersProblem, match="over the limit of 16384 bytes"):
        scripted(asking("x" * 16385))


def test_a_file_over_its_size_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_bytes(b" " * (ANSWERS_BYTES_MAX + 1))
    with pytest.raises(AnswersProblem, match="over the limit of 1048576 bytes"):
        read_answers(path)


@pytest.mark.parametrize("name", ["missing.json", "folder"])
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(AnswersProblem, match=f"{name}` cannot be read: "):
        read_answers(tmp_path / name)
