"""Heads kept outside the store: only forward, never over a log that went back, and never in the way of an append."""

import os
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.ports import Committed, Damaged
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.entries import Head
from stateward.store.memory_sessions import MemorySessionStore
from tests.contracts.sessions import OTHER, WORKER, WORKSPACE, begun, entry
from tests.store.children import barrier, child, exit_statuses
from tests.store.sealing import Said


def head(seq: int, text: str = "") -> Head:
    return Head(seq, digest_of(f"{seq}{text}".encode()))


def test_a_head_is_kept_and_moves_forward_only(tmp_path: Path) -> None:
    said = Said()
    witness = said.witness(tmp_path / "keys" / "witness")
    assert None is witness.last(WORKER)
    for each in (head(2), head(5), head(3), head(5, "another")):
        witness.note(WORKER, each)
    assert (head(5), None, []) == (witness.last(WORKER), witness.last(OTHER), said)
    assert head(5) == Said().witness(tmp_path / "keys" / "witness").last(WORKER)


def test_every_commit_is_noted_after_it(tmp_path: Path) -> None:
    said = Said()
    witness = said.witness(tmp_path / "witness")
    sessions = MemorySessionStore(witness=witness)
    first = begun(sessions)
    assert first == witness.last(WORKER)
    appended = sessions.append(WORKER, first, (entry(b"a"), entry(b"b")))
    assert appended == Committed(witness.last(WORKER) or first)
    assert [] == said


def test_a_log_that_went_back_is_not_noted_over_what_the_witness_knows(tmp_path: Path) -> None:
    said = Said()
    witness = said.witness(tmp_path / "witness")
    begun(MemorySessionStore(witness=witness), *(entry(str(number).encode()) for number in range(10)))
    known = witness.last(WORKER)
    again = MemorySessionStore(witness=witness)
    at = begun(again, *(entry(str(number).encode()) for number in range(8)))
    for number in range(8):  # past the number that the witness knows, in one append and in several
        answer = again.append(WORKER, at, (entry(f"other {number}".encode()),))
        assert isinstance(answer, Committed)
        at = answer.head
    assert 16 == at.seq
    assert known == witness.last(WORKER)
    assert f"the log of Worker {WORKER} at E00000008 is not the one that was witnessed; see `stateward log verify`" == said[0]


def test_a_witness_that_cannot_be_written_fails_no_append_and_is_said_once(tmp_path: Path) -> None:
    said = Said()
    (tmp_path / "file").write_text("", "ascii")
    sessions = MemorySessionStore(witness=said.witness(tmp_path / "file" / "witness"))
    at = begun(sessions)
    assert isinstance(sessions.append(WORKER, at, (entry(b"more"),)), Committed)
    assert [f"no witness of the log is kept in {tmp_path}/file/witness: not a directory"] == said


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"v": 1, "worker": "another", "seq": 1, "digest": ""}'])
def test_a_witness_that_was_altered_is_neither_believed_nor_written_over(tmp_path: Path, content: bytes) -> None:
    said = Said()
    witness = said.witness(tmp_path / "witness")
    witness.note(WORKER, head(1))
    (path,) = (tmp_path / "witness").glob("*.head")
    path.write_bytes(content)
    with pytest.raises(Damaged, match="is not what was written"):
        witness.last(WORKER)
    sessions = MemorySessionStore(witness=witness)
    begun(sessions)
    assert content == path.read_bytes()
    assert [f"the witness {path} is not what was written"] == said


def test_a_witness_that_others_may_write_is_not_believed(tmp_path: Path) -> None:
    said = Said()
    witness = said.witness(tmp_path / "witness")
    witness.note(WORKER, head(1))
    (path,) = (tmp_path / "witness").glob("*.head")
    path.chmod(0o666)
    with pytest.raises(Damaged, match="can be read or written by others"):
        witness.last(WORKER)


def test_a_worker_whose_id_is_no_file_name_has_a_witness_all_the_same(tmp_path: Path) -> None:
    witness = Said().witness(tmp_path / "witness")
    for worker in ("../../x", "a/b", ".", "\udc80"):
        witness.note(worker, head(3))
        assert head(3) == witness.last(worker)
    assert [] == list(tmp_path.glob("x*"))


def test_nothing_is_made_by_looking(tmp_path: Path) -> None:
    assert None is Said().witness(tmp_path / "witness").last(WORKER)
    assert [] == list(tmp_path.iterdir())


def test_a_worker_starts_with_a_witness_in_the_store_on_disk_too(tmp_path: Path) -> None:
    from stateward.store.database import open_store  # noqa: PLC0415 -- the one test here that needs it

    witness = Said().witness(tmp_path / "witness")
    with open_store(tmp_path / "store.db", write=True, create=True, witness=witness) as store:
        first = store.sessions.create(WORKER, WORKSPACE, (entry(b"a"),), {})
        assert isinstance(first, Committed)
        assert first.head == witness.last(WORKER)
        second = store.sessions.append(WORKER, first.head, (entry(b"b"),))
        assert isinstance(second, Committed)
    assert second.head == witness.last(WORKER)


def test_a_head_that_the_power_cut_off_leaves_the_one_before_it_and_is_gone_on_with(tmp_path: Path) -> None:
    said = Said()
    witness = said.witness(tmp_path / "witness")
    witness.note(WORKER, head(1))
    (path,) = (tmp_path / "witness").glob("*.head")
    for number in range(2, 6):
        before = path.read_bytes()
        witness.note(WORKER, head(number))
        after = path.read_bytes()
        assert len(before) == len(after)
        changed = [place for place, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
        for cut in (changed[0] + 1, changed[len(changed) // 2], changed[-1]):
            path.write_bytes(after[:cut] + before[cut:])
            assert head(number - 1) == witness.last(WORKER)
            witness.note(WORKER, head(number))
            assert head(number) == witness.last(WORKER)
    assert [] == said


def test_noting_a_head_waits_for_the_disk_only_the_first_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    fsync = os.fsync

    def count(descriptor: int) -> None:
        synced.append(descriptor)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", count)
    witness = Said().witness(tmp_path / "witness")
    witness.note(WORKER, head(1))
    first = len(synced)
    assert first > 0
    for number in range(2, 50):
        witness.note(WORKER, head(number))
    assert (first, head(49)) == (len(synced), witness.last(WORKER))


def test_what_a_person_gave_up_is_replaced_by_a_head_further_back(tmp_path: Path) -> None:
    witness = Said().witness(tmp_path / "witness")
    for number in (3, 4, 9):
        witness.note(WORKER, head(number))
    witness.give_up(WORKER, head(4), head(1))
    assert head(9) == witness.last(WORKER)
    witness.give_up(WORKER, head(9), head(2, "other"))
    assert head(2, "other") == witness.last(WORKER)
    witness.note(WORKER, head(3, "other"))
    assert head(3, "other") == Said().witness(tmp_path / "witness").last(WORKER)


def note_many(folder: Path, name: int, start: Any) -> None:
    start.wait()
    witness = Said().witness(folder)
    for number in range(name, 200, 4):
        witness.note(WORKER, head(number))


def test_processes_that_note_heads_at_once_leave_the_one_furthest_on(tmp_path: Path) -> None:
    start = barrier(4)
    assert [0] * 4 == exit_statuses([child(note_many, tmp_path / "witness", number, start) for number in range(4)])
    assert head(199) == Said().witness(tmp_path / "witness").last(WORKER)
