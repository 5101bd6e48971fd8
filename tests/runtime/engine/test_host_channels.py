"""The channel of a harness in process."""

from dataclasses import replace

import pytest

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.hosting import EngineHostChannel
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.masking import Secrets
from tests.contracts.hosting import *  # noqa: F403 -- the contract
from tests.contracts.hosting import SECRET, Hosted
from tests.runtime.engines import HOST, Desk

SESSION = replace(HOST, host_session="s-1")


@pytest.fixture
def hosted() -> Hosted:
    desk = Desk("review", DEMONSTRATION, secrets=Secrets({"PASSWORD": SECRET}))
    return Hosted(EngineHostChannel(desk.engine, desk.worker, SESSION), desk.engine)


def test_a_worker_that_is_none_is_refused() -> None:
    channel = EngineHostChannel(Desk("review").engine, "0198c0de-0000-7000-8000-ffffffffffff", SESSION)
    for answer in (channel.standing(), channel.is_active(), channel.record(()), channel.start_run("r"), channel.stop("x")):
        assert isinstance(answer, Refusal)
        assert "worker_not_found" == answer.code
