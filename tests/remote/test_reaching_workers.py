"""A Worker of a service is reached with what the environment names."""

import pytest

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Recorded, RecordedEntry
from stateward.runtime.wiring.reaching_workers import remote_agent_channel, remote_host_channel
from tests.contracts.hosting import result
from tests.contracts.work import PROGRAM
from tests.remote.work_services import work_service
from tests.runtime.engines import AGENT, Desk


def test_agent_and_harness_reach_their_worker_with_the_token_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with work_service(Desk("review", PROGRAM, AGENT)) as served:
        worker = served.desk.worker
        access = served.access(f"work:{worker}", f"record:{worker}")
        assert access.token is not None
        monkeypatch.delenv("STATEWARD_TOKEN_FILE", raising=False)
        monkeypatch.setenv("STATEWARD_TOKEN", access.token.authorization.removeprefix("Bearer "))
        with remote_agent_channel(served.address, worker) as agent:
            assert isinstance(agent.note("It is done."), RecordedEntry)
            assert not isinstance(agent.standing(), Refusal)
        with remote_host_channel(served.address, worker, "s-1") as host:
            assert isinstance(host.record((result("u-1"),)), Recorded)
