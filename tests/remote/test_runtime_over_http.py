"""Workers on flows that a service holds: started while it is there, and gone on with whether it is or not."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stateward.runtime.core.events import Verdict
from stateward.runtime.core.instance import Status
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.view import FlowView, WorkerView
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import AccessRefused, Answered, Damaged, FlowAuthority, Removed, ServiceUnavailable
from stateward.store.memory_sessions import MemorySessionStore
from tests.contracts.authority import kept, source
from tests.contracts.snapshots import HERE, THERE
from tests.remote.asking import client_of
from tests.remote.odd_server import odd_server, problem
from tests.remote.services import Running, running
from tests.runtime.engines import PERSON, Judge, engine_on, input_for, saying, submitted
from tests.store.hands import put_on_sqlite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def service(path: Path) -> Iterator[Running]:
    with running(path, HERE.id) as started:
        yield started


@pytest.fixture
def ada(service: Running) -> Iterator[FlowAuthority]:
    with service.client("ada") as client:
        yield client


@pytest.fixture
def sessions() -> MemorySessionStore:
    return MemorySessionStore()


@pytest.fixture
def engine(service: Running, sessions: MemorySessionStore) -> Iterator[Engine]:
    """An engine that may resolve at the service and do nothing else there."""
    with service.client("worker", "resolve") as client:
        yield engine_on(sessions, catalog=client)


def start(engine: Engine, flow: str = "paper", submission: str | None = None) -> str:
    return submitted(engine.start_worker(HERE.id, input_for(flow, "Ticket 41"), PERSON, submission_id=submission)).worker


def flow_of(engine: Engine, worker: str) -> FlowView:
    view = engine.view(worker)
    assert isinstance(view, WorkerView), view
    assert view.flow is not None
    return view.flow


def workers(sessions: MemorySessionStore) -> list[str]:
    return [each.worker for each in sessions.workers(HERE.id, 10)]


def test_a_worker_pins_what_the_service_resolved(ada: FlowAuthority, engine: Engine, sessions: MemorySessionStore) -> None:
    kept(ada)
    revision = kept(ada, source("more."), base=1)
    pin = flow_of(engine, start(engine)).pin
    assert (HERE.id, "workspace:paper", revision.flow_id, 2, revision.content_digest, revision.definition_digest) == (
        pin.workspace,
        pin.selector,
        pin.flow_id,
        pin.flow_revision,
        pin.content_digest,
        pin.definition_digest,
    )
    assert sessions.definition(revision.definition_digest) is not None


def test_a_worker_goes_on_as_pinned_when_the_flow_changes_and_when_it_is_removed(ada: FlowAuthority, engine: Engine) -> None:
    revision = kept(ada)
    worker = start(engine)
    kept(ada, source("more."), base=1)
    assert isinstance(ada.remove("paper", base=2), Removed)
    flow = flow_of(engine, worker)
    assert ("Write it.", revision.definition_digest) == (flow.instructions, flow.pin.definition_digest)
    refusal = engine.start_worker(HERE.id, input_for("paper"), PERSON)
    assert isinstance(refusal, Refusal)
    assert RefusalCode.FLOW_NOT_FOUND is refusal.code


def test_a_worker_goes_on_when_the_service_is_gone(path: Path, sessions: MemorySessionStore) -> None:
    with running(path, HERE.id) as service, service.client("ada") as ada:
        kept(ada)
        access = service.access("worker", "resolve")
        with closing(client_of(access)) as client:
            worker = start(engine_on(sessions, catalog=client))
    with client_of(access) as client:
        engine = engine_on(sessions, catalog=client)
        answered = engine.request_transition(worker, "it is written", PERSON, Judge(saying({"ready": Verdict.MET})))
        assert isinstance(answered, Answered)
        flow = flow_of(engine, worker)
    assert ("done", Status.COMPLETED) == (flow.state, flow.status)


def test_while_the_service_is_away_nothing_is_started_and_nothing_is_written(path: Path, sessions: MemorySessionStore) -> None:
    with running(path, HERE.id) as service, service.client("ada") as ada:
        kept(ada)
        access = service.access("worker", "resolve")
    with client_of(access) as client:
        engine = engine_on(sessions, catalog=client)
        for _ in range(2):
            with pytest.raises(ServiceUnavailable, match="cannot be reached"):
                engine.start_worker(HERE.id, input_for("paper"), PERSON, submission_id="s-1")
        assert [] == workers(sessions)
        port = int(str(access.address).rpartition(":")[2])
        with running(path, HERE.id, port):
            assert [start(engine, submission="s-1")] == workers(sessions)


def test_a_later_input_waits_for_the_service_too_and_writes_nothing_without_it(path: Path, sessions: MemorySessionStore) -> None:
    with running(path, HERE.id) as service, service.client("ada") as ada:
        kept(ada)
        access = service.access("worker", "resolve")
        with client_of(access) as client:
            engine = engine_on(sessions, catalog=client)
            worker = start(engine)
            engine.request_transition(worker, "it is written", PERSON, Judge(saying({"ready": Verdict.MET})))
    before = list(sessions.entries(worker))
    with client_of(access) as client, pytest.raises(ServiceUnavailable):
        engine_on(sessions, catalog=client).submit(worker, input_for("paper"), PERSON)
    assert before == list(sessions.entries(worker))


def test_a_token_for_other_things_starts_nothing(service: Running, ada: FlowAuthority, sessions: MemorySessionStore) -> None:
    kept(ada)
    with service.client("reader", "read") as client, pytest.raises(AccessRefused, match="`resolve`"):
        engine_on(sessions, catalog=client).start_worker(HERE.id, input_for("paper"), PERSON)
    assert [] == workers(sessions)


def test_a_damaged_flow_starts_nothing(ada: FlowAuthority, path: Path, engine: Engine, sessions: MemorySessionStore) -> None:
    put_on_sqlite(path, kept(ada).definition_digest, b"{}")
    with pytest.raises(Damaged):
        engine.start_worker(HERE.id, input_for("paper"), PERSON)
    assert [] == workers(sessions)


def test_the_service_of_another_workspace_starts_nothing(sessions: MemorySessionStore) -> None:
    with (
        odd_server(problem("flow_not_found", 404)) as odd,
        client_of(odd.address, THERE.id) as client,
        pytest.raises(ServiceUnavailable, match="was expected"),
    ):
        engine_on(sessions, catalog=client).start_worker(THERE.id, input_for("paper"), PERSON)
    assert [] == workers(sessions)
