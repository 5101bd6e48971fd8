"""The channel of an agent in process."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.channels import EngineWorkerChannel, Judges
from stateward.runtime.wiring import DaemonThreads
from tests.contracts.checks import *  # noqa: F403 -- the contract
from tests.contracts.checks import Checked, checked_desk
from tests.contracts.variables import *  # noqa: F403 -- the contract
from tests.contracts.variables import RECORDED, REFINED
from tests.contracts.work import *  # noqa: F403 -- the contract
from tests.contracts.work import PEOPLE, PROGRAM, Bench, GatedJudge, evidence
from tests.runtime.engines import AGENT, Desk
from tests.runtime.guarded import NEEDS


@pytest.fixture
def bench() -> Iterator[Bench]:
    yield from _bench(Desk("review", PROGRAM, AGENT))


@pytest.fixture
def people() -> Iterator[Bench]:
    yield from _bench(Desk("review", PEOPLE, AGENT))


@pytest.fixture
def refine() -> Iterator[Bench]:
    yield from _bench(Desk("refine", REFINED, AGENT, secrets=RECORDED, inputs=NEEDS))


@pytest.fixture
def checked() -> Iterator[Checked]:
    desk, checks = checked_desk()
    for bench in _bench(desk):
        yield Checked(bench, checks)


def _bench(desk: Desk) -> Iterator[Bench]:
    judge = GatedJudge()
    evidence(desk.engine, desk.worker)
    channel = EngineWorkerChannel(
        desk.engine,
        desk.worker,
        AGENT,
        judges=Judges(lambda _: judge, "test", 15.0),
        threads=DaemonThreads(),
        clock=desk.clock,
        ids=desk.ids,
        source_of=lambda _: None,
    )
    with closing(channel):
        yield Bench(channel, desk.engine, judge)


def test_a_worker_that_is_none_is_refused() -> None:
    desk = Desk("review", PROGRAM, AGENT)
    channel = EngineWorkerChannel(
        desk.engine,
        "0198c0de-0000-7000-8000-ffffffffffff",
        AGENT,
        judges=Judges(lambda _: GatedJudge(), "test", 15.0),
        threads=DaemonThreads(),
        clock=desk.clock,
        ids=desk.ids,
        source_of=lambda _: None,
    )
    assert {"worker_not_found"} == {
        str(each.code) for each in (channel.standing(), channel.ask("x", 0.0), channel.log()) if isinstance(each, Refusal)
    }


def test_whoever_leaves_while_it_is_verified_leaves_the_attempt_open(bench: Bench) -> None:
    bench.judge.gate.clear()
    bench.channel.ask("It is written.", 0.0)
    before = bench.kinds()
    assert isinstance(bench.channel, EngineWorkerChannel)
    bench.channel.close()
    assert bench.flow.open is not None
    assert before == bench.kinds()
