"""The channel of an agent over a service that runs."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.contracts.checks import *  # noqa: F403 -- the contract
from tests.contracts.checks import Checked, checked_desk
from tests.contracts.variables import *  # noqa: F403 -- the contract
from tests.contracts.variables import RECORDED, REFINED
from tests.contracts.work import *  # noqa: F403 -- the contract
from tests.contracts.work import PEOPLE, PROGRAM, Bench, evidence
from tests.remote.work_services import work_service
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
    evidence(desk.engine, desk.worker)
    with work_service(desk) as served, closing(served.agent()) as channel:
        yield Bench(channel, desk.engine, served.judge)


def test_the_definition_comes_whole(bench: Bench) -> None:
    definition = bench.channel.definition()
    assert definition is not None
    assert "review" == definition.name
