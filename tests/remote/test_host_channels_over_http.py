"""The channel of a harness over a service that runs."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.masking import Secrets
from tests.contracts.hosting import *  # noqa: F403 -- the contract
from tests.contracts.hosting import SECRET, Hosted
from tests.remote.work_services import work_service
from tests.runtime.engines import Desk


@pytest.fixture
def hosted() -> Iterator[Hosted]:
    desk = Desk("review", DEMONSTRATION, secrets=Secrets({"PASSWORD": SECRET}))
    with work_service(desk) as served, closing(served.host()) as channel:
        yield Hosted(channel, desk.engine)
