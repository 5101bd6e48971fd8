"""A migration that cannot be done leaves the old store as it was, says what is in the way and where its copy lies, and hinders no other."""

import os
import resource
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, text

from stateward.runtime.ports import Damaged, Fault, OutcomeUnknown, StoreUnavailable
from stateward.store.care import check, migrate
from stateward.store.migrations import file_backups, on_postgres, on_sqlite, schema_backups, steps
from stateward.store.migrations.frozen import postgres_rules, sqlite_rules
from stateward.store.postgres import PostgresConnection
from stateward.store.schema import SCHEMA_VERSION
from tests.postgres import Server
from tests.store.children import barrier, child, connect_with, exit_statuses, pipe
from tests.store.failing import Failing, problem
from tests.store.releases import VERSIONS, Release, forget_schemas, version

LAST = Release(VERSIONS[-1])
PROCESSES = 8


@pytest.fixture
def place(place: Path | str, request: pytest.FixtureRequest) -> Iterator[Path | str]:
    """Where the store of the last release lies."""
    yield LAST.put(place)
    if isinstance(place, str):
        forget_schemas(request.getfixturevalue("postgres"), place)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return LAST.put_file(tmp_path / "folder" / "store.db")


@pytest.fixture
def stored(postgres: Server) -> str:
    return LAST.put_schema(postgres.database())


def backup_of(place: Path | str, number: str = "") -> str:
    return f"stateward_v{LAST.version}_backup{number}" if isinstance(place, str) else f"{place}.v{LAST.version}-backup{number}"


def copies(place: Path | str) -> list[str]:
    """Name the copies that were made, and everything else that a migration might leave behind."""
    if isinstance(place, Path):
        return sorted(
            str(each) for each in place.parent.iterdir() if each.name not in {place.name, f"{place.name}-wal", f"{place.name}-shm"}
        )
    with psycopg.connect(place) as connection:
        found = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'stateward_%' ORDER BY 1").fetchall()
    return [name for (name,) in found]


def by_hand(place: Path | str, *statements: str) -> None:
    if isinstance(place, str):
        with psycopg.connect(place, options="-c search_path=stateward") as client:
            for statement in statements:
                client.execute(statement.encode())
        return
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def refused(place: Path | str, says: str, kind: type[Fault] = StoreUnavailable) -> Fault:
    """Migrating is refused in one line, and everything is as it was."""
    before = LAST.rows(place)
    with pytest.raises(kind, match=says) as fault:
        migrate(place)
    assert kind is type(fault.value)
    assert "\n" not in fault.value.message
    assert fault.value.remedy
    assert (LAST.version, before) == (version(place), LAST.rows(place))
    return fault.value


# --- steps that fail ----------------------------------------------------------------------------------------------------------------

FAILURES = {
    "a statement that is none": "op.execute('CREATE TABLE spare (x INTEGER)'); op.execute('SELECT nonsense(')",
    "a row that a key refuses": 'op.execute("INSERT INTO definitions SELECT digest, canonical FROM definitions")',
    "a row that is lost": "op.execute('DELETE FROM transcripts WHERE number = 3')",
    "a table that is lost": "op.drop_table('leases')",
}


@pytest.fixture
def after_the_last_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let the last step do something more."""

    def do(body: str) -> None:
        folder = tmp_path / "migrations"
        shutil.copytree(steps.FOLDER / "versions", folder / "versions", ignore=shutil.ignore_patterns("__pycache__"))
        with (folder / "versions" / f"version_{SCHEMA_VERSION}.py").open("a", encoding="utf-8") as script:
            script.write(f"\n\n_whole = upgrade\n\n\ndef upgrade(op):\n    _whole(op)\n    {body}\n")
        monkeypatch.setattr(steps, "FOLDER", folder)

    return do


@pytest.mark.parametrize("body", FAILURES.values(), ids=FAILURES.keys())
def test_a_step_that_fails_leaves_the_store_as_it_was_and_names_the_copy(
    place: Path | str, body: str, after_the_last_step: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    after_the_last_step(body)
    kind = Damaged if "DELETE" in body or "drop_table" in body else StoreUnavailable
    fault = refused(place, f"was not migrated from store version {LAST.version} to {SCHEMA_VERSION} and is as it was, with a copy in", kind)
    assert backup_of(place) in fault.message
    refused(place, "was not migrated", kind)
    assert [backup_of(place)] == copies(place), "the copy of the first try serves the second one"
    monkeypatch.undo()
    done = migrate(place)
    assert done is not None
    assert (SCHEMA_VERSION, [backup_of(place)]) == (version(place), copies(place))


# --- what is altered, and what lies there -------------------------------------------------------------------------------------------


def test_a_store_whose_rules_were_altered_is_refused_and_not_given_new_ones(place: Path | str) -> None:
    by_hand(place, "DROP TRIGGER entries_no_update" + (" ON entries" if isinstance(place, str) else ""))
    fault = refused(place, "no longer guards what it holds: the rule `entries_no_update` is missing", Damaged)
    assert "restore the store from a backup, or read it with the stateward that wrote it" == fault.remedy
    assert [] == copies(place)
    assert ("the rule `entries_no_update` is missing",) == check(place).findings


TAMPERED = {
    "UPDATE flow_source_revisions SET note = note || '!' WHERE revision = 1": "flow_source_revisions",
    "UPDATE flow_source_revisions SET content = content_digest_of_nothing WHERE revision = 1": "flow_source_revisions",
    "DELETE FROM flow_source_revisions WHERE revision = 1": "flow_source_revisions",
    "UPDATE definitions SET canonical = other": "definitions",
    "UPDATE workspaces SET name = 'mine'": "workspaces",
    "UPDATE workers SET workspace = 'mine'": "workers",
    "UPDATE flow_sources SET revision = revision + 1": "flow_sources",
}


@pytest.mark.parametrize(("statement", "table"), TAMPERED.items(), ids=TAMPERED)
def test_rows_that_are_not_what_was_written_are_not_given_new_rules(place: Path | str, statement: str, table: str) -> None:
    """Also where the rules are put back afterwards as they were."""
    nothing = "''::bytea" if isinstance(place, str) else "x''"
    done = statement.replace("content_digest_of_nothing", nothing).replace("other", nothing)
    if isinstance(place, str):
        always = [rule.name for rule in postgres_rules(LAST.version) if rule.table == table]
        by_hand(
            place,
            f"ALTER TABLE {table} DISABLE TRIGGER ALL",
            done,
            f"ALTER TABLE {table} ENABLE TRIGGER ALL",
            *(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}" for name in always),
        )
    else:
        rules = sqlite_rules(LAST.version)
        by_hand(place, *(f"DROP TRIGGER {name}" for name in rules), done, *rules.values())
    fault = refused(place, f"was not migrated from store version {LAST.version}, since it is damaged: ", Damaged)
    assert "restore the store from a backup, or read it with the stateward that wrote it" == fault.remedy
    assert [] == copies(place)
    assert check(place).findings[0] in fault.message


def test_a_copy_that_was_made_before_is_never_put_over(place: Path | str) -> None:
    before = LAST.rows(place)
    migrate(place)
    if isinstance(place, str):
        by_hand(place, "ALTER SCHEMA stateward RENAME TO gone")
    LAST.put(place)
    by_hand(place, "UPDATE leases SET holder = 'somebody else'")
    done = migrate(place)
    assert done is not None
    assert backup_of(place, "_2" if isinstance(place, str) else "-2") in done.backup
    assert 2 == len(copies(place))
    assert before != LAST.rows(place)
    by_hand(place, "DROP SCHEMA IF EXISTS gone CASCADE") if isinstance(place, str) else None


def test_what_only_the_log_of_pages_holds_is_copied_and_migrated(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("UPDATE leases SET holder = 'somebody else'")
        assert path.with_name("store.db-wal").stat().st_size > 0
        before = LAST.rows(path)
        migrate(path)
    assert before == LAST.rows(path) == LAST.rows(Path(backup_of(path)))


def test_the_copy_of_a_file_is_for_this_user_only(path: Path) -> None:
    path.chmod(0o644)
    migrate(path)
    assert 0o600 == stat.S_IMODE(Path(backup_of(path)).stat().st_mode)


def test_the_copy_is_a_whole_store_of_its_version_to_which_one_can_go_back(place: Path | str) -> None:
    before = LAST.rows(place)
    migrate(place)
    if isinstance(place, str):
        by_hand(
            place,
            "ALTER SCHEMA stateward RENAME TO gone",
            f"ALTER SCHEMA {backup_of(place)} RENAME TO stateward",
            "DROP SCHEMA gone CASCADE",
        )
    else:
        Path(backup_of(place)).replace(place)
    assert (LAST.version, ()) == (check(place).version, check(place).findings)
    assert before == LAST.rows(place)
    done = migrate(place)
    assert done is not None
    assert LAST.version == done.start


# --- what the environment refuses ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("beside", ["", "-journal", "-wal", "-shm"])
def test_a_folder_where_the_copy_is_drafted_is_named_and_nothing_is_migrated(path: Path, beside: str) -> None:
    in_the_way = path.with_name(f"{path.name}.v{LAST.version}-backup.partial{beside}")
    in_the_way.mkdir()
    fault = refused(
        path, f"was not migrated from store version {LAST.version}, since no copy of it could be made: {in_the_way} is a folder"
    )
    assert "move that folder away" == fault.remedy
    assert [str(in_the_way)] == copies(path)


def test_a_store_of_which_there_are_too_many_copies_gets_no_further_one(place: Path | str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (file_backups, schema_backups):
        monkeypatch.setattr(module, "BACKUPS_MAX", 1)
    if isinstance(place, str):
        by_hand(place, f"CREATE SCHEMA {backup_of(place)}", f"CREATE TABLE {backup_of(place)}.theirs (x INTEGER)")
    else:
        Path(backup_of(place)).write_text("theirs")
    refused(place, f"has 1 copies of store version {LAST.version} already")
    assert [backup_of(place)] == copies(place)


def test_a_role_that_may_make_no_schema_is_told_what_it_needs(stored: str) -> None:
    role = "stateward_plain"
    by_hand(stored, f"DROP ROLE IF EXISTS {role}", f"CREATE ROLE {role} LOGIN", f"ALTER SCHEMA stateward OWNER TO {role}")
    with psycopg.connect(stored) as connection:
        owned = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'stateward'").fetchall()
        for (table,) in owned:
            connection.execute(f"ALTER TABLE stateward.{table} OWNER TO {role}".encode())
        functions = connection.execute("SELECT proname FROM pg_proc WHERE pronamespace = 'stateward'::regnamespace").fetchall()
        for (name,) in functions:
            connection.execute(f"ALTER FUNCTION stateward.{name}() OWNER TO {role}".encode())
    plain = stored.replace("stateward@", f"{role}@")
    before = LAST.rows(stored)
    with pytest.raises(
        StoreUnavailable, match=f"no copy of it could be made: this role may not create the schema `stateward_v{LAST.version}_backup`"
    ) as fault:
        migrate(plain)
    assert "grant the role CREATE on that database" == fault.value.remedy
    assert (LAST.version, before, []) == (version(stored), LAST.rows(stored), copies(stored))
    by_hand(stored, f"CREATE SCHEMA stateward_v{LAST.version}_backup AUTHORIZATION {role}")  # as one may do for it
    assert migrate(plain) is not None
    assert SCHEMA_VERSION == version(stored)
    by_hand(stored, f"DROP OWNED BY {role} CASCADE", f"DROP ROLE {role}")


def migrate_on_a_full_disk(path: Path, room: int) -> None:
    """Nothing may grow beyond `room` bytes."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        migrate(path)
    except StoreUnavailable:
        os._exit(17)
    os._exit(0)


@pytest.mark.parametrize("room", [0, 4_000, 100_000, 400_000, 426_000, 430_000, 480_000])
def test_on_a_disk_that_fills_up_it_is_migrated_whole_or_not_at_all(path: Path, room: int) -> None:
    before = LAST.rows(path)
    process = child(migrate_on_a_full_disk, path, room)
    process.join()
    assert process.exitcode in {0, 17}
    assert {0: SCHEMA_VERSION, 17: LAST.version}[process.exitcode] == version(path)
    assert before == LAST.rows(path)
    assert () == check(path).findings
    assert migrate(path) is None or process.exitcode == 17
    assert (SCHEMA_VERSION, [backup_of(path)]) == (version(path), copies(path))


@pytest.mark.parametrize("statement", ["DROP TRIGGER", "CREATE TRIGGER", "PRAGMA user_version =", "PRAGMA foreign_key_check", "COMMIT"])
def test_a_disk_that_is_full_at_a_statement_is_said_to_be_with_the_copy_named(
    path: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    def refuse(_: Failing, sql: str) -> None:
        if sql.startswith(statement):
            raise problem("SQLITE_FULL", "database or disk is full")

    with (
        failing(monkeypatch, refuse),
        pytest.raises(StoreUnavailable, match=r"is as it was, with a copy in .*: there is no space left") as full,
    ):
        on_sqlite.migrate(path)
    assert "free some space on that disk" == full.value.remedy
    assert (LAST.version, ()) == (version(path), check(path).findings)


def test_a_commit_whose_answer_is_lost_is_said_to_be_and_looked_at_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def commit_and_refuse(connection: Failing, sql: str) -> None:
        if sql == "COMMIT":
            connection.really("COMMIT")
            raise problem("SQLITE_IOERR_FSYNC", "disk I/O error")

    with failing(monkeypatch, commit_and_refuse), pytest.raises(OutcomeUnknown, match="a copy of what it was is in") as lost:
        on_sqlite.migrate(path)
    assert backup_of(path) in lost.value.message
    assert (None, SCHEMA_VERSION) == (migrate(path), version(path))


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, instead: Callable[[Failing, str], None]) -> Iterator[None]:
    """Let the statements of every connection fail as told."""
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect_with(Failing))
        patch.setattr(Failing, "instead", staticmethod(instead))
        yield


def test_a_server_that_ends_the_session_leaves_the_store_as_it_was(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(connection: Connection, _: int, __: int) -> None:
        with psycopg.connect(stored, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()")
        connection.execute(text("SELECT 1"))

    with monkeypatch.context() as patch:
        patch.setattr(on_postgres.steps, "run", after_the_copy(end))
        fault = refused(stored, f"was not migrated from store version {LAST.version} to {SCHEMA_VERSION} and is as it was")
    assert f"the schema `{backup_of(stored)}` of that database" in fault.message
    assert migrate(stored) is not None


def test_a_commit_that_the_server_did_not_answer_is_said_to_be_lost_and_looked_at_anew(
    stored: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = PostgresConnection.execute
    commits = iter(["of the copy", "of the migration"])

    def end_at_the_second(self: PostgresConnection, sql: str, *given: Any) -> Any:
        if sql == "COMMIT" and next(commits) == "of the migration":
            with psycopg.connect(stored, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", (self.driver.info.backend_pid,))
        return execute(self, sql, *given)

    with monkeypatch.context() as patch:
        patch.setattr(PostgresConnection, "execute", end_at_the_second)
        with pytest.raises(OutcomeUnknown, match=r"the answer to the commit of a migration of .* was lost") as lost:
            migrate(stored)
    assert backup_of(stored) in lost.value.message
    assert LAST.version == version(stored)
    assert migrate(stored) is not None
    assert [backup_of(stored)] == copies(stored)


def after_the_copy(action: Callable[[Connection, int, int], None]) -> Callable[[Connection, int, int], None]:
    """Run the steps that build a copy, and something else where the store is migrated."""
    run = steps.run

    def chosen(connection: Connection, start: int, end: int) -> None:
        (run if start == steps.BASE else action)(connection, start, end)

    return chosen


# --- others at the same time --------------------------------------------------------------------------------------------------------


def test_what_was_written_after_the_copy_is_in_the_next_one(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    back_up = on_postgres.back_up
    moments = iter([True])

    def then_somebody_writes(*given: Any) -> Any:
        copied = back_up(*given)
        if next(moments, False):
            by_hand(stored, "UPDATE leases SET holder = 'somebody else'")
        return copied

    monkeypatch.setattr(on_postgres, "back_up", then_somebody_writes)
    assert migrate(stored) is not None
    assert [backup_of(stored)] == copies(stored)
    with psycopg.connect(stored) as connection:
        leases = f"SELECT holder FROM stateward_v{LAST.version}_backup.leases"  # noqa: S608 -- a number
        assert [("somebody else",)] * 2 == connection.execute(leases.encode()).fetchall()


def test_whoever_writes_when_the_migration_begins_is_waited_for(stored: str) -> None:
    before = LAST.rows(stored)
    telling, told = pipe()
    with psycopg.connect(stored, options="-c search_path=stateward") as writer:
        writer.execute("SELECT version FROM store_version")
        writer.execute("UPDATE leases SET holder = holder")
        process = child(migrate_and_tell, stored, told)
        with psycopg.connect(stored, autocommit=True) as looking:
            while looking.execute(WAITING).fetchone() == (0,):
                os.sched_yield()
        assert (LAST.version, False) == (version_as_seen_by(writer), telling.poll(0))
        writer.commit()
    assert telling.recv() == LAST.version
    assert [0] == exit_statuses([process])
    assert (SCHEMA_VERSION, before) == (version(stored), LAST.rows(stored))


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


def version_as_seen_by(connection: psycopg.Connection[Any]) -> Any:
    ((found,),) = connection.execute("SELECT version FROM store_version").fetchall()
    return found


def migrate_and_tell(place: Path | str, told: Any, start: Any = None) -> None:
    if start is not None:
        start.wait()
    done = migrate(place)
    told.send(None if done is None else done.start)


def test_of_many_that_begin_at_once_one_migrates_and_the_others_wait_for_it(place: Path | str) -> None:
    before = LAST.rows(place)
    telling, told = pipe()
    start = barrier(PROCESSES)
    processes = [child(migrate_and_tell, place, told, start) for _ in range(PROCESSES)]
    assert [0] * PROCESSES == exit_statuses(processes)
    assert [LAST.version, *[None] * (PROCESSES - 1)] == sorted((telling.recv() for _ in range(PROCESSES)), key=lambda each: each is None)
    assert (SCHEMA_VERSION, before, [backup_of(place)]) == (version(place), LAST.rows(place), copies(place))


def test_a_program_that_has_it_open_to_read_goes_on_reading(path: Path) -> None:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        before = reader.execute("SELECT count(*) FROM entries").fetchone()
        migrate(path)
        assert before == reader.execute("SELECT count(*) FROM entries").fetchone()
        reader.execute("COMMIT")
        assert before == reader.execute("SELECT count(*) FROM entries").fetchone()
