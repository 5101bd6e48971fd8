"""`stateward hook` where a service attends to the Worker: the installed program, on a machine without store and key of it."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.session.entries import Kind
from tests.cli.program import STATEWARD, Ended, Place, place
from tests.contracts.work import PEOPLE
from tests.hooks.test_hook_command import given
from tests.remote.work_services import Served, work_service
from tests.runtime.engines import AGENT, Desk

WORKSPACE = "0198c0de-0000-7000-8000-0000000000aa"


@pytest.fixture
def served() -> Iterator[Served]:
    with work_service(Desk("review", PEOPLE, AGENT)) as opened:
        yield opened


@pytest.fixture
def here(tmp_path: Path) -> Place:
    made = place(tmp_path)
    (made.work / ".stateward").mkdir()
    (made.work / ".stateward" / "workspace").write_text(f"{WORKSPACE}\n")
    return made


def call(here: Place, event: str, scope: str, served: Served, server: str = "") -> Ended:
    access = served.access(scope)
    assert access.token is not None
    token = here.folder / "token"
    with os.fdopen(os.open(token, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
        opened.write(access.token.authorization.removeprefix("Bearer "))
    environment = {name: value for name, value in here.environment.items() if name != "STATEWARD_STORE"}
    done = subprocess.run(
        [str(STATEWARD), "hook", event, "--format", "claude"],
        env={**environment, "STATEWARD_SERVER": server or served.address, "STATEWARD_TOKEN_FILE": str(token)},
        input=given(here, event),
        cwd=here.folder,
        capture_output=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_an_agent_is_told_and_kept_on_by_the_worker_that_the_token_is_for(here: Place, served: Served) -> None:
    desk = served.desk
    scope = f"record:{desk.worker}"
    started = call(here, "session-start", scope, served)
    assert (0, "") == (started.status, started.err)
    assert "Instructions of the state" in started.out
    used = call(here, "post-tool", scope, served)
    assert (0, "", "") == (used.status, used.out, used.err)
    stopped = call(here, "stop", scope, served)
    assert "block" == json.loads(stopped.out)["decision"]
    entries = [each.entry for each in desk.engine.log(desk.worker, 2)]
    assert {("host", "http", "ada")} == {(str(each.actor.actor_class), each.actor.channel, each.actor.principal) for each in entries}
    assert {Kind.TOOL_CALL, Kind.TOOL_RESULT} <= {each.kind for each in entries}
    assert [] == [*here.folder.rglob("store.db"), *here.folder.rglob("keys")]


def test_a_token_that_is_for_no_worker_disturbs_nobody(here: Place, served: Served) -> None:
    assert Ended(0, "", "") == call(here, "post-tool", "read", served)


def test_a_service_that_is_away_lets_the_agent_go_with_a_warning(here: Place, served: Served) -> None:
    ended = call(here, "stop", f"record:{served.desk.worker}", served, "http://127.0.0.1:1")
    assert (0, "", ["systemMessage"]) == (ended.status, ended.err, list(json.loads(ended.out)))
