"""The files of a project: read without following a link out of it, and written all or none.

Invariants: nothing is written before every file was read and every new text stands beside its place; a file that changed in between stops
everything; when a step fails, those before it are undone. A file keeps its mode; what is reached through a link is changed where it lies.
A run that is killed leaves each file as it was or as it is to be; what it leaves beside them, the next one takes away.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from stateward.runtime.surfaces.cli.init.faults import Unsafe

FILE_BYTES_MAX: Final = 1024 * 1024
_MARK: Final = "\ufeff"
_NEW_MODE: Final = 0o666


@dataclass(frozen=True, slots=True)
class Found:
    """A file as it was read."""

    place: Path
    """Where it lies, links followed."""
    data: bytes | None
    """None when it is not there."""
    mode: int = _NEW_MODE
    folders: int = 0
    """How many folders are missing above it."""
    hindrance: tuple[str, str] | None = None
    """Why it is not to be changed, and what helps."""

    @property
    def text(self) -> str | None:
        """The text, without a byte-order mark."""
        return None if self.data is None else self.data.decode("utf-8").removeprefix(_MARK)

    def encoded(self, text: str) -> bytes:
        """Give a new text as bytes, with a byte-order mark where there was one."""
        mark = _MARK if self.data is not None and self.data.startswith(_MARK.encode()) else ""
        return (mark + text).encode()


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a file."""

    path: str
    """Where it lies in the project, as it is called."""
    found: Found
    new: bytes | None
    """None when it goes."""
    emptied: int = 0
    """How many folders above it go too, where they are empty."""
    note: str = ""
    """Why it stays as it is, where that is to be told."""

    def __post_init__(self) -> None:
        """Refuse what is not to be changed. Raises Unsafe."""
        if self.found.hindrance is not None and self.action != "unchanged":
            raise Unsafe(*self.found.hindrance)

    @property
    def action(self) -> str:
        """One word for it."""
        if self.found.data == self.new:
            return "unchanged"
        if self.found.data is None:
            return "created"
        return "removed" if self.new is None else "changed"


@dataclass(frozen=True, slots=True)
class Project:
    """A folder of work."""

    root: Path

    @classmethod
    def at(cls, folder: Path) -> "Project":
        """Open a folder. Raises Unsafe when there is none."""
        root = folder.resolve()
        if not root.is_dir():
            raise Unsafe(f"there is no folder `{folder}`", "make it, or name another with `--dir`")
        return cls(root)

    def has(self, path: str) -> bool:
        """Tell whether something stands at a place."""
        return os.path.lexists(self.root / path)

    def read(self, path: str) -> Found:
        """Read a file. Raises Unsafe when it is none that can be edited."""
        try:
            place = (self.root / path).resolve()
            if not place.is_relative_to(self.root) or place == self.root:
                raise Unsafe(f"`{path}` is a link that leaves the project", "put a file of its own there")
            return self._read(path, place)
        except RuntimeError as problem:  # links that lead to each other
            raise Unsafe(f"`{path}` is a link that leads nowhere", "take it away") from problem
        except OSError as problem:
            raise Unsafe(f"`{path}` cannot be read: {problem.strerror}", "mend that first") from problem

    def _read(self, path: str, place: Path) -> Found:
        if not os.path.lexists(place):
            if (self.root / path).is_symlink():
                raise Unsafe(f"`{path}` is a link that leads nowhere", "take it away")
            return Found(place, None, folders=self._missing(path, place))
        seen = place.stat()
        if not stat.S_ISREG(seen.st_mode):
            raise Unsafe(f"`{path}` is no regular file", "move it away")
        if seen.st_size > FILE_BYTES_MAX:
            raise Unsafe(f"`{path}` has more than {FILE_BYTES_MAX} bytes", "make it smaller")
        found = Found(place, place.read_bytes(), stat.S_IMODE(seen.st_mode), hindrance=_hindrance(path, place, seen))
        try:
            assert found.text is not None
        except UnicodeDecodeError as problem:
            raise Unsafe(f"`{path}` is no UTF-8", "write it as UTF-8") from problem
        return found

    def _missing(self, path: str, place: Path) -> int:
        """Count the folders that are missing above a place."""
        count = 0
        for above in place.parents:
            if above == self.root or os.path.lexists(above):
                if not above.is_dir():
                    raise Unsafe(f"there can be no `{path}`: `{above.relative_to(self.root)}` is no folder", "move that away")
                break
            count += 1
        return count

    # --- writing -----------------------------------------------------------------------------------------------------------------------

    def apply(self, changes: Sequence[Change]) -> None:
        """Make changes, all or none; those that change nothing are passed over. Raises Unsafe or OSError, with nothing changed."""
        due = [change for change in changes if change.action != "unchanged"]
        made: list[Path] = []
        drafts: list[Path | None] = []  # filled one by one, so that those that are there can go when the next one fails
        done: list[Change] = []
        try:
            for change in due:
                drafts.append(self._draft(change, made))  # noqa: PERF401 -- see above
            for change in due:
                self._require_same(change)
            for change, draft in zip(due, drafts, strict=True):
                _put(change, draft)
                done.append(change)
        except BaseException:
            for change in reversed(done):
                _restore(change)
            _remove_all(drafts)
            _remove_empty(reversed(made))
            raise
        _remove_all(drafts)
        _remove_all([draft for change in changes for draft in _abandoned(change.found.place)])
        for change in due:
            if change.new is None:
                self._tidy(change)

    def _draft(self, change: Change, made: list[Path]) -> Path | None:
        """Write the new text beside its place."""
        if change.new is None:
            return None
        place = change.found.place
        for above in reversed(place.parents):
            if above != self.root and above.is_relative_to(self.root) and not above.is_dir():
                above.mkdir()
                made.append(above)
        return _written(place, change.new, change.found)

    def _require_same(self, change: Change) -> None:
        if self.read(change.path).data != change.found.data:
            raise Unsafe(f"`{change.path}` was changed just now by somebody else", "try again")

    def _tidy(self, change: Change) -> None:
        """Take away the folders that were made for a file and are empty."""
        above = list(change.found.place.parents)[: change.emptied]
        _remove_empty(each for each in above if each != self.root and each.is_relative_to(self.root))


def _hindrance(path: str, place: Path, seen: os.stat_result) -> tuple[str, str] | None:
    if not seen.st_mode & 0o222 or not os.access(place, os.W_OK):
        return f"`{path}` is read-only", "make it writable"
    if seen.st_nlink > 1:
        return f"`{path}` has a second name (a hard link)", "put a file of its own there"
    return None


def _prefix(place: Path) -> str:
    return f".{place.name}.stateward-init-"


def _abandoned(place: Path) -> list[Path]:
    """Give what a run left beside a place that was killed while it wrote."""
    if not place.parent.is_dir():
        return []
    return [each for each in place.parent.iterdir() if each.name.startswith(_prefix(place)) and each.is_file() and not each.is_symlink()]


def _written(place: Path, data: bytes, found: Found) -> Path:
    """Write a file under a name for the time being, with the mode that it is to have."""
    mode = found.mode if found.data is not None else _NEW_MODE & ~_umask()
    with NamedTemporaryFile(dir=place.parent, prefix=_prefix(place), delete=False) as draft:
        try:
            draft.write(data)
            draft.flush()
            os.fchmod(draft.fileno(), mode)
            os.fsync(draft.fileno())
        except BaseException:
            Path(draft.name).unlink()
            raise
    return Path(draft.name)


def _put(change: Change, draft: Path | None) -> None:
    place = change.found.place
    if draft is None:
        place.unlink()
    elif change.found.data is None:
        os.link(draft, place)  # never over a file that came into being since
    else:
        draft.replace(place)


def _restore(change: Change) -> None:
    """Undo a change that was made."""
    place, data = change.found.place, change.found.data
    if data is None:
        place.unlink()
    else:
        _written(place, data, change.found).replace(place)


def _remove_all(drafts: Sequence[Path | None]) -> None:
    for draft in drafts:
        if draft is not None:
            draft.unlink(missing_ok=True)


def _remove_empty(folders: Iterator[Path]) -> None:
    for each in folders:
        with suppress(OSError):  # it holds something, or is gone already
            each.rmdir()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
