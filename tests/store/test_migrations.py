"""A store of an older version, on either database: it is brought up when it is opened for writing, whole, after a copy of it was made."""

import hashlib
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from stateward.runtime.core.events import Verdict
from stateward.runtime.core.instance import AttemptStatus
from stateward.runtime.engine.flows import WorkspaceSnapshots
from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import StoreOlder, Verifier
from stateward.runtime.profile import DEMONSTRATION
from stateward.runtime.session.verification import Anchor, verify
from stateward.runtime.wiring import SystemClock, TimeOrderedIds
from stateward.store.care import check, look, migrate
from stateward.store.database import Store, open_store
from stateward.store.keys import KeyFolder
from stateward.store.migrations import frozen, steps
from stateward.store.postgres import PostgresConnection
from stateward.store.postgres_schema import create_rules, create_version
from stateward.store.schema import APPLICATION_ID, OLDEST_VERSION, SCHEMA_VERSION
from stateward.store.seal import HmacSealer
from stateward.store.triggers import TRIGGERS
from stateward.store.witness import FileWitness
from tests.cases.stored import StoredPlace, place_on
from tests.postgres import Server
from tests.runtime.engines import AGENT, Judge, saying
from tests.store.releases import VERSIONS, Release, forget_schemas, schema_of, version

OLDER = pytest.mark.parametrize("release", [Release(each) for each in VERSIONS], ids=[f"version {each}" for each in VERSIONS])
LAST = Release(VERSIONS[-1])


@pytest.fixture
def place(place: Path | str, request: pytest.FixtureRequest) -> Iterator[Path | str]:
    """Where a store may be put, with nothing of an earlier test in it."""
    yield place
    if isinstance(place, str):
        forget_schemas(request.getfixturevalue("postgres"), place)


@pytest.fixture(params=["sqlite", "postgresql"])
def here(request: pytest.FixtureRequest, tmp_path: Path) -> StoredPlace:
    server: Server | None = None if request.param == "sqlite" else request.getfixturevalue("postgres")
    return place_on(server, tmp_path / "place")


# --- what is kept of releases -------------------------------------------------------------------------------------------------------


@OLDER
def test_the_kept_store_of_a_release_is_what_the_release_wrote(release: Release) -> None:
    listed = dict(reversed(line.split("  ")) for line in (release.folder / "SHA256SUMS").read_text().splitlines())
    found = {str(each.relative_to(release.folder)): each for each in release.folder.rglob("*") if each.is_file()}
    assert listed == {name: hashlib.sha256(each.read_bytes()).hexdigest() for name, each in found.items() if name != "SHA256SUMS"}


def test_there_is_a_store_and_the_rules_of_every_version_before_this_one() -> None:
    before = list(range(OLDEST_VERSION, SCHEMA_VERSION))
    assert before == list(VERSIONS)
    assert before == sorted(int(each.stem.removeprefix("version_")) for each in frozen.FOLDER.glob("*.json"))
    assert [str(each) for each in range(1, SCHEMA_VERSION + 1)] == [each.revision for each in steps.scripts(0, SCHEMA_VERSION)]


# --- what is made of them -----------------------------------------------------------------------------------------------------------


@OLDER
def test_opening_for_writing_brings_it_up_with_every_row_as_it_was(place: Path | str, release: Release) -> None:
    before = release.rows(release.put(place))
    assert all(before.values()), "every table of that version holds something"
    with open_store(place, write=True) as store:
        assert store.migrated is not None
        assert (release.version, SCHEMA_VERSION) == (store.migrated.start, store.migrated.end)
    assert SCHEMA_VERSION == version(place)
    assert before == release.rows(place)
    assert () == check(place).findings
    with open_store(place, write=True) as store:
        assert store.migrated is None


@OLDER
def test_what_is_migrated_is_what_is_made_new(place: Path | str, release: Release, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    new: Path | str = request.getfixturevalue("postgres").database() if isinstance(place, str) else tmp_path / "new" / "store.db"
    open_store(new, write=True, create=True).close()
    release.put(place)
    migrate(place)
    assert schema_of(new) == schema_of(place)


def test_what_the_steps_make_of_nothing_is_what_is_made_directly(place: Path | str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    new: Path | str = request.getfixturevalue("postgres").database() if isinstance(place, str) else tmp_path / "new" / "store.db"
    open_store(new, write=True, create=True).close()
    (by_steps_on_postgresql if isinstance(place, str) else by_steps_in_file)(place)
    assert schema_of(new) == schema_of(place)
    open_store(place, write=True).close()


@OLDER
def test_what_the_steps_up_to_a_release_make_of_nothing_is_what_the_release_made(
    place: Path | str, release: Release, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    kept: Path | str = request.getfixturevalue("postgres").database() if isinstance(place, str) else tmp_path / "kept" / "store.db"
    release.put(kept)
    (by_steps_on_postgresql if isinstance(place, str) else by_steps_in_file)(place, release.version)
    assert schema_of(kept) == schema_of(place)


def by_steps_in_file(path: Path, end: int = SCHEMA_VERSION) -> None:
    path.parent.mkdir()
    rules = TRIGGERS if end == SCHEMA_VERSION else frozen.sqlite_rules(end)
    with closing(sqlite3.connect(path, isolation_level=None)) as driver, steps.taken_over(driver, "sqlite://") as connection:
        for statement in ("PRAGMA journal_mode = WAL", "BEGIN IMMEDIATE", f"PRAGMA application_id = {APPLICATION_ID}"):
            driver.execute(statement)
        steps.run(connection, steps.BASE, end)
        for statement in (*rules.values(), f"PRAGMA user_version = {end}", "COMMIT"):
            driver.execute(statement)


def by_steps_on_postgresql(url: str, end: int = SCHEMA_VERSION) -> None:
    with psycopg.connect(url, autocommit=True) as driver, steps.taken_over(driver, "postgresql+psycopg://") as connection:
        for statement in (b"CREATE SCHEMA stateward", b"SET search_path = stateward"):
            driver.execute(statement)
        steps.run(connection, steps.BASE, end)
        plain = PostgresConnection(driver, "a test")
        if end == SCHEMA_VERSION:
            create_rules(plain)
        else:
            for rule in frozen.postgres_rules(end):
                for made in rule.statements("stateward"):
                    plain.execute(made)
        create_version(plain, end)


@OLDER
def test_a_worker_in_the_middle_of_its_flow_goes_on_to_its_end(here: StoredPlace, release: Release) -> None:
    release.put_place(here)
    sealer = HmacSealer(KeyFolder(here.keys, SystemClock().now))
    with open_store(here.url or here.store, write=True, sealer=sealer, witness=FileWitness(here.witness, _complain)) as store:
        workspace = (here.work / ".stateward" / "workspace").read_text().strip()
        snapshots = WorkspaceSnapshots(workspace, store.flows)
        engine = Engine(store.sessions, snapshots, SystemClock(), TimeOrderedIds(), DEMONSTRATION, leases=store.leases)
        views = [engine.view(row.worker) for row in store.sessions.workers(workspace, 10)]
        (middle,) = [view for view in views if view.flow is not None and view.flow.name == "paper"]
        assert middle.flow is not None
        assert ("write", 3, 1) == (middle.flow.state, middle.flow.visit, middle.flow.pin.flow_revision)
        current = store.flows.current(workspace, "paper")
        assert current is not None
        assert 3 == current.revision
        assert "Version 1." in middle.flow.instructions
        judge: Verifier = Judge(saying({"submit": Verdict.MET, "accept": Verdict.MET}))
        for state in ("read", "done"):
            moved = engine.request_transition(middle.worker, f"on to {state}", AGENT, judge)
            assert (AttemptStatus.ENTERED, state) == (moved.answer.outcome, moved.answer.state)
        _verify(store, sealer, here, workspace, workers=len(views))


def _verify(store: Store, sealer: HmacSealer, here: StoredPlace, workspace: str, workers: int) -> None:
    witness = FileWitness(here.witness, _complain)
    verified = []
    for row in store.sessions.workers(workspace, 10):
        ends, head = store.stored.ends(row.worker), witness.last(row.worker)
        assert ends is not None
        assert head is not None
        entries = store.stored.stored(row.worker, ends.last)
        verified.append(verify(row.worker, ends, entries, sealer.check, anchors=[Anchor(head, "witness")]))
    assert workers == len(verified)
    assert all(each.is_well and each.entries == each.sealed for each in verified)


def _complain(text: str) -> None:
    raise AssertionError(text)


def test_the_program_says_what_to_do_and_goes_on_with_what_the_release_wrote(here: StoredPlace) -> None:
    LAST.put_place(here)
    place = here.url or here.store
    worker = max(row[0] for row in LAST.rows(place)["workers"])
    for arguments in (("status", worker), ("operate", "withdraw", worker, "--reason", "too soon"), ("log", "verify", worker)):
        refused = here.call(*arguments)
        assert (3, "") == (refused.status, refused.out)
        assert f"was written by an older stateward: its store version is {LAST.version}" in refused.err
        assert "= help: `stateward store migrate` brings it up" in refused.err
    assert LAST.version == version(place)
    backup = f"the schema `stateward_v{LAST.version}_backup` of that database" if here.url else f"{here.store}.v{LAST.version}-backup"
    assert f"from store version {LAST.version} to {SCHEMA_VERSION}; what it was is in {backup}\n" in here.done("store", "migrate")
    assert "Do the task that was submitted with this flow." in here.done("status", worker)
    assert "intact" in here.done("log", "verify", worker)


def test_a_command_that_begins_something_brings_the_store_up_and_says_where_the_copy_lies(here: StoredPlace) -> None:
    LAST.put_place(here)
    started = here.call("start", "workspace:paper")
    assert 0 == started.status
    assert f"from store version {LAST.version} to {SCHEMA_VERSION}; it was copied first" in started.err
    assert (f"stateward_v{LAST.version}_backup" if here.url else f"{here.store}.v{LAST.version}-backup") in started.err
    assert "Version 3." in started.out


# --- before it is migrated ----------------------------------------------------------------------------------------------------------


@OLDER
def test_a_reader_refuses_it_by_name_and_leaves_it_as_it_is(place: Path | str, release: Release) -> None:
    before = release.rows(release.put(place))
    held = place.read_bytes() if isinstance(place, Path) else b""
    with pytest.raises(StoreOlder, match=f"written by an older stateward: its store version is {release.version}") as refused:
        open_store(place, write=False)
    assert "`stateward store migrate` brings it up" == refused.value.remedy
    assert (release.version, before) == (version(place), release.rows(place))
    if isinstance(place, Path):
        assert held == place.read_bytes()
        assert ["store.db"] == [each.name for each in place.parent.iterdir()]


@OLDER
def test_looking_says_what_a_migration_would_do_and_does_none_of_it(place: Path | str, release: Release) -> None:
    release.put(place)
    state = look(place)
    assert (release.version, SCHEMA_VERSION, SCHEMA_VERSION - release.version) == (state.version, state.known, len(state.steps))
    assert release.version == version(place)
    done = migrate(place)
    assert done is not None
    assert state.backup == done.backup
    assert ((), "") == (look(place).steps, look(place).backup)


@OLDER
def test_checking_takes_it_as_sound(place: Path | str, release: Release) -> None:
    release.put(place)
    assert (release.version, ()) == (check(place).version, check(place).findings)


# --- what alembic is needed for -----------------------------------------------------------------------------------------------------


def test_nothing_of_alembic_is_loaded_where_no_store_is_migrated(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from stateward.store.database import open_store\n"
        "from stateward.store.care import check, look\n"
        f"open_store(Path({str(tmp_path / 'store.db')!r}), write=True, create=True).close()\n"
        f"look(Path({str(tmp_path / 'store.db')!r})); check(Path({str(tmp_path / 'store.db')!r}))\n"
        "assert not any(name.startswith('alembic') for name in sys.modules)\n"
    )
    _run(code)


def _run(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
