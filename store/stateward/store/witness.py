"""The head of each Worker, kept outside the store: what tells a log that was cut or put back from one that never was longer.

Invariants: a head is kept after its commit and only ever moves forward, unless a person gives it up; a log that does not hold the head
that is kept is never noted over it, so that what went back stays seen however far it grows again. What cannot be kept is said and ends
nothing: the log is right without a witness, and only less well guarded.

Noting a head waits for no disk. A file has two places, and a head is written over the older of the two, each with a number that counts and
a digest of itself: a write that the power cuts off leaves the head before it, so that what is found is never half of one, only older.
"""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward.runtime.ports.faults import Damaged
from stateward.runtime.session.entries import Head, reference
from stateward.store.private import locked, make_private_folder, opened_private, read_private, replace_private

if TYPE_CHECKING:
    from stateward.runtime.ports import Witness

PLACE_BYTES: Final = 512
"""What every disk writes as one."""
PLACES: Final = 2
FILE_BYTES_MAX: Final = PLACES * PLACE_BYTES
VERSION: Final = 2
KNOWN_MAX: Final = 1024
"""Workers whose files are remembered."""
_SUFFIX: Final = ".head"


class _Kept(NamedTuple):
    """A head as it lies in a place of the file."""

    number: int
    """The first is 1; each lies in the place where the last but one before it lay."""
    head: Head


class FileWitness:
    """The port `Witness` in a folder: one small file a Worker."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._folder: Final = folder
        self._say: Final = say
        self._said: Final[set[str]] = set()
        self._known: Final[dict[str, tuple[bytes, _Kept]]] = {}
        """What files held when they were last looked at, and what that says."""

    def note(self, worker: str, head: Head) -> None:
        """Keep a head, unless one further on is kept."""
        try:
            if not self._write(worker, head, lambda kept: kept.seq < head.seq):
                self._begin(worker, head)
        except OSError as problem:
            self._say_once(f"no witness of the log is kept in {self._folder}: {(problem.strerror or str(problem)).lower()}")
        except Damaged as problem:
            self._say_once(problem.message)

    def give_up(self, worker: str, lost: Head, head: Head) -> None:
        """Keep a head in place of the one that a person gave up."""
        try:
            self._write(worker, head, lambda kept: kept == lost)
        except OSError as problem:
            self._say_once(f"the witness in {self._folder} cannot be written: {(problem.strerror or str(problem)).lower()}")
        except Damaged as problem:
            self._say_once(problem.message)

    def _write(self, worker: str, head: Head, wanted: Callable[[Head], bool]) -> bool:
        """Write a head over the older place of the file where it is `wanted` after the one that is kept; false when there is no file."""
        name = _name(worker)
        path = self._path(name)
        try:
            with opened_private(path) as descriptor:
                data = os.pread(descriptor, FILE_BYTES_MAX + 1, 0)
                kept = self._understood(name, path, data)
                if wanted(kept.head):
                    place, written = kept.number % PLACES * PLACE_BYTES, _written(name, kept.number + 1, head)
                    os.pwrite(descriptor, written, place)
                    self._remember(name, data[:place] + written + data[place + PLACE_BYTES :], _Kept(kept.number + 1, head))
        except FileNotFoundError:
            return False
        return True

    def _begin(self, worker: str, head: Head) -> None:
        make_private_folder(self._folder)
        with locked(self._folder):
            if not self._write(worker, head, lambda kept: kept.seq < head.seq):  # else somebody was quicker
                name = _name(worker)
                replace_private(self._path(name), _written(name, 1, head).ljust(FILE_BYTES_MAX))

    def last(self, worker: str) -> Head | None:
        """Give the head that is kept; None when none is. Raises Damaged when it cannot be told."""
        name = _name(worker)
        path = self._path(name)
        try:
            data = read_private(path, FILE_BYTES_MAX)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise Damaged(f"the witness {path} cannot be read: {(problem.strerror or str(problem)).lower()}", _REMEDY) from problem
        return self._understood(name, path, data).head

    def _understood(self, name: str, path: Path, data: bytes) -> _Kept:
        known = self._known.get(name)
        if known is not None and known[0] == data:
            return known[1]
        kept = _read(name, path, data)
        self._remember(name, data, kept)
        return kept

    def _remember(self, name: str, data: bytes, kept: _Kept) -> None:
        if len(self._known) >= KNOWN_MAX:
            self._known.clear()
        self._known[name] = (data, kept)

    def contradict(self, worker: str, head: Head) -> None:
        """Say that the log is not the one whose head is kept."""
        self._say_once(f"the log of Worker {worker} at {reference(head.seq)} is not the one that was witnessed; see `stateward log verify`")

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{_SUFFIX}"

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)


_REMEDY: Final = "restore the file, or remove it to go on without what it knew"


def advance(witness: "Witness", worker: str, expected: Head, head: Head, digest_at: Callable[[int], str | None]) -> None:
    """Let a witness note a head that was just committed on `expected`, if the log still holds the one it knows."""
    try:
        kept = witness.last(worker)
    except Damaged:
        kept = None  # said when it is noted
    if kept is None or kept == expected or digest_at(kept.seq) == kept.digest:
        witness.note(worker, head)
    else:
        witness.contradict(worker, head)


def _written(name: str, number: int, head: Head) -> bytes:
    text = f"{VERSION} {name} {number} {head.seq} {head.digest}".encode("ascii")
    return text.ljust(PLACE_BYTES - _CHECK_DIGITS - 1) + _check(text) + b"\n"


def _read(name: str, path: Path, data: bytes) -> _Kept:
    places = [data[start : start + PLACE_BYTES] for start in range(0, FILE_BYTES_MAX, PLACE_BYTES)]
    found = [each for each in (_read_place(name, place) for place in places) if each is not None]
    if len(data) != FILE_BYTES_MAX or not found:
        raise Damaged(f"the witness {path} is not what was written", _REMEDY)
    return max(found, key=lambda each: each.number)


def _read_place(name: str, data: bytes) -> _Kept | None:
    text, check = data[: -_CHECK_DIGITS - 1].rstrip(b" "), data[-_CHECK_DIGITS - 1 : -1]
    if check != _check(text) or data[-1:] != b"\n":
        return None
    members = text.decode("ascii", "replace").split(" ")
    if len(members) != len(_MEMBERS) or members[:2] != [str(VERSION), name]:
        return None
    _, _, number, seq, digest = members
    return _Kept(int(number), Head(int(seq), digest)) if number.isdecimal() and seq.isdecimal() else None


_MEMBERS: Final = ("version", "name", "number", "seq", "digest")
_CHECK_DIGITS: Final = 32


def _check(text: bytes) -> bytes:
    return sha256(text).hexdigest()[:_CHECK_DIGITS].encode("ascii")


def _name(worker: str) -> str:
    # By a digest: the id of a Worker is a text of whoever created it, of any length and with any marks.
    return sha256(worker.encode("utf-8", "surrogateescape")).hexdigest()[:32]
