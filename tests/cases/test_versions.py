"""Pinning and migration, on both databases: what people met elsewhere (VER) does not happen here."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from stateward.resources.catalog import builtin
from stateward.runtime.marker import drafted
from stateward.runtime.ports import Committed, Damaged
from stateward.runtime.session.entries import NewEntry
from stateward.store.schema import SCHEMA_VERSION
from tests.cases.opened import opened
from tests.cases.stored import StoredPlace
from tests.cli.children import start
from tests.runtime.engines import AGENT, WORKSPACE, Desk, Judge, saying
from tests.store.children import exit_statuses
from tests.store.releases import VERSIONS, Release, version

FLOW = "workspace:coder-review"
LAST = Release(VERSIONS[-1])
PROCESSES = 8


def source() -> bytes:
    found = builtin("coder-review")
    assert found is not None
    return found.content


def test_a_run_goes_on_with_what_it_pinned_whatever_becomes_of_the_flow(here: StoredPlace) -> None:
    """S-VER-1: a changed definition is applied to runs that started under the old one."""
    file = here.work / "coder-review.dcdl"
    file.write_bytes(source())
    here.done("flow", "save", file.name)
    here.call(*here.scripted("--max-requests", "2", flow=FLOW))
    begun = here.status()["flow"]
    assert ("review", 1, 1) == (begun["state"], begun["flow_revision"], begun["current_revision"])
    save_with_another_name_for_the_state(here, file)
    now = here.status()["flow"]
    assert {**begun, "current_revision": 2} == now
    assert "revision 1  revision 2 is current" in here.done("status")
    file.unlink()
    here.done("flow", "remove", "coder-review", "--base", "2")
    assert {**begun, "current_revision": None} == here.status()["flow"]
    ended = here.call(*here.scripted("--resume", flow=FLOW))
    assert (0, "") == (ended.status, ended.err)
    after = here.status()["flow"]
    assert ("completed", "done", 6) == (after["status"], after["state"], after["visit"])
    assert [begun[name] for name in ("definition_digest", "content_digest")] == [
        after[name] for name in ("definition_digest", "content_digest")
    ]
    assert {"implement", "review", "fix", "complete", "done"} == after["visits"].keys()


def save_with_another_name_for_the_state(here: StoredPlace, file: Path) -> None:
    """Rename the state that the run is in, and what it tells to do."""
    renamed = (
        source().replace(b"review = {", b"judge = {").replace(b'"review"', b'"judge"').replace(b"Review the change", b"Judge the change")
    )
    assert renamed != source()
    file.write_bytes(renamed)
    here.done("flow", "save", file.name)


def test_nobody_starts_a_run_of_a_flow_that_was_removed_and_the_old_revision_can_be_restored(here: StoredPlace) -> None:
    """S-VER-1, the other way round: what is gone from the Workspace is not resolved, and nothing of it is lost."""
    file = here.work / "coder-review.dcdl"
    file.write_bytes(source())
    here.done("flow", "save", file.name)
    save_with_another_name_for_the_state(here, file)
    here.done("flow", "remove", "coder-review", "--base", "2")
    refused = here.call(*here.scripted(flow=FLOW))
    assert 0 != refused.status
    assert "flow `workspace:coder-review`" in refused.err
    here.done("flow", "restore", "coder-review", "1", "--base", "2")
    here.call(*here.scripted("--max-requests", "2", flow=FLOW))
    now = here.status()["flow"]
    assert ("review", 3) == (now["state"], now["flow_revision"])


# --- S-VER-2 ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lacks", ["the definition", "the state"])
def test_a_session_whose_definition_or_state_is_not_there_is_refused_by_name_and_nothing_is_written(here: StoredPlace, lacks: str) -> None:
    """S-VER-2: a saved run is loaded into a graph that lacks its state and fails deep inside, or loads as if fine."""
    begin_without_flows(here)
    made = Desk()
    digest = made.flow.pin.definition_digest
    known = {digest: made.sessions.definition(digest) or b""}
    state, definitions = ("a", {}) if lacks == "the definition" else ("elsewhere", known)
    brought = [
        NewEntry(each.kind, each.actor, each.time, each.payload.replace(b'"state":"a"', b'"state":"%b"' % state.encode()), each.key)
        for each in made.log()
    ]
    with opened(here) as desk:
        assert isinstance(desk.store.sessions.create(made.worker, WORKSPACE, brought, definitions), Committed)
        before = everything(here)
        with pytest.raises(Damaged) as looked:
            desk.engine.view(made.worker)
        with pytest.raises(Damaged) as asked:
            desk.engine.request_transition(made.worker, "go on", AGENT, Judge(saying({})))
    assert looked.value.message == asked.value.message
    for name in ("workspace:fork", digest, f"`{state}`"):
        assert name in looked.value.message
    shown = here.call("status", made.worker)
    assert (3, "") == (shown.status, shown.out)
    assert digest in shown.err
    assert before == everything(here)


def begin_without_flows(here: StoredPlace) -> None:
    """Begin a Workspace whose store holds no definition."""
    with drafted(here.work, WORKSPACE) as draft:
        draft.publish()
    here.keys.parent.mkdir(parents=True, exist_ok=True)
    with opened(here):
        pass


def everything(here: StoredPlace) -> Mapping[str, object]:
    return LAST.rows(here.url or here.store)


# --- S-VER-3 ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", [Release(each) for each in VERSIONS], ids=[f"version {each}" for each in VERSIONS])
def test_a_run_that_an_earlier_version_began_is_gone_on_with_to_its_end(here: StoredPlace, release: Release) -> None:
    """S-VER-3: a new program trips over an old record shape."""
    release.put_place(here)
    answers = here.folder / "answers.json"
    # The first three requests are in the log already, and answered.
    ways = ("submit", "submit", "submit", "submit", "accept")
    told = [{"reason": f"reason {number}", "verdicts": {way: "met"}} for number, way in enumerate(ways)]
    answers.write_text(json.dumps({"requests": told}), "utf-8")
    worker = min(row[0] for row in release.rows(here.url or here.store)["workers"])
    ended = here.call("run", "workspace:paper", "--resume", "--worker", worker, "--answers", str(answers))
    assert 0 == ended.status
    assert f"was brought from store version {release.version} to {SCHEMA_VERSION}" in ended.err
    here.done("log", "verify", worker)
    assert "completed" in here.done("status", worker)


@pytest.mark.parametrize(
    "arguments", [("status",), ("start", "builtin:single-step"), ("store", "info"), ("store", "migrate"), ("log", "verify")]
)
def test_a_newer_store_is_refused_as_newer_whatever_is_done_and_stays_as_it_is(here: StoredPlace, arguments: tuple[str, ...]) -> None:
    """S-VER-3: an old program opens a newer store and reports it as behind, or breaks it."""
    here.call(*here.scripted("--max-requests", "1"))
    set_version(here, SCHEMA_VERSION + 1)
    before = held(here)
    refused = here.call(*arguments)
    assert (3, "") == (refused.status, refused.out)
    assert (
        f"was written by a newer stateward: its store version is {SCHEMA_VERSION + 1}, this program knows {SCHEMA_VERSION}" in refused.err
    )
    assert (before, SCHEMA_VERSION + 1) == (held(here), version(here.url or here.store))


def held(here: StoredPlace) -> object:
    """Give what a store consists of: of a file its bytes."""
    return everything(here) if here.url else here.store.read_bytes()


def set_version(here: StoredPlace, number: int) -> None:
    if here.url:
        with psycopg.connect(here.url) as client:
            client.execute("UPDATE stateward.store_version SET version = %s", (number,))
        return
    with closing(sqlite3.connect(here.store)) as connection:
        connection.execute(f"PRAGMA user_version = {number}")


# --- S-VER-4 ------------------------------------------------------------------------------------------------------------------------


def test_programs_that_open_an_older_store_at_once_all_succeed_and_one_migrates_it(here: StoredPlace) -> None:
    """S-VER-4: two processes migrate at once, and one dies on what the other made."""
    LAST.put_place(here)
    before = LAST.rows(here.url or here.store)
    processes = [start(here, "store", "migrate") for _ in range(PROCESSES)]
    assert [0] * PROCESSES == exit_statuses(processes)
    assert (SCHEMA_VERSION, before) == (version(here.url or here.store), LAST.rows(here.url or here.store))
    if not here.url:
        assert [f"{here.store}.v{LAST.version}-backup"] == [str(each) for each in here.store.parent.glob("*backup*")]


def test_a_command_that_only_looks_migrates_nothing(here: StoredPlace) -> None:
    """S-VER-4: a status command migrates a live store."""
    LAST.put_place(here)
    before = held(here)
    for arguments in (("status",), ("ps",), ("log", "verify"), ("flow", "list")):
        refused = here.call(*arguments)
        assert (3, "") == (refused.status, refused.out)
        assert "`stateward store migrate` brings it up" in refused.err
    for arguments in (("store", "info"), ("store", "check"), ("store", "migrate", "--dry-run")):
        here.done(*arguments)
    assert (before, LAST.version) == (held(here), version(here.url or here.store))
    assert here.url or ["store.db"] == [each.name for each in here.store.parent.iterdir()]
