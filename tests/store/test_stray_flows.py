"""The row of a flow of which nothing was ever saved: kept out where the database can, and else no harm to any other flow."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stateward.runtime.ports import Damaged
from stateward.store.care import check
from stateward.store.database import open_store
from stateward.store.revisions import flow_id_of
from tests.contracts.flows import BRINGING, HERE, draft, history
from tests.store.guarded import ByHand, by_hand, make

AS_PAPER = "workspace, '{id}', '{slug}', 1, created, updated FROM flow_sources WHERE slug = 'paper'"
FLOW = f"INSERT INTO flow_sources (workspace, flow_id, slug, revision, created, updated) SELECT {AS_PAPER}"
STRAY = FLOW.format(id="another", slug="ghost")
WITH_ITS_ID = FLOW.format(id=flow_id_of(HERE.id, "ghost"), slug="ghost")
REVISION = (
    "INSERT INTO flow_source_revisions SELECT workspace, {id}, {revision}, content, content_digest, definition_digest, compiler, author,"
    " note, created, row_digest FROM flow_source_revisions WHERE revision = 1 AND"
    " flow_id = (SELECT flow_id FROM flow_sources WHERE slug = 'paper')"
)


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


@pytest.fixture
def strayed(hand: ByHand) -> ByHand:
    """A store with such a row, on PostgreSQL with the rules out of the way."""
    if hand.is_sqlite:
        hand.run(STRAY)
    else:
        with hand.unguarded():
            hand.run(STRAY)
    return hand


@pytest.mark.parametrize("statement", [STRAY, WITH_ITS_ID])
def test_postgresql_refuses_a_flow_without_a_revision_when_it_is_committed(on_postgresql: ByHand, statement: str) -> None:
    on_postgresql.refuses(statement, "flow_sources_saved")


def test_postgresql_refuses_a_last_revision_that_its_flow_does_not_say(on_postgresql: ByHand) -> None:
    on_postgresql.refuses(REVISION.format(id="flow_id", revision=3), "flow_source_revisions_current")


def test_a_revision_of_no_flow_is_refused_also_where_keys_are_not_looked_at(on_sqlite: ByHand) -> None:
    on_sqlite.run("PRAGMA foreign_keys = OFF")
    on_sqlite.refuses(REVISION.format(id="'another'", revision=1), "flow_source_revisions_only_next")


def test_a_stray_row_hinders_no_other_flow(strayed: ByHand) -> None:
    with open_store(strayed.place, write=True) as store:
        for removed, slugs in ((False, ["back", "paper"]), (True, ["back", "gone", "paper"])):
            assert slugs == [row.last.slug for row in store.flows.sources(HERE.id, 10, removed=removed)]
            paged = [store.flows.sources(HERE.id, 1, after, removed=removed) for after in ("", *slugs)]
            assert [*slugs, None] == [page[0].last.slug if page else None for page in paged]
        store.flows.save(HERE.id, draft("paper", b"three"), 2)
        store.flows.save(HERE.id, draft("other", b"one"), None)


def test_a_stray_row_fails_the_flow_of_its_name(strayed: ByHand) -> None:
    says = "the flow `ghost` has another id than it was given"
    with open_store(strayed.place, write=True) as store:
        with pytest.raises(Damaged, match=says):
            store.flows.find(HERE.id, "ghost")
        with pytest.raises(Damaged, match=says):
            store.flows.save(HERE.id, draft("ghost", b"one"), None)
        with pytest.raises(Damaged, match=says):
            store.flows.bring(HERE.id, [history(b"1", slug="ghost")], BRINGING)


def test_a_stray_row_is_named_by_the_check(strayed: ByHand) -> None:
    assert ("the flow `ghost`: nothing of it was ever saved, or all of it was lost",) == check(strayed.place).findings


@pytest.mark.parametrize("statement", [STRAY, WITH_ITS_ID])
def test_a_stray_row_in_a_file_can_be_taken_out_and_a_flow_cannot(on_sqlite: ByHand, statement: str) -> None:
    on_sqlite.run(statement)
    on_sqlite.refuses("DELETE FROM flow_sources WHERE slug = 'paper'", "flow_sources_no_delete")
    on_sqlite.run("DELETE FROM flow_sources WHERE slug = 'ghost'")
    assert () == check(on_sqlite.place).findings
    with open_store(on_sqlite.place, write=True) as store:
        assert 1 == store.flows.save(HERE.id, draft("ghost", b"one"), None).revision.revision  # type: ignore[union-attr]


def test_a_flow_that_lost_all_its_revisions_is_damage_to_whoever_lists(hand: ByHand) -> None:
    """It has the id that a save gives, so there was one."""
    with hand.unguarded():
        hand.run(WITH_ITS_ID)
    with open_store(hand.place, write=True) as store, pytest.raises(Damaged, match="the flow `ghost` has no revision"):
        store.flows.sources(HERE.id, 10)
