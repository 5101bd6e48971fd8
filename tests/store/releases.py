"""The kept stores of released versions (`released/`), put where a test may change them, and what is in a store on either database."""

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.cases.stored import StoredPlace
from tests.postgres import Server

RELEASED: Final = Path(__file__).parent / "released"
VERSIONS: Final = tuple(sorted(int(each.name) for each in RELEASED.iterdir() if each.name.isdigit()))
TABLES: Final[Mapping[int, Sequence[str]]] = {
    1: (
        "definitions", "entries", "flow_source_revisions", "flow_sources", "heads", "leases", "payloads", "tombstones", "transcripts",
        "workers", "workspaces",
    ),
    2: (
        "definitions", "entries", "flow_acts", "flow_source_revisions", "flow_sources", "heads", "leases", "payloads", "tokens",
        "tombstones", "transcripts", "workers", "workspaces",
    ),
}  # fmt: skip
"""What the tables of each version were called."""


@dataclass(frozen=True)
class Release:
    """The store that a released version wrote."""

    version: int

    @property
    def folder(self) -> Path:
        return RELEASED / str(self.version)

    def put_file(self, path: Path) -> Path:
        """Put the store there as a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.folder / "store.db", path)
        path.chmod(0o600)
        return path

    def put_schema(self, url: str) -> str:
        """Make the store in an empty database."""
        with psycopg.connect(url) as connection:
            connection.execute((self.folder / "store.sql").read_bytes())
        return url

    def put(self, place: Path | str) -> Path | str:
        """Put the store where a place says."""
        return self.put_schema(place) if isinstance(place, str) else self.put_file(place)

    def put_place(self, here: StoredPlace) -> StoredPlace:
        """Put the store with its marker and its keys where the program looks for them."""
        self.put(here.url or here.store)
        (here.work / ".stateward").mkdir()
        shutil.copyfile(self.folder / f"workspace-{'postgresql' if here.url else 'sqlite'}", here.work / ".stateward" / "workspace")
        shutil.copytree(self.folder / "keys", here.keys, copy_function=shutil.copyfile)
        for each in (here.keys, *here.keys.rglob("*")):
            each.chmod(0o700 if each.is_dir() else 0o600)
        return here

    def rows(self, place: Path | str) -> Mapping[str, Sequence[tuple[Any, ...]]]:
        """Read everything that lies in the tables that this version had, as the database gives it."""
        return {table: _rows(place, f"SELECT * FROM {table}") for table in TABLES[self.version]}  # noqa: S608 -- names of this file


def version(place: Path | str) -> int:
    """Read the version that a store says it has."""
    ((found,),) = _rows(place, "SELECT version FROM store_version" if isinstance(place, str) else "PRAGMA user_version")
    assert isinstance(found, int)
    return found


def forget_schemas(server: Server, url: str) -> None:
    """Take everything out of a database, copies that migrations made included."""
    server.empty(url)
    with psycopg.connect(url, autocommit=True) as connection:
        for (name,) in connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'stateward%'").fetchall():
            connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


def schema_of(place: Path | str) -> Mapping[str, Sequence[tuple[Any, ...]]]:
    """Read everything that the schema of a store consists of, as the database tells it."""
    if not isinstance(place, str):
        return {
            "all": _rows(place, "SELECT type, name, tbl_name, sql FROM sqlite_master"),
            "header": [*_rows(place, "PRAGMA application_id"), *_rows(place, "PRAGMA user_version"), *_rows(place, "PRAGMA journal_mode")],
        }
    return {name: _rows(place, sql) for name, sql in _CATALOG.items()}


_CATALOG: Final = {
    "columns": "SELECT table_name, ordinal_position, column_name, data_type, collation_name, is_nullable, column_default"
    " FROM information_schema.columns WHERE table_schema = 'stateward'",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'stateward'::regnamespace",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'stateward'",
    "triggers": "SELECT t.tgname, pg_get_triggerdef(t.oid), t.tgenabled::text FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid"
    " WHERE c.relnamespace = 'stateward'::regnamespace AND NOT t.tgisinternal",
    "functions": "SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'stateward'::regnamespace",
    "version": "SELECT version FROM stateward.store_version",
}


def _rows(place: Path | str, sql: str) -> Sequence[tuple[Any, ...]]:
    if isinstance(place, str):
        with psycopg.connect(place, options="-c search_path=stateward") as client:
            return sorted(client.execute(sql.encode()).fetchall(), key=repr)
    with closing(sqlite3.connect(f"{place.as_uri()}?mode=rw", uri=True)) as connection:
        return sorted(connection.execute(sql).fetchall(), key=repr)
