"""A log is followed as it grows: every entry once and in order, also over a connection that was lost."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2

from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.session.entries import Kind
from stateward.runtime.surfaces.http.service import Bounds
from tests.contracts.work import evidence
from tests.http.running import PLAIN
from tests.remote.work_services import Served, work_service
from tests.runtime.engines import AGENT, Desk

PEOPLE = Profile("judged by a person", VerifierKind.PERSON)


@contextmanager
def lines(served: Served, path: str = "", **headers: str) -> Iterator[Iterator[str]]:
    access = served.access(f"work:{served.desk.worker}")
    assert access.token is not None
    sent = {"Authorization": access.token.authorization, **headers}
    with (
        httpx2.Client(base_url=served.address, trust_env=False, verify=PLAIN, timeout=None) as client,
        client.stream("GET", f"/v1/workers/{served.desk.worker}/events{path}", headers=sent) as answer,
    ):
        assert (200, "text/event-stream") == (answer.status_code, answer.headers["content-type"].partition(";")[0])
        yield answer.iter_lines()


def numbers(of: Iterator[str], count: int) -> list[int]:
    found: list[int] = []
    for line in of:
        if line.startswith("data: "):
            found.append(json.loads(line.removeprefix("data: "))["seq"])
        if len(found) == count:
            break
    return found


def test_entries_come_as_they_are_appended_and_go_on_behind_the_last_one_that_was_seen() -> None:
    desk = Desk("review", PEOPLE, AGENT)
    with work_service(desk) as served:
        with lines(served) as stream:
            assert [1, 2] == numbers(stream, 2)
            evidence(desk.engine, desk.worker, "use-1")
            assert [3] == numbers(stream, 1)
        evidence(desk.engine, desk.worker, "use-2")
        with lines(served, **{"Last-Event-ID": "3"}) as stream:
            assert [4] == numbers(stream, 1)
            evidence(desk.engine, desk.worker, "use-3")
            assert [5] == numbers(stream, 1)
        with lines(served, "?after=4") as stream:
            assert [5] == numbers(stream, 1)
        assert Kind.TOOL_RESULT == next(iter(desk.engine.log(desk.worker, 4))).entry.kind


def test_a_stream_ends_when_the_service_stops() -> None:
    with work_service(Desk("review", PEOPLE, AGENT)) as served, lines(served) as stream:
        assert [1, 2] == numbers(stream, 2)
        served.service.stopping.set()
        assert [] == numbers(stream, 1)


def test_no_more_streams_are_open_than_there_are_places() -> None:
    with work_service(Desk("review", PEOPLE, AGENT), Bounds(streams=1)) as served, lines(served) as stream:
        assert [1, 2] == numbers(stream, 2)
        access = served.access(f"work:{served.desk.worker}")
        assert access.token is not None
        headers = {"Authorization": access.token.authorization}
        answer = httpx2.get(f"{served.address}/v1/workers/{served.desk.worker}/events", headers=headers, trust_env=False, verify=PLAIN)
        assert (503, "busy") == (answer.status_code, answer.json()["code"])
