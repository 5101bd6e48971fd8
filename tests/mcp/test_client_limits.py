"""A verification that takes far longer than a client waits for one answer: it is judged once, and ends in the transition."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT

from tests.mcp.desk import REQUEST, Desk, client, connected, desk, form, run, served

WAIT_SECONDS = 0.6
"""How long the server waits for a verdict: as 40 seconds are to a client's 60, with room for a machine that is busy."""
LIMIT_SECONDS = 3.0
"""How long a client waits for an answer."""
CALLS = 6
"""As many as it takes for the verification to go on far longer than the client waits for one."""
IMPATIENT_SECONDS = 0.5
"""How long a client waits that gives up before the server would answer."""
ONCE = ["transition_requested", "transition_check_passed"]
assert CALLS * WAIT_SECONDS > LIMIT_SECONDS

Opened = Callable[[float], AbstractAsyncContextManager[ClientSession]]


@pytest.fixture
def at(tmp_path: Path) -> Desk:
    made = desk(tmp_path, slow=True)
    made.record(made.start(), "run_tests", "exit status 0", "use-1")
    return made


@pytest.fixture(params=["stdio", "http"])
def opened(request: pytest.FixtureRequest, at: Desk) -> Opened:
    """Give what connects a client to a server that waits so long."""

    def over_stdio(wait: float) -> AbstractAsyncContextManager[ClientSession]:
        return client(at, "--wait", str(wait))

    @asynccontextmanager
    async def over_http(wait: float) -> AsyncIterator[ClientSession]:
        shown = at.token(f"work:{json.loads(at.run('status', '--json'))['worker']}")
        with served(at, "--wait", str(wait)) as address:
            async with connected(address, shown) as session:
                yield session

    ways: dict[str, Opened] = {"stdio": over_stdio, "http": over_http}
    return ways[request.param]


def judged(at: Desk) -> list[str]:
    """Give what the log has of requests and their ends."""
    entries = map(json.loads, at.run("log", "show", "--json").splitlines())
    happened = [event["type"] for each in entries for event in each["events"]]
    return [each for each in happened if each.startswith("transition_")]


async def asked(session: ClientSession, limit: float, heard: Callable[..., Awaitable[None]] | None = None) -> dict[str, Any]:
    """Ask, and give up when the limit of the client has passed."""
    return form(await session.call_tool(REQUEST, {"reason": "Done."}, read_timeout_seconds=limit, progress_callback=heard))


def test_a_check_far_longer_than_the_limit_of_a_client_is_answered_within_it_and_ends_in_the_transition(at: Desk, opened: Opened) -> None:
    told: list[str | None] = []

    async def heard(_progress: float, _total: float | None, message: str | None) -> None:
        told.append(message)

    async def calls() -> None:
        async with opened(WAIT_SECONDS) as session:
            assert not (await session.call_tool("flow_status", {})).is_error, "the Worker is open before time counts"
            answers = [await asked(session, LIMIT_SECONDS, heard) for _ in range(CALLS)]
            assert ["verifying"] * CALLS == [each["result"] for each in answers]
            attempt = answers[0]["attempt"]
            assert {attempt} == {each["attempt"] for each in answers}
            assert {f"verifying attempt {attempt}"} == set(told)
            assert len(told) >= CALLS
            at.go()
            while (moved := await asked(session, LIMIT_SECONDS))["result"] == "verifying":
                pass
            assert ("moved", "review", attempt) == (moved["result"], moved["state"], moved["attempt"])

    run(calls)
    assert 1 == at.asked()
    assert ONCE == judged(at)


def test_a_client_whose_limit_passes_first_gives_up_and_its_next_call_goes_on_with_what_is_judged_once(at: Desk, opened: Opened) -> None:
    async def given_up(session: ClientSession) -> None:
        with pytest.raises(MCPError) as problem:
            await asked(session, IMPATIENT_SECONDS)
        assert REQUEST_TIMEOUT == problem.value.error.code

    async def calls() -> None:
        async with opened(40.0) as session:
            while not at.asked():
                await given_up(session)
            attempt = form(await session.call_tool("flow_status", {}))["open_attempt"]
            assert attempt
            await given_up(session)
            at.go()
            moved = await asked(session, 40.0)
            assert ("moved", "review", attempt) == (moved["result"], moved["state"], moved["attempt"])

    run(calls)
    assert 1 == at.asked()
    assert ONCE == judged(at)
