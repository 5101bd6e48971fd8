"""What the engine takes goes over the wire, and what is over a limit is refused: never a failure of the service."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx2
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import LOG_PAGE_MAX, RECORDS_MAX, LogPage, Recorded
from tests.contracts.hosting import result
from tests.contracts.work import PROGRAM
from tests.http.running import PLAIN
from tests.http.test_work_access import KEY, ask
from tests.remote.work_services import Served, work_service
from tests.runtime.engines import AGENT, Desk

KIB = 1024


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with work_service(Desk("review", PROGRAM, AGENT)) as opened:
        yield opened


@pytest.fixture(scope="module")
def tokens(served: Served) -> dict[str, str]:
    given = {each: served.access(f"{each}:{served.desk.worker}").token for each in ("work", "record")}
    return {each: token.authorization for each, token in given.items() if token is not None}


def sent(served: Served, scope: str, path: str, body: Any) -> tuple[int, str]:
    answer = ask(served, f"{scope}:{served.desk.worker}", "POST", f"/{served.desk.worker}{path}", body)
    return answer.status_code, answer.json().get("code", "")


@pytest.mark.parametrize("size", [16 * KIB, 16 * KIB + 1, 256 * KIB, KIB * KIB + 1])
@pytest.mark.parametrize("letter", ["x", "\U0001f600", "\x01"])
def test_a_text_of_any_size_is_taken_or_refused(served: Served, size: int, letter: str) -> None:
    text = letter * (size // len(letter.encode()))
    for scope, path, body in (
        ("work", "/requests", {"reason": text}),
        ("work", "/notes", {"text": text}),
        ("work", "/variables", {"values": {"text": text}}),
        ("work", "/variables", {"values": {text: 1}}),
        ("work", "/input", {"input": [{"kind": "text", "content": text}]}),
        ("record", "/stops", {"reason": text}),
        ("record", "/runs", {"run": "run-1", "outcome": "failed", "message": text}),
    ):
        status, code = sent(served, scope, path, body)
        assert status < 500, (path, code)
    answer = ask(served, f"work:{served.desk.worker}", "GET", f"/{served.desk.worker}")
    assert 200 == answer.status_code, answer.text
    attempts = [each.attempt for each in served.judge.asked[-1:]]
    for each in attempts:
        shown = ask(served, f"work:{served.desk.worker}", "GET", f"/{served.desk.worker}/attempts/{each}")
        assert 200 == shown.status_code, shown.text


@pytest.mark.parametrize("count", [0, 1, RECORDS_MAX, RECORDS_MAX + 1])
def test_so_many_records_are_taken_or_refused(served: Served, count: int) -> None:
    records = [{"kind": "tool_result", "payload": "eA==", "key": {**KEY, "use": f"many-{each}"}} for each in range(count)]
    assert sent(served, "record", "/records", {"records": records})[0] < 500
    with closing(served.host()) as host:
        told = host.record(tuple(result(f"of-{count}-{each}") for each in range(count)))
    assert isinstance(told, Recorded | Refusal)
    assert (count <= RECORDS_MAX) == isinstance(told, Recorded) or count == 0


def test_pages_of_a_log_hold_everything_whatever_the_payloads_are(served: Served) -> None:
    for number, payload in enumerate((b"\x01" * 700 * KIB, b"\xff" * 700 * KIB, b'"' * 700 * KIB)):
        record = {"kind": "tool_result", "payload": b64encode(payload).decode(), "key": {**KEY, "use": f"large-{number}"}}
        assert (200, "") == sent(served, "record", "/records", {"records": [record]})
    with closing(served.agent()) as agent:
        after, seen = 0, []
        while True:
            page = agent.log(after)
            assert isinstance(page, LogPage)
            if not page.entries:
                break
            assert len(page.entries) <= LOG_PAGE_MAX
            seen += [each.seq for each in page.entries]
            after = seen[-1]
    assert list(range(1, page.head.seq + 1)) == seen


NAMES = st.text(max_size=40) | st.sampled_from(["x" * 300, "\u00e9" * 200, "\x00", "\ud800", ""])
VALUES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | NAMES | st.lists(NAMES, max_size=2)


@settings(max_examples=40, deadline=None)
@given(use=VALUES, session=VALUES, run=VALUES, offset=VALUES, kind=VALUES)
@example(use="u", session="\x00", run="r", offset=0, kind="tool_result")
@example(use="u", session="\u00e9" * 1024, run="r", offset=0, kind="tool_result")
def test_whatever_is_named_is_no_failure(
    served: Served, tokens: dict[str, str], use: Any, session: Any, run: Any, offset: Any, kind: Any
) -> None:
    key = {"host": "claude", "session": session, "use": use, "part": run}
    cursor = {"host": "claude", "session": session, "path": "/t.jsonl", "offset": offset, "last": run}
    for scope, path, body in (
        ("work", "/notes", {"text": "It is done.", "use": use}),
        ("work", "/input", {"input": [], "submission": use}),
        ("work", "/variables", {"values": use}),
        ("work", "/variables", {"values": {"x": use, str(session): offset}}),
        ("record", "/runs", {"run": run, "session": session}),
        ("record", "/stops", {"reason": "enough", "operation": use, "session": session}),
        ("record", "/records", {"session": session, "records": [{"kind": kind, "payload": "eA==", "key": key}], "cursor": cursor}),
    ):
        assert ask_raw(served, tokens[scope], path, body) < 500, (path, body)


def ask_raw(served: Served, token: str, path: str, body: Any) -> int:
    """Send what the library would not write: halves of characters."""
    headers = {"Authorization": token, "Content-Type": "application/json"}
    content = json.dumps(body, ensure_ascii=True).encode()
    with httpx2.Client(base_url=served.address, headers=headers, trust_env=False, verify=PLAIN, timeout=None) as client:
        return client.post(f"/v1/workers/{served.desk.worker}{path}", content=content).status_code
