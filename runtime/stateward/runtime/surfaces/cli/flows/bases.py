"""Which revision each file of a project was made from: `.stateward/bases.json`, so that whoever edits and saves need not say it.

Invariants: it is a convenience, and may be lost or broken at any time: then a file counts as unknown, and nothing is taken for granted of
it. It is written whole or not at all, never through a link; two that write it at once both stay in it. It is read as the data of whoever
wrote the project: within limits, entry by entry, and what is no entry counts for nothing.
"""

import fcntl
import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from stateward.runtime.engine.selectors import is_slug
from stateward.runtime.marker import MARKER_FOLDER, MARKER_NAME, PARENTS_MAX, work_folder
from stateward.runtime.ports import RevisionFacts

BASES_NAME: Final = "bases.json"
VERSION: Final = 1
FILES_MAX: Final = 10_000
"""Files that are remembered; the ones that were saved longest ago are forgotten first."""
BASES_BYTES_MAX: Final = 8 * 1024 * 1024
_IGNORE: Final = ".gitignore"
_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Base:
    """What a file was when it was last the same as a revision."""

    workspace: str
    slug: str
    revision: int
    content_digest: str


def base_of(facts: RevisionFacts) -> Base:
    """Give what a file is that holds a revision."""
    return Base(facts.workspace, facts.slug, facts.revision, facts.content_digest)


def project_folder(workdir: Path) -> Path:
    """Give the folder with the nearest marker from a folder upward, or that folder itself. Raises what finding a folder of work raises."""
    here = work_folder(workdir)
    for candidate in (here, *here.parents)[:PARENTS_MAX]:
        if os.path.lexists(candidate / MARKER_FOLDER / MARKER_NAME):
            return candidate
    return here


class Bases:
    """The record of one project. It is read once, when something is first asked of it, and anew for each writing."""

    def __init__(self, project: Path) -> None:
        """`project` is a whole path without links in it."""
        self._project = project
        self._seen: dict[str, Base] | None = None

    def of(self, path: str | Path) -> Base | None:
        """Say what a file was made from; None when that is not known."""
        name = self._name(path)
        return None if name is None else self._known().get(name)

    def within(self, folder: Path) -> dict[str, Base]:
        """Say what the files of a folder, by their names, were made from; also of those that are there no more."""
        prefix = self._name(folder / "_")
        if prefix is None:
            return {}
        at = prefix.removesuffix("_")
        return {name.removeprefix(at): base for name, base in self._known().items() if name.startswith(at) and "/" not in name[len(at) :]}

    def below(self, folder: Path, workspace: str) -> dict[str, Path]:
        """Say where in the folders below a folder files lie, by the slug in that Workspace that they are kept under."""
        prefix = self._name(folder / "_")
        at = "" if prefix is None else prefix.removesuffix("_")
        named = ((name.removeprefix(at), base) for name, base in self._known().items() if name.startswith(at))
        return {
            base.slug: folder / name for name, base in named if "/" in name and not name.startswith("../") and base.workspace == workspace
        }

    def _known(self) -> dict[str, Base]:
        if self._seen is None:
            try:
                with self._opened() as folder:
                    self._seen = _read(folder)
            except OSError:  # not there, or not to be read: both mean that nothing is known
                self._seen = {}
        return self._seen

    def remember(self, learnt: Mapping[str, Base | None]) -> None:
        """Keep what files, by path, were made from; with None it is forgotten. Raises OSError."""
        named = {name: base for path, base in learnt.items() if (name := self._name(path)) is not None}
        if not named:
            return
        self._seen = None
        with self._opened(make=True) as folder, _locked(folder):
            before = _read(folder)
            known = {name: base for name, base in before.items() if name not in named}
            known |= {name: base for name, base in named.items() if base is not None}
            _write(folder, dict(list(known.items())[-FILES_MAX:]))

    def _name(self, path: str | Path) -> str | None:
        """Give the path of a file from the project on; None where it is no text. Folders on the way may be links."""
        try:
            whole = Path(os.path.realpath(Path(path).parent)) / Path(path).name
            name = os.path.relpath(whole, self._project)
            name.encode("utf-8")
        except (ValueError, OSError):
            return None
        return name

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[int]:
        """Open the folder of the marker, which must be no link. Raises OSError."""
        home = self._project / MARKER_FOLDER
        if make and not os.path.lexists(home):
            _make(home)
        folder = os.open(home, _FOLDER_FLAGS)
        try:
            yield folder
        finally:
            os.close(folder)


def _make(home: Path) -> None:
    """Make the folder, in a project whose Workspace lies elsewhere, and keep it out of what is shared."""
    with suppress(FileExistsError):  # somebody was quicker
        home.mkdir()
        (home / _IGNORE).write_text("*\n", "ascii")


@contextmanager
def _locked(folder: int) -> Iterator[None]:
    """Keep others from writing meanwhile. The lock ends with the handle, however the process ends."""
    with suppress(OSError):  # a file system without locks: of two at once the later one counts
        fcntl.flock(folder, fcntl.LOCK_EX)
    yield


def _read(folder: int) -> dict[str, Base]:
    """Read what is remembered; nothing where it is not there or is no record. Raises OSError for what cannot be read."""
    try:
        handle = os.open(BASES_NAME, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except FileNotFoundError:
        return {}
    with os.fdopen(handle, "rb") as file:
        data = file.read(BASES_BYTES_MAX + 1) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
    if len(data) > BASES_BYTES_MAX:
        return {}
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    entries = document.get("files") if isinstance(document, dict) and document.get("version") == VERSION else None
    found = ((name, _base(entry)) for name, entry in entries.items()) if isinstance(entries, dict) else ()
    return {name: base for name, base in found if base is not None}


def _base(entry: Any) -> Base | None:
    match entry:
        case {"workspace": str(workspace), "slug": str(slug), "revision": int(revision), "content_digest": str(digest)}:
            return Base(workspace, slug, revision, digest) if is_slug(slug) and revision >= 1 else None
        case _:
            return None


def _write(folder: int, known: Mapping[str, Base]) -> None:
    """Put the record in its place, whole and durable. Raises OSError."""
    files = {
        name: {"workspace": base.workspace, "slug": base.slug, "revision": base.revision, "content_digest": base.content_digest}
        for name, base in known.items()
    }
    data = json.dumps({"version": VERSION, "files": files}, indent=1).encode("ascii")
    new = f".{BASES_NAME}.{secrets.token_hex(8)}"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(new, BASES_NAME, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(new, dir_fd=folder)
        raise
    os.fsync(folder)
