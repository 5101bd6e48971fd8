"""Stores whose tables somebody altered: refused by whoever would write, and each fault named by the check of the store."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from stateward.runtime.ports import Committed, Damaged, StoreUnavailable
from stateward.runtime.session.chain import digest_of
from stateward.store.care import check
from stateward.store.database import Store, open_store
from stateward.store.postgres_shape import differences_on_postgres
from stateward.store.schema import SCHEMA_VERSION
from stateward.store.tables import METADATA
from tests.contracts.flows import HERE, draft
from tests.contracts.sessions import WORKER, WORKSPACE, entry
from tests.contracts.tokens import FIRST, LATER, THIRD, issued
from tests.store.guarded import ByHand, by_hand, make

ALTERED_ON_POSTGRESQL = {
    "CREATE RULE evil AS ON INSERT TO {table} DO INSTEAD NOTHING": "`{table}` has the rewrite rule `evil` of somebody else",
    "CREATE RULE evil AS ON UPDATE TO {table} DO ALSO NOTHING": "`{table}` has the rewrite rule `evil` of somebody else",
    "CREATE TABLE child () INHERITS ({table})": "there is a table `child` of somebody else",
    "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY": "`{table}` has the property `row security` of somebody else",
    "ALTER TABLE {table} FORCE ROW LEVEL SECURITY": "`{table}` has the property `row security` of somebody else",
    "CREATE POLICY evil ON {table}": "`{table}` has the policy `evil` of somebody else",
    "ALTER TABLE {table} ADD COLUMN spare TEXT": "`{table}` has the column `spare` of somebody else",
}
ONCE_ON_POSTGRESQL = {
    "ALTER TABLE flow_acts SET UNLOGGED": "`flow_acts` has the property `unlogged` of somebody else",
    "ALTER TABLE heads DROP CONSTRAINT fk_heads_workers": "the constraint `fk_heads_workers` of `heads` is missing",
    "ALTER TABLE entries DROP CONSTRAINT ck_entries_counted_from_1": "the constraint `ck_entries_counted_from_1` of `entries` is missing",
    "ALTER TABLE tokens DROP CONSTRAINT uq_tokens_digest": "the constraint `uq_tokens_digest` of `tokens` is missing",
    "DROP INDEX uq_entries_worker_key": "the index `uq_entries_worker_key` of `entries` is missing",
    "ALTER TABLE tokens DROP COLUMN issuer": "the column `issuer` of `tokens` is missing",
    "ALTER TABLE leases ALTER COLUMN token TYPE integer": "the column `token` of `leases` was altered",
    "ALTER TABLE leases ALTER COLUMN holder DROP NOT NULL": "the column `holder` of `leases` was altered",
    "ALTER TABLE leases ALTER COLUMN holder SET DEFAULT 'eve'": "the column `holder` of `leases` was altered",
    "ALTER TABLE leases RENAME TO rents": "the table `leases` is missing",
    "INSERT INTO store_version VALUES (2)": "`store_version` has 2 rows",
    "UPDATE pg_trigger SET tgenabled = 'D' WHERE tgisinternal AND tgrelid = 'flow_acts'::regclass": (
        "`flow_acts` has the property `references unchecked` of somebody else"
    ),
}
ON_SQLITE = {
    "ALTER TABLE tokens RENAME COLUMN issuer TO giver": "the table `tokens` was altered",
    "ALTER TABLE leases ADD COLUMN spare TEXT": "the table `leases` was altered",
    "DROP INDEX uq_entries_worker_key": "the index `uq_entries_worker_key` of `entries` is missing",
    "CREATE UNIQUE INDEX evil ON leases (worker)": "`leases` has the index `evil` of somebody else",
    "CREATE TABLE spare (x)": "there is a table `spare` of somebody else",
    "DROP TABLE leases": "the table `leases` is missing",
}


@pytest.fixture
def hand(made: Path | str) -> Iterator[ByHand]:
    with by_hand(made) as connected:
        yield connected


@pytest.fixture
def on_postgresql(copied: Callable[[Callable[[str], None]], str]) -> Iterator[ByHand]:
    with by_hand(copied(make)) as connected:
        yield connected


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[ByHand]:
    make(tmp_path / "store.db")
    with by_hand(tmp_path / "store.db") as connected:
        yield connected


def refused_and_named(place: Path | str, says: str) -> None:
    assert says in check(place).findings
    with pytest.raises(Damaged) as fault, open_store(place, write=True):
        pass
    assert fault.value.remedy


def test_a_store_that_nobody_altered_is_sound(hand: ByHand) -> None:
    assert () == check(hand.place).findings


@pytest.mark.parametrize(("statement", "says"), ALTERED_ON_POSTGRESQL.items(), ids=ALTERED_ON_POSTGRESQL)
def test_what_makes_a_table_do_other_things_than_a_statement_says_is_named_of_every_table(
    on_postgresql: ByHand, statement: str, says: str
) -> None:
    with psycopg.connect(str(on_postgresql.place), options="-c search_path=stateward") as client:
        for table in sorted(METADATA.tables):
            with client.transaction(force_rollback=True):
                client.execute(statement.format(table=table).encode())
                assert says.format(table=table) in tuple(differences_on_postgres(client, SCHEMA_VERSION))  # type: ignore[arg-type]
    on_postgresql.run(statement.format(table="flow_source_revisions"))
    refused_and_named(on_postgresql.place, says.format(table="flow_source_revisions"))


@pytest.mark.parametrize(("statement", "says"), ONCE_ON_POSTGRESQL.items(), ids=ONCE_ON_POSTGRESQL)
def test_a_store_on_postgresql_that_lacks_what_a_new_one_has_is_refused(on_postgresql: ByHand, statement: str, says: str) -> None:
    on_postgresql.run(statement)
    refused_and_named(on_postgresql.place, says)


@pytest.mark.parametrize(("statement", "says"), ON_SQLITE.items(), ids=ON_SQLITE)
def test_a_file_that_is_not_made_as_a_new_one_is_refused(on_sqlite: ByHand, statement: str, says: str) -> None:
    on_sqlite.run(statement)
    refused_and_named(on_sqlite.place, says)


# --- a write that the database swallows while the store is open ------------------------------------------------------------------------

WRITES: dict[tuple[str, str], Callable[[Store], object]] = {
    ("INSERT", "flow_sources"): lambda store: store.flows.save(HERE.id, draft("new"), None),
    ("INSERT", "flow_source_revisions"): lambda store: store.flows.save(HERE.id, draft("new"), None),
    ("INSERT", "definitions"): lambda store: store.flows.save(
        HERE.id, replace(draft("new"), definition=b"[]", definition_digest=digest_of(b"[]")), None
    ),
    ("UPDATE", "flow_sources"): lambda store: store.flows.save(HERE.id, draft("paper", b"three"), 2),
    ("INSERT", "flow_acts"): lambda store: store.flows.remove(HERE.id, "paper", 2, author="ada", note="", time=LATER),
    ("INSERT", "tokens"): lambda store: store.tokens.keep(issued(THIRD)),
    ("UPDATE", "tokens"): lambda store: store.tokens.revoke(HERE.id, FIRST, LATER),
    ("INSERT", "workspaces"): lambda store: store.workspaces.ensure(replace(HERE, id=THIRD)),
}


@pytest.mark.parametrize(("event", "table"), WRITES)
def test_a_write_that_is_swallowed_is_damage_and_leaves_nothing(on_postgresql: ByHand, event: str, table: str) -> None:
    """A rule of PostgreSQL that comes after the store was opened."""
    before = on_postgresql.contents()
    with open_store(on_postgresql.place, write=True) as store:
        on_postgresql.run(f"CREATE RULE evil AS ON {event} TO {table} DO INSTEAD NOTHING")
        with pytest.raises((Damaged, StoreUnavailable)):
            WRITES[event, table](store)
    assert before == on_postgresql.contents()


@pytest.mark.parametrize("table", sorted({table for event, table in WRITES if event == "INSERT"}))
def test_a_write_that_a_trigger_of_a_file_swallows_is_damage_and_leaves_nothing(on_sqlite: ByHand, table: str) -> None:
    before = on_sqlite.contents()
    with open_store(on_sqlite.place, write=True) as store:
        on_sqlite.run(f"CREATE TRIGGER evil BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END")
        with pytest.raises(Damaged):
            WRITES["INSERT", table](store)
    assert before == on_sqlite.contents()


def test_a_trigger_of_somebody_else_that_has_the_name_of_one_of_ours_is_seen(on_postgresql: ByHand) -> None:
    for table in ("leases", "workspaces"):  # one of them comes after ours, in whichever order the catalog gives them
        on_postgresql.run(f"CREATE TRIGGER workers_no_update BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION workers_no_update()")
        assert [] != [each for each in check(on_postgresql.place).findings if "workers_no_update" in each]
        on_postgresql.run(f"DROP TRIGGER workers_no_update ON {table}")


@pytest.mark.parametrize(
    ("event", "table"), [("INSERT", "entries"), ("UPDATE", "heads"), ("INSERT", "payloads"), ("INSERT", "definitions")]
)
def test_an_entry_that_is_swallowed_is_damage_and_leaves_nothing(on_postgresql: ByHand, event: str, table: str) -> None:
    with open_store(on_postgresql.place, write=True) as store:
        begun = store.sessions.create(WORKER, WORKSPACE, (entry(b"one"),), {})
        assert isinstance(begun, Committed)
        on_postgresql.run(f"CREATE RULE evil AS ON {event} TO {table} DO INSTEAD NOTHING")
        definitions = {digest_of(b"[]"): b"[]"} if table == "definitions" else {}
        with pytest.raises(Damaged):
            store.sessions.append(WORKER, begun.head, (entry(b"p" * 300_000 if table == "payloads" else b"two"),), definitions)
        assert begun.head == store.sessions.head(WORKER)
