# ruff: noqa: S608 -- every statement is made of constants of this file
"""`stateward log verify`, as the program on both databases: each thing that is done to a store has an answer of its own."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stateward.store.keys import Purpose
from tests.cases.stored import StoredPlace, place_on
from tests.postgres import Server
from tests.store.sealing import key_folder

ENTRIES = 14
"""Of a run of the demonstration."""
OLDER = 6
"""Entries of the copy that was made during the run."""


@dataclass(frozen=True)
class Sealed:
    """A place with two Workers whose flows ended; a copy made while the second one was on its way."""

    place: StoredPlace
    older: StoredPlace
    other: str
    worker: str

    def rows(self, what: str) -> str:
        return f"{what} WHERE worker = '{self.worker}'"

    def verified(self, *more: str) -> tuple[int, Any]:
        ended = self.place.call("log", "verify", self.worker, "--json", *more)
        assert "" == ended.err
        return ended.status, json.loads(ended.out)


@pytest.fixture(scope="module")
def whole(database: Server | None, tmp_path_factory: pytest.TempPathFactory) -> Sealed:
    begun = place_on(database, tmp_path_factory.mktemp("whole") / "place")
    begun.done(*begun.scripted())
    other = begun.status()["worker"]
    begun.call(*begun.scripted("--max-requests", "2"))
    older = begun.copied_to(tmp_path_factory.mktemp("older") / "place")
    begun.done(*begun.scripted("--resume"))
    return Sealed(begun, older, other, begun.status()["worker"])


@pytest.fixture
def sealed(whole: Sealed, tmp_path: Path) -> Sealed:
    return Sealed(whole.place.copied_to(tmp_path / "place"), whole.older, whole.other, whole.worker)


# --- what is done -------------------------------------------------------------------------------------------------------------------


def nothing(sealed: Sealed) -> None:
    """Leave everything as it is."""


def alter_a_byte(sealed: Sealed) -> None:
    ((payload,),) = sealed.place.rows("SELECT payload FROM entries WHERE worker = ? AND seq = 5", sealed.worker)
    altered = bytes(payload[:-2]) + bytes([payload[-2] ^ 1]) + bytes(payload[-1:])
    sealed.place.change(("UPDATE entries SET payload = ? WHERE worker = ? AND seq = 5", (altered, sealed.worker)))


def swap_a_pair(sealed: Sealed) -> None:
    move = "UPDATE entries SET seq = ? WHERE worker = ? AND seq = ?"
    sealed.place.change(*((move, (to, sealed.worker, at)) for at, to in ((5, 900), (6, 5), (900, 6))))


def cut_the_tail(sealed: Sealed) -> None:
    sealed.place.change(("DELETE FROM entries WHERE worker = ? AND seq > 10", (sealed.worker,)))


def cut_the_tail_and_put_the_head_back(sealed: Sealed) -> None:
    cut_the_tail(sealed)
    last = "(SELECT digest FROM entries WHERE worker = ? AND seq = 10)"
    sealed.place.change((f"UPDATE heads SET seq = 10, digest = {last} WHERE worker = ?", (sealed.worker, sealed.worker)))


def take_out_the_middle(sealed: Sealed) -> None:
    sealed.place.change(("DELETE FROM entries WHERE worker = ? AND seq BETWEEN 5 AND 8", (sealed.worker,)))


def put_an_older_copy_back(sealed: Sealed) -> None:
    sealed.place.replace_store(sealed.older)


def put_an_older_copy_back_and_remove_the_witness(sealed: Sealed) -> None:
    put_an_older_copy_back(sealed)
    for kept in sealed.place.witness.iterdir():
        kept.unlink()


def put_another_key_in_its_place(sealed: Sealed) -> None:
    key = key_folder(sealed.place.keys).current(Purpose.SEAL)
    elsewhere = sealed.place.folder / "elsewhere"
    other = key_folder(elsewhere).current(Purpose.SEAL)
    members = json.loads((elsewhere / f"{other.id}.key").read_text("ascii"))
    (sealed.place.keys / f"{key.id}.key").write_text(json.dumps({**members, "id": key.id}), "ascii")


def take_the_keys_away(sealed: Sealed) -> None:
    for key in sealed.place.keys.glob("*.key"):
        key.unlink()


def transplant_an_entry_of_another_worker(sealed: Sealed) -> None:
    columns = ("version", "time", "actor_class", "channel", "principal", "kind", "key", "payload_digest", "previous", "digest", "payload")
    theirs = [f"{each} = (SELECT {each} FROM entries AS e WHERE e.worker = ? AND e.seq = 5)" for each in (*columns, "key_id", "seal")]
    change = f"UPDATE entries SET {', '.join(theirs)} WHERE worker = ? AND seq = 5"
    sealed.place.change((change, (*[sealed.other] * len(theirs), sealed.worker)))


@dataclass(frozen=True)
class Told:
    """What the program says of a log."""

    status: int
    intact: str
    complete: str
    anchored: str
    findings: tuple[tuple[str, int], ...] = ()


ROLLED_BACK = ("rolled_back", ENTRIES)
TOLD: dict[Callable[[Sealed], None], Told] = {
    nothing: Told(0, "yes", "yes", "yes"),
    alter_a_byte: Told(1, "no", "yes", "yes", (("altered", 5),)),
    swap_a_pair: Told(1, "no", "yes", "yes", (("moved", 5), ("moved", 6))),
    cut_the_tail: Told(1, "yes", "no", "no", (("tail_missing", 11), ROLLED_BACK)),
    cut_the_tail_and_put_the_head_back: Told(1, "yes", "yes", "no", (ROLLED_BACK,)),
    take_out_the_middle: Told(1, "no", "yes", "yes", (("missing", 5),)),
    put_an_older_copy_back: Told(1, "yes", "yes", "no", (ROLLED_BACK,)),
    put_an_older_copy_back_and_remove_the_witness: Told(0, "yes", "yes", "unknown"),
    put_another_key_in_its_place: Told(1, "no", "yes", "yes", (("wrong_key", 1),)),
    take_the_keys_away: Told(0, "unknown", "yes", "yes"),
    transplant_an_entry_of_another_worker: Told(1, "no", "yes", "yes", (("foreign", 5),)),
}
"""What was done, and what is told. A tail that is cut together with its head is an older copy, and is told as one."""


@pytest.mark.parametrize("done", TOLD, ids=lambda each: each.__name__)
def test_each_thing_that_is_done_to_a_store_is_told_apart(sealed: Sealed, done: Callable[[Sealed], None]) -> None:
    done(sealed)
    status, data = sealed.verified()
    findings = tuple((each["code"], each["seq"]) for each in data["findings"])
    assert TOLD[done] == Told(status, data["intact"], data["complete"], data["anchored"], findings)


def test_the_installed_program_says_the_same(sealed: Sealed) -> None:
    cut_the_tail(sealed)
    command = ("log", "verify", sealed.worker, "--json")
    assert sealed.place.call(*command) == sealed.place.process(*command)


@pytest.mark.parametrize("done", [cut_the_tail, take_out_the_middle, swap_a_pair], ids=lambda each: each.__name__)
def test_a_damaged_log_hides_no_other(sealed: Sealed, done: Callable[[Sealed], None]) -> None:
    before = sealed.place.done("status", sealed.other, "--json")
    done(sealed)
    assert before == sealed.place.done("status", sealed.other, "--json")
    assert "anchored  yes" in sealed.place.done("log", "verify", sealed.other)
    rows = [json.loads(line) for line in sealed.place.done("ps", "--all", "--json").splitlines()]
    assert [(sealed.other, False), (sealed.worker, True)] == [(row["worker"], row["problem"] != "") for row in rows]


def test_an_older_copy_is_told_by_a_head_that_was_written_down_where_there_is_no_witness(sealed: Sealed) -> None:
    head = sealed.place.status()["head"]
    put_an_older_copy_back_and_remove_the_witness(sealed)
    status, data = sealed.verified("--expect", f"{head['seq']}:{head['digest']}")
    assert (1, "no", True, OLDER) == (status, data["anchored"], data["rolled_back"], data["head"]["seq"])


def test_no_two_of_them_are_told_in_the_same_way_but_a_cut_tail_and_an_older_copy() -> None:
    told = [each for done, each in TOLD.items() if done is not cut_the_tail_and_put_the_head_back]
    assert len(told) == len(set(told))
