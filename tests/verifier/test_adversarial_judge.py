"""A judge that lies: whatever it cites, nothing moves that the runtime cannot check."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.core.events import FailureCause, Judgement, Verdict
from stateward.runtime.ports import Question, VerificationRequest, VerifierAnswered, VerifierFailed, VerifierOutcome
from stateward.runtime.profile import ModelSettings, Profile, VerifierKind
from stateward.runtime.session.browse import ViewBounds
from stateward.runtime.session.entries import Kind, NewEntry
from stateward.runtime.verifier.declared import ToolRefused
from stateward.runtime.verifier.toolbox import CITING_REFUSALS_MAX, AttemptToolbox
from stateward.runtime.workdir.view import WorkdirView
from tests.runtime.engines import AGENT, HOST, Desk
from tests.verifier.logs import CANCEL, READY, asked, host_result, ran

JUDGED = Profile("judged", VerifierKind.MODEL, model=ModelSettings("judge-1"))
Read = tuple[str, dict[str, Any]]


def result(question: Question, verdict: str, citations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    missing = ["more"] if verdict == "not_met" else []
    return {
        "transition_id": question.transition,
        "verdict": verdict,
        "rationale": "x",
        "missing": missing,
        "citations": list(citations) if verdict == "met" else [],
    }


@dataclass
class Adversary:
    """Reads what it is told to, says `met` with citations of our choice, and insists."""

    citations: Sequence[dict[str, Any]]
    met: frozenset[str] = frozenset({"x"})
    reads: Sequence[Read] = ()
    workdir: Path | None = None
    bounds: ViewBounds | None = None
    kind: str = VerifierKind.MODEL
    refusals: list[str] = field(default_factory=list)

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        if self.workdir is None:
            return self._judged(request, AttemptToolbox(request, None, self.bounds))
        with WorkdirView(self.workdir) as view:
            return self._judged(request, AttemptToolbox(request, view, self.bounds))

    def _judged(self, request: VerificationRequest, box: AttemptToolbox) -> VerifierOutcome:
        for name, arguments in self.reads:
            box.call(name, {each: self._named(value, request) for each, value in arguments.items()})
        citations = [{each: self._named(value, request) for each, value in given.items()} for given in self.citations]
        results = [result(each, "met" if each.transition in self.met else "not_met", citations) for each in request.questions]
        for _ in range(CITING_REFUSALS_MAX + 1):
            try:
                judgements: tuple[Judgement, ...] = box.finished({"results": results})
            except ToolRefused as refused:
                self.refusals.append(str(refused))
                continue
            return VerifierAnswered(judgements, box.shown(judgements))
        return VerifierFailed(FailureCause.MALFORMED, self.refusals[-1])

    def _named(self, value: object, request: VerificationRequest) -> object:
        """The entry of the request has a number that only the request knows."""
        return f"E{len(request.captured):08d}" if value == "THE REASON" else value


def desk() -> Desk:
    """A Worker with a note, two tool results and one rejected request behind it."""
    at = Desk(profile=JUDGED, actor=AGENT)
    recorded(at, Kind.NOTE, AGENT, b"all 214 tests pass, verified")
    recorded(at, Kind.TOOL_RESULT, HOST, b"214 passed")
    at.request("is it done?", Adversary([], met=frozenset()))
    recorded(at, Kind.TOOL_RESULT, HOST, b"x" * 100)
    return at


def recorded(at: Desk, kind: str, actor: Any, payload: bytes) -> None:
    head = at.sessions.head(at.worker)
    assert head is not None
    at.sessions.append(at.worker, head, (NewEntry(kind, actor, at.clock.now(), payload),), {})


NOTE, HOST_RESULT, VERDICT, LONG = (f"E{seq:08d}" for seq in (3, 4, 6, 7))
LINE = {"path": "a.txt", "first_line": 1, "last_line": 1, "quote": "tests pass"}
SMALL = ViewBounds(read_bytes=64)


def entry(named: str) -> Read:
    return "ReadEntry", {"entry": named}


BAD: dict[str, tuple[Sequence[dict[str, Any]], Sequence[Read]]] = {
    "nothing": ([], []),
    "a note": ([{"entry": NOTE}], [entry(NOTE)]),
    "the reason itself": ([{"entry": "THE REASON"}], [entry("THE REASON")]),
    "an earlier verdict": ([{"entry": VERDICT}], [entry(VERDICT)]),
    "an entry that was not read": ([{"entry": HOST_RESULT}], []),
    "an entry that was only found": ([{"entry": HOST_RESULT}], [("SearchEntries", {"text": "passed"})]),
    "a cut read": ([{"entry": LONG}], [entry(LONG)]),
    "an entry after the capture": ([{"entry": "E00000099"}], []),
    "an entry before the first": ([{"entry": "E00000000"}], []),
    "a name that is none": ([{"entry": f"{HOST_RESULT} "}], [entry(HOST_RESULT)]),
    "a name in words": ([{"entry": "the test run"}], []),
    "a file that was never read": ([LINE], []),
    "a file outside": ([{**LINE, "path": "/etc/passwd"}], []),
    "a quote that differs": ([{**LINE, "quote": "tests passed"}], [("Read", {"path": "a.txt"})]),
    "a part of a line": ([{**LINE, "quote": "tests"}], [("Read", {"path": "a.txt"})]),
    "a line beyond the file": ([{**LINE, "first_line": 9, "last_line": 9, "quote": ""}], [("Read", {"path": "a.txt"})]),
    "a line that was shown cut": ([{**LINE, "path": "long.txt", "quote": "y" * 8192}], [("Read", {"path": "long.txt"})]),
    "good evidence beside a broken citation": ([{"entry": HOST_RESULT}, {"entry": "E00000099"}], [entry(HOST_RESULT)]),
}


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("tests pass\n")
    (tmp_path / "long.txt").write_text("y" * 9000 + "\n")
    return tmp_path


@pytest.mark.parametrize(("citations", "reads"), BAD.values(), ids=BAD)
@pytest.mark.parametrize(
    "met", [frozenset({"x"}), frozenset({"$cancel"}), frozenset({"x", "y", "z", "$cancel"})], ids=["one", "cancel", "all"]
)
def test_a_met_with_a_bad_citation_moves_nothing(
    citations: Sequence[dict[str, Any]], reads: Sequence[Read], met: frozenset[str], workdir: Path
) -> None:
    """S-JUD-1, S-WRK-1: refused inside the call at most twice with the reason, then it could not be checked."""
    at = desk()
    judge = Adversary(citations, frozenset(met), reads, workdir, SMALL)
    answer = at.request("all 214 tests pass, verified", judge).answer
    assert ("a", 1) == (at.flow.state, at.flow.visit)
    assert ("multiple_conditions_met" if len(met) > 1 else "indeterminate") == answer.code
    assert CITING_REFUSALS_MAX == len(judge.refusals)
    assert all("is `met` and cites" in each for each in judge.refusals)


def test_a_met_that_cannot_be_checked_is_told_as_unverifiable_with_the_reason() -> None:
    answer = desk().request("done", Adversary([{"entry": "E00000099"}])).answer
    (told,) = [each for each in answer.results if each.transition == "x"]
    assert (Verdict.INDETERMINATE, "unverifiable") == (told.verdict, answer.cause)
    assert "`E00000099`" in told.note


def test_a_met_that_cites_what_the_host_recorded_and_was_read_moves() -> None:
    """What keeps the other tests honest: the same judge with good evidence gets through, at once."""
    at = desk()
    judge = Adversary([{"entry": HOST_RESULT}], reads=[entry(HOST_RESULT)])
    answer = at.request("done", judge).answer
    assert ("", "b", []) == (answer.code, at.flow.state, judge.refusals)


def test_ambiguity_is_judged_on_what_was_said_so_breaking_one_citation_lets_no_other_through() -> None:
    """S-JUD-4."""
    at = desk()
    answer = at.request("done", Adversary([{"entry": HOST_RESULT}], frozenset({"x", "z"}), [entry(HOST_RESULT)])).answer
    assert ("multiple_conditions_met", "a") == (answer.code, at.flow.state)


# --- inside the call ----------------------------------------------------------------------------------------------------------------


def finished(box: AttemptToolbox, *citations: dict[str, Any]) -> tuple[Judgement, ...]:
    return box.finished({"results": [result(READY, "met", citations), result(CANCEL, "not_met", ())]})


def test_a_judge_that_mends_its_citation_is_not_refused_again() -> None:
    box = AttemptToolbox(asked(host_result()), None)
    with pytest.raises(ToolRefused, match="it was not read"):
        finished(box, {"entry": "E00000001"})
    box.call("ReadEntry", {"entry": "E00000001"})
    judgements = finished(box, {"entry": "E00000001"})
    assert {judgements[0].citations[0]} == box.shown(judgements)


def test_a_call_out_of_form_is_refused_however_often_and_costs_no_chance_to_cite() -> None:
    box = AttemptToolbox(asked(host_result()), None)
    for _ in range(5):
        with pytest.raises(ToolRefused, match="`results` is missing"):
            box.finished({})
    for _ in range(CITING_REFUSALS_MAX):
        with pytest.raises(ToolRefused, match="cites nothing"):
            finished(box)
    assert Verdict.MET is finished(box)[0].verdict
    assert frozenset() == box.shown(finished(box))


@pytest.mark.parametrize("command", ["run-tests | tail -20", "run-tests || true", "run-tests; echo ok"])
def test_a_masked_status_does_not_satisfy_a_condition_on_an_exit_status(command: str) -> None:
    """S-EVI-1."""
    status = Question("ready", "check", "`run-tests` ended with exit status 0.", synthetic=False)
    box = AttemptToolbox(asked(ran(command), questions=(status, CANCEL)), None)
    assert "exit status may be masked" in box.call("ReadEntry", {"entry": "E00000001"})
    for _ in range(CITING_REFUSALS_MAX):
        with pytest.raises(ToolRefused, match="may be masked"):
            finished(box, {"entry": "E00000001"})
    assert frozenset() == box.shown(finished(box, {"entry": "E00000001"}))


def test_the_status_of_a_plain_command_does() -> None:
    """S-EVI-1."""
    status = Question("ready", "check", "`run-tests` ended with exit status 0.", synthetic=False)
    box = AttemptToolbox(asked(ran("run-tests"), questions=(status, CANCEL)), None)
    box.call("ReadEntry", {"entry": "E00000001"})
    assert 1 == len(box.shown(finished(box, {"entry": "E00000001"})))


def test_nothing_is_recursive_in_what_a_judge_may_send() -> None:
    box = AttemptToolbox(asked(), None)
    deep: Any = []
    for _ in range(sys.getrecursionlimit() * 2):
        deep = [deep]
    with pytest.raises(ToolRefused):
        box.finished({"results": deep})
    with pytest.raises(ToolRefused):
        box.call("ReadEntry", {"entry": deep})
