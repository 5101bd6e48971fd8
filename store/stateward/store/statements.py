"""All statements by their names, and how they and the tables are written down for SQLite.

`python -m stateward.store.statements` writes `texts.json` anew; it is to be run whenever a table or a statement changes.
"""

import json
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, Final

from sqlalchemy import Table, bindparam, select, tuple_
from sqlalchemy.schema import CreateIndex, CreateTable

from stateward.store import flow_statements, session_statements
from stateward.store.compiling import SQLITE, prepared
from stateward.store.limits import TEXTS
from stateward.store.prepared import Prepared
from stateward.store.tables import METADATA


def _of(module: ModuleType) -> Iterator[tuple[str, Prepared]]:
    for name, value in vars(module).items():
        if isinstance(value, Prepared):
            yield f"{module.__name__.rpartition('.')[2]}.{name}", value


def _neighbours(table: Table) -> Iterator[tuple[str, Prepared]]:
    """Find the rows on both sides of where a key would be, in the order of the primary key."""
    columns = list(table.primary_key.columns)
    key, place = tuple_(*columns), tuple_(*(bindparam(f"key_{column.key}") for column in columns))
    yield f"next.{table.name}", prepared(select(table).where(key >= place).order_by(*columns).limit(1))
    yield f"previous.{table.name}", prepared(select(table).where(key < place).order_by(*(column.desc() for column in columns)).limit(1))


STATEMENTS: Final[Mapping[str, Prepared]] = dict(
    (
        *_of(session_statements),
        *_of(flow_statements),
        *(each for table in METADATA.sorted_tables for each in _neighbours(table)),
    )
)


def written() -> dict[str, Any]:
    """Give what `texts.json` is to hold."""
    return {
        "columns": {table.name: [str(column.key) for column in table.columns] for table in METADATA.sorted_tables},
        "keys": {table.name: [str(column.key) for column in table.primary_key.columns] for table in METADATA.sorted_tables},
        "made": [list(each) for table in METADATA.sorted_tables for each in _made(table)],
        "statements": {name: statement.sqlite._asdict() for name, statement in sorted(STATEMENTS.items())},
    }


def _made(table: Table) -> Iterator[tuple[str, str, str, str]]:
    yield table.name, "table", table.name, str(CreateTable(table).compile(dialect=SQLITE))
    for index in sorted(table.indexes, key=lambda each: str(each.name)):
        yield table.name, "index", str(index.name), str(CreateIndex(index).compile(dialect=SQLITE))


def main() -> None:
    """Write the file."""
    TEXTS.write_text(json.dumps(written(), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
