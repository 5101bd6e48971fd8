"""Runs of sets of cases, and runs of our own making."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.verifier.__main__ import evaluated
from benchmarks.verifier.cases import Case, read_cases
from benchmarks.verifier.report import Evaluated
from benchmarks.verifier.running import SCRIPTED, Ruled, Run, scripted_judge
from stateward.store.memory_leases import MemoryLeaseStore
from stateward.store.memory_sessions import MemorySessionStore
from stateward.store.memory_transcripts import MemoryTranscripts

SMALL = Path(__file__).resolve().parent / "small"


def small_cases() -> list[Case]:
    return read_cases(SMALL)


@dataclass
class InMemory:
    """Stores that need no disk: the whole set is laid out in them within seconds."""

    sessions: MemorySessionStore = field(default_factory=MemorySessionStore)
    leases: MemoryLeaseStore = field(default_factory=MemoryLeaseStore)
    transcripts: MemoryTranscripts = field(default_factory=MemoryTranscripts)


def measured(script: str, cases: Sequence[Case], repeats: int = 1, turn: int = 0) -> Evaluated:
    """Let a script judge cases; an adversary begins at `turn` with the first."""
    places = {each.id: turn + at for at, each in enumerate(cases)}
    judge = scripted_judge(script, places)
    return evaluated(f"scripted:{script}", cases, repeats, SCRIPTED, judge, stores=lambda _: nullcontext(InMemory()))


def at_fixed_cost(given: Evaluated) -> Evaluated:
    """Take out of runs what changes with the prompt and with nothing of the cases."""
    return replace(given, runs=tuple(replace(each, prompt="sha256:prompt", input_tokens=900, output_tokens=100) for each in given.runs))


def run(moves: str = "", moved: str = "", *ruled: Ruled, case: str = "one", repeat: int = 0, cause: str = "") -> Run:
    """A run that came to this."""
    return Run(
        case=case,
        kind="made",
        repeat=repeat,
        wants="x",
        moves=moves,
        moved=moved,
        code="",
        cause=cause,
        message="",
        ruled=ruled,
        requests=2,
        input_tokens=10,
        output_tokens=1,
        refused=0,
        model="m",
        prompt="p",
    )


def ruled(right: str, given: str, checked: str | None = None) -> Ruled:
    """What came of the way x; `right` may name several verdicts."""
    return Ruled("x", tuple(right.split()), given, given if checked is None else checked, "")
