"""What a fork holds of the logs that it goes on from, once it was made whole: their entries, exactly as they were, as bytes of its own.

The entries before the fork are written one a line, as an export writes them and each with the log it is of, and cut into parts. A part is
the payload of one entry of the fork: a line that says which entry its first line is, then lines. One that is too long for a part is
spread over parts of its own.

Invariants: the same entries always make the same parts; what is read back is what was written, entry for entry, digests and seals
included; any entry is found by its number without reading the parts before its own.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from stateward.runtime.session.entries import Entry, reference
from stateward.runtime.session.export import entry_line, read_entry_line
from stateward.runtime.session.strict import COUNT, TEXT, Form, Malformed, parse, record, render, versioned

PART_BYTES: Final = 192 * 1024
"""Of the lines in one part."""
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a copy."""

    first: int
    """The number of the entry that its first line is, or is a piece of."""
    piece: int
    """Which piece of that one line it is, from 1; 1 where it holds whole lines."""
    pieces: int
    lines: bytes


@dataclass(frozen=True, slots=True)
class Whole:
    """Says that a copy is complete."""

    parts: int
    entries: int
    worker: str
    """The log that the fork went on from."""


@dataclass(frozen=True, slots=True)
class _Header:
    first: int
    piece: int
    pieces: int


_HEADER: Final = versioned(VERSION, record(_Header, first=COUNT, piece=COUNT, pieces=COUNT))
_WHOLE: Final[Form[Whole]] = versioned(VERSION, record(Whole, parts=COUNT, entries=COUNT, worker=TEXT))


def write_whole(whole: Whole) -> bytes:
    """Write the end of a copy as bytes."""
    return render(_WHOLE.write(whole))


def read_whole(payload: bytes) -> Whole:
    """Read the end of a copy. Raises Malformed or Newer."""
    return _WHOLE.read(parse(payload))


def parts_of(entries: Iterable[Entry]) -> Iterator[bytes]:
    """Cut a copy of entries, which are in order, into the payloads of parts."""
    first, lines, size = 0, list[bytes](), 0
    for entry in entries:
        line = entry_line(entry, named=True).encode("ascii")
        if lines and size + len(line) > PART_BYTES:
            yield _part(first, b"".join(lines))
            lines, size = [], 0
        if len(line) > PART_BYTES:
            yield from _pieces(entry.seq, line)
            continue
        first = first if lines else entry.seq
        lines.append(line)
        size += len(line)
    if lines:
        yield _part(first, b"".join(lines))


def _pieces(seq: int, line: bytes) -> Iterator[bytes]:
    pieces = [line[start : start + PART_BYTES] for start in range(0, len(line), PART_BYTES)]
    for number, piece in enumerate(pieces, start=1):
        yield _part(seq, piece, number, len(pieces))


def _part(first: int, lines: bytes, piece: int = 1, pieces: int = 1) -> bytes:
    return render(_HEADER.write(_Header(first, piece, pieces))) + b"\n" + lines


def read_part(payload: bytes) -> Part:
    """Read a part. Raises Malformed or Newer."""
    header, _, lines = payload.partition(b"\n")
    read = _HEADER.read(parse(header))
    return Part(read.first, read.piece, read.pieces, lines)


def masked_part(payload: bytes, mask: Callable[[bytes], bytes]) -> bytes:
    """Give a part of a copy without what is masked in the payloads of its entries. Raises Malformed where it cannot be taken out."""
    read = read_part(payload)
    if read.pieces > 1:
        if mask(read.lines) != read.lines:
            raise Malformed(f"entry {reference(read.first)} is held in {read.pieces} parts, and a secret cannot be taken out of one alone")
        return payload
    entries = [_entry(line) for line in read.lines.splitlines()]
    left = [mask(each.payload) for each in entries]
    if all(each.payload == one for each, one in zip(entries, left, strict=True)):
        return payload
    changed = (each if each.payload == one else replace(each, payload=one, redacted=True) for each, one in zip(entries, left, strict=True))
    return _part(read.first, b"".join(entry_line(each, named=True).encode("ascii") for each in changed))


def copied(part: Callable[[int], Part], parts: int, after: int, upto: int) -> Iterator[Entry]:
    """Read the entries with `after < seq <= upto` of a copy; `part` gives a part by its number, from 1. Raises Malformed."""
    number = _place_of(part, parts, after + 1)
    while number <= parts:
        lines, used = _whole_lines(part, number)
        for line in lines.splitlines():
            entry = _entry(line)
            if entry.seq > upto:
                return
            if entry.seq > after:
                yield entry
        number += used


def _place_of(part: Callable[[int], Part], parts: int, seq: int) -> int:
    """Find the part in which the line of an entry begins: the last one that begins with it or with one before it."""
    low, high = 1, parts
    while low < high:
        middle = (low + high + 1) // 2
        if part(middle).first <= seq:
            low = middle
        else:
            high = middle - 1
    return max(low - part(low).piece + 1, 1)


def _whole_lines(part: Callable[[int], Part], number: int) -> tuple[bytes, int]:
    begun = part(number)
    if begun.piece != 1:
        raise Malformed("a part of a copy is missing")
    pieces = [begun, *(part(number + further) for further in range(1, begun.pieces))]
    if any((each.first, each.piece) != (begun.first, place) for place, each in enumerate(pieces, start=1)):
        raise Malformed("the parts of a copy are not in order")
    return b"".join(each.lines for each in pieces), begun.pieces


def _entry(line: bytes) -> Entry:
    try:
        return read_entry_line(json.loads(line))
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise Malformed(f"a line of a copy is no entry: {problem!r:.80}") from problem
