"""What a whole transition costs without the judge's own time, and what restoring a Worker costs, at growing lengths of its log.

One flow goes to and fro between two states on a store of its own; the judge answers at once. Figures are microseconds and ratios to a probe
(append to a growing file, fdatasync) taken in turns in the same process; `growth` is the cost at a length over the cost at the shortest.
A restore is the first view of an engine that has seen nothing yet. `guards` is the same walk where guards alone decide: nobody is asked,
one commit holds request and move, and its transitions are taken in turns with those of a judge.
Run `python -m benchmarks.transition [--events N …]`; it prints JSON.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Final

from benchmarks.store import Probe
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.predicates.guards import Compare, Lit, Ref
from stateward.runtime.core.bounds import Bounds
from stateward.runtime.core.events import Judgement, Verdict
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import Answered, Submitted, VerificationRequest, VerifierAnswered, VerifierOutcome
from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.session.segments import FlowSegment
from stateward.runtime.wiring import SystemClock, TimeOrderedIds
from stateward.store.database import Store, open_store
from tests.runtime.engines import PERSON, WORKSPACE, Catalog
from tests.runtime.flows import flow
from tests.runtime.guarded import guarded, state, way

TO_AND_FRO: Final = flow("to-and-fro", here={"go": "there"}, there={"come": "here", "end": "done"}, done={})
GUARDED: Final = guarded(
    "guarded",
    state("here", way("go", "there", when=Compare(">=", Ref(("visits", "here")), Lit(1)))),
    state("there", way("come", "here", when=Compare(">=", Ref(("visits", "there")), Lit(1)))),
)
LENGTHS: Final = (10, 1_000, 10_000)
SAMPLES: Final = 100
"""At each length that is long enough for them."""
EVENTS_A_TRANSITION: Final = 3
BOUNDS: Final = Bounds(visit_verifications_max=10**9, instance_verifications_max=10**9)
PROFILE: Final = Profile("benchmark", VerifierKind.SCRIPTED, demonstration=True, bounds=BOUNDS)
REASON: Final = "x" * 100


class Prompt:
    """A judge that lets the first way out through, at once."""

    kind = VerifierKind.SCRIPTED

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Answer for every transition."""
        first = request.questions[0].transition
        return VerifierAnswered(tuple(_judgement(each.transition, met=each.transition == first) for each in request.questions))


def _judgement(transition: str, *, met: bool) -> Judgement:
    verdict = Verdict.MET if met else Verdict.NOT_MET
    return Judgement(transition, verdict, verdict, REASON, () if met else (REASON,))


class Going:
    """A Worker that goes to and fro."""

    def __init__(self, store: Store, definition: CompiledFlowDefinition = TO_AND_FRO) -> None:
        self.store = store
        self.engine = engine_over(store)
        started = self.engine.start_worker(WORKSPACE, (FlowSegment(f"workspace:{definition.name}"),), PERSON)
        assert isinstance(started, Submitted)  # noqa: S101 -- a benchmark that started nothing measures nothing
        self.worker = started.worker
        self.count = 0

    def __call__(self) -> None:
        """Make one transition."""
        self.count += 1
        answered = self.engine.request_transition(self.worker, f"{REASON} {self.count}", PERSON, Prompt())
        assert isinstance(answered, Answered)  # noqa: S101
        assert answered.answer.transition is not None  # noqa: S101

    def restored(self) -> float:
        """Restore the Worker in an engine that knows nothing; give the microseconds."""
        engine = engine_over(self.store)
        begin = perf_counter()
        view = engine.view(self.worker)
        taken = (perf_counter() - begin) * 1e6
        assert isinstance(view, WorkerView)  # noqa: S101
        return taken


def engine_over(store: Store) -> Engine:
    """Give an engine that has seen nothing."""
    return Engine(store.sessions, Catalog(TO_AND_FRO, GUARDED), SystemClock(), TimeOrderedIds(), PROFILE, leases=store.leases)


def measured(folder: Path, lengths: list[int]) -> dict[str, object]:
    """Measure at each length, in one store."""
    probe = Probe(folder)
    rows: list[dict[str, float]] = []
    with open_store(folder / "store.db", write=True, create=True) as store:
        going = Going(store)
        for length in sorted(lengths):
            samples = max(1, min(SAMPLES, length // EVENTS_A_TRANSITION - going.count))
            while going.count + samples < length // EVENTS_A_TRANSITION:
                going()
            transitions, probes = [], []
            for _ in range(samples):
                probes.append(_taken(probe))
                transitions.append(_taken(going))
            restores = [going.restored() for _ in range(5)]
            rows.append(_row(going, transitions, probes, restores))
        size = (folder / "store.db").stat().st_size / going.count
        guards = _beside(going, Going(store, GUARDED), probe)
    first = rows[0]
    growth = {
        str(int(row["events"])): {
            "ratio_transition": round(row["transition_us"] / first["transition_us"], 2),
            "ratio_restore": round(row["restore_us"] / first["restore_us"], 2),
        }
        for row in rows
    }
    return {
        "lengths": {str(int(row["events"])): row for row in rows},
        "growth": growth,
        "bytes_a_transition": round(size),
        "guards": guards,
    }


def _beside(judged: Going, guarded_alone: Going, probe: Probe) -> dict[str, float]:
    """Compare a transition by guards with one by a judge, in turns."""
    taken: tuple[list[float], list[float], list[float]] = ([], [], [])
    for _ in range(SAMPLES):
        taken[0].append(_taken(probe))
        taken[1].append(_taken(judged))
        taken[2].append(_taken(guarded_alone))
    probes, judges, guards = map(median, taken)
    return {
        "transition_us": round(guards, 1),
        "ratio_transition_over_probe": round(guards / probes, 2),
        "ratio_over_judged": round(guards / judges, 2),
    }


def _row(going: Going, transitions: list[float], probes: list[float], restores: list[float]) -> dict[str, float]:
    return {
        "events": going.count * EVENTS_A_TRANSITION,
        "transition_us": round(median(transitions), 1),
        "probe_us": round(median(probes), 1),
        "ratio_transition_over_probe": round(median(transitions) / median(probes), 2),
        "restore_us": round(median(restores), 1),
    }


def _taken(act: Callable[[], object]) -> float:
    begin = perf_counter()
    act()
    return (perf_counter() - begin) * 1e6


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--events", type=int, nargs="+", default=list(LENGTHS))
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        json.dump(measured(Path(folder), given.events), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
