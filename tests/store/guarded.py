"""A store with flows and tokens that somebody changes by hand, wherever it lies: one place for statements, two databases."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from stateward.store.database import open_store
from stateward.store.postgres_rules import RULES
from stateward.store.triggers import TRIGGERS
from tests.contracts.flows import HERE, THERE, draft
from tests.contracts.tokens import FIRST, LATER, SECOND, issued

TABLES: Final = ("workspaces", "definitions", "flow_sources", "flow_source_revisions", "flow_acts", "tokens")


def make(place: Path | str) -> None:
    """Keep a flow with two revisions, one that was removed, one that was removed and saved again, and two tokens, one of them revoked."""
    with open_store(place, write=True, create=True) as store:
        for workspace in (HERE, THERE):
            store.workspaces.ensure(workspace)
        for slug in ("paper", "gone", "back"):
            store.flows.save(HERE.id, draft(slug, b"one"), None)
            store.flows.save(HERE.id, draft(slug, b"two"), 1)
        for slug in ("gone", "back"):
            store.flows.remove(HERE.id, slug, 2, author="ada", note="no longer used", time=LATER)
        store.flows.save(HERE.id, draft("back", b"two"), 2)
        for token in (FIRST, SECOND):
            store.tokens.keep(issued(token))
        store.tokens.revoke(HERE.id, SECOND, LATER)


class ByHand:
    """A bare connection to such a store."""

    def __init__(self, place: Path | str, connection: Any, refusal: type[Exception]) -> None:
        self.place, self._connection, self._refusal = place, connection, refusal

    @property
    def is_sqlite(self) -> bool:
        return isinstance(self.place, Path)

    def run(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(statement)
        return [] if cursor.description is None else [tuple(row) for row in cursor.fetchall()]

    @contextmanager
    def unguarded(self) -> Iterator[None]:
        """Take the rules out of the way, and put them back, so that they do not give it away."""
        if self.is_sqlite:
            for name in TRIGGERS:
                self.run(f"DROP TRIGGER {name}")
            yield
            for sql in TRIGGERS.values():
                self.run(sql)
            return
        self.run("SET session_replication_role = replica")  # for what the keys refer to
        for table in TABLES:
            self.run(f"ALTER TABLE {table} DISABLE TRIGGER ALL")
        yield
        for table in TABLES:
            self.run(f"ALTER TABLE {table} ENABLE TRIGGER ALL")
        for rule in RULES:
            if rule.table in TABLES:
                self.run(rule.statements[-1])

    def contents(self) -> dict[str, list[tuple[Any, ...]]]:
        return {table: sorted(self.run(f"SELECT * FROM {table}"), key=repr) for table in TABLES}  # noqa: S608 -- names of tables

    def refuses(self, statement: str, rule: str = "") -> None:
        """Run what is to be refused, and see that nothing changed."""
        before = self.contents()
        with pytest.raises(self._refusal, match=f"^{rule}: " if rule else None):
            self.run(statement)
        assert before == self.contents()


@contextmanager
def by_hand(place: Path | str) -> Iterator[ByHand]:
    """Connect with nothing of ours in between."""
    if isinstance(place, Path):
        connection = sqlite3.connect(place, isolation_level=None)
        try:
            yield ByHand(place, connection, sqlite3.IntegrityError)
        finally:
            connection.close()
        return
    with psycopg.connect(place, autocommit=True) as client:
        client.execute("SET search_path = stateward")
        yield ByHand(place, client, psycopg.IntegrityError)
