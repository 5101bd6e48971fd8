"""Whatever is asked of them, the store in memory and the store on a database give the same answers, also after a reopening."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from stateward.runtime.ports import Committed, FlowHistory, Saved, StaleBase, StoredToken, TokenStore
from stateward.runtime.session.entries import GENESIS, Head, NewEntry
from stateward.store.database import Store, open_store
from stateward.store.memory import MemoryFlowStore
from stateward.store.memory_sessions import MemorySessionStore
from stateward.store.memory_tokens import MemoryTokens
from tests.contracts.flows import BRINGING, EVENING, HERE, LATER, draft, history, there
from tests.contracts.sessions import NOON, OTHER, THIRD, WORKER, WORKSPACE, entry
from tests.contracts.tokens import FIRST, SECOND, issued
from tests.postgres import Server
from tests.store.children import LONG
from tests.store.folders import MEMORY

WORKERS = st.sampled_from((WORKER, OTHER, THIRD))
KEYS = st.sampled_from((None, None, "a", "b", "c"))
KINDS = st.sampled_from(("checkpoint", "tool_result"))
PAYLOADS = st.binary(max_size=8) | st.sampled_from((b"p", b"q")).map(lambda letter: letter * 300_000)
ENTRIES = st.lists(st.builds(entry, PAYLOADS, KEYS, KINDS), min_size=1, max_size=3, unique_by=lambda each: each.key or object())
SLUGS = st.sampled_from(("paper", "plan"))
CONTENTS = st.sampled_from((b"one", b"two", b"three"))
BASES = st.integers(0, 3)
HISTORIES = st.builds(
    lambda slug, contents, hidden: history(*contents, slug=slug, removed=there() if hidden else None),
    SLUGS,
    st.lists(st.sampled_from((b"one", b"two")), min_size=1, max_size=4),
    st.booleans(),
)
TOKENS = st.builds(
    lambda token, digest: replace(issued(token), digest=issued(digest).digest),
    *[st.sampled_from((FIRST, SECOND))] * 2,
)


def was_kept(tokens: TokenStore, token: StoredToken) -> bool:
    try:
        tokens.keep(token)
    except ValueError:
        return False
    return True


class Stores(RuleBasedStateMachine):
    """Both stores, and every head that any log ever had: a caller may come with an old one."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self.path = Path(self.folder.name) / "store.db"
        self.sessions, self.flows, self.tokens = MemorySessionStore(), MemoryFlowStore(), MemoryTokens()
        self.flows.ensure(HERE)
        self.heads: list[Head] = [GENESIS]
        self.store = self.opened()
        self.store.workspaces.ensure(HERE)

    def opened(self) -> Store:
        return open_store(self.path, write=True, create=True)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.opened()

    @rule(worker=WORKERS, entries=ENTRIES, base=st.sampled_from((GENESIS, Head(3, GENESIS.digest))))
    def create(self, worker: str, entries: Sequence[NewEntry], base: Head) -> None:
        expected = self.sessions.create(worker, WORKSPACE, entries, {}, base)
        assert expected == self.store.sessions.create(worker, WORKSPACE, entries, {}, base)
        if isinstance(expected, Committed):
            self.heads.append(expected.head)

    @rule(worker=WORKERS, entries=ENTRIES, back=st.integers(0, 5))
    def append(self, worker: str, entries: Sequence[NewEntry], back: int) -> None:
        head = self.heads[-1 - back % len(self.heads)] if back else self.sessions.head(worker) or GENESIS
        expected = self.sessions.append(worker, head, entries, {})
        assert expected == self.store.sessions.append(worker, head, entries, {})
        if isinstance(expected, Committed):
            self.heads.append(expected.head)

    @rule(worker=WORKERS, back=st.integers(0, 5))
    def delete(self, worker: str, back: int) -> None:
        head = self.heads[-1 - back % len(self.heads)]
        assert self.sessions.delete(worker, head, NOON) == self.store.sessions.delete(worker, head, NOON)

    @rule(slug=SLUGS, content=CONTENTS, definition=CONTENTS, base=st.sampled_from((None, 1, 2, 3)))
    def save(self, slug: str, content: bytes, definition: bytes, base: int | None) -> None:
        new = draft(slug, content, definition)
        expected: Saved | StaleBase = self.flows.save(HERE.id, new, base)
        assert expected == self.store.flows.save(HERE.id, new, base)

    @rule(slug=SLUGS, behind=BASES, content=CONTENTS)
    def save_on(self, slug: str, behind: int, content: bytes) -> None:
        found = self.flows.find(HERE.id, slug)
        self.save(slug, content, content, None if found is None else found.last.revision - behind)

    @rule(slug=SLUGS, behind=BASES, again=st.booleans())
    def remove(self, slug: str, behind: int, again: bool) -> None:
        found = self.flows.find(HERE.id, slug)
        base, time = 1 if found is None else found.last.revision - behind, EVENING if again else LATER
        expected = self.flows.remove(HERE.id, slug, base, author="bob", note=f"on {base}", time=time)
        assert expected == self.store.flows.remove(HERE.id, slug, base, author="bob", note=f"on {base}", time=time)

    @rule(histories=st.lists(HISTORIES, max_size=2, unique_by=lambda each: each.slug))
    def bring(self, histories: Sequence[FlowHistory]) -> None:
        expected = list(self.flows.bring(HERE.id, histories, BRINGING))
        assert expected == list(self.store.flows.bring(HERE.id, histories, BRINGING))

    @rule(slug=SLUGS, number=st.integers(-1, 6), limit=st.integers(1, 4), before=st.none() | st.integers(-1, 6), content=CONTENTS)
    def look_at_a_flow(self, slug: str, number: int, limit: int, before: int | None, content: bytes) -> None:
        digest = draft(content=content).content_digest
        ours, theirs = self.flows, self.store.flows
        assert ours.current(HERE.id, slug) == theirs.current(HERE.id, slug)
        assert ours.find(HERE.id, slug) == theirs.find(HERE.id, slug)
        assert ours.revision(HERE.id, slug, number) == theirs.revision(HERE.id, slug, number)
        assert ours.holding(HERE.id, slug, digest) == theirs.holding(HERE.id, slug, digest)
        assert list(ours.history(HERE.id, slug, limit, before)) == list(theirs.history(HERE.id, slug, limit, before))
        assert list(ours.acts(HERE.id, slug, limit, before)) == list(theirs.acts(HERE.id, slug, limit, before))

    @rule(token=TOKENS, name=st.sampled_from(("ci", "laptop")))
    def keep(self, token: StoredToken, name: str) -> None:
        assert was_kept(self.tokens, replace(token, name=name)) == was_kept(self.store.tokens, replace(token, name=name))
        assert self.tokens.by_digest(token.digest) == self.store.tokens.by_digest(token.digest)

    @rule(token=st.sampled_from((FIRST, SECOND)), again=st.booleans())
    def revoke(self, token: str, again: bool) -> None:
        time = EVENING if again else LATER
        assert self.tokens.revoke(HERE.id, token, time) == self.store.tokens.revoke(HERE.id, token, time)

    @rule(worker=WORKERS, after=st.integers(0, 6), upto=st.none() | st.integers(0, 9), key=st.sampled_from(("a", "b", "d")))
    def read(self, worker: str, after: int, upto: int | None, key: str) -> None:
        assert list(self.sessions.entries(worker, after, upto)) == list(self.store.sessions.entries(worker, after, upto))
        assert self.sessions.latest(worker, "checkpoint") == self.store.sessions.latest(worker, "checkpoint")
        assert self.sessions.find(worker, key) == self.store.sessions.find(worker, key)

    @invariant()
    def heads_and_current_revisions_are_the_same(self) -> None:
        assert list(self.sessions.workers(WORKSPACE, 9)) == list(self.store.sessions.workers(WORKSPACE, 9))
        for removed in (False, True):
            assert list(self.flows.sources(HERE.id, 9, removed=removed)) == list(self.store.flows.sources(HERE.id, 9, removed=removed))
        assert list(self.tokens.listed(HERE.id, 9)) == list(self.store.tokens.listed(HERE.id, 9))

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


TestStores = Stores.TestCase
TestStores.settings = settings(max_examples=500 if LONG else 25, stateful_step_count=30, deadline=None)


def test_a_store_on_postgresql_agrees_too(postgres: Server, url: str) -> None:
    class StoresOnPostgresql(Stores):
        """The store in memory and the one on PostgreSQL; each story begins with an empty database."""

        def opened(self) -> Store:
            return open_store(url, write=True, create=True)

        def teardown(self) -> None:
            super().teardown()
            postgres.empty(url)

    told = settings(max_examples=100 if LONG else 6, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(StoresOnPostgresql, settings=told)
