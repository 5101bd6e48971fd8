"""Snapshots, bundles, and whether the service can answer."""

import io
import json
import os
import sqlite3
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from stateward.resources.catalog import builtins
from stateward.runtime.ports import StoreUnavailable
from stateward.runtime.surfaces.http.logs import Aside, ServiceLog
from tests.contracts.flows import draft
from tests.http.desk import HERE, Desk, based_on, desk, fine, flow, problem

BUNDLE = {"Content-Type": "application/octet-stream"}
RESOLVE = ("resolve",)


@pytest.fixture
def filled(either: Desk) -> Desk:
    """Two flows, one of which was removed."""
    either.save(flow("One."))
    either.save(flow("Two."), 1, name="bob", note="better")
    either.save(flow(name="gone"), slug="gone")
    either.ask("DELETE", "/v1/flows/gone", headers=based_on(1))
    return either


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Desk]:
    with desk(tmp_path / "another.db") as opened:
        yield opened


def test_a_selector_resolves_to_the_definition_with_its_identity(filled: Desk) -> None:
    snapshot = fine(filled.get("/v1/snapshots?selector=workspace:paper", scopes=RESOLVE))
    current = fine(filled.get("/v1/flows/paper/current"))
    assert (HERE, "workspace:paper", 2) == (snapshot["workspace"], snapshot["selector"], snapshot["flow_revision"])
    assert [current[each] for each in ("flow_id", "content_digest", "definition_digest")] == [
        snapshot[each] for each in ("flow_id", "content_digest", "definition_digest")
    ]
    assert filled.flows.definition(current["definition_digest"]) == snapshot["definition"].encode()


def test_flows_that_come_with_the_program_resolve_too(service: Desk) -> None:
    for each in builtins():
        assert each.revision == fine(service.get(f"/v1/snapshots?selector=builtin:{each.slug}", scopes=RESOLVE))["flow_revision"]


@pytest.mark.parametrize(
    ("selector", "status", "code"),
    [
        ("workspace:letter", 404, "flow_not_found"),
        ("workspace:gone", 404, "flow_not_found"),
        ("builtin:none", 404, "flow_not_found"),
        ("paper", 400, "bad_selector"),
        ("", 400, "bad_selector"),
        ("workspace:pa%2Fper", 400, "bad_selector"),
    ],
)
def test_a_selector_that_names_nothing_says_what_would(filled: Desk, selector: str, status: int, code: str) -> None:
    assert problem(filled.get(f"/v1/snapshots?selector={selector}", scopes=RESOLVE), status, code)["help"]


def test_resolving_writes_nothing(tmp_path: Path) -> None:
    with desk(tmp_path / "store.db") as opened:
        opened.save(flow())
        opened.token(*RESOLVE)
        with sqlite3.connect(tmp_path / "store.db") as looking:
            before = [*looking.execute("PRAGMA data_version"), *looking.iterdump()]
            for selector in ("workspace:paper", "workspace:none", "builtin:coder-review"):
                opened.get(f"/v1/snapshots?selector={selector}", scopes=RESOLVE)
            assert before == [*looking.execute("PRAGMA data_version"), *looking.iterdump()]


def test_a_bundle_goes_into_another_workspace_with_every_revision(filled: Desk, another: Desk) -> None:
    given = filled.get("/v1/bundle")
    assert (200, "application/octet-stream") == (given.status_code, given.headers["content-type"])
    taken = fine(another.ask("POST", "/v1/bundle?note=from%20afar", content=given.content, headers=BUNDLE))
    gone = {"slug": "gone", "first": 1, "last": 1, "removed": True, "was_removed": False}
    paper = {"slug": "paper", "first": 1, "last": 2, "removed": False, "was_removed": False}
    assert (HERE, [gone, paper]) == (taken["origin"], taken["flows"])
    for slug in ("paper", "gone"):
        path = f"/v1/flows/{slug}/revisions"
        assert fine(filled.get(path)) == fine(another.get(path))
    again = fine(another.ask("POST", "/v1/bundle", content=given.content, headers=BUNDLE))
    assert [(2, 1), (3, 2)] == [(each["first"], each["last"]) for each in again["flows"]]


def test_a_bundle_of_chosen_flows_holds_no_others(filled: Desk, another: Desk) -> None:
    given = filled.get("/v1/bundle?slug=paper")
    assert ["paper"] == [each["slug"] for each in fine(another.ask("POST", "/v1/bundle", content=given.content, headers=BUNDLE))["flows"]]
    problem(filled.get("/v1/bundle?slug=paper&slug=letter"), 404, "flow_not_found")


def test_a_dry_run_takes_nothing_in(filled: Desk, another: Desk) -> None:
    given = filled.get("/v1/bundle")
    assert 2 == len(fine(another.ask("POST", "/v1/bundle?dry_run=true", content=given.content, headers=BUNDLE))["flows"])
    assert [] == fine(another.get("/v1/flows?removed=true"))["flows"]


def test_histories_that_part_are_told_with_both_sides(filled: Desk, another: Desk) -> None:
    another.save(flow("One."), name="eve")
    parted = problem(another.ask("POST", "/v1/bundle", content=filled.get("/v1/bundle").content, headers=BUNDLE), 409, "histories_part")
    (found,) = parted["flows"]
    assert ("paper", 1, "eve", "ada") == (found["slug"], found["revision"], found["here"]["author"], found["there"]["author"])
    assert "nothing was taken in: histories part, of `paper` at revision 1" == parted["detail"]
    problem(another.get("/v1/flows/gone"), 404, "flow_not_found")


def test_a_bundle_with_a_changed_byte_or_another_digest_is_refused(filled: Desk, another: Desk) -> None:
    given = filled.get("/v1/bundle").content
    for changed in (given.replace(b"Two.", b"Tw0."), given[:-2], b"", b"\xff\x00"):
        answer = another.ask("POST", "/v1/bundle", content=changed, headers=BUNDLE)
        assert 422 == answer.status_code, answer.text
        assert "application/problem+json" == answer.headers["content-type"]
    unexpected = another.ask("POST", f"/v1/bundle?expected=sha256:{64 * '0'}", content=given, headers=BUNDLE)
    problem(unexpected, 422, "bundle_unexpected")
    assert [] == fine(another.get("/v1/flows?removed=true"))["flows"]


def test_the_service_lives_and_is_ready_without_a_token(either: Desk) -> None:
    assert [{"status": "live"}, {"status": "ready"}] == [fine(either.client.get(path)) for path in ("/healthz", "/readyz")]


def test_the_service_is_not_ready_while_it_stops_and_still_lives(service: Desk) -> None:
    service.service.stopping.set()
    assert "the service takes on no more requests" == problem(service.client.get("/readyz"), 503, "stopping")["detail"]
    fine(service.client.get("/healthz"))


def test_the_service_is_not_ready_when_the_store_cannot_be_read_and_again_when_it_can() -> None:
    faults = [StoreUnavailable("/srv/store.db was removed while it was open", "see what lies there")]

    def ready() -> None:
        if faults:
            raise faults.pop()

    with desk(ready=ready) as opened:
        answer = opened.client.get("/readyz")
        problem(answer, 503, "store_unavailable")
        assert "/srv" not in answer.text
        assert "see what lies there" in {each.get("remedy") for each in opened.log}
        fine(opened.client.get("/readyz"))


def test_a_store_that_is_taken_away_is_told_and_found_again(tmp_path: Path) -> None:
    with desk(tmp_path / "store.db") as opened:
        opened.save(flow())
        (tmp_path / "store.db").rename(tmp_path / "elsewhere.db")
        problem(opened.client.get("/readyz"), 503, "store_unavailable")
        problem(opened.get("/v1/flows"), 503, "store_unavailable")
        assert not (tmp_path / "store.db").exists()
        (tmp_path / "elsewhere.db").rename(tmp_path / "store.db")
        fine(opened.client.get("/readyz"))
        assert 1 == fine(opened.get("/v1/flows/paper"))["last"]["revision"]


def test_the_service_keeps_flows_on_postgresql(postgres_url: str) -> None:
    with desk(postgres_url) as opened:
        assert 1 == fine(opened.save(flow("One.")), 201)["revision"]["revision"]
        assert 2 == fine(opened.save(flow("Two."), 1, name="bob"))["revision"]["revision"]
        assert "bob" == problem(opened.save(flow("Three."), 1), 412, "base_stale")["current"]["author"]
        for path in (
            f"/v1/flows?after={'%7f' * 9}&limit=500",
            f"/v1/flows/paper/revisions?before={2**53 - 1}",
            f"/v1/flows/paper/acts?before={-(2**53) + 1}",
            "/v1/bundle",
        ):
            assert 200 == opened.get(path).status_code
        problem(opened.get(f"/v1/flows/paper/revisions/{2**53 - 1}"), 404, "revision_not_found")
        problem(opened.get(f"/v1/flows/paper/difference?old=1&new={2**53 - 1}"), 404, "revision_not_found")
        assert 2**53 - 1 == problem(opened.save(flow("Four."), 2**53 - 1), 412, "base_stale")["named"]
        fine(opened.ask("DELETE", "/v1/flows/paper", headers=based_on(2)))
        fine(opened.ask("POST", "/v1/flows/paper/restore", headers=based_on(2), json={"revision": 1}))
        assert 3 == fine(opened.get("/v1/snapshots?selector=workspace:paper", scopes=RESOLVE))["flow_revision"]
        fine(opened.client.get("/readyz"))


def test_the_document_is_given_without_a_token_and_leads_nowhere_else(service: Desk) -> None:
    document = fine(service.client.get("/v1/openapi.json"))
    assert "3.1.0" == document["openapi"]
    assert "http" not in str(document).replace("HTTPBearer", "").replace("'type': 'http'", "")


def test_each_operation_declares_the_problems_that_may_come(service: Desk) -> None:
    paths = fine(service.client.get("/v1/openapi.json"))["paths"]
    for path, operations in paths.items():
        for method, operation in operations.items():
            declared = set(operation["responses"])
            assert {"400", "401", "403", "408", "413", "431", "503"} < declared, (method, path)
            if path.startswith("/v1/flows") and (method in ("put", "delete") or path.endswith("/restore")):
                assert {"412", "422", "428"} < declared, (method, path)
            assert "application/problem+json" in operation["responses"]["400"]["content"]
            assert [{"token": []}] == operation["security"]


def test_a_log_for_a_terminal_obeys_nothing_that_came_from_outside() -> None:
    written = io.StringIO()
    log = ServiceLog(written, mask=lambda text: text, as_text=True)
    log.request(method="GET", path="/v1/\x1b[31mred\nbad", status=404, ms=1.5, who=None)
    log.fault(StoreUnavailable("it is held", "wait"), "abc")
    first, second = written.getvalue().splitlines()
    assert first.endswith("404  ms=1.5")
    assert "\x1b" not in first
    assert "  error: fault  " in second


def test_a_log_that_nobody_reads_ends_no_request() -> None:
    closed = io.StringIO()
    closed.close()
    ServiceLog(closed, mask=str, as_text=False).request(method="GET", path="/", status=200)


def test_a_source_of_another_compiler_that_is_no_text_is_given_in_base64(another: Desk) -> None:
    content = b"\xff\xfe of another time"
    made = replace(draft("paper", content), compiler="stateward 0.0.1")
    another.flows.save(HERE, made, None)
    shown = fine(another.get("/v1/flows/paper/revisions/1"))
    assert ("base64", content) == (shown["encoding"], b64decode(shown["source"]))
    assert "base64" == problem(another.save(flow()), 412, "base_stale")["current"]["encoding"]


def test_a_log_that_is_read_too_slowly_holds_nobody_up_and_says_what_was_lost() -> None:
    read, written = Event(), io.StringIO()

    class Slow:
        """A stream that takes nothing until somebody reads."""

        def write(self, text: str) -> None:
            read.wait()
            written.write(text)

        def flush(self) -> None:
            """Nothing waits here."""

    aside = Aside(Slow(), lines_max=2)  # type: ignore[arg-type]
    log = ServiceLog(aside, mask=str, as_text=False)
    for _ in range(10):
        log.told("something")
    read.set()
    while aside.waiting:
        os.sched_yield()
    log.told("last")
    aside.close()
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert "last" == lines[-1]["event"]
    assert 11 == sum(each.get("lines", 1) for each in lines)
    assert "lines lost" in {each["event"] for each in lines}
