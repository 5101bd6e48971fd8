"""Commits of flows and tokens whose answer was lost, on both databases: what happened is unknown, and asking the same again settles it."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from stateward.runtime.ports import Brought, OutcomeUnknown, Removed, Saved
from stateward.store.database import Store, open_store
from tests.contracts.flows import BRINGING, HERE, LATER, draft, history, there
from tests.contracts.tokens import FIRST, SECOND, issued
from tests.store.children import connect_with
from tests.store.cutting import Door, door_before
from tests.store.failing import Failing, problem


@dataclass(frozen=True)
class Losing:
    """A store, and what makes it lose the answer to the next commit."""

    store: Store
    lose: Callable[[bool], None]
    """Given whether the commit happens."""


def lose_on_sqlite(happens: bool) -> None:
    def lose(connection: Failing, sql: str) -> None:
        if sql == "COMMIT":
            Failing.instead = None
            connection.really("COMMIT" if happens else "ROLLBACK")
            raise problem("SQLITE_IOERR_FSYNC", "disk I/O error")

    Failing.instead = lose


def lose_on_postgresql(door: Door) -> Callable[[bool], None]:
    def lose(happens: bool) -> None:
        door.word, door.answers = b"COMMIT", happens

    return lose


@contextmanager
def losing_on(place: Path | str) -> Iterator[Losing]:
    if isinstance(place, Path):
        with open_store(place, write=True, create=True) as store:
            yield Losing(store, lose_on_sqlite)
        return
    with (
        tempfile.TemporaryDirectory(prefix="sw-") as folder,
        door_before(place, Path(folder)) as (door, through),
        open_store(through, write=True, create=True) as store,
    ):
        yield Losing(store, lose_on_postgresql(door))


@pytest.fixture
def losing(place: Path | str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Losing]:
    monkeypatch.setattr(sqlite3, "connect", connect_with(Failing))
    monkeypatch.setattr(Failing, "instead", None)
    with losing_on(place) as made:
        made.store.workspaces.ensure(HERE)
        made.store.flows.save(HERE.id, draft(content=b"one"), None)
        made.store.tokens.keep(issued(SECOND))
        yield made
        Failing.instead = None


@pytest.mark.parametrize("happens", [True, False])
def test_a_save_whose_answer_was_lost_is_settled_by_saving_the_same_again(losing: Losing, happens: bool) -> None:
    flows = losing.store.flows
    losing.lose(happens)
    with pytest.raises(OutcomeUnknown):
        flows.save(HERE.id, draft(content=b"two"), 1)
    again = flows.save(HERE.id, draft(content=b"two"), 1)
    assert isinstance(again, Saved)
    assert (2, not happens) == (again.revision.revision, again.created)
    assert [2, 1] == [each.revision for each in flows.history(HERE.id, "paper", 10)]


@pytest.mark.parametrize("happens", [True, False])
def test_a_removal_whose_answer_was_lost_is_settled_by_removing_again(losing: Losing, happens: bool) -> None:
    flows = losing.store.flows
    losing.lose(happens)
    with pytest.raises(OutcomeUnknown):
        flows.remove(HERE.id, "paper", 1, author="ada", note="", time=LATER)
    again = flows.remove(HERE.id, "paper", 1, author="ada", note="", time=LATER)
    assert isinstance(again, Removed)
    assert (1, not happens) == (again.act.number, again.created)
    assert [again.act] == list(flows.acts(HERE.id, "paper", 10))


@pytest.mark.parametrize("happens", [True, False])
def test_flows_whose_bringing_was_lost_are_brought_all_or_none_and_once(losing: Losing, happens: bool) -> None:
    flows = losing.store.flows
    histories = [history(b"one", b"two", slug="plan", removed=there("plan")), history(b"one", slug="review")]
    losing.lose(happens)
    with pytest.raises(OutcomeUnknown):
        flows.bring(HERE.id, histories, BRINGING)
    kept = [each.last.slug for each in flows.sources(HERE.id, 10, removed=True)]
    assert (["paper", "plan", "review"] if happens else ["paper"]) == kept
    again = flows.bring(HERE.id, histories, BRINGING)
    assert ([Brought("plan", 3, 2), Brought("review", 2, 1)] if happens else [Brought("plan", 1, 2), Brought("review", 1, 1)]) == list(
        again
    )
    assert (2, 1) == (len(flows.acts(HERE.id, "plan", 10)), len(flows.acts(HERE.id, "review", 10)))


@pytest.mark.parametrize("happens", [True, False])
def test_a_token_whose_keeping_was_lost_is_found_or_kept_again(losing: Losing, happens: bool) -> None:
    tokens = losing.store.tokens
    losing.lose(happens)
    with pytest.raises(OutcomeUnknown):
        tokens.keep(issued(FIRST))
    assert (issued(FIRST) if happens else None) == tokens.by_digest(issued(FIRST).digest)
    if not happens:
        tokens.keep(issued(FIRST))
    assert [issued(FIRST), issued(SECOND)] == list(tokens.listed(HERE.id, 10))


@pytest.mark.parametrize("happens", [True, False])
def test_a_revocation_whose_answer_was_lost_is_settled_by_revoking_again(losing: Losing, happens: bool) -> None:
    tokens = losing.store.tokens
    losing.lose(happens)
    with pytest.raises(OutcomeUnknown):
        tokens.revoke(HERE.id, SECOND, LATER)
    again = tokens.revoke(HERE.id, SECOND, BRINGING.created)
    assert again is not None
    assert (LATER if happens else BRINGING.created) == again.revoked
