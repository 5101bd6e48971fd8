"""Running a case: laid out anew, begun, judged and reported through the engine, and then read back from what the log says of it.

Invariant: what is told of a run is what the log and the transcript hold; nothing is taken from the judge's own account of itself.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final, TypeAlias

from benchmarks.verifier.cases import Case
from benchmarks.verifier.scripted import Known, scripted_caller
from benchmarks.verifier.staging import CaseNotLaidOutError, Laid, Stores, lay_out
from stateward.runtime.core.events import Judgement, TransitionCheckPassed, TransitionCheckRejected
from stateward.runtime.ports import Answered, VerificationRequest, Verifier
from stateward.runtime.profile import ModelSettings, Profile, VerifierKind
from stateward.runtime.verifier.finish import FINISH
from stateward.runtime.verifier.model import ModelMeans, ModelVerifier
from stateward.runtime.verifier.model_judge import model_verifier
from stateward.runtime.verifier.toolbox import AttemptToolbox, OpenWorkdir, toolbox
from stateward.runtime.verifier.transcript import Asked, Transcript
from stateward.runtime.wiring import SystemClock, TimeOrderedIds
from stateward.runtime.workdir.limits import ViewBounds
from stateward.runtime.workdir.view import WorkdirView
from tests.runtime.engines import AGENT

SCRIPTED: Final = Profile("evaluation", VerifierKind.MODEL, model=ModelSettings("script", provider="scripted"))
"""What a script judges under."""

MakeJudge: TypeAlias = Callable[[Laid, Stores, int], Verifier]
"""Makes the judge of a case that is laid out, for a run of this number."""


@dataclass(frozen=True, slots=True)
class Ruled:
    """What came of one way out."""

    way: str
    right: tuple[str, ...]
    """The verdicts that are right, the best one first."""
    given: str
    """What the judge said; empty where it came to no verdicts."""
    checked: str
    """What the runtime made of it."""
    note: str


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run of a case."""

    case: str
    kind: str
    repeat: int
    wants: str
    moves: str
    """The way that the worker should get; empty when it should stay."""
    moved: str
    """The way that it got."""
    code: str
    """Why it stays; empty when it moved."""
    cause: str
    """Why there are no verdicts, or why they could not be believed; empty when there are and they could."""
    message: str
    ruled: tuple[Ruled, ...]
    requests: int
    input_tokens: int
    output_tokens: int
    refused: int
    """How often the call that finishes was turned down."""
    model: str
    prompt: str

    @property
    def failed(self) -> bool:
        """Whether the judge came to no verdicts."""
        return not any(each.given for each in self.ruled)

    @property
    def is_right(self) -> bool:
        """Whether every verdict is right, as it was given and as the runtime left it, and the worker got the way that it should."""
        return self.moved == self.moves and all({each.given, each.checked} <= {*each.right} for each in self.ruled)


def run_case(case: Case, store: Stores, folder: Path, profile: Profile, make: MakeJudge, *, repeat: int = 0) -> Run:
    """Run a case once, in a folder that is not there yet. Raises CaseNotLaidOutError, and what a store raises."""
    laid = lay_out(case, store, folder, profile)
    answered = laid.engine.request_transition(laid.worker, case.reason, AGENT, make(laid, store, repeat))
    if not isinstance(answered, Answered):
        raise CaseNotLaidOutError(f"{case.id}: the request was not answered: {answered}")
    return _read_back(laid, store, answered, repeat)


def _read_back(laid: Laid, store: Stores, answered: Answered, repeat: int) -> Run:
    case, answer = laid.case, answered.answer
    explained = laid.engine.explain(laid.worker, answer.attempt)
    assert explained is not None  # noqa: S101 -- it was answered
    assert explained.resolved is not None  # noqa: S101
    resolved, account = explained.resolved, explained.resolved.account
    judgements = resolved.judgements if isinstance(resolved, TransitionCheckPassed | TransitionCheckRejected) else ()
    usage = None if account is None else account.usage
    return Run(
        case=case.id,
        kind=case.kind,
        repeat=repeat,
        wants=case.wants,
        moves=case.moves,
        moved=answer.transition or "",
        code=answer.code,
        cause=answer.cause,
        message=answer.message,
        ruled=tuple(_ruled(case, judgements)),
        requests=0 if usage is None else usage.requests,
        input_tokens=0 if usage is None else usage.input_tokens,
        output_tokens=0 if usage is None else usage.output_tokens,
        refused=_refusals(Transcript(store.transcripts, laid.worker, answer.attempt)),
        model="" if account is None else account.model,
        prompt="" if account is None else account.prompt_digest,
    )


def _ruled(case: Case, judgements: Sequence[Judgement]) -> Iterator[Ruled]:
    by_way = {each.transition: each for each in judgements}
    for way in case.all_ways:
        found = by_way.get(way)
        given, checked, note = ("", "", "") if found is None else (str(found.verdict), str(found.checked), found.note)
        yield Ruled(way, tuple(case.accepted(way)), given, checked, note)


def _refusals(transcript: Transcript) -> int:
    """Count the calls to finish that were turned down and told so."""
    asked = (each for each in transcript.records if isinstance(each, Asked))
    return sum(each.name == FINISH.name and each.refused for record in asked for each in record.returned)


# --- judges -------------------------------------------------------------------------------------------------------------------------


def scripted_judge(name: str, places: dict[str, int]) -> MakeJudge:
    """Make judges of a script; `places` says of each case where it stands in the set, from which an adversary begins."""

    def make(laid: Laid, store: Stores, repeat: int) -> Verifier:
        caller = scripted_caller(name, Known(laid.case, laid.labels, places.get(laid.case.id, 0) + repeat))
        means = ModelMeans(caller, store.transcripts, SystemClock(), TimeOrderedIds(), monotonic)

        def box(request: VerificationRequest) -> AbstractContextManager[AttemptToolbox]:
            return toolbox(request, _opener(laid, SCRIPTED))

        return ModelVerifier(means, box)

    return make


def model_judge(profile: Profile) -> MakeJudge:
    """Make judges of the model that a profile names. Raises ModelUnusable when one is made."""

    def make(laid: Laid, store: Stores, _repeat: int) -> Verifier:
        return model_verifier(
            profile,
            store.transcripts,
            clock=SystemClock(),
            ids=TimeOrderedIds(),
            elapsed=monotonic,
            open_workdir=_opener(laid, profile),
            home=Path.home(),
        )

    return make


def _opener(laid: Laid, profile: Profile) -> OpenWorkdir | None:
    folder, bounds = laid.workdir, ViewBounds(read_bytes=profile.verification.read_bytes)
    return None if folder is None else lambda _: WorkdirView(folder, bounds)
