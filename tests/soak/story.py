"""The stories of a soak: many processes on one store, and what must hold of every log when they are through.

Invariants: what a story returns was checked: nobody heard of a lock or of anything else that failed, no entry is lost or doubled, every
log is one unbroken chain, sealed, witnessed, and folds to where its Worker was last told that it stands.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

from stateward.runtime.core.events import StateEntered, TransitionRequested
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.session.entries import ActorClass, Kind
from tests.cases.children import output_of
from tests.cases.opened import begin, opened
from tests.cases.stored import StoredPlace
from tests.soak.working import append, look, maintain, reason_of, started, verify, walk
from tests.store.children import barrier, child, exit_statuses, pipe

LOOKING_PAUSE_SECONDS: Final = 0.2
MAINTENANCE_PAUSE_SECONDS: Final = 0.5
ENTRIES_OF_A_START: Final = 2
EVIDENCE: Final = (Kind.TOOL_RESULT, ActorClass.HOST)


@dataclass(frozen=True)
class Figures:
    """What a story came to."""

    what: str
    acts: int
    seconds: float
    """Of the whole story, checks left out."""
    latencies: Sequence[float]
    """Of each act, in seconds, shortest first."""

    def __str__(self) -> str:
        median, most, longest = (1000 * self.latencies[(len(self.latencies) - 1) * each // 100] for each in (50, 99, 100))
        rate = self.acts / self.seconds
        return (
            f"{self.what}: {self.seconds:.1f} s, {rate:.0f} a second; median {median:.1f} ms, 99 % {most:.0f} ms, longest {longest:.0f} ms"
        )


def many_workers(here: StoredPlace, workers: int, processes: int, transitions: int) -> Figures:
    """Take many Workers, shared out among the processes, through their transitions, while others look at all of them and tidy up."""
    assert workers % processes == 0
    begin(here)
    start = barrier(processes)
    with _beside(here):
        begun = perf_counter()
        given = (workers // processes, transitions, start)
        ids, latencies = _told([(walk, (here, *given)) for _ in range(processes)])
        seconds = perf_counter() - begun
    assert workers == len(set(ids))
    for worker in ids:
        _check_walked(here, worker, transitions)
    what = f"{workers} Workers in {processes} processes, {transitions} transitions each"
    return Figures(what, workers * transitions, seconds, latencies)


def one_worker(here: StoredPlace, processes: int, appends: int) -> Figures:
    """Let many processes append to the log of one Worker."""
    begin(here)
    with opened(here) as desk:
        worker = started(desk)
    names = [f"process {number}" for number in range(processes)]
    start = barrier(processes)
    with _beside(here):
        begun = perf_counter()
        _, latencies = _told([(append, (here, worker, name, appends, start)) for name in names])
        seconds = perf_counter() - begun
    _check_appended(here, worker, names, appends)
    return Figures(f"{processes} processes at one Worker, {appends} appends each", processes * appends, seconds, latencies)


@contextmanager
def _beside(here: StoredPlace) -> Iterator[None]:
    """Let one process look at everything meanwhile, and another tidy the store up."""
    beside = [(look, LOOKING_PAUSE_SECONDS), (maintain, MAINTENANCE_PAUSE_SECONDS)]
    pipes = [pipe() for _ in beside]
    processes = [child(action, here, pause, stop) for (action, pause), (stop, _) in zip(beside, pipes, strict=True)]
    try:
        yield
    finally:
        for _, stopping in pipes:
            stopping.send(None)
    assert [0, 0] == exit_statuses(processes)
    if not here.url:
        assert [] == list(here.store.parent.glob("*-wal"))  # the last one to leave has put everything into the file itself


def _told(actions: Sequence[tuple[Any, tuple[Any, ...]]]) -> tuple[list[str], list[float]]:
    """Run each in a process of its own; give the Workers they name and what each act cost, shortest first."""
    pipes = [pipe() for _ in actions]
    processes = [child(action, *given, telling) for (action, given), (_, telling) in zip(actions, pipes, strict=True)]
    for _, telling in pipes:
        telling.close()  # so that a process that ended without a word is heard of
    told = [_heard(hearing) for hearing, _ in pipes]
    assert [0] * len(actions) == exit_statuses(processes)
    return [worker for workers, _ in told for worker in workers], sorted(seconds for _, each in told for seconds in each)


def _heard(hearing: Any) -> tuple[list[str], list[float]]:
    try:
        heard: tuple[list[str], list[float]] = hearing.recv()
    except EOFError:
        return [], []
    return heard


def _check_walked(here: StoredPlace, worker: str, transitions: int) -> None:
    verify(here, worker)
    with opened(here) as desk:
        view = desk.engine.view(worker)
        assert isinstance(view, WorkerView)
        assert view.flow is not None
        assert (("here", "there")[transitions % 2], transitions + 1) == (view.flow.state, view.flow.visit)
        events = [each.event for each in desk.engine.events(worker)]
    assert [reason_of(step) for step in range(transitions)] == [each.reason for each in events if isinstance(each, TransitionRequested)]
    assert list(range(1, transitions + 2)) == [each.visit for each in events if isinstance(each, StateEntered)]


def _check_appended(here: StoredPlace, worker: str, names: Sequence[str], appends: int) -> None:
    verify(here, worker)
    with opened(here) as desk:
        entries = list(desk.store.sessions.entries(worker))
    recorded = [each for each in entries if (each.kind, each.actor.actor_class) == EVIDENCE]
    assert len(names) * appends == len(recorded)
    assert len(recorded) == len({each.key for each in recorded})
    for name in names:
        expected = [output_of(name, number) for number in range(appends)]
        assert expected == [each.payload for each in recorded if each.payload.startswith(f"{name}: ".encode())]
