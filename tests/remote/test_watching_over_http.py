"""`stateward watch --server`: a Worker of a service, followed in the terminal."""

import json
from pathlib import Path

import pytest

from stateward.runtime.core.operating import Verb
from tests.cli.program import Ended, Place, place
from tests.contracts.work import PEOPLE, evidence
from tests.remote.odd_server import odd_server, says
from tests.remote.work_services import Served, work_service
from tests.runtime.engines import AGENT, PERSON, Desk


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def watch(here: Place, served: Served, *arguments: str) -> Ended:
    access = served.access(f"work:{served.desk.worker}")
    assert access.token is not None
    secret = access.token.authorization.removeprefix("Bearer ")
    return here.call("watch", served.desk.worker, "--server", served.address, *arguments, STATEWARD_TOKEN=secret)


def test_a_worker_of_a_service_is_followed_to_the_end_without_a_workspace_here(here: Place) -> None:
    desk = Desk("review", PEOPLE, AGENT)
    evidence(desk.engine, desk.worker)
    desk.engine.operate(desk.worker, Verb.CANCEL, "enough", PERSON)
    with work_service(desk) as served:
        shown = watch(here, served, "--json")
        assert (1, "") == (shown.status, shown.err)
        seqs = [json.loads(line)["seq"] for line in shown.out.splitlines()]
        assert [each.seq for each in desk.log()] == seqs
        rest = watch(here, served, "--after", str(seqs[-2]))
        assert (1, "", {f"E{seqs[-1]:08}"}) == (rest.status, rest.err, {line.split()[0] for line in rest.out.splitlines()})
        assert Ended(1, "", "") == watch(here, served, "--after", str(seqs[-1]))


def test_what_cannot_be_watched_over_there_is_told(here: Place) -> None:
    with odd_server(says(b"<html>", kind="text/html")) as between:
        told = here.call("watch", "0198c0de-0000-7000-8000-00000000000c", "--server", between.address)
    assert ("", 1) == (told.out, told.err.count("error:"))
    assert told.status not in (0, 1)
    assert 2 == here.call("watch", "--server", "http://127.0.0.1:1").status
    assert 2 == here.call("watch", "one", "--server", "nothing").status
    assert 2 == here.call("watch", "one", "--server", "http://127.0.0.1:1", "--store", "here.db").status
