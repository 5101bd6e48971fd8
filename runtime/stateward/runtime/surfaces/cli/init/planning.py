"""What `init` and its undoing would change, worked out before anything is written.

Invariants: nothing is written here; the plan is a function of what the files hold; two names of one file (a link) are one file.
"""

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from stateward.compiler.diagnostics.cells import safe
from stateward.runtime.surfaces.cli.init.entries import PROGRAM
from stateward.runtime.surfaces.cli.init.faults import Unsafe
from stateward.runtime.surfaces.cli.init.hosts import CLAUDE_INSTRUCTIONS, HOSTS, pieces_of
from stateward.runtime.surfaces.cli.init.pieces import Piece, SkillFile, made_folders
from stateward.runtime.surfaces.cli.init.project import Change, Found, Project

_UNENDED: Final = "\\ No newline at end of file"


def planned(project: Project, hosts: Sequence[str], words: Sequence[str], profile: str) -> list[Change]:
    """Plan to put ours into the files of some hosts. Raises Unsafe."""
    pieces = [piece for piece in pieces_of(hosts, words, profile) if _is_due(project, piece)]
    return [_put(piece, found) for piece, found in _distinct((piece, project.read(piece.path)) for piece in pieces)]


def _is_due(project: Project, piece: Piece) -> bool:
    return piece.path != CLAUDE_INSTRUCTIONS or project.has(piece.path)


def _put(piece: Piece, found: Found) -> Change:
    return Change(piece.path, found, found.encoded(piece.put(found.text, found.folders)), note=_note(piece, found))


def _note(piece: Piece, found: Found) -> str:
    is_changed = isinstance(piece, SkillFile) and found.text is not None and piece.is_changed(found.text)
    return "it was changed since stateward wrote it" if is_changed else ""


def planned_undoing(project: Project) -> list[Change]:
    """Plan to take ours out of the files of all hosts. Raises Unsafe."""
    pieces = [(piece, _ours(project, piece)) for piece in pieces_of(HOSTS, (PROGRAM,))]
    return [_take(piece, found) for piece, found in _distinct((piece, found) for piece, found in pieces if found is not None)]


def _ours(project: Project, piece: Piece) -> Found | None:
    """Give a file that may hold something of ours; what cannot be read, and what does not name us, was never written by us."""
    try:
        found = project.read(piece.path)
    except Unsafe:
        return None
    return found if found.text is not None and PROGRAM in found.text else None


def _take(piece: Piece, found: Found) -> Change:
    text = found.text or ""
    left = piece.take(text)
    if left is not None:
        return Change(piece.path, found, found.encoded(left), note=_note(piece, found))
    return Change(piece.path, found, None, made_folders(text))


def _distinct(pieces: Iterable[tuple[Piece, Found]]) -> list[tuple[Piece, Found]]:
    seen: dict[Path, tuple[Piece, Found]] = {}
    for piece, found in pieces:
        seen.setdefault(found.place, (piece, found))
    return list(seen.values())


def diff_of(changes: Sequence[Change]) -> str:
    """Show changes as a unified diff, fit for a terminal."""
    return "".join(f"{safe(line)}\n" for change in changes if change.action != "unchanged" for line in _diff(change))


def _diff(change: Change) -> list[str]:
    old, new = (_lines(data) for data in (change.found.data, change.new))
    before = "/dev/null" if change.found.data is None else f"a/{change.path}"
    after = "/dev/null" if change.new is None else f"b/{change.path}"
    return [part for line in difflib.unified_diff(old, new, before, after, lineterm="") for part in line.split("\n")]


def _lines(data: bytes | None) -> list[str]:
    """Split into lines; a last line without an end says so."""
    if not data:
        return []
    lines = data.decode().split("\n")
    last = lines.pop()
    return [*lines, f"{last}\n{_UNENDED}"] if last else lines
