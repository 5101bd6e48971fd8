"""Stories of crashes while flows are saved, removed and brought: a child does so for ever and is killed with -9, again and again.

After every kill: the store opens for writing and holds everything that was acknowledged, as it was acknowledged; revisions and acts are
numbered without a gap; what was read before is still there, unchanged; and all that may be there besides is the one thing that the child
was about when it died. A story follows from its seed, but for the moments at which the machine lets a kill fall.
"""

import signal
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from stateward.runtime.ports import (
    PAGE_MAX,
    ActKind,
    Brought,
    FlowAct,
    FlowHistory,
    FlowRow,
    NewRevision,
    OutcomeUnknown,
    Removed,
    Revision,
    RevisionFacts,
    Saved,
    StoreUnavailable,
)
from stateward.store.database import Store, open_store
from tests.contracts.flows import BRINGING, HERE, LATER, draft
from tests.crash.dying import End, end_postgres, end_sqlite
from tests.postgres import Server
from tests.store.children import child, exit_statuses, pipe

SLUGS = ("paper", "plan", "review")
WRITES_MAX = 12
"""At which durable write of a process it is ended at most, where it ends itself."""
TOLD_MAX = 25
"""After how many acknowledgements it is ended at most, where it is ended from outside."""
SERVER_SHARE = 0.2
"""How often it is the server that is killed, where that may be."""

Told = tuple[str, str, int, str]
"""What was acknowledged: `revision` or `act`, the slug, the number, and the digest of the content or the note of the act."""


def save_for_ever(place: Path | str, seed: int, when: str, number: int, told: Connection) -> None:
    """Save, remove and bring flows, and tell each thing once it is acknowledged; die at a durable write unless `when` is `never`."""
    if when != "never":
        (end_sqlite if isinstance(place, Path) else end_postgres)(End(when, number))
    random = Random(seed)  # noqa: S311 -- a story is to be told again
    with suppress(OutcomeUnknown, StoreUnavailable) if isinstance(place, str) else nullcontext(), open_store(place, write=True) as store:
        store.workspaces.ensure(HERE)
        for step in count():
            told.send(_act(store, random, f"{seed}:{step}"))


def _act(store: Store, random: Random, content: str) -> Told:
    slug = random.choice(SLUGS)
    row = store.flows.find(HERE.id, slug)
    what = random.random()
    if row is not None and row.removed is None and what < 0.15:
        answer = store.flows.remove(HERE.id, slug, row.last.revision, author="ada", note=content, time=LATER)
        assert isinstance(answer, Removed)
        return ("act", slug, answer.act.number, answer.act.note)
    base = None if row is None else row.last.revision
    if what < 0.3:
        return _bring(store, slug, base or 0, content)
    saved = store.flows.save(HERE.id, draft(slug, content.encode(), f'"{content}"'.encode()), base)
    assert isinstance(saved, Saved)
    assert saved.created
    return ("revision", slug, saved.revision.revision, saved.revision.content_digest)


def _bring(store: Store, slug: str, last: int, content: str) -> Told:
    there = [_stored(store, slug, number) for number in range(1, last + 1)]
    new = [draft(slug, f"{content}.{number}".encode(), b"[]") for number in (1, 2)]
    history = FlowHistory(slug, (*(_as_new(store, each) for each in there), *new))
    (answer,) = store.flows.bring(HERE.id, [history], replace(BRINGING, note=content))
    assert Brought(slug, last + 1, last + 2) == answer
    return ("revision", slug, last + 2, new[-1].content_digest)


def _stored(store: Store, slug: str, number: int) -> Revision:
    found = store.flows.revision(HERE.id, slug, number)
    assert found is not None
    return found


def _as_new(store: Store, revision: Revision) -> NewRevision:
    definition = store.flows.definition(revision.definition_digest)
    assert definition is not None
    return replace(
        draft(revision.slug, revision.content, definition, revision.note),
        compiler=revision.compiler,
        author=revision.author,
        created=revision.created,
    )


class Kept:
    """What a store holds of each flow: its revisions and the acts on it, from the first on."""

    def __init__(self, place: Path | str) -> None:
        with open_store(place, write=True) as store:
            self.rows = {("revision", slug): _oldest_first(store.flows.history, slug) for slug in SLUGS}
            self.rows |= {("act", slug): _oldest_first(store.flows.acts, slug) for slug in SLUGS}
            for row in store.flows.sources(HERE.id, PAGE_MAX, removed=True):
                _require_sound(store, row)

    def require_kept(self, earlier: "Kept") -> None:
        """Hold it against what was read before: nothing of that is gone or another."""
        for place, rows in earlier.rows.items():
            assert rows == self.rows[place][: len(rows)], place

    def require_acknowledged(self, told: Sequence[Told]) -> None:
        """Hold it against what was acknowledged."""
        for what, slug, number, sign in told:
            row = self.rows[what, slug][number - 1]
            assert sign == (row.content_digest if isinstance(row, RevisionFacts) else row.note), (what, slug, number)

    @property
    def size(self) -> int:
        """How many saves, removals and bringings led to it."""
        revisions = sum(len(rows) for (what, _), rows in self.rows.items() if what == "revision")
        acts = [act for (what, _), rows in self.rows.items() if what == "act" for act in rows]
        brought = sum(act.revision - act.first + 1 for act in acts if isinstance(act, FlowAct) and act.kind is ActKind.IMPORTED)
        return revisions - brought + len(acts)


def _oldest_first(listed: Callable[..., Sequence[RevisionFacts] | Sequence[FlowAct]], slug: str) -> list[RevisionFacts | FlowAct]:
    found: list[RevisionFacts | FlowAct] = []
    before: int | None = None
    while page := listed(HERE.id, slug, PAGE_MAX, before):
        found += page
        before = page[-1].revision if isinstance(page[-1], RevisionFacts) else page[-1].number
    numbers = [each.revision if isinstance(each, RevisionFacts) else each.number for each in reversed(found)]
    assert list(range(1, len(found) + 1)) == numbers
    return found[::-1]


def _require_sound(store: Store, row: FlowRow) -> None:
    last = store.flows.revision(HERE.id, row.last.slug, row.last.revision)
    assert last is not None
    assert last.facts == row.last
    assert store.flows.definition(last.definition_digest)
    assert (None if row.removed else last) == store.flows.current(HERE.id, row.last.slug)


@dataclass
class SavingStory:
    """One store, and what became of it."""

    place: Path | str
    random: Random
    server: Server | None = None
    """What is killed now and then in place of the child, if it may be."""
    kills: int = 0

    def tell(self, kills_max: int) -> int:
        """Let a child save and be killed so often; give how many kills fell."""
        open_store(self.place, write=True, create=True).close()
        kept = Kept(self.place)
        for _ in range(kills_max):
            told = self._killed()
            self.kills += 1
            now = Kept(self.place)
            now.require_kept(kept)
            now.require_acknowledged(told)
            assert kept.size + len(told) <= now.size <= kept.size + len(told) + 1
            self._require_whole()
            kept = now
        return self.kills

    def _killed(self) -> list[Told]:
        """Run a child until it dies, and give what it told: at a durable write, at any moment, or with the server."""
        when = self.random.choice(("before", "after", "never", "never"))
        receiving, sending = pipe()
        saving = child(save_for_ever, self.place, self.random.randrange(2**32), when, self.random.randint(1, WRITES_MAX), sending)
        sending.close()
        told: list[Told] = []
        if when != "never":
            _hear(receiving, told)
            assert [-signal.SIGKILL] == exit_statuses([saving])
            return told
        _hear(receiving, told, self.random.randint(0, TOLD_MAX))
        server = self.server if self.random.random() < SERVER_SHARE else None
        (saving if server is None else server).kill()
        _hear(receiving, told)
        assert [-signal.SIGKILL if server is None else 0] == exit_statuses([saving])
        if server is not None:
            server.start()
        return told

    def _require_whole(self) -> None:
        if isinstance(self.place, Path):
            with closing(sqlite3.connect(self.place)) as connection:
                assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
                assert [] == connection.execute("PRAGMA foreign_key_check").fetchall()


def _hear(receiving: Connection, told: list[Told], count: int | None = None) -> None:
    """Take what is told: so many things, or until nobody is left to tell any."""
    with suppress(EOFError, OSError):  # a child that dies tells half a thing at times
        while count is None or len(told) < count:
            told.append(receiving.recv())


def saving_story(place: Path | str, seed: int, server: Server | None = None) -> SavingStory:
    """Give the story that follows from a seed."""
    return SavingStory(place, Random(seed), server)  # noqa: S311 -- a story is to be told again
