# ruff: noqa: S608 -- every statement is made of constants of this file
"""What both databases refuse of flows, acts and tokens, whoever asks: every statement here comes from a bare connection."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.store.database import open_store
from tests.contracts.flows import HERE, THERE, draft
from tests.contracts.tokens import FIRST, LATER, issued
from tests.store.guarded import ByHand, by_hand

PAPER = "(SELECT flow_id FROM flow_sources WHERE slug = 'paper')"
GONE = "(SELECT flow_id FROM flow_sources WHERE slug = 'gone')"
REVISION = "content, content_digest, definition_digest, compiler, author, note, created, row_digest"
ACT = "revision, first, author, note, created, bundle, origin, row_digest"
TOKEN = "digest, name, scopes, issuer, created, expires, revoked_at, row_digest"  # noqa: S105 -- names of columns
MOMENT = "2026-03-02T00:00:00.000000Z"
REVISIONS = "flow_source_revisions"


@pytest.fixture
def hand(made: Path | str) -> Iterator[ByHand]:
    with by_hand(made) as connected:
        yield connected


# --- revisions ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["content", "note", "author", "revision", "created", "row_digest"])
def test_a_revision_is_not_updated(hand: ByHand, column: str) -> None:
    hand.refuses(f"UPDATE {REVISIONS} SET {column} = {column}", f"{REVISIONS}_no_update")
    hand.refuses(f"UPDATE {REVISIONS} SET {column} = {column} WHERE revision = 1 AND flow_id = {PAPER}", f"{REVISIONS}_no_update")


def test_a_revision_is_not_deleted(hand: ByHand) -> None:
    hand.refuses(f"DELETE FROM {REVISIONS}", f"{REVISIONS}_no_delete")
    hand.refuses(f"DELETE FROM {REVISIONS} WHERE revision = 2 AND flow_id = {PAPER}", f"{REVISIONS}_no_delete")


@pytest.mark.parametrize("number", ["1", "2", "4", "0", "-1"])
def test_a_revision_is_written_only_under_the_next_number(hand: ByHand, number: str) -> None:
    row = f"SELECT workspace, flow_id, {number}, {REVISION} FROM {REVISIONS} WHERE revision = 1 AND flow_id = {PAPER}"
    hand.refuses(f"INSERT INTO {REVISIONS} {row}", f"{REVISIONS}_only_next")
    if hand.is_sqlite:
        for how in ("INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"):
            hand.refuses(f"{how} INTO {REVISIONS} {row}", f"{REVISIONS}_only_next")


@pytest.mark.parametrize(
    "table",
    [
        "workspaces",
        "definitions",
        "flow_sources",
        REVISIONS,
        "flow_modules",
        "flow_acts",
        "tokens",
        "entries",
        "workers",
        "heads",
        "transcripts",
    ],
)
def test_no_table_is_truncated(hand: ByHand, table: str) -> None:
    if hand.is_sqlite:
        # SQLite has no such statement; what it does instead of deleting row by row it does not do where a trigger is.
        if hand.run(f"SELECT count(*) FROM {table}") != [(0,)]:
            hand.refuses(f"DELETE FROM {table}", f"{table}_no_delete")
        return
    hand.refuses(f"TRUNCATE {table} CASCADE", r"[a-z_]+_no_truncate")
    if table in {"flow_modules", "flow_acts", "tokens"}:  # to which no other table refers
        hand.refuses(f"TRUNCATE {table}", f"{table}_no_truncate")


# --- flows --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "slug = 'other'",
        "slug = 'gone'",
        "flow_id = 'other'",
        f"workspace = '{THERE.id}'",
        f"created = '{MOMENT}'",
        "revision = 1",
        "revision = 3",
        "revision = -1",
        f"removed_at = '{MOMENT}'",
    ],
)
def test_a_flow_keeps_its_name_and_its_last_revision(hand: ByHand, change: str) -> None:
    for how in ("", "OR REPLACE", "OR IGNORE") if hand.is_sqlite else ("",):
        hand.refuses(f"UPDATE {how} flow_sources SET {change} WHERE slug = 'paper'", "flow_sources_only_forward")


@pytest.mark.parametrize("at", ["NULL", f"'{MOMENT}'", "''"])
def test_a_removed_flow_is_neither_shown_nor_removed_at_another_time(hand: ByHand, at: str) -> None:
    hand.refuses(f"UPDATE flow_sources SET removed_at = {at} WHERE slug = 'gone'", "flow_sources_only_forward")


def test_a_flow_that_was_saved_again_is_not_hidden_by_its_old_act(hand: ByHand) -> None:
    at = f"(SELECT created FROM flow_acts WHERE flow_id = {GONE})"
    hand.refuses(f"UPDATE flow_sources SET removed_at = {at} WHERE slug = 'back'", "flow_sources_only_forward")


def test_a_flow_is_not_deleted(hand: ByHand) -> None:
    hand.refuses("DELETE FROM flow_sources WHERE slug = 'gone'", "flow_sources_no_delete")


@pytest.mark.parametrize(("revision", "removed"), [("2", "NULL"), ("0", "NULL"), ("1", f"'{MOMENT}'")])
def test_a_flow_begins_with_its_first_revision(hand: ByHand, revision: str, removed: str) -> None:
    row = f"'{HERE.id}', 'new', 'new', {revision}, '{MOMENT}', '{MOMENT}', {removed}"
    hand.refuses(f"INSERT INTO flow_sources VALUES ({row})", "flow_sources_only_new")


@pytest.mark.parametrize("key", ["'new', slug", "flow_id, 'new'", "flow_id, slug"])
def test_a_flow_is_not_replaced(hand: ByHand, key: str) -> None:
    row = f"SELECT workspace, {key}, 1, created, updated, NULL FROM flow_sources WHERE slug = 'paper'"
    hand.refuses(f"INSERT INTO flow_sources {row}")
    if hand.is_sqlite:
        hand.refuses(f"INSERT OR REPLACE INTO flow_sources {row}", "flow_sources_only_new")


# --- acts ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["number", "kind", "revision", "first", "author", "note", "created", "row_digest"])
def test_an_act_is_not_updated(hand: ByHand, column: str) -> None:
    hand.refuses(f"UPDATE flow_acts SET {column} = {column}", "flow_acts_no_update")


def test_an_act_is_not_deleted(hand: ByHand) -> None:
    hand.refuses(f"DELETE FROM flow_acts WHERE flow_id = {GONE}", "flow_acts_no_delete")


@pytest.mark.parametrize("number", ["1", "3", "0"])
def test_an_act_is_written_only_under_the_next_number(hand: ByHand, number: str) -> None:
    row = f"SELECT workspace, flow_id, {number}, kind, {ACT} FROM flow_acts WHERE flow_id = {GONE}"
    hand.refuses(f"INSERT INTO flow_acts {row}", "flow_acts_only_next")
    if hand.is_sqlite:
        hand.refuses(f"INSERT OR REPLACE INTO flow_acts {row}", "flow_acts_only_next")


def test_an_act_is_of_the_last_revision_of_its_flow(hand: ByHand) -> None:
    others = ACT.removeprefix("revision, ")
    row = f"SELECT workspace, flow_id, 2, kind, 1, {others} FROM flow_acts WHERE flow_id = {GONE}"
    hand.refuses(f"INSERT INTO flow_acts {row}", "flow_acts_only_next")


# --- tokens -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "revoked_at = NULL",
        "revoked_at = ''",
        "revoked_at = 'now'",
        f"revoked_at = '{MOMENT} '",
        f"revoked_at = '{MOMENT}', name = 'other'",
        f"revoked_at = '{MOMENT}', scopes = 'operate'",
        f"revoked_at = '{MOMENT}', expires = NULL",
        f"revoked_at = '{MOMENT}', digest = 'sha256:'",
        f"revoked_at = '{MOMENT}', workspace = '{THERE.id}'",
        f"revoked_at = '{MOMENT}', row_digest = ''",
        "scopes = 'operate'",
    ],
)
def test_of_a_token_nothing_changes_but_that_it_is_revoked(hand: ByHand, change: str) -> None:
    for how in ("", "OR REPLACE", "OR IGNORE") if hand.is_sqlite else ("",):
        hand.refuses(f"UPDATE {how} tokens SET {change} WHERE id = '{FIRST}'", "tokens_no_update")


@pytest.mark.parametrize("at", ["NULL", f"'{MOMENT}'"])
def test_a_revoked_token_stays_revoked_since_then(hand: ByHand, at: str) -> None:
    hand.refuses(f"UPDATE tokens SET revoked_at = {at} WHERE revoked_at IS NOT NULL", "tokens_no_update")


def test_a_token_is_revoked_by_a_time_so_the_rule_refuses_nothing_else(hand: ByHand) -> None:
    hand.run(f"UPDATE tokens SET revoked_at = '{MOMENT}' WHERE id = '{FIRST}'")
    with open_store(hand.place, write=False) as store:
        found = store.tokens.by_digest(issued().digest)
        assert found is not None
        assert found.revoked is not None


def test_a_token_is_not_deleted(hand: ByHand) -> None:
    hand.refuses("DELETE FROM tokens", "tokens_no_delete")


@pytest.mark.parametrize("key", ["workspace, id", "workspace, 'new'", "'{there}', id"])
def test_a_token_is_not_replaced(hand: ByHand, key: str) -> None:
    row = f"SELECT {key.format(there=THERE.id)}, {TOKEN} FROM tokens WHERE id = '{FIRST}'"
    hand.refuses(f"INSERT INTO tokens {row}")
    if hand.is_sqlite:
        hand.refuses(f"INSERT OR REPLACE INTO tokens {row}", "tokens_only_new")


def test_a_token_is_not_there_before_it_is_revoked(hand: ByHand) -> None:
    others = TOKEN.replace("digest, name", "'sha256:new', name").replace("revoked_at", f"'{MOMENT}'")
    hand.refuses(f"INSERT INTO tokens SELECT workspace, 'new', {others} FROM tokens WHERE id = '{FIRST}'", "tokens_only_new")


# --- and what is right is still done ------------------------------------------------------------------------------------------------


def test_a_store_that_somebody_tried_to_change_by_hand_goes_on(hand: ByHand) -> None:
    hand.refuses(f"DELETE FROM {REVISIONS}", f"{REVISIONS}_no_delete")
    with open_store(hand.place, write=True) as store:
        assert 3 == store.flows.save(HERE.id, draft("paper", b"three"), 2).revision.revision  # type: ignore[union-attr]
        assert 3 == store.flows.save(HERE.id, draft("gone", b"two"), 2).revision.revision  # type: ignore[union-attr]
        assert store.flows.remove(HERE.id, "back", 3, author="bob", note="", time=LATER)
        assert ["gone", "paper"] == [each.last.slug for each in store.flows.sources(HERE.id, 10)]
