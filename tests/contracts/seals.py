"""What every store of session logs does with a sealer and with a witness.

A test module for an adapter imports everything here and offers a fixture `begin` that begins a store with the two it is given.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from stateward.runtime.ports import Committed, Duplicate, Moved, Sealer, Witness
from stateward.runtime.session.entries import GENESIS, Entry, Head
from tests.contracts.sessions import FORK, NOON, OTHER, WORKER, WORKSPACE, begun, entry, head_of
from tests.contracts.stored import LARGE, Logs
from tests.store.sealing import Said, sealer

Begin: TypeAlias = Callable[[Sealer | None, Witness | None], Logs]


class Noting:
    """A witness that keeps all that it is told, in its order."""

    def __init__(self) -> None:
        self.noted: list[tuple[str, Head]] = []
        self.contradicted: list[tuple[str, Head]] = []

    def note(self, worker: str, head: Head) -> None:
        self.noted.append((worker, head))

    def last(self, worker: str) -> Head | None:
        return next((head for name, head in reversed(self.noted) if name == worker), None)

    def contradict(self, worker: str, head: Head) -> None:
        self.contradicted.append((worker, head))

    def give_up(self, worker: str, lost: Head, head: Head) -> None:
        self.noted.append((worker, head))


def seals_of(entries: list[Any]) -> list[tuple[str | None, bytes | None]]:
    assert all(isinstance(each, Entry) for each in entries)
    return [(each.key_id, each.seal) for each in entries]


def test_every_entry_is_sealed_under_the_key_as_it_is_written(begin: Begin, tmp_path: Path) -> None:
    seal = sealer(tmp_path / "keys")
    logs = begin(seal, None)
    head = begun(logs, entry(b"one", "k"), entry(LARGE))
    head_of(logs.append(WORKER, head, (entry(b"three"), entry(b"four", kind="checkpoint"))))
    read = list(logs.entries(WORKER))
    assert [(seal.key_id, seal.seal(each.digest)) for each in read] == seals_of(read)
    assert all(seal.check(seal.key_id, each.digest, each.seal or b"") for each in read)
    assert read == list(logs.stored(WORKER, 4))
    assert (read[0], read[3]) == (logs.find(WORKER, "k"), logs.latest(WORKER, "checkpoint"))


def test_a_fork_is_sealed_from_its_first_entry_on(begin: Begin, tmp_path: Path) -> None:
    seal = sealer(tmp_path / "keys")
    logs = begin(seal, None)
    head_of(logs.create(WORKER, WORKSPACE, (entry(b"one"),), {}, FORK))
    read = list(logs.entries(WORKER))
    assert [(seal.key_id, seal.seal(read[0].digest))] == seals_of(read)


def test_without_a_sealer_nothing_is_sealed(begin: Begin) -> None:
    logs = begin(None, None)
    begun(logs, entry(b"one"), entry(LARGE))
    assert [(None, None)] * 2 == seals_of(list(logs.stored(WORKER, 2)))


def test_a_seal_changes_no_digest(begin: Begin, tmp_path: Path) -> None:
    logs = begin(sealer(tmp_path / "keys"), None)
    sealed, plain = begun(logs, entry(b"one"), entry(b"two")), begun(begin_in_memory(), entry(b"one"), entry(b"two"))
    assert plain == sealed


def begin_in_memory() -> Logs:
    from stateward.store.memory_sessions import MemorySessionStore  # noqa: PLC0415 -- as what the others are compared with

    return MemorySessionStore()


def test_every_commit_is_noted_after_it_and_nothing_else(begin: Begin) -> None:
    witness = Noting()
    logs = begin(None, witness)
    first = begun(logs, entry(b"one", "k"))
    second = head_of(logs.append(WORKER, first, (entry(b"two"), entry(LARGE))))
    other = begun(logs, worker=OTHER)
    assert isinstance(logs.append(WORKER, first, (entry(b"lost"),)), Moved)
    assert isinstance(logs.append(WORKER, second, (entry(b"again", "k"),)), Duplicate)
    assert isinstance(logs.create(WORKER, WORKSPACE, (entry(b"again"),), {}), Moved)
    third = head_of(logs.append(WORKER, second, (entry(b"four"),), {}))
    assert [(WORKER, first), (WORKER, second), (OTHER, other), (WORKER, third)] == witness.noted
    assert [] == witness.contradicted


def test_a_fork_is_noted_from_its_first_entry_on(begin: Begin) -> None:
    witness = Noting()
    head = head_of(begin(None, witness).create(WORKER, WORKSPACE, (entry(b"one"),), {}, FORK))
    assert [(WORKER, head)] == witness.noted


def test_a_witness_that_is_behind_is_brought_up_to_the_head(begin: Begin) -> None:
    witness = Noting()
    logs = begin(None, witness)
    first = begun(logs)
    second = head_of(logs.append(WORKER, first, (entry(b"two"),)))
    witness.noted.remove((WORKER, second))
    third = head_of(logs.append(WORKER, second, (entry(b"three"),)))
    assert third == witness.last(WORKER)
    assert [] == witness.contradicted


def test_a_log_that_is_not_the_one_that_was_witnessed_is_said_to_be_another(begin: Begin) -> None:
    witness = Noting()
    logs = begin(None, witness)
    first = begun(logs)
    stranger = Head(1, GENESIS.digest)
    witness.noted[:] = [(WORKER, stranger)]
    second = head_of(logs.append(WORKER, first, (entry(b"two"),)))
    assert ([(WORKER, stranger)], [(WORKER, second)]) == (witness.noted, witness.contradicted)


def test_a_deleted_log_leaves_its_last_head_with_the_witness(begin: Begin, tmp_path: Path) -> None:
    said = Said()
    witness = said.witness(tmp_path / "witness")
    logs = begin(sealer(tmp_path / "keys"), witness)
    head = begun(logs, entry(b"one"))
    logs.delete(WORKER, head, NOON)
    assert (head, head, []) == (witness.last(WORKER), logs.deleted(WORKER), said)
    assert isinstance(logs.create(OTHER, WORKSPACE, (entry(b"two"),), {}), Committed)
