"""The head of each Worker, kept outside the store: what tells a log that was cut or put back from one that never was longer.

Invariants: a head is kept after its commit and only ever moves forward, unless a person gives it up; a log that does not hold the head
that is kept is never noted over it, so that what went back stays seen however far it grows again. What cannot be kept is said and ends
nothing: the log is right without a witness, and only less well guarded.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

from stateward.runtime.ports import Damaged, Witness
from stateward.runtime.session.entries import Head, reference
from stateward.store.private import locked, make_private_folder, read_private, replace_private

FILE_BYTES_MAX: Final = 1024
VERSION: Final = 1
_SUFFIX: Final = ".head"


class FileWitness:
    """The port `Witness` in a folder: one small file a Worker."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self._folder: Final = folder
        self._say: Final = say
        self._said: Final[set[str]] = set()

    def note(self, worker: str, head: Head) -> None:
        """Keep a head, unless one further on is kept."""
        try:
            make_private_folder(self._folder)
            with locked(self._folder):
                kept = self.last(worker)
                if kept is None or kept.seq < head.seq:
                    replace_private(self._path(worker), _written(worker, head))
        except OSError as problem:
            self._say_once(f"no witness of the log is kept in {self._folder}: {(problem.strerror or str(problem)).lower()}")
        except Damaged as problem:
            self._say_once(problem.message)

    def give_up(self, worker: str, lost: Head, head: Head) -> None:
        """Keep a head in place of the one that a person gave up."""
        try:
            with locked(self._folder):
                if self.last(worker) == lost:
                    replace_private(self._path(worker), _written(worker, head))
        except OSError as problem:
            self._say_once(f"the witness in {self._folder} cannot be written: {(problem.strerror or str(problem)).lower()}")
        except Damaged as problem:
            self._say_once(problem.message)

    def last(self, worker: str) -> Head | None:
        """Give the head that is kept; None when none is. Raises Damaged when it cannot be told."""
        path = self._path(worker)
        try:
            data = read_private(path, FILE_BYTES_MAX)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise Damaged(f"the witness {path} cannot be read: {(problem.strerror or str(problem)).lower()}", _REMEDY) from problem
        return _read(worker, path, data)

    def contradict(self, worker: str, head: Head) -> None:
        """Say that the log is not the one whose head is kept."""
        self._say_once(f"the log of Worker {worker} at {reference(head.seq)} is not the one that was witnessed; see `stateward log verify`")

    def _path(self, worker: str) -> Path:
        # Named by a digest: the id of a Worker is a text of whoever created it.
        return self._folder / f"{sha256(worker.encode('utf-8', 'surrogateescape')).hexdigest()[:32]}{_SUFFIX}"

    def _say_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._say(text)


_REMEDY: Final = "restore the file, or remove it to go on without what it knew"


def advance(witness: Witness, worker: str, expected: Head, head: Head, digest_at: Callable[[int], str | None]) -> None:
    """Let a witness note a head that was just committed on `expected`, if the log still holds the one it knows."""
    try:
        kept = witness.last(worker)
    except Damaged:
        kept = None  # said when it is noted
    if kept is None or kept == expected or digest_at(kept.seq) == kept.digest:
        witness.note(worker, head)
    else:
        witness.contradict(worker, head)


def _written(worker: str, head: Head) -> bytes:
    return json.dumps({"v": VERSION, "worker": worker, "seq": head.seq, "digest": head.digest}).encode("ascii") + b"\n"


def _read(worker: str, path: Path, data: bytes) -> Head:
    try:
        members = json.loads(data)
        version, named, seq, digest = members["v"], members["worker"], members["seq"], members["digest"]
    except (ValueError, KeyError, TypeError) as problem:
        raise Damaged(f"the witness {path} is not what was written", _REMEDY) from problem
    if (version, named) != (VERSION, worker) or type(seq) is not int or not isinstance(digest, str):
        raise Damaged(f"the witness {path} is not what was written", _REMEDY)
    return Head(seq, digest)
