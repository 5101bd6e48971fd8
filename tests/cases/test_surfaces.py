"""What the surfaces do with a store that is not as they need it, and with a client that is gone (SUR)."""

import errno
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cases.stored import StoredPlace, place_on
from tests.cli.program import STATEWARD
from tests.mcp.desk import GIVEN_UP_SECONDS, INITIALIZE, REQUEST, Desk, desk
from tests.store.releases import VERSIONS, Release, version

REMEDY = "`stateward store migrate` brings it up"
CLIENT = """
import subprocess, sys
server = subprocess.Popen([sys.argv[1], "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
server.stdin.write(sys.stdin.buffer.read())
server.stdin.flush()
print(server.pid, flush=True)
server.wait()
"""
"""A client that starts a server, hands on what it is given, and says which process the server is."""


def lines(*messages: object) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in (INITIALIZE, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *messages))


def call(tool: str, **arguments: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.fixture
def older(tmp_path: Path) -> StoredPlace:
    """A Workspace whose store an older version wrote."""
    return Release(VERSIONS[-1]).put_place(place_on(None, tmp_path / "place"))


def told(older: StoredPlace, arguments: Sequence[str], given: str = "") -> subprocess.CompletedProcess[str]:
    command = [STATEWARD, *arguments]
    return subprocess.run(command, cwd=older.work, env=older.environment, input=given, capture_output=True, text=True, check=False)


def test_every_surface_that_reads_says_the_same_remedy_for_a_store_that_needs_migration(older: StoredPlace) -> None:
    """S-SUR-1: a store that needs migration breaks no protocol, and is told with what to do."""
    for command in (["status"], ["flow", "list"], ["log", "show"], ["watch", "0198c0de-0000-7000-8000-000000000001"]):
        done = told(older, command)
        assert (command, 3, "") == (command, done.returncode, done.stdout)
        assert f"  = help: {REMEDY}" == done.stderr.splitlines()[-1]
    for event in ("stop", "session-start"):
        given = {"session_id": "s-1", "cwd": str(older.work), "hook_event_name": "Stop" if event == "stop" else "SessionStart"}
        done = told(older, ["hook", event, "--format", "claude"], json.dumps({**given, "transcript_path": "", "source": "startup"}))
        assert (0, "") == (done.returncode, done.stderr)
        assert json.loads(done.stdout)["systemMessage"].endswith(f"; {REMEDY}")
    assert VERSIONS[-1] == version(older.store), "who only looks changes nothing"


def test_the_server_of_an_agent_says_it_at_the_call_and_every_line_of_it_is_the_protocols(older: StoredPlace) -> None:
    """S-SUR-1: the stdio server over a store that needs migration."""
    server = subprocess.Popen(
        [STATEWARD, "mcp"],
        cwd=older.work,
        env=older.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(lines(call("flow_status")))
    server.stdin.flush()
    answers = [json.loads(server.stdout.readline()) for _ in range(2)]
    rest, errors = server.communicate()
    assert [1, 2] == [each["id"] for each in answers]
    assert answers[1]["result"]["isError"]
    assert answers[1]["result"]["content"][0]["text"].endswith(f"\nWhat to do: {REMEDY}")
    assert ("", "", 0) == (rest, errors, server.returncode)


def test_a_surface_that_writes_brings_the_store_up_and_says_so_on_standard_error(older: StoredPlace) -> None:
    """S-SUR-1: what is said of a migration is no part of the output."""
    done = told(older, ["start", "builtin:coder-review", "--json"])
    assert 0 == done.returncode
    assert json.loads(done.stdout)["worker"]
    assert done.stderr.startswith(f"note: {older.store} was brought from store version {VERSIONS[-1]} to ")


# --- a client that is gone


def test_a_server_whose_client_is_killed_ends_with_what_it_verifies_and_its_attempt_is_gone_on_with(tmp_path: Path) -> None:
    """S-SUR-2: the server outlives its client."""
    at = desk(tmp_path, slow=True)
    at.record(at.start(), "run_tests", "exit status 0", "use-1")
    client = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(STATEWARD)],
        cwd=at.work,
        env=at.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write(lines(call(REQUEST, reason="Done.")).encode())
    client.stdin.close()
    server = os.pidfd_open(int(client.stdout.readline()))
    while not at.asked():
        os.sched_yield()
    client.kill()
    client.wait()
    ended, _, _ = select.select([server], [], [], GIVEN_UP_SECONDS)
    os.close(server)
    client.stdout.close()
    assert [server] == ended, "the server goes on without its client"
    assert_nothing_is_left(at)


@pytest.mark.parametrize("told_to", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_told_to_end_while_it_verifies_leaves_no_process_and_no_half_of_an_event(
    tmp_path: Path, told_to: signal.Signals
) -> None:
    """S-SUR-2: the terminate signal during a verifier's call."""
    at = desk(tmp_path, slow=True)
    at.record(at.start(), "run_tests", "exit status 0", "use-1")
    server = subprocess.Popen([STATEWARD, "mcp"], cwd=at.work, env=at.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert server.stdin is not None
    server.stdin.write(lines(call(REQUEST, reason="Done.")).encode())
    server.stdin.flush()
    while not at.asked():
        os.sched_yield()
    server.send_signal(told_to)
    server.communicate()
    assert 0 == server.returncode
    assert_nothing_is_left(at)


def assert_nothing_is_left(at: Desk) -> None:
    """Require that no judge waits any more, that the log is whole, and that the attempt is judged by whoever asks next."""
    with pytest.raises(OSError, match=os.strerror(errno.ENXIO)):  # what is told where nobody waits to read
        os.close(os.open(at.root / "gate", os.O_WRONLY | os.O_NONBLOCK))
    assert json.loads(at.run("log", "verify", "--json"))
    attempt = json.loads(at.run("status", "--json"))["flow"]["attempt"]["id"]
    at.go()
    answer = json.loads(at.run("request", "--reason", "Done.", "--json"))["answer"]
    assert (attempt, "review") == (answer["attempt"], answer["state"])
