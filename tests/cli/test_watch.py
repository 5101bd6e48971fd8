"""A Worker followed in the terminal."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.core.operating import Verb
from stateward.runtime.engine.showing import entry_of
from stateward.runtime.ports import EntryShown, LogPage
from stateward.runtime.session.entries import Kind
from stateward.runtime.surfaces.cli.watch import followed
from tests.cli.program import STATEWARD
from tests.mcp.desk import Desk, desk
from tests.runtime.engines import PERSON
from tests.runtime.engines import Desk as EngineDesk


def pages(at: EngineDesk, size: int) -> Iterator[EntryShown]:
    """Follow a Worker in pages; at each pause somebody appends, and in the end an operator gives the flow up."""
    left = list(range(7))

    def page(after: int) -> LogPage:
        head = at.engine.head(at.worker)
        assert head is not None
        upto = min(after + size, head.seq)
        return LogPage(tuple(map(entry_of, at.engine.log(at.worker, after, upto))) if upto > after else (), head)

    def pause(_: float) -> None:
        if left:
            at.record_evidence(f"result {left.pop(0)}".encode())
        else:
            at.engine.operate(at.worker, Verb.CANCEL, "enough", PERSON)

    return followed(page, lambda: str(at.flow.status), 0, pause)


@pytest.mark.parametrize("size", [1, 3, 200])
def test_every_entry_is_given_once_in_order_until_the_flow_has_ended(size: int) -> None:
    at = EngineDesk("review")
    given = list(pages(at, size))
    assert [each.seq for each in given] == [each.seq for each in at.log()] == list(range(1, len(given) + 1))
    assert 7 == sum(each.kind == Kind.TOOL_RESULT for each in given)
    assert given[-1].events


def test_what_comes_after_an_entry_is_shown_and_the_status_says_how_it_ended(tmp_path: Path) -> None:
    at = desk(tmp_path)
    worker = at.start()
    at.run("operate", "cancel", worker, "--reason", "enough")
    done = watched(at, worker, "--after", "2").communicate()
    assert b"" == done[1]
    gave_up, entered = done[0].decode().splitlines()
    assert gave_up.startswith("E00000003  ")
    assert gave_up.endswith(": enough")
    assert entered.endswith("entered $cancelled (visit 2, cancelled)")


def test_entries_are_shown_as_another_process_commits_them(tmp_path: Path) -> None:
    at = desk(tmp_path)
    worker = at.start()
    process = watched(at, worker, "--json")
    assert process.stdout is not None
    seen = [json.loads(process.stdout.readline())["seq"] for _ in range(2)]
    subprocess.run([STATEWARD, "request", "--reason", "Trust me."], cwd=at.work, env=at.environment, capture_output=True, check=False)
    seen += [json.loads(process.stdout.readline())["seq"] for _ in range(2)]
    assert [1, 2, 3, 4] == seen
    at.run("operate", "cancel", worker, "--reason", "enough")
    assert 5 == json.loads(process.stdout.readline())["seq"]
    assert (b"", b"", 1) == (*process.communicate(), process.returncode)


def test_who_interrupts_leaves_and_nothing_else_happens(tmp_path: Path) -> None:
    at = desk(tmp_path)
    process = watched(at, at.start())
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert (b"", 130) == (errors.strip(), process.returncode)


def watched(at: Desk, *arguments: str) -> "subprocess.Popen[bytes]":
    environment = {**at.environment, "COLUMNS": "120", "PATH": os.environ["PATH"]}
    command = [STATEWARD, "watch", *arguments]
    return subprocess.Popen(command, cwd=at.work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
