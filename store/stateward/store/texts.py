"""What a store on SQLite is made of and asked in, as SQL that was written down: its tables, its indexes and every statement.

Invariants: nothing here is a second truth. `texts.json` is what `statements.py` and `tables.py` come to, a test holds it against them, and
`python -m stateward.store.statements` writes it anew. So a store is opened, read and appended to without the library that the tables are
described in, by the very text that the library would have made of them.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from stateward.store.limits import TEXTS
from stateward.store.prepared import Prepared, Text

_WRITTEN: Final[Mapping[str, Any]] = json.loads(TEXTS.read_bytes())
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {table: tuple(columns) for table, columns in _WRITTEN["columns"].items()}
"""The columns of each table, in order; the tables in an order in which one may be made after the other."""
KEYS: Final[Mapping[str, tuple[str, ...]]] = {table: tuple(columns) for table, columns in _WRITTEN["keys"].items()}
"""Of each table the columns of its primary key."""
MADE: Final[tuple[tuple[str, str, str, str], ...]] = tuple((table, kind, name, sql) for table, kind, name, sql in _WRITTEN["made"])
"""What a store is made of, in order: the table that it belongs to, `table` or `index`, its name, the statement that makes it."""


def statement(name: str) -> Prepared:
    """Give a statement by the module that says it and its name there, such as `session_statements.HEAD`."""
    return Prepared(text_of(_WRITTEN["statements"][name]), lambda: _on_postgres(name))


def text_of(written: Mapping[str, Any]) -> Text:
    """Read how a statement is written down."""
    return Text(
        sql=written["sql"],
        table=written["table"],
        places=tuple(written["places"]),
        constants=written["constants"],
        moments=tuple(written["moments"]),
        columns=tuple(written["columns"]),
        moments_given=tuple(written["moments_given"]),
    )


def _on_postgres(name: str) -> Text:
    from stateward.store.statements import STATEMENTS  # noqa: PLC0415 -- loads SQLAlchemy, which a store in a file does without

    return STATEMENTS[name].for_postgres()
