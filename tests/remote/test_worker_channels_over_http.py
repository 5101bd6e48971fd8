"""The channel of an agent over a service that runs."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from stateward.runtime.engine.answers import Begun
from tests.contracts.checks import *  # noqa: F403 -- the contract
from tests.contracts.checks import Checked, checked_desk
from tests.contracts.variables import *  # noqa: F403 -- the contract
from tests.contracts.variables import RECORDED, REFINED
from tests.contracts.work import *  # noqa: F403 -- the contract
from tests.contracts.work import PEOPLE, PROGRAM, Bench, evidence, page
from tests.remote.work_services import work_service
from tests.runtime.engines import AGENT, Desk
from tests.runtime.flows import HALF
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
    evidence(desk.engine, desk.worker)
    with work_service(desk) as served, closing(served.agent()) as channel:
        yield Bench(channel, desk.engine, served.judge)


def test_the_definition_comes_whole(bench: Bench) -> None:
    definition = bench.channel.definition()
    assert definition is not None
    assert "review" == definition.name


def test_half_a_character_in_a_reason_is_told_as_what_stands_for_it(bench: Bench) -> None:
    begun = bench.engine.begin(bench.channel.worker, f"It is {HALF} written.", AGENT)
    assert isinstance(begun, Begun)
    opened = bench.flow.open
    assert opened is not None
    assert "It is \ufffd written." == opened.reason
    found = bench.channel.attempt(begun.request.attempt)
    assert found is not None
    assert opened.reason == found.reason
    (event,) = page(bench.channel.log())[-1].events
    assert opened.reason == event["reason"]
