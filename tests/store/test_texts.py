"""What is written down of tables and statements for SQLite is what the library makes of them, and opening a store loads no library."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Table

from stateward.store.limits import TEXTS
from stateward.store.prepared import NotWritten, moment_of
from stateward.store.statements import STATEMENTS, written
from stateward.store.tables import METADATA
from stateward.store.texts import COLUMNS, KEYS, MADE, statement

WRITE_ANEW = "`python -m stateward.store.statements` writes them anew"


def test_the_texts_are_what_the_tables_and_statements_come_to() -> None:
    assert json.dumps(written(), indent=1) + "\n" == TEXTS.read_text("utf-8"), WRITE_ANEW


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_that_is_written_down_is_the_one_that_is_compiled(name: str) -> None:
    assert STATEMENTS[name].sqlite == statement(name).sqlite, WRITE_ANEW


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_reads_on_postgresql_as_it_is_compiled(name: str) -> None:
    assert STATEMENTS[name].for_postgres() == statement(name).for_postgres()


@pytest.mark.parametrize("table", METADATA.sorted_tables, ids=lambda table: str(table.name))
def test_the_columns_and_the_key_of_a_table_are_written_down_in_order(table: Table) -> None:
    assert (tuple(table.columns.keys()), tuple(table.primary_key.columns.keys())) == (COLUMNS[table.name], KEYS[table.name])


def test_every_table_is_made_before_its_indexes_and_after_those_that_it_refers_to() -> None:
    made = [name for _, kind, name, _ in MADE if kind == "table"]
    assert [table.name for table in METADATA.sorted_tables] == made
    for table, kind, name, _ in MADE:
        assert table in made
        assert kind == "index" or name == table


def test_a_time_that_no_column_holds_is_told() -> None:
    with pytest.raises(NotWritten, match="its `created`"):
        statement("flow_statements.WORKSPACE").read(("id", "name", "yesterday", "digest"))
    with pytest.raises(ValueError, match="no time in UTC"):
        moment_of("2026-01-01T00:00:00+01:00")


def test_nothing_that_runs_a_statement_says_one_of_its_own() -> None:
    """What is written in Core elsewhere would be compiled, with the library, whenever its module is loaded."""
    allowed = {"compiling", "flow_statements", "read_through", "session_statements", "statements", "tables"}
    folder = Path(str(TEXTS)).parent
    for path in folder.glob("*.py"):
        if path.stem not in allowed and not path.stem.startswith("postgres"):
            assert not any(
                line.startswith(("from sqlalchemy", "import sqlalchemy", "from sqlmodel")) for line in path.read_text().splitlines()
            )


def test_a_store_in_a_file_is_begun_written_and_read_without_the_library(tmp_path: Path) -> None:
    code = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from stateward.runtime.session.entries import Actor, ActorClass, Kind, NewEntry
from stateward.store.database import open_store
entry = NewEntry(Kind.NOTE, Actor(ActorClass.HOST, "hook"), datetime(2026, 1, 1, tzinfo=UTC), b"{}")
with open_store(Path(sys.argv[1]), write=True, create=True) as store:
    store.sessions.create("w", "s", (entry,), {})
with open_store(Path(sys.argv[1]), write=False) as store:
    assert [b"{}"] == [each.payload for each in store.sessions.entries("w")]
print(sorted({"sqlalchemy", "sqlmodel", "pydantic", "alembic", "cryptography"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "store.db")], check=True, capture_output=True, text=True)
    assert "[]\n" == done.stdout
