"""The flows of a Workspace that a service holds, under the contract of every authority, over a real socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import FlowAuthority
from tests.contracts.authority import *  # noqa: F403 -- a contract is all its tests
from tests.contracts.snapshots import HERE, THERE
from tests.remote.services import Running, running


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "store.db", HERE.id) as started:
        yield started


@pytest.fixture
def authority(service: Running) -> Iterator[FlowAuthority]:
    with service.client("ada") as client:
        yield client


@pytest.fixture
def second(service: Running) -> Iterator[FlowAuthority]:
    with service.client("bob") as client:
        yield client


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[FlowAuthority]:
    with running(tmp_path / "elsewhere.db", THERE.id) as started, started.client("eve") as client:
        yield client
