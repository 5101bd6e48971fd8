"""Workers of a service are kept from pages of the web, from each other's tokens, and from what lies in their folders of work."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from stateward.runtime.ports import Answered, InProgress
from stateward.runtime.session.entries import Kind
from stateward.runtime.surfaces.http.service import Bounds
from tests.cli.program import Place, place
from tests.contracts.work import PROGRAM
from tests.http.running import PLAIN, Running, request, running, token
from tests.http.test_guard import refused
from tests.http.test_work_access import OTHER, ROUTES
from tests.remote.work_services import Served, work_service
from tests.runtime.engines import AGENT, Desk

PATHS = [("GET", "/v1/workers"), ("POST", "/v1/workers"), ("GET", f"/v1/workers/{OTHER}/events")]
PATHS += [(method, f"/v1/workers/{OTHER}{path}") for method, path, _, _ in ROUTES]
BROKEN = "this is no profile\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    here = place(tmp_path_factory.mktemp("served"))
    with running(here, given=token(here, "ada", "--scope", "operate")) as started:
        yield started


@pytest.mark.parametrize(("method", "path"), PATHS, ids=[f"{method} {path}" for method, path in PATHS])
def test_pages_of_the_web_reach_no_worker(service: Running, method: str, path: str) -> None:
    bearer = f"Authorization: Bearer {service.token}"
    for host in ("evil.example", "[::2]"):
        assert (403, "host_not_allowed") == refused(service.raw(request(method, path, host, bearer)))
    for origin in ("https://evil.example", "null"):
        assert (403, "origin_not_allowed") == refused(service.raw(request(method, path, "localhost", bearer, f"Origin: {origin}")))
    assert (401, "token_missing") == refused(service.raw(request(method, path, "localhost")))
    split = "&" if "?" in path else "?"
    told = refused(service.raw(request(method, f"{path}{split}token={service.token}", "localhost")))
    assert told in ((401, "token_missing"), (400, "request_malformed"))


@pytest.mark.parametrize("named", ["é", "%C3%A9", "%FF", "..", "%2e%2e", "0198C0DE-0000-7000-8000-FFFFFFFFFFFF", "%00", "x" * 300])
def test_what_is_no_id_of_a_worker_is_told_like_one_that_a_token_is_not_for(service: Running, named: str) -> None:
    work = f"/v1/workers/{named}/notes"
    with service.client() as client:
        answer = client.post(work, json={"text": "It is done."})
        assert answer.status_code in (403, 404), answer.text
        assert answer.json()["code"] in ("scope_missing", "route_not_found")
        shown = client.get(f"/v1/workers/{named}")
        assert 404 == shown.status_code, shown.text


def test_a_body_is_bounded_on_the_routes_of_workers() -> None:
    with work_service(Desk("review", PROGRAM, AGENT), Bounds(json_bytes=1000)) as served:
        for method, path, needed, body in ROUTES:
            if body is None:
                continue
            access = served.access(f"{needed[0]}:{served.desk.worker}")
            assert access.token is not None
            headers = {"Authorization": access.token.authorization, "Content-Type": "application/json"}
            content = json.dumps(body).encode() + b" " * 1000
            with httpx2.Client(base_url=served.address, trust_env=False, verify=PLAIN, timeout=None) as client:
                answer = client.request(method, f"/v1/workers/{served.desk.worker}{path}", headers=headers, content=content)
            assert (413, "request_too_large") == (answer.status_code, answer.json()["code"]), path


# --- two tokens of one name


@pytest.fixture
def served() -> Iterator[Served]:
    desk = Desk("review", PROGRAM, AGENT)
    with work_service(desk) as opened:
        yield opened


def test_a_token_stops_nothing_that_another_one_of_the_same_name_asked(served: Served) -> None:
    with closing(served.agent()) as one, closing(served.agent()) as other:
        served.judge.gate.clear()
        assert isinstance(one.ask("It is done.", 0.0), InProgress)
        assert isinstance(other.ask("It is done.", 0.0), InProgress)
        assert not other.cancel()
        assert isinstance(one.ask("It is done.", 0.0), InProgress)
        served.judge.gate.set()
        told = one.ask("It is done.", 20.0)
        assert isinstance(told, Answered)
        assert 1 == len(served.judge.asked)
    assert Kind.NOTE not in {each.entry.kind for each in served.desk.engine.log(served.desk.worker, 1)}


# --- profiles and folders of work


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def layer(here: Place, folder: Path) -> Path:
    """Give where the layer of the Workspace lies in a folder of configuration."""
    workspace = (here.work / ".stateward" / "workspace").read_text().strip()
    file = folder / "stateward" / "workspaces" / f"{workspace}.dcdl"
    file.parent.mkdir(parents=True, mode=0o700)
    return file


def test_the_layer_of_the_workspace_holds_wherever_the_folder_of_work_is_and_whatever_marker_lies_in_it(here: Place) -> None:
    allowed = here.folder / "allowed"
    (allowed / "one" / ".stateward").mkdir(parents=True)
    operator = token(here, "olga", "--scope", "operate")
    about = {"selector": "builtin:coder-review", "texts": ["Ticket 41"], "workdir": str(allowed / "one")}
    with running(here, "--allow-workdir", str(allowed), given=operator) as service, service.client() as client:
        started = client.post("/v1/workers", json=about)
        assert 201 == started.status_code, started.text
        worker = started.json()["worker"]
        (allowed / "one" / ".stateward" / "workspace").write_text(f"{OTHER}\n")
        layer(here, here.folder / ".config").write_text(BROKEN)
        refused = client.post("/v1/workers", json=about)
        assert (409, "profile_unusable") == (refused.status_code, refused.json()["code"])
        agent = token(here, "robot", "--scope", f"work:{worker}")
        with service.client(agent) as working:
            asked = working.post(f"/v1/workers/{worker}/requests", json={"reason": "It is done."})
            assert (409, "profile_unusable") == (asked.status_code, asked.json()["code"])
        assert 0 == service.end()


def test_no_layer_of_a_profile_is_read_that_lies_in_a_folder_of_work_which_a_client_names(here: Place) -> None:
    operator = token(here, "olga", "--scope", "operate")
    file = layer(here, here.folder / ".config")
    file.write_text("schema_version = 1;\n")
    file.chmod(0o600)
    about = {"selector": "builtin:coder-review", "texts": ["Ticket 41"]}
    with running(here, "--allow-workdir", str(here.folder), given=operator) as service, service.client() as client:
        for folder in (file.parent, file.parent.parent, here.folder / ".config"):
            answer = client.post("/v1/workers", json={**about, "workdir": str(folder)})
            assert (409, "profile_unusable") == (answer.status_code, answer.json()["code"]), answer.text
            assert str(here.folder) not in answer.text
        assert 0 == service.end()
