"""The Workers that a service holds open: none is closed under whoever uses it, whoever else makes room meanwhile."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from os import sched_yield
from threading import Barrier, Event

import pytest

from stateward.runtime.engine.channels import EngineWorkerChannel, Judges
from stateward.runtime.ports import InProgress, StoreUnavailable
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.wiring import DaemonThreads
from stateward.runtime.wiring.workers import OpenWorkers
from tests.contracts.work import PROGRAM, GatedJudge
from tests.runtime.engines import Desk

AGENT = Actor(ActorClass.AGENT, "http", "ada")
CALLERS, CALLS = 4, 50


class Shelf:
    """Channels that know whether they are open, and hold a call at a gate where a test wants that."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.opened: list[str] = []
        self.begun, self.gate = Event(), Event()
        self.used_closed = 0
        self.verifying: set[str] = set()
        self.untold: set[str] = set()

    @contextmanager
    def __call__(self, worker: str, _: Actor) -> Iterator["Shown"]:
        shown = Shown(self, worker)
        self.open.append(worker)
        self.opened.append(worker)
        yield shown
        self.open.remove(worker)
        shown.is_open = False


class Shown:
    """What of a channel is called here."""

    def __init__(self, shelf: Shelf, worker: str) -> None:
        self.shelf, self.worker, self.is_open = shelf, worker, True
        self.is_verifying, self.is_busy = worker in shelf.verifying, worker in {*shelf.verifying, *shelf.untold}

    def source(self) -> str:
        if self.worker == "held":
            self.shelf.begun.set()
            self.shelf.gate.wait()
        self.shelf.used_closed += not self.is_open
        return self.worker


def open_workers(shelf: Shelf, most: int) -> OpenWorkers:
    return OpenWorkers(shelf, most)  # type: ignore[arg-type]


def test_a_channel_that_is_used_is_not_closed_by_whoever_makes_room() -> None:
    shelf = Shelf()
    with closing(open_workers(shelf, 1)) as workers, ThreadPoolExecutor(1) as beside:
        using = beside.submit(workers.channel("held", AGENT).source)
        shelf.begun.wait()
        for each in ("one", "two"):
            assert each == workers.channel(each, AGENT).source()
        assert "held" in shelf.open
        shelf.gate.set()
        assert ("held", 0) == (using.result(), shelf.used_closed)
        workers.channel("three", AGENT)
        assert ["three"] == shelf.open


def test_a_channel_that_was_closed_meanwhile_is_opened_again_for_the_next_call() -> None:
    shelf = Shelf()
    with closing(open_workers(shelf, 1)) as workers:
        kept = workers.channel("one", AGENT)
        workers.channel("two", AGENT)
        assert ["two"] == shelf.open
        assert "one" == kept.source()
        assert (["one", "two", "one"], 0) == (shelf.opened, shelf.used_closed)


def test_who_has_an_answer_that_nobody_fetched_is_closed_after_the_others_and_who_is_verified_never() -> None:
    shelf = Shelf()
    shelf.verifying, shelf.untold = {"verified"}, {"first untold", "second untold"}
    with closing(open_workers(shelf, 3)) as workers:
        for each in ("verified", "first untold", "second untold", "plain"):
            workers.channel(each, AGENT)
        assert ["verified", "second untold", "plain"] == shelf.open, "whoever was just asked is used, and the oldest answer goes"
        workers.channel("another", AGENT)
        assert ["verified", "second untold", "another"] == shelf.open


def test_an_answer_that_nobody_fetched_is_read_by_its_attempt_when_its_channel_was_closed() -> None:
    desk, judge = Desk("review", PROGRAM, AGENT), GatedJudge()
    judge.gate.clear()
    closed: list[str] = []

    @contextmanager
    def opened(worker: str, actor: Actor) -> Iterator[EngineWorkerChannel]:
        judges = Judges(lambda _: judge, "the service", 15.0)
        with closing(
            EngineWorkerChannel(
                desk.engine, worker, actor, judges=judges, threads=DaemonThreads(), clock=desk.clock, ids=desk.ids, source_of=lambda _: None
            )
        ) as channel:
            yield channel
        closed.append(actor.principal)

    ada, bob = Actor(ActorClass.AGENT, "http", "ada"), Actor(ActorClass.AGENT, "http", "bob")
    with closing(OpenWorkers(opened, 1)) as workers:
        hers = workers.channel(desk.worker, ada)
        begun = hers.ask("It is done.", 0.0)
        assert isinstance(begun, InProgress)
        workers.channel(desk.worker, bob)
        assert [] == closed, "it is being verified"
        judge.gate.set()
        while hers.is_verifying:
            sched_yield()
        assert hers.is_busy
        workers.channel(desk.worker, bob)
        assert ["ada"] == closed
        shown = hers.attempt(begun.attempt)
        assert shown is not None
        assert shown.answer is not None
        assert begun.attempt == shown.answer.attempt
    assert 1 == len(judge.asked)


def test_many_callers_never_meet_a_channel_that_is_closed() -> None:
    shelf, together = Shelf(), Barrier(CALLERS)

    def call(workers: OpenWorkers, caller: int) -> None:
        together.wait()
        for each in range(CALLS):
            named = f"{(each + caller) % 5}"
            assert named == workers.channel(named, AGENT).source()

    with closing(open_workers(shelf, 2)) as workers, ThreadPoolExecutor(CALLERS) as beside:
        for done in [beside.submit(call, workers, each) for each in range(CALLERS)]:
            done.result()
        workers.channel("last", AGENT)
        assert (0, 2) == (shelf.used_closed, len(shelf.open))
    assert [] == shelf.open


def test_each_token_has_a_channel_of_its_own_and_one_token_has_one() -> None:
    shelf = Shelf()
    with closing(open_workers(shelf, 8)) as workers:
        for token in ("first", "second", "first"):
            workers.channel("one", AGENT, token)
        assert ["one", "one"] == shelf.opened


def test_nothing_is_opened_once_everything_was_closed() -> None:
    shelf = Shelf()
    workers = open_workers(shelf, 8)
    kept = workers.channel("one", AGENT)
    workers.close()
    with pytest.raises(StoreUnavailable):
        kept.source()
    assert [] == shelf.open
