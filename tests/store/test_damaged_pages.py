"""Bits that a disk flips and pages that it puts in the place of others: whatever is asked, the answer is right or damage is said.

What only one page speaks of may go with that page: an entry may no longer be found by its key, or an earlier checkpoint be the last, and
that a Worker was deleted, a definition, a transcript, a token or an act on a flow that was saved since be missing; but nothing else is
ever given in its place. A token that was revoked is revoked whatever happens to the time at which it was. Leases, and logs as they lie,
which are given unchecked to whoever verifies them, are only asked whether they fail in order.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.runtime.ports import Committed, Damaged, Fault, StoredToken, WorkerRow
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import GENESIS, Head
from stateward.runtime.session.verification import Ends
from stateward.store.database import Store, open_store
from tests.contracts.flows import BRINGING, HERE, LATER, draft, history, there
from tests.contracts.leases import ATTEMPT, SECONDS
from tests.contracts.sessions import NOON, OTHER, THIRD, WORKER, WORKSPACE, entry
from tests.contracts.tokens import FIRST, SECOND, issued
from tests.contracts.tokens import THIRD as THIRD_TOKEN
from tests.store.children import LONG
from tests.store.folders import MEMORY

PAGE: Final = 4096
HEADER: Final = 100
"""Bytes of the file's own header, before those of its first page."""
DEFINITION: Final = b'{"definition":"of the flow"}'
ENTRIES: Final = 12
LARGE: Final = b"p" * 300_000
ABSENT: Final = "0198c0de-0000-7000-8000-0000000000ff"

Read = Callable[[Store], object]
Change = Callable[[bytearray], None]


def make_store(path: Path) -> None:
    with open_store(path, write=True, create=True) as store:
        for worker in (WORKER, OTHER):
            kinds = ["checkpoint" if number % 4 == 0 else "tool_result" for number in range(ENTRIES)]
            entries = [entry(f"payload {number} of {worker}".encode(), f"k-{number}", kind) for number, kind in enumerate(kinds)]
            store.sessions.create(worker, WORKSPACE, entries, {digest_of(DEFINITION): DEFINITION})
        deleted = store.sessions.create(THIRD, WORKSPACE, (entry(b"gone", "gone"),), {})
        assert isinstance(deleted, Committed)
        store.sessions.delete(THIRD, deleted.head, NOON)
        head = store.sessions.head(WORKER)
        assert head is not None
        store.sessions.append(WORKER, head, (entry(LARGE, "large"),))
        store.workspaces.ensure(HERE)
        for slug, content, base in (("paper", b"one", None), ("paper", b"two", 1), ("plan", b"one", None)):
            store.flows.save(HERE.id, draft(slug, content, DEFINITION), base)
        for slug in ("gone", "back"):
            store.flows.save(HERE.id, draft(slug, b"one", DEFINITION), None)
            store.flows.remove(HERE.id, slug, 1, author="ada", note="", time=LATER)
        store.flows.save(HERE.id, draft("back", b"one", DEFINITION), 1)
        store.flows.bring(HERE.id, [history(b"one", b"two", slug="brought", removed=there("brought"))], BRINGING)
        for token in (FIRST, SECOND):
            store.tokens.keep(issued(token))
        store.tokens.revoke(HERE.id, SECOND, LATER)
        store.leases.take(WORKER, ATTEMPT, "holder", NOON, SECONDS)
        store.transcripts.append(WORKER, ATTEMPT, 1, b"what was said")


def reads_of_a_log(worker: str) -> dict[str, Read]:
    return {
        f"head of {worker}": lambda store: store.sessions.head(worker),
        f"entries of {worker}": lambda store: list(store.sessions.entries(worker)),
        f"some entries of {worker}": lambda store: list(store.sessions.entries(worker, 5, 9)),
        f"a missing key of {worker}": lambda store: store.sessions.find(worker, "k-77"),
        f"last result of {worker}": lambda store: store.sessions.latest(worker, "tool_result"),
        f"last of no kind of {worker}": lambda store: store.sessions.latest(worker, "none"),
    }


def reads_of_one_page(worker: str) -> dict[str, Read]:
    return {
        f"a key of {worker}": lambda store: store.sessions.find(worker, "k-7"),
        f"last checkpoint of {worker}": lambda store: store.sessions.latest(worker, "checkpoint"),
        f"deletion of {worker}": lambda store: store.stored.deleted(worker),
    }


def listed(rows: Sequence[WorkerRow]) -> list[WorkerRow]:
    """Take a row that says that its log is damaged as the fault that reading that log is."""
    for row in rows:
        if row.problem:
            raise Damaged(row.problem, "look at the others")
    return list(rows)


def timeless(token: StoredToken | None) -> tuple[StoredToken, bool] | None:
    """Give a token and whether it was revoked, leaving out when: that is not covered by its digest."""
    return None if token is None else (replace(token, revoked=None), token.revoked is not None)


def reads_of_a_flow(slug: str) -> dict[str, Read]:
    return {
        f"current {slug}": lambda store: store.flows.current(HERE.id, slug),
        f"row of {slug}": lambda store: store.flows.find(HERE.id, slug),
        f"history of {slug}": lambda store: list(store.flows.history(HERE.id, slug, 10)),
        f"earlier history of {slug}": lambda store: list(store.flows.history(HERE.id, slug, 10, before=2)),
        f"last with a content of {slug}": lambda store: store.flows.holding(HERE.id, slug, digest_of(b"one")),
        f"none with a content of {slug}": lambda store: store.flows.holding(HERE.id, slug, digest_of(b"nobody's")),
    }


def acts(slug: str) -> Read:
    return lambda store: list(store.flows.acts(HERE.id, slug, 10))


def revision(number: int) -> Read:
    return lambda store: store.flows.revision(HERE.id, "paper", number)


READS: Final[Mapping[str, Read]] = {
    **{name: read for worker in (WORKER, OTHER, THIRD, ABSENT) for name, read in reads_of_a_log(worker).items()},
    "workers": lambda store: listed(store.sessions.workers(WORKSPACE, 10)),
    "workers, page by page": lambda store: listed(store.sessions.workers(WORKSPACE, 1, WORKER)),
    "workers elsewhere": lambda store: listed(store.sessions.workers("elsewhere", 10)),
    "missing definition": lambda store: store.flows.definition(digest_of(b"nobody's")),
    "workspace": lambda store: store.workspaces.get(HERE.id),
    "missing workspace": lambda store: store.workspaces.get("elsewhere"),
    **{name: read for slug in ("paper", "plan", "gone", "back", "brought", "none") for name, read in reads_of_a_flow(slug).items()},
    **{f"revision {number}": revision(number) for number in (0, 1, 2, 3)},
    "flows": lambda store: list(store.flows.sources(HERE.id, 10)),
    "flows, page by page": lambda store: list(store.flows.sources(HERE.id, 2, "brought", removed=True)),
    "removed flows": lambda store: list(store.flows.sources(HERE.id, 10, removed=True)),
    "flows elsewhere": lambda store: list(store.flows.sources("elsewhere", 10)),
    "a token that is not there": lambda store: store.tokens.by_digest(digest_of(b"nobody's")),
}
OF_ONE_PAGE: Final[Mapping[str, Read]] = {
    **{name: read for worker in (WORKER, OTHER, THIRD, ABSENT) for name, read in reads_of_one_page(worker).items()},
    "definition": lambda store: store.sessions.definition(digest_of(DEFINITION)),
    **{f"acts on {slug}": acts(slug) for slug in ("paper", "gone", "back", "brought", "none")},
    "tokens": lambda store: [timeless(each) for each in store.tokens.listed(HERE.id, 10)],
    "token": lambda store: store.tokens.by_digest(issued(FIRST).digest),
    "revoked token": lambda store: timeless(store.tokens.by_digest(issued(SECOND).digest)),
    "transcript": lambda store: tuple(store.transcripts.records(WORKER, ATTEMPT)) or None,
}
UNCHECKED: Final[tuple[Read, ...]] = (
    lambda store: store.leases.holder(WORKER, ATTEMPT, NOON),
    lambda store: store.stored.ends(WORKER),
    lambda store: list(store.stored.stored(WORKER, ENTRIES + 1)),
)


class Sound:
    """A store as it was written, and what it answers."""

    def __init__(self, path: Path) -> None:
        make_store(path)
        self.data: Final = path.read_bytes()
        self.path: Final = path
        with open_store(path, write=False) as store:
            self.answers: Final = {name: read(store) for name, read in {**READS, **OF_ONE_PAGE}.items()}
            entries = [*store.sessions.entries(WORKER), *store.sessions.entries(OTHER)]
            self.checkpoints: Final = [each for each in entries if each.kind == "checkpoint"]
            assert isinstance(store.stored.ends(WORKER), Ends)
        pages = range(len(self.data) // PAGE)
        self.small: Final = tuple(page for page in pages if LARGE[: PAGE // 2] not in self.page(page))
        """The pages on which more than the large payload lies."""
        self.rows: Final = tuple(page for page in self.small if page and int.from_bytes(self.page(page)[3:5], "big"))
        """Of these, the ones that hold rows; not the one with the schema."""

    def page(self, number: int) -> bytes:
        return self.data[number * PAGE : (number + 1) * PAGE]

    def parts(self, name: str) -> list[object]:
        """The right answer, and of a list whatever is left of it when some of it is missing."""
        answer = self.answers[name]
        if not isinstance(answer, list):
            return [answer]
        return [list(part) for size in range(len(answer) + 1) for part in combinations(answer, size)]

    def put(self, data: bytes | bytearray) -> None:
        """Put other bytes in the place of the store, with nothing beside them."""
        for beside in self.path.parent.glob("store.db-*"):
            beside.unlink()
        self.path.write_bytes(data)

    def ask_everything_after(self, change: Change) -> None:
        """Hold every answer of a damaged copy against what is right."""
        data = bytearray(self.data)
        change(data)
        self.put(data)
        try:
            store = open_store(self.path, write=False)
        except Fault as fault:
            require_said(fault)
            return
        with store:
            for name, read in READS.items():
                assert answer_or(self.answers[name], read, store) == self.answers[name], name
            for name, read in OF_ONE_PAGE.items():
                right = [None, *self.parts(name), *(self.checkpoints if name.startswith("last") else ())]
                assert answer_or(None, read, store) in right, name
            for read in UNCHECKED:
                answer_or(None, read, store)


def answer_or(fault_is: object, read: Read, store: Store) -> object:
    """Give the answer, or, where damage was said, what is as good as that."""
    try:
        return read(store)
    except Fault as fault:
        require_said(fault)
        return fault_is


def require_said(fault: Fault) -> None:
    assert fault.message
    assert "\n" not in fault.message
    assert fault.remedy


@pytest.fixture(scope="module")
def sound() -> Iterator[Sound]:
    with tempfile.TemporaryDirectory(prefix="stateward-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        yield Sound(Path(folder) / "store.db")


OFTEN = settings(max_examples=5000 if LONG else 80, deadline=None)


@OFTEN
@given(chosen=st.data())
def test_a_flipped_bit_is_never_told_as_truth(sound: Sound, chosen: st.DataObject) -> None:
    page = chosen.draw(st.sampled_from(sound.small))
    place = page * PAGE + chosen.draw(st.integers(0, PAGE - 1))
    bit = chosen.draw(st.integers(0, 7))

    def flip(data: bytearray) -> None:
        data[place] ^= 1 << bit

    sound.ask_everything_after(flip)


@OFTEN
@given(chosen=st.data())
def test_a_page_put_in_the_place_of_another_is_never_told_as_truth(sound: Sound, chosen: st.DataObject) -> None:
    of, to = chosen.draw(st.tuples(st.sampled_from(sound.rows), st.sampled_from(sound.rows)))
    both_ways = chosen.draw(st.booleans())

    def put(data: bytearray) -> None:
        data[to * PAGE : (to + 1) * PAGE] = sound.page(of)
        if both_ways:
            data[of * PAGE : (of + 1) * PAGE] = sound.page(to)

    sound.ask_everything_after(put)


def test_a_page_of_nothing_is_never_told_as_truth(sound: Sound) -> None:
    for page in range(len(sound.data) // PAGE):

        def wipe(data: bytearray, page: int = page) -> None:
            data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)

        sound.ask_everything_after(wipe)


@pytest.mark.parametrize("pages", [1, 2, 5, 10, 18])
def test_a_file_that_was_cut_is_never_told_as_truth(sound: Sound, pages: int) -> None:
    def cut(data: bytearray) -> None:
        del data[pages * PAGE :]

    sound.ask_everything_after(cut)


def test_no_bit_of_the_header_makes_it_tell_what_is_not_so(sound: Sound) -> None:
    for place in range(HEADER):
        for bit in range(8) if LONG else (place % 8,):

            def flip(data: bytearray, place: int = place, bit: int = bit) -> None:
                data[place] ^= 1 << bit

            sound.ask_everything_after(flip)


WRITES: Final[Mapping[str, Read]] = {
    "append": lambda store: store.sessions.append(WORKER, head_of(store, WORKER), (entry(b"more", "more"), entry(LARGE, "large too"))),
    "append of a key that is there": lambda store: store.sessions.append(WORKER, head_of(store, WORKER), (entry(b"more", "k-3"),)),
    "create": lambda store: store.sessions.create(ABSENT, WORKSPACE, (entry(b"new", "new"),), {digest_of(DEFINITION): DEFINITION}),
    "create what was deleted": lambda store: store.sessions.create(THIRD, WORKSPACE, (entry(b"new", "new"),), {}),
    "delete": lambda store: store.sessions.delete(OTHER, head_of(store, OTHER), NOON),
    "save": lambda store: store.flows.save(HERE.id, draft("paper", b"three", DEFINITION), 2),
    "save of a new flow": lambda store: store.flows.save(store.workspaces.ensure(HERE).id, draft("new", b"one", DEFINITION), None),
    "save on a removed flow": lambda store: store.flows.save(HERE.id, draft("gone", b"one", DEFINITION), 1),
    "remove": lambda store: store.flows.remove(HERE.id, "plan", 1, author="ada", note="", time=LATER),
    "bring": lambda store: list(store.flows.bring(HERE.id, [history(b"one", b"two", b"three", slug="brought")], BRINGING)),
    "keep a token": lambda store: store.tokens.keep(issued(THIRD_TOKEN)),
    "revoke a token": lambda store: store.tokens.revoke(HERE.id, FIRST, LATER),
    "take": lambda store: store.leases.take(WORKER, f"{ATTEMPT}-later", "holder", NOON, SECONDS),
    "renew": lambda store: store.leases.renew(WORKER, ATTEMPT, 1, NOON, SECONDS),
    "release": lambda store: store.leases.release(WORKER, ATTEMPT, 1),
}


def head_of(store: Store, worker: str) -> Head:
    return store.sessions.head(worker) or GENESIS


@OFTEN
@given(chosen=st.data())
def test_whatever_is_written_to_a_damaged_store_is_answered_or_refused_in_order(sound: Sound, chosen: st.DataObject) -> None:
    data = bytearray(sound.data)
    if chosen.draw(st.booleans()):
        place = chosen.draw(st.sampled_from(sound.small)) * PAGE + chosen.draw(st.integers(0, PAGE - 1))
        data[place] ^= 1 << chosen.draw(st.integers(0, 7))
    else:
        of, to = chosen.draw(st.tuples(st.sampled_from(sound.rows), st.sampled_from(sound.rows)))
        data[to * PAGE : (to + 1) * PAGE] = sound.page(of)
    sound.put(data)
    try:
        store = open_store(sound.path, write=True)
    except Fault as fault:
        require_said(fault)
        return
    with store:
        for write in WRITES.values():
            answer_or(None, write, store)
