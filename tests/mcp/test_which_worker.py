"""Which Worker a call is for: named, bound to the session that the host tells of, or the Worker of a service."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client.session import ClientSession

from stateward.runtime.marker import find_workspace
from stateward.runtime.ports.bindings import Binding
from stateward.runtime.surfaces.mcp.hosts import Caller, caller_of
from stateward.runtime.wiring.bindings import bindings_of
from tests.contracts.work import PROGRAM, evidence
from tests.mcp.desk import client, desk, run
from tests.remote.work_services import work_service
from tests.runtime.engines import AGENT
from tests.runtime.engines import Desk as EngineDesk

CLAUDE = {"CLAUDE_CODE_SESSION_ID": "s-1"}


def codex(session: str, thread: str, **more: str) -> dict[str, Any]:
    return {"x-codex-turn-metadata": {"session_id": session, "thread_id": thread, "turn_id": "t-1", **more}}


@pytest.mark.parametrize(
    ("meta", "environment", "caller"),
    [
        (None, {}, Caller()),
        (None, CLAUDE, Caller("claude", "s-1")),
        (codex("s-9", "s-9"), {}, Caller("codex", "s-9")),
        (codex("s-9", "s-9"), CLAUDE, Caller("codex", "s-9")),
        (codex("s-9", "t-7"), {}, Caller("codex", "s-9", "t-7")),
        (codex("s-9", "t-7", thread_source="subagent"), {}, Caller("codex", "s-9", "t-7")),
        ({"agent_id": "a-1"}, CLAUDE, Caller("claude", "s-1", "a-1")),
        ({"x-codex-turn-metadata": "text"}, {}, Caller()),
        ({"x-codex-turn-metadata": {"session_id": 7}}, {}, Caller()),
        (None, {"CLAUDE_CODE_SESSION_ID": "s" * 5_000}, Caller()),
        (None, {"CLAUDE_CODE_SESSION_ID": "\udcff"}, Caller()),
    ],
)
def test_what_a_host_tells_of_a_session_and_a_sub_agent_is_taken(
    meta: Mapping[str, Any] | None, environment: Mapping[str, str], caller: Caller
) -> None:
    assert caller == caller_of(meta, environment)


def test_a_session_works_in_the_worker_that_its_hooks_bound_it_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = desk(tmp_path)
    first, second = at.start(), at.start()
    for name, value in at.environment.items():
        monkeypatch.setenv(name, value)
    workspace = find_workspace(at.work)
    assert workspace is not None
    bindings = bindings_of(workspace)

    def bind(host: str, session: str, worker: str, following: str = "") -> None:
        bindings.keep(Binding(host, session, worker, session, str(at.work), following=following))

    async def worker_of(session: ClientSession, **meta: Any) -> str | None:
        told = (await session.call_tool("flow_status", {}, meta=meta or None)).structured_content
        return None if told is None else str(told["worker"])

    async def calls() -> None:
        async with client(at, environment=CLAUDE) as session:
            assert await worker_of(session) is None, "nothing is bound, and there are two"
            bind("claude", "s-1", first)
            bind("codex", "s-9", second)
            assert first == await worker_of(session)
            assert second == await worker_of(session, **codex("s-9", "s-9"))
            refused = await session.call_tool("request_flow_transition", {"reason": "Done."}, meta=codex("s-9", "t-7"))
            assert refused.is_error
            noted = await session.call_tool("session_note", {"text": "Seen by another."}, meta=codex("s-9", "t-7"))
            assert not noted.is_error
            bind("claude", "s-1", first, following="s-2")
            assert first == await worker_of(session), "the session that goes on from it is not bound"
            bind("claude", "s-2", second)
            assert second == await worker_of(session)
        async with client(at, "--worker", first, environment=CLAUDE) as session:
            assert first == await worker_of(session), "what is named counts first"

    run(calls)
    assert '"t-7"' in at.run("log", "show", second, "--json"), "the note is the sub-agent's"


def test_a_worker_of_a_service_is_reached_with_the_token_for_it(tmp_path: Path) -> None:
    at, served_desk = desk(tmp_path), EngineDesk("review", PROGRAM, AGENT)
    evidence(served_desk.engine, served_desk.worker)
    with work_service(served_desk) as served:
        worker = served_desk.worker
        token = served.access(f"work:{worker}").token
        assert token is not None
        reached = {"STATEWARD_SERVER": served.address, "STATEWARD_TOKEN": token.authorization.removeprefix("Bearer ")}

        async def calls() -> None:
            async with client(at, environment=reached) as session:
                unnamed = await session.call_tool("flow_status", {})
                assert unnamed.is_error
                assert "a service is named and no Worker" in str(unnamed.content)
            async with client(at, environment={**reached, "STATEWARD_WORKER": worker}) as session:
                status = (await session.call_tool("flow_status", {})).structured_content
                asked = (await session.call_tool("request_flow_transition", {"reason": "Done."})).structured_content
                assert status is not None
                assert asked is not None
                assert (worker, "stays") == (status["worker"], asked["result"])
            async with client(at, environment={**reached, "STATEWARD_TOKEN": "sw_unknown", "STATEWARD_WORKER": worker}) as session:
                assert (await session.call_tool("flow_status", {})).is_error

        run(calls)
    assert 1 == len(served.judge.asked)
