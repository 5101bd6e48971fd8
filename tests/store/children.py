"""What processes beside the test's own do to a store, and how they are run.

Children are forked from a server that has imported the store and opened nothing, so that starting one is cheap and no connection is
ever carried across a fork.
"""

import os
import signal
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from stateward.runtime.ports import (
    Brought,
    Committed,
    FlowHistory,
    FlowRow,
    FlowStore,
    OutcomeUnknown,
    Removed,
    Saved,
    SessionStore,
    StaleBase,
    StoreUnavailable,
    Workspace,
)
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import GENESIS, Head, NewEntry
from stateward.store.database import open_store
from tests.contracts.flows import BRINGING, HERE, draft
from tests.contracts.sessions import NOON, WORKSPACE, entry
from tests.forking import CONTEXT

LONG = bool(os.environ.get("STATEWARD_TESTS_LONG"))
"""Whether to run as often as a release should; a few minutes in all."""


def child(action: Callable[..., None], *given: Any) -> BaseProcess:
    process = CONTEXT.Process(target=action, args=given)
    process.start()
    return process


def exit_statuses(processes: Sequence[BaseProcess]) -> list[int | None]:
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def barrier(parties: int) -> Any:
    return CONTEXT.Barrier(parties)


def pipe() -> tuple[Any, Any]:
    return CONTEXT.Pipe(duplex=False)


class Dying(sqlite3.Connection):
    """A connection that kills its process right before or after the n-th statement since it was armed."""

    countdown: int | None = None
    after = False

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        if Dying.countdown is not None:
            Dying.countdown -= 1
        dies = Dying.countdown == 0
        if dies and not Dying.after:
            os.kill(os.getpid(), signal.SIGKILL)
        cursor = super().execute(sql, *given)
        if dies:
            os.kill(os.getpid(), signal.SIGKILL)
        return cursor


class Telling(sqlite3.Connection):
    """A connection that keeps every statement it is given."""

    statements: list[str] = []  # noqa: RUF012 -- what all connections of one test saw

    def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
        Telling.statements.append(sql)
        return super().execute(sql, *given)


def connect_with(factory: type[sqlite3.Connection]) -> Callable[..., sqlite3.Connection]:
    return partial(sqlite3.connect, factory=factory)


def pair(number: int) -> tuple[NewEntry, NewEntry]:
    return entry(f"{number}-a".encode(), f"{number}-a"), entry(f"{number}-b".encode(), f"{number}-b")


def append_and_die(path: Path, worker: str, statement: int, after: bool, acknowledged: Any) -> None:
    sqlite3.connect = connect_with(Dying)  # type: ignore[assignment]
    with open_store(path, write=True) as store:
        head = store.sessions.head(worker) or GENESIS
        for number in (1, 2):
            if number == 2:
                Dying.after, Dying.countdown = after, statement
            answer = store.sessions.append(worker, head, pair(number))
            assert isinstance(answer, Committed)
            acknowledged.send(answer.head)
            head = answer.head


def create_and_die(path: Path, statement: int, after: bool) -> None:
    sqlite3.connect = connect_with(Dying)  # type: ignore[assignment]
    Dying.after, Dying.countdown = after, statement
    open_store(path, write=True, create=True).close()


def append_for_ever(path: Path | str, worker: str, acknowledged: Any) -> None:
    with open_store(path, write=True) as store:
        head = store.sessions.head(worker)
        assert head is not None
        while True:
            answer = store.sessions.append(worker, head, pair(head.seq))
            assert isinstance(answer, Committed)
            acknowledged.send(answer.head)
            head = answer.head


def append_until_the_server_is_gone(url: str, worker: str, acknowledged: Any) -> None:
    with suppress(OutcomeUnknown, StoreUnavailable):
        append_for_ever(url, worker, acknowledged)


def append_to_own(path: Path | str, worker: str, count: int, start: Any) -> None:
    start.wait()
    with open_store(path, write=True, create=True) as store:
        answer = store.sessions.create(worker, WORKSPACE, (entry(b"0", "0"),), {})
        for number in range(1, count):
            assert isinstance(answer, Committed)
            answer = store.sessions.append(worker, answer.head, (entry(str(number).encode(), str(number)),))
        assert isinstance(answer, Committed)


def append_to_shared(path: Path | str, worker: str, name: str, count: int, start: Any) -> None:
    start.wait()
    with open_store(path, write=True) as store:
        for number in range(count):
            append_until_committed(store.sessions, worker, entry(f"{name}:{number}".encode(), f"{name}:{number}"))


def append_until_committed(sessions: SessionStore, worker: str, new: NewEntry) -> None:
    head: Head | None = sessions.head(worker)
    while head is not None:
        answer = sessions.append(worker, head, (new,))
        if isinstance(answer, Committed):
            return
        head = sessions.head(worker)


def read_until_told(path: Path | str, workers: Sequence[str], start: Any, stop: Any) -> None:
    """Read every log again and again: no read may fail, and no log may ever get shorter."""
    seen = dict.fromkeys(workers, 0)
    start.wait()
    with open_store(path, write=False) as store:
        while not stop.poll():
            for worker in workers:
                read = sum(1 for _ in store.sessions.entries(worker))
                assert read >= seen[worker]
                seen[worker] = read


def take_lease(path: Path | str, worker: str, attempt: str, name: str, start: Any, answers: Any) -> None:
    with open_store(path, write=True) as store:
        start.wait()
        answers.send(store.leases.take(worker, attempt, name, NOON, 15.0))


def create_store(path: Path | str, start: Any) -> None:
    start.wait()
    with open_store(path, write=True, create=True) as store:
        assert [] == list(store.sessions.workers(WORKSPACE, 1))


def save_over_each_other(path: Path | str, name: str, count: int, start: Any, told: Any) -> None:
    """Save `count` contents of our own over whatever is current, always naming the base; tell what was accepted and what was refused.

    Accepted: number and content. Refused: the base, and number and digest of the revision that was named instead.
    """
    accepted: list[tuple[int, bytes]] = []
    refused: list[tuple[int | None, int, str]] = []
    with open_store(path, write=True) as store:
        start.wait()
        base: int | None = None
        for number in range(count):
            new = draft(content=f"{name}:{number}".encode())
            answer = store.flows.save(HERE.id, new, base)
            while isinstance(answer, StaleBase):
                assert answer.current is not None
                refused.append((base, answer.current.revision, answer.current.content_digest))
                base = answer.current.revision
                answer = store.flows.save(HERE.id, new, base)
            assert answer.created
            base = answer.revision.revision
            accepted.append((base, new.content))
    told.send((accepted, refused))


def change_one_flow(path: Path | str, name: str, count: int, start: Any, told: Any) -> None:
    """Save, remove and bring one flow in turn, `count` things in all, each on what is there; tell what was acknowledged.

    Told: `revision` or `act`, its number, and the digest of the content or the note.
    """
    done: list[tuple[str, int, str]] = []
    with open_store(path, write=True) as store:
        start.wait()
        while len(done) < count:
            row = store.flows.find(HERE.id, "paper")
            done += _change(store.flows, row, f"{name}:{len(done)}", len(done) % 3)
    told.send(done)


def _change(flows: FlowStore, row: FlowRow | None, content: str, what: int) -> list[tuple[str, int, str]]:
    base = None if row is None else row.last.revision
    if what == 1 and row is not None and row.removed is None:
        hidden = flows.remove(HERE.id, "paper", row.last.revision, author="ada", note=content, time=NOON)
        return [("act", hidden.act.number, content)] if isinstance(hidden, Removed) and hidden.created else []
    if what == 2 and row is not None:
        (answer,) = flows.bring(HERE.id, [_longer(flows, row.last.revision, content)], replace(BRINGING, note=content))
        return (
            [("revision", answer.last, digest_of(content.encode()))] if isinstance(answer, Brought) and answer.first == answer.last else []
        )
    saved = flows.save(HERE.id, draft(content=content.encode()), base)
    return [("revision", saved.revision.revision, saved.revision.content_digest)] if isinstance(saved, Saved) else []


def _longer(flows: FlowStore, last: int, content: str) -> FlowHistory:
    """Give the history of the flow as it is here, and one revision more."""
    found = [flows.revision(HERE.id, "paper", number) for number in range(1, last + 1)]
    there = [draft(content=each.content, note=each.note) for each in found if each is not None]
    return FlowHistory("paper", (*there, draft(content=content.encode())))


def bring_flows(path: Path | str, workspace: Workspace, histories: Sequence[FlowHistory], start: Any, told: Any) -> None:
    with open_store(path, write=True) as store:
        start.wait()
        told.send(list(store.flows.bring(workspace.id, histories, BRINGING)))
