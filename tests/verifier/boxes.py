"""A box of tools for tests of verifiers, and what they work with: no network, no waiting, no clock of the machine."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field

from stateward.runtime.core.events import Citation, Judgement, Verdict
from stateward.runtime.core.judging import output_fault
from stateward.runtime.ports import Transcripts, VerificationRequest
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.verifier.contract import judged
from stateward.runtime.verifier.declared import ToolDeclaration, ToolRefused
from stateward.runtime.verifier.model import ModelBounds, ModelCaller, ModelMeans, ModelVerifier
from stateward.runtime.verifier.model_stop import Stop
from stateward.store.memory_transcripts import MemoryTranscripts
from tests.contracts.verifiers import WAYS
from tests.runtime.engines import CountingIds, TickingClock

FINISH = "FinishFlowVerification"
CLOSED: Mapping[str, object] = {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}


def results(given: Mapping[str, Verdict]) -> dict[str, object]:
    """The arguments that finish with these verdicts; transitions that are not given are `not_met`."""
    return {"results": [result(way, given.get(way, Verdict.NOT_MET)) for way in WAYS]}


def result(way: str, verdict: Verdict) -> dict[str, object]:
    missing = ["a test"] if verdict is Verdict.NOT_MET else []
    return {"transition_id": way, "verdict": verdict.value, "rationale": "I looked.", "missing": missing, "citations": []}


@dataclass
class Box:
    """A `Toolbox` whose one file says what the test wants."""

    file: str = "the file"
    system: str = "You judge."
    user: str = "Is it done?"
    prompt_digest: str = "sha256:prompt"
    called: list[tuple[str, object]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    opened: int = 0

    @property
    def declarations(self) -> Sequence[ToolDeclaration]:
        return (ToolDeclaration("ShowOverview", "Show it.", CLOSED), ToolDeclaration("Read", "Read a file.", CLOSED))

    @property
    def finish(self) -> ToolDeclaration:
        return ToolDeclaration(FINISH, "End.", {"type": "object", "properties": {"results": {"type": "array"}}})

    def call(self, name: str, arguments: object) -> str:
        self.called.append((name, arguments))
        if not isinstance(arguments, dict):
            raise ToolRefused("the arguments are no object")
        return self.file if name == "Read" else "the overview"

    def finished(self, arguments: object) -> tuple[Judgement, ...]:
        try:
            given = tuple(
                judged(each["transition_id"], Verdict(each["verdict"]), each["rationale"], each["missing"])
                for each in arguments["results"]  # type: ignore[index]
            )
        except (KeyError, TypeError, ValueError) as problem:
            raise ToolRefused(f"it is malformed: {problem!r}") from None
        fault = output_fault(WAYS, given)
        if fault is not None:
            raise ToolRefused(fault)
        return given

    def shown(self, judgements: Sequence[Judgement]) -> Set[Citation]:
        return frozenset()

    @contextmanager
    def open(self, request: VerificationRequest) -> Iterator["Box"]:
        self.opened += 1
        yield self


class Seconds:
    """Time that only passes while something waits between two tries."""

    def __init__(self) -> None:
        self.now = 0.0
        self.paused: list[float] = []

    def elapsed(self) -> float:
        return self.now

    def pause(self, stop: Stop, seconds: float) -> bool:
        self.paused.append(seconds)
        self.now += seconds
        return stop.is_stopped


@dataclass
class Bench:
    """A verifier and everything it works with."""

    caller: ModelCaller
    box: Box = field(default_factory=Box)
    transcripts: Transcripts = field(default_factory=MemoryTranscripts)
    bounds: ModelBounds = field(default_factory=lambda: ModelBounds(call_seconds=30.0))
    seconds: Seconds = field(default_factory=Seconds)
    elapsed: Callable[[], float] | None = None
    secrets: Secrets = NO_SECRETS

    @property
    def verifier(self) -> ModelVerifier:
        means = ModelMeans(
            self.caller,
            self.transcripts,
            TickingClock(),
            CountingIds(),
            self.elapsed or self.seconds.elapsed,
            self.bounds,
            self.seconds.pause,
            self.secrets,
        )
        return ModelVerifier(means, self.box.open)
