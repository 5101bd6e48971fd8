"""Whatever is asked of them, the store in memory and the store on SQLite give the same answers, also after a reopening."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from stateward.runtime.ports import Committed, Saved, StaleBase
from stateward.runtime.session.entries import GENESIS, Head, NewEntry
from stateward.store.database import Store, open_store
from stateward.store.memory import MemoryFlowStore
from stateward.store.memory_sessions import MemorySessionStore
from tests.contracts.flows import HERE, draft
from tests.contracts.sessions import NOON, OTHER, THIRD, WORKER, WORKSPACE, entry
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


class Stores(RuleBasedStateMachine):
    """Both stores, and every head that any log ever had: a caller may come with an old one."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self.path = Path(self.folder.name) / "store.db"
        self.sessions, self.flows = MemorySessionStore(), MemoryFlowStore()
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

    @rule(worker=WORKERS, after=st.integers(0, 6), upto=st.none() | st.integers(0, 9), key=st.sampled_from(("a", "b", "d")))
    def read(self, worker: str, after: int, upto: int | None, key: str) -> None:
        assert list(self.sessions.entries(worker, after, upto)) == list(self.store.sessions.entries(worker, after, upto))
        assert self.sessions.latest(worker, "checkpoint") == self.store.sessions.latest(worker, "checkpoint")
        assert self.sessions.find(worker, key) == self.store.sessions.find(worker, key)

    @invariant()
    def heads_and_current_revisions_are_the_same(self) -> None:
        assert list(self.sessions.workers(WORKSPACE, 9)) == list(self.store.sessions.workers(WORKSPACE, 9))
        assert list(self.flows.sources(HERE.id, 9)) == list(self.store.flows.sources(HERE.id, 9))

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
