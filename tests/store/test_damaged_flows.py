# ruff: noqa: S608 -- every statement is made of constants of this file
"""Flows, acts and tokens that somebody changed with the rules out of the way: told as damage, on either database, and never as truth."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from stateward.runtime.ports import Damaged
from stateward.runtime.session.chain import digest_of
from stateward.store.database import Store, open_store
from tests.contracts.flows import BRINGING, HERE, LATER, draft, history
from tests.contracts.tokens import FIRST, SECOND, THIRD, issued
from tests.store.guarded import ByHand, by_hand, make

Read = Callable[[Store, str], object]

READS: Mapping[str, Read] = {
    "find": lambda store, slug: store.flows.find(HERE.id, slug),
    "current": lambda store, slug: store.flows.current(HERE.id, slug),
    "revision": lambda store, slug: store.flows.revision(HERE.id, slug, 1),
    "another revision": lambda store, slug: store.flows.revision(HERE.id, slug, 9),
    "holding": lambda store, slug: store.flows.holding(HERE.id, slug, digest_of(b"nobody's")),
    "history": lambda store, slug: store.flows.history(HERE.id, slug, 10),
    "acts": lambda store, slug: store.flows.acts(HERE.id, slug, 10),
    "all": lambda store, _: store.flows.sources(HERE.id, 10, removed=True),
}
WRITES: Mapping[str, Read] = {
    "save": lambda store, slug: store.flows.save(HERE.id, draft(slug, b"three"), 2),
    "remove": lambda store, slug: store.flows.remove(HERE.id, slug, 2, author="bob", note="", time=LATER),
    "bring": lambda store, slug: store.flows.bring(HERE.id, [history(b"1", b"2", b"3", b"4", slug=slug)], BRINGING),
}


@pytest.fixture
def hand(made: Path | str) -> Iterator[ByHand]:
    with by_hand(made) as connected:
        yield connected


def told(hand: ByHand, slug: str, reads: Mapping[str, Read]) -> set[str]:
    """The names of what was answered with damage; anything else is answered without an error."""
    with open_store(hand.place, write=True) as store:
        return {name for name, read in reads.items() if is_damage(read, store, slug)}


def is_damage(read: Read, store: Store, slug: str = "") -> bool:
    try:
        read(store, slug)
    except Damaged:
        return True
    return False


def changed(hand: ByHand, statement: str) -> None:
    with hand.unguarded():
        hand.run(statement)


def of(slug: str) -> str:
    return f"flow_id = (SELECT flow_id FROM flow_sources WHERE slug = '{slug}')"


@pytest.mark.parametrize(
    "change",
    [
        "number = 2",
        "kind = 'imported'",
        "kind = 'else'",
        "revision = 1",
        '"first" = 1',
        "author = 'eve'",
        "note = ''",
        "created = '2026-03-01T13:00:00.123457Z'",
        "created = 'then'",
        "bundle = 'b'",
        "origin = 'o'",
        "row_digest = ''",
        "row_digest = 'sha256:' || substr(row_digest, 8, 63) || 'x'",
    ],
)
def test_an_altered_act_is_told_by_everything_that_is_asked_of_its_flow(hand: ByHand, change: str) -> None:
    changed(hand, f"UPDATE flow_acts SET {change} WHERE {of('gone')}")
    asked = {**READS, **WRITES}
    assert set(asked) == told(hand, "gone", asked)
    beside = {name: read for name, read in READS.items() if name not in {"all", "acts"}}  # these look at acts on other flows too
    assert set() == told(hand, "paper", beside)


@pytest.mark.parametrize(
    ("slug", "statement"),
    [
        ("gone", f"DELETE FROM flow_acts WHERE {of('gone')}"),
        ("gone", "UPDATE flow_sources SET removed_at = NULL WHERE slug = 'gone'"),
        ("gone", "UPDATE flow_sources SET removed_at = '2026-03-01T13:00:00.123457Z' WHERE slug = 'gone'"),
        ("gone", "UPDATE flow_sources SET removed_at = 'then' WHERE slug = 'gone'"),
        ("back", f"UPDATE flow_sources SET removed_at = (SELECT created FROM flow_acts WHERE {of('back')}) WHERE slug = 'back'"),
        ("paper", "UPDATE flow_sources SET removed_at = '2026-03-01T13:00:00.123456Z' WHERE slug = 'paper'"),
        ("paper", "UPDATE flow_sources SET revision = 1 WHERE slug = 'paper'"),
        ("paper", "UPDATE flow_sources SET revision = 3 WHERE slug = 'paper'"),
        ("paper", f"DELETE FROM flow_source_revisions WHERE revision = 2 AND {of('paper')}"),
        ("paper", f"DELETE FROM flow_source_revisions WHERE {of('paper')}"),
        ("paper", "DELETE FROM flow_sources WHERE slug = 'paper'"),
        ("paper", "UPDATE flow_sources SET slug = 'other' WHERE slug = 'paper'"),
    ],
)
def test_a_flow_that_does_not_fit_its_revisions_and_acts_is_told_by_everything_that_is_asked_of_it(
    hand: ByHand, slug: str, statement: str
) -> None:
    changed(hand, statement)
    asked = {"present": lambda store, _: store.flows.sources(HERE.id, 10), **READS, **WRITES}
    assert set(asked) == told(hand, slug, asked)


def test_a_flow_whose_name_is_no_text_is_told_where_flows_are_listed(tmp_path: Path) -> None:
    make(tmp_path / "store.db")
    with by_hand(tmp_path / "store.db") as hand:
        changed(hand, "UPDATE flow_sources SET slug = CAST(x'706170ff' AS TEXT) WHERE slug = 'paper'")
        asked = {"present": lambda store, _: store.flows.sources(HERE.id, 10), **READS}
        assert {"present", "all"} <= told(hand, "paper", asked)


def test_a_revision_that_is_missing_before_the_last_is_told_where_it_would_be(hand: ByHand) -> None:
    changed(hand, f"DELETE FROM flow_source_revisions WHERE revision = 1 AND {of('paper')}")
    assert {"revision", "holding", "history", "bring"} == told(hand, "paper", {**READS, **WRITES})


@pytest.mark.parametrize("change", ["note = 'mine'", "author = 'eve'", "content_digest = definition_digest", "created = 'then'"])
def test_an_altered_revision_before_the_last_is_told_where_it_is_told_of(hand: ByHand, change: str) -> None:
    changed(hand, f"UPDATE flow_source_revisions SET {change} WHERE revision = 1 AND {of('paper')}")
    assert {"revision", "holding", "history", "bring"} == told(hand, "paper", {**READS, **WRITES})


def test_an_act_that_is_missing_before_the_last_is_told_where_acts_are_listed(hand: ByHand) -> None:
    with open_store(hand.place, write=True) as store:
        store.flows.remove(HERE.id, "back", 3, author="bob", note="again", time=LATER)
    changed(hand, f"DELETE FROM flow_acts WHERE number = 1 AND {of('back')}")
    assert {"acts"} == told(hand, "back", READS)


TOKENS: Mapping[str, Read] = {
    "by digest": lambda store, _: store.tokens.by_digest(issued(FIRST).digest),
    "listed": lambda store, _: store.tokens.listed(HERE.id, 10),
    "listed elsewhere": lambda store, _: store.tokens.listed("elsewhere", 10),
    "revoke": lambda store, _: store.tokens.revoke(HERE.id, FIRST, LATER),
}


@pytest.mark.parametrize(
    "change",
    [
        "name = 'root'",
        "scopes = 'operate'",
        "scopes = 'read  resolve'",
        "issuer = 'eve'",
        "created = 'then'",
        "created = '2026-03-01T12:00:00.123457Z'",
        "expires = NULL",
        "expires = '2036-03-01T12:00:00.123456Z'",
        "revoked_at = 'then'",
        "row_digest = ''",
    ],
)
def test_an_altered_token_opens_nothing_and_is_told(hand: ByHand, change: str) -> None:
    changed(hand, f"UPDATE tokens SET {change} WHERE id = '{FIRST}'")
    assert {"by digest", "listed", "revoke"} <= told(hand, "", TOKENS)


@pytest.mark.parametrize("change", [f"id = '{THIRD}'", "workspace = 'elsewhere'"])
def test_a_token_under_another_key_than_its_own_opens_nothing_and_is_told(hand: ByHand, change: str) -> None:
    changed(hand, f"UPDATE tokens SET {change} WHERE id = '{FIRST}'")
    with open_store(hand.place, write=False) as store:
        assert is_damage(TOKENS["by digest"], store)
        assert is_damage(TOKENS["listed"], store) or is_damage(TOKENS["listed elsewhere"], store)
        assert store.tokens.by_digest(issued(SECOND).digest)


def test_a_token_with_another_digest_opens_nothing_under_either(hand: ByHand) -> None:
    digest = digest_of(b"mine")
    changed(hand, f"UPDATE tokens SET digest = '{digest}' WHERE id = '{FIRST}'")
    with open_store(hand.place, write=False) as store:
        assert None is store.tokens.by_digest(issued(FIRST).digest)
        assert is_damage(lambda _, __: store.tokens.by_digest(digest), store)
        assert is_damage(TOKENS["listed"], store)


def test_an_altered_workspace_is_told(hand: ByHand) -> None:
    changed(hand, f"UPDATE workspaces SET name = 'other' WHERE id = '{HERE.id}'")
    with open_store(hand.place, write=False) as store, pytest.raises(Damaged):
        store.workspaces.get(HERE.id)
