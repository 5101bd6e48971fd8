"""The captured view that a verifier reads: the committed log up to and including the request, by its head.

Invariants: what was captured never changes, since entries never do; an entry is read when it is looked at, so that capturing a long
log costs nothing; what was committed after the capture is not in it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, overload

from stateward.runtime.session.entries import Entry, Head

Reader: TypeAlias = Callable[[int, int], Iterator[Entry]]
"""Reads the entries with `after < seq <= upto`, in order."""


class CapturedLog(Sequence[Entry]):
    """A log up to a head, oldest entry first."""

    def __init__(self, head: Head, read: Reader) -> None:
        self.head = head
        self._read = read

    def __len__(self) -> int:
        return self.head.seq

    def __iter__(self) -> Iterator[Entry]:
        return self._read(0, self.head.seq)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | Sequence[Entry]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return tuple(self._read(start, stop)) if start < stop else ()
            return tuple(self[each] for each in range(start, stop, step))
        at = range(len(self))[index]  # raises IndexError for one that is not there
        return next(self._read(at, at + 1))
