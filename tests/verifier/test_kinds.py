"""The four kinds of verifier, under one contract: what each does by itself, and what it comes to at an engine."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.core.events import Verdict
from stateward.runtime.ports import Question, VerificationRequest, Verifier
from stateward.runtime.profile import DEFAULT, DEMONSTRATION, ModelSettings, Profile, VerifierKind
from stateward.runtime.verifier.command import Command, CommandVerifier
from stateward.runtime.verifier.model import Call, ModelMeans, ModelVerifier
from stateward.runtime.verifier.model_stop import Stop
from stateward.runtime.verifier.person import PersonAnswer, PersonVerifier
from stateward.runtime.verifier.script import parse_answers
from stateward.runtime.verifier.scripted import ScriptedVerifier
from stateward.runtime.verifier.toolbox import toolbox
from stateward.runtime.verifier.transcript import Ending, Reply, ToolCall
from stateward.store.memory_transcripts import MemoryTranscripts
from tests.contracts.failing_closed import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.failing_closed import FOREIGN, INCOMPLETE, REASON, Post, Result, saying
from tests.contracts.verifiers import *  # noqa: F403 -- as above
from tests.contracts.verifiers import PARTLY, MakeJudge
from tests.runtime.engines import CountingIds, Desk, TickingClock
from tests.verifier.boxes import FINISH, Seconds

CAT = Path("/bin/cat")
MODEL = Profile("model", VerifierKind.MODEL, model=ModelSettings("judge-1", base_url="http://127.0.0.1:1/v1"))
COMMAND = Profile("command", VerifierKind.COMMAND, program=(str(CAT),))


class Reading:
    """A model that reads the entries that it is going to cite, and then says what it was told to say, as often as it is asked."""

    model = "test:judge"
    settings = "{}"

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = results

    def ask(self, call: Call, stop: Stop) -> Reply:
        """Read first, then finish."""
        cited = [citation["entry"] for each in self._results for citation in each["citations"]]
        if call.turns or not cited:
            return reply((FINISH, {"results": list(self._results)}))
        return reply(*(("ReadEntry", {"entry": each}) for each in cited))


def reply(*calls: tuple[str, Any]) -> Reply:
    made = tuple(ToolCall(f"c{number}", name, json.dumps(given)) for number, (name, given) in enumerate(calls))
    return Reply(made, "", Ending.DONE, 100, 10, json.dumps([each.arguments for each in made]), "")


def model(results: Sequence[Result], kept: MemoryTranscripts) -> ModelVerifier:
    seconds = Seconds()
    means = ModelMeans(Reading(results), kept, TickingClock(), CountingIds(), seconds.elapsed, pause=seconds.pause)
    return ModelVerifier(means, lambda request: toolbox(request, None))


def command(results: Sequence[Result], kept: MemoryTranscripts, path: Path) -> CommandVerifier:
    path.write_text(json.dumps({"results": list(results)}), "utf-8")
    return CommandVerifier(Command(CAT, (str(path),), seconds=60.0), kept, lambda _: None)


class Answers:
    """A person who says of each transition what they were told to say."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._said = {each["transition_id"]: each for each in reversed(results)}

    def ask(self, request: VerificationRequest, question: Question, problem: str | None) -> PersonAnswer:
        """Answer."""
        said = self._said[question.transition]
        return PersonAnswer(Verdict(said["verdict"]), said["rationale"], tuple(said["missing"]))


def scripted(results: Sequence[Result], reason: str) -> ScriptedVerifier:
    verdicts: dict[str, Any] = {}
    for each in results:
        citations = [citation["entry"] for citation in each["citations"]]
        verdicts[each["transition_id"]] = {name: each[name] for name in ("verdict", "rationale", "missing")} | {"citations": citations}
    return ScriptedVerifier(parse_answers(json.dumps({"requests": [{"reason": reason, "verdicts": verdicts}]}).encode(), "`answers`"))


Make = Callable[[Sequence[Result], str], Verifier]


@dataclass
class At:
    """The port `Post` for one kind."""

    desk: Desk
    make: Make
    cannot_say: frozenset[str]
    cites: bool

    def judge(self, results: Sequence[Result]) -> Verifier:
        """Give a verifier whose judge says this."""
        return self.make(results, REASON)


@pytest.fixture(params=list(VerifierKind))
def kind(request: pytest.FixtureRequest) -> VerifierKind:
    return VerifierKind(request.param)


def maker(kind: VerifierKind, folder: Path, kept: MemoryTranscripts) -> Make:
    numbers = count()
    made: dict[VerifierKind, Make] = {
        VerifierKind.SCRIPTED: scripted,
        VerifierKind.PERSON: lambda results, _: PersonVerifier(Answers(results)),
        VerifierKind.MODEL: lambda results, _: model(results, kept),
        VerifierKind.COMMAND: lambda results, _: command(results, kept, folder / str(next(numbers))),
    }
    return made[kind]


@pytest.fixture
def judge(kind: VerifierKind, tmp_path: Path) -> MakeJudge:
    def make(reason: str, verdicts: Mapping[str, Verdict]) -> Verifier:
        ways = ("good", "bad", "$cancel") if "bad" in verdicts else None
        if reason == PARTLY:
            results: Sequence[Result] = [each for each in saying(verdicts) if each["transition_id"] in verdicts]
            return maker(kind, tmp_path, MemoryTranscripts())(results, reason)
        results = saying(verdicts) if ways is None else [each | {"transition_id": way} for each, way in zip(saying({}), ways, strict=False)]
        return maker(kind, tmp_path, MemoryTranscripts())(results, reason)

    return make


@pytest.fixture
def post(kind: VerifierKind, tmp_path: Path) -> Post:
    profile = {
        VerifierKind.SCRIPTED: DEMONSTRATION,
        VerifierKind.PERSON: DEFAULT,
        VerifierKind.MODEL: MODEL,
        VerifierKind.COMMAND: COMMAND,
    }[kind]
    desk = Desk(profile=profile)
    desk.record_evidence(b'{"output": "all tests pass"}')
    cannot = {VerifierKind.SCRIPTED: INCOMPLETE, VerifierKind.PERSON: INCOMPLETE | FOREIGN}.get(kind, frozenset())
    return At(desk, maker(kind, tmp_path, MemoryTranscripts()), cannot, cites=kind is not VerifierKind.PERSON)
