# ruff: noqa: S608 -- every statement is made of constants of this file
"""What the check of a store says of rows that are not what was written: each by its name, whoever altered it, and how many there are."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import Committed
from stateward.store.care import check
from stateward.store.database import open_store
from stateward.store.read_through import FINDINGS_MAX, PAGE
from tests.contracts.flows import HERE, draft
from tests.contracts.sessions import NOON, OTHER, WORKER, WORKSPACE, entry
from tests.store.guarded import ByHand, by_hand

PAPER = "flow_id = (SELECT flow_id FROM flow_sources WHERE slug = 'paper')"
GONE = "flow_id = (SELECT flow_id FROM flow_sources WHERE slug = 'gone')"
ALTERED = {
    "UPDATE workspaces SET name = 'mine'": "a row of `workspaces`, ",
    "UPDATE definitions SET canonical = {nothing}": "a definition does not have its digest",
    f"UPDATE flow_source_revisions SET content = {{nothing}} WHERE {PAPER}": "revision 2 of the flow `paper`: a source does not have",
    f"UPDATE flow_source_revisions SET note = 'else' WHERE {PAPER}": "revision 1 of the flow `paper`: ",
    f"UPDATE flow_source_revisions SET created = 'then' WHERE {PAPER}": "a row of `flow_source_revisions` holds what no store writes",
    f"DELETE FROM flow_source_revisions WHERE revision = 1 AND {PAPER}": "the flow `paper` lacks its revision 1",
    f"DELETE FROM flow_source_revisions WHERE revision = 2 AND {PAPER}": "the flow `paper`: its current revision is 2, its last one 1",
    f"DELETE FROM flow_source_revisions WHERE {PAPER}": "the flow `paper`: nothing of it was ever saved, or all of it was lost",
    f"UPDATE flow_acts SET author = 'eve' WHERE {GONE}": "act 1 on the flow `gone`: ",
    f"DELETE FROM flow_acts WHERE {GONE}": "the flow `gone`: its last act does not say whether it is hidden",
    "UPDATE flow_sources SET slug = 'other' WHERE slug = 'paper'": "the flow `other`: its id is not the one that follows from its name",
    "UPDATE flow_sources SET removed_at = NULL": "the flow `gone`: its last act does not say whether it is hidden",
    "UPDATE tokens SET scopes = 'operate'": "a row of `tokens`, ",
}


@pytest.fixture
def hand(made: Path | str) -> Iterator[ByHand]:
    with by_hand(made) as connected:
        yield connected


@pytest.mark.parametrize(("statement", "says"), ALTERED.items(), ids=ALTERED)
def test_a_row_that_is_not_what_was_written_is_named(hand: ByHand, statement: str, says: str) -> None:
    with hand.unguarded():
        hand.run(statement.replace("{nothing}", "x'00'" if hand.is_sqlite else r"'\x00'::bytea"))
    found = check(hand.place).findings
    assert [] != [each for each in found if says in each], found


def test_of_many_faults_each_is_named_up_to_a_limit(hand: ByHand) -> None:
    with open_store(hand.place, write=True) as store:
        for number in range(FINDINGS_MAX + PAGE):
            store.flows.save(HERE.id, draft(f"flow-{number:04}", b"one"), None)
    assert () == check(hand.place).findings
    with hand.unguarded():
        hand.run("UPDATE flow_source_revisions SET author = 'eve'")
    found = check(hand.place).findings
    assert FINDINGS_MAX == len(found)
    assert len(set(found)) == len(found)


def test_the_identities_of_workers_and_of_those_that_were_deleted_are_read(hand: ByHand) -> None:
    with open_store(hand.place, write=True) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"one"),), {})
        gone = store.sessions.create(OTHER, WORKSPACE, (entry(b"one"),), {})
        assert isinstance(gone, Committed)
        store.sessions.delete(OTHER, gone.head, NOON)
    assert () == check(hand.place).findings
    tables = ("workers", "tombstones")
    if hand.is_sqlite:
        with hand.unguarded():
            for table in tables:
                hand.run(f"UPDATE {table} SET workspace = 'mine'")
    else:
        for table in tables:
            hand.run(f"ALTER TABLE {table} DISABLE TRIGGER {table}_no_update")
            hand.run(f"UPDATE {table} SET workspace = 'mine'")
            hand.run(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_no_update")
    found = check(hand.place).findings
    assert [True, True] == [each.startswith(f"a row of `{table}`, ") for each, table in zip(found, tables, strict=True)]
