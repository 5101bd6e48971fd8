"""Changes by hand to what nothing of this program ever changes."""

import sqlite3
from contextlib import closing
from pathlib import Path


def put_on_sqlite(path: Path, digest: str, canonical: bytes | None) -> None:
    """Put bytes in the place of a stored definition, or take it away, with the rules out of the way and put back afterwards."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rules = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'definitions'").fetchall()
        for name, _ in rules:
            connection.execute(f'DROP TRIGGER "{name}"')
        if canonical is None:
            connection.execute("DELETE FROM definitions WHERE digest = ?", (digest,))
        else:
            connection.execute("UPDATE definitions SET canonical = ? WHERE digest = ?", (canonical, digest))
        for _, rule in rules:
            connection.execute(rule)
