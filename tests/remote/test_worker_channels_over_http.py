"""The channel of an agent over a service that runs."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from stateward.runtime.profile import Profile
from tests.contracts.work import *  # noqa: F403 -- the contract
from tests.contracts.work import PEOPLE, PROGRAM, Bench, evidence
from tests.remote.work_services import work_service
from tests.runtime.engines import AGENT, Desk


@pytest.fixture
def bench() -> Iterator[Bench]:
    yield from _bench(PROGRAM)


@pytest.fixture
def people() -> Iterator[Bench]:
    yield from _bench(PEOPLE)


def _bench(profile: Profile) -> Iterator[Bench]:
    desk = Desk("review", profile, AGENT)
    evidence(desk.engine, desk.worker)
    with work_service(desk) as served, closing(served.agent()) as channel:
        yield Bench(channel, desk.engine, served.judge)


def test_the_definition_comes_whole(bench: Bench) -> None:
    definition = bench.channel.definition()
    assert definition is not None
    assert "review" == definition.name
