"""The marker of a project: `.stateward/workspace`, which holds the id of its Workspace and nothing else.

Invariants: what a project holds is the data of whoever wrote it, so nothing is written through a link or over what is there; a marker
appears whole and durable or not at all, and never in the place of another; what stands in its place and is none is named, not passed over.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.runtime.core.texts import reason
from stateward.runtime.ports import Fault

MARKER_FOLDER: Final = ".stateward"
MARKER_NAME: Final = "workspace"
MARKER_BYTES_MAX: Final = 4096
PARENTS_MAX: Final = 256
_IGNORE: Final = ".gitignore"
_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ELSEWHERE: Final = "name a folder that can be written with `--workdir`"


class NoWorkspace(Fault):
    """There is no such folder, or no marker in it or above it."""


class MarkerUnusable(Fault):
    """What stands in the place of a marker is none, or none can be read or put there."""


def work_folder(folder: Path) -> Path:
    """Give a folder of work by its whole path. Raises NoWorkspace when there is none, MarkerUnusable when it cannot be looked at."""
    try:
        whole = Path(os.path.realpath(folder))
        mode = whole.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as missing:
        raise NoWorkspace(f"the folder {folder} does not exist", "name one that does with `--workdir`") from missing
    except OSError as fault:
        raise MarkerUnusable(f"the folder {folder} cannot be looked at: {reason(fault)}", "name another one with `--workdir`") from fault
    if not stat.S_ISDIR(mode):
        raise NoWorkspace(f"{folder} is no folder", "name one with `--workdir`")
    return whole


def find_workspace(folder: Path) -> str | None:
    """Give the id in the nearest marker from a folder upward, or None.

    Raises NoWorkspace when there is no such folder, MarkerUnusable for a marker that cannot be read or holds no id.
    """
    here = work_folder(folder)
    for candidate in (here, *here.parents)[:PARENTS_MAX]:
        marker = candidate / MARKER_FOLDER / MARKER_NAME
        try:
            marker.lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as fault:
            raise _unreadable(marker, fault) from fault
        return _read(marker)
    return None


@dataclass(slots=True)
class Draft:
    """A marker that is written and not yet in its place."""

    path: Path
    marker: Path
    published: bool = False

    def publish(self) -> str:
        """Put it into its place and give the id that counts: of whoever was quicker, if somebody was. Raises MarkerUnusable."""
        try:
            # A link appears whole or not at all and never replaces what is there.
            self.marker.hardlink_to(self.path)
        except FileExistsError:
            pass
        except OSError as fault:
            raise _unwritable(self.marker, fault) from fault
        self.published = True
        _sync(self.marker.parent)
        return _read(self.marker)


@contextmanager
def drafted(folder: Path, workspace: str) -> Iterator[Draft]:
    """Write a marker beside its place. When it is left without being published, everything is as it was. Raises MarkerUnusable."""
    marker = folder / MARKER_FOLDER / MARKER_NAME
    home, draft = marker.parent, Draft(marker.with_name(f"{MARKER_NAME}.{workspace}"), marker)
    made: list[Path] = []
    try:
        try:
            _make(home, made)
            for path, data in ((home / _IGNORE, b"*\n"), (draft.path, f"{workspace}\n".encode("ascii"))):
                if _write_new(path, data):
                    made.append(path)
        except OSError as fault:
            raise _unwritable(marker, fault) from fault
        yield draft
    finally:
        _unmake([draft.path] if draft.published else made)


def _make(home: Path, made: list[Path]) -> None:
    try:
        home.mkdir()
        made.append(home)
    except FileExistsError:
        if home.is_symlink() or not home.is_dir():
            raise MarkerUnusable(f"{home} is no folder of its own", "remove what is there") from None
    else:
        _sync(home.parent)


def _write_new(path: Path, data: bytes) -> bool:
    """Write a file that is not there, durably; false when something is there, be it a link to nothing."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink()
        raise
    return True


def _unmake(made: list[Path]) -> None:
    """Remove what was made, last first; what somebody else has put beside it stays."""
    for path in reversed(made):
        with suppress(OSError):
            path.rmdir() if path.name == MARKER_FOLDER else path.unlink()


def _sync(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read(marker: Path) -> str:
    try:
        if not stat.S_ISREG(marker.stat().st_mode):  # a pipe would be waited for
            raise MarkerUnusable(f"{marker} is no file", "remove it to begin a new Workspace")
        with marker.open("rb") as file:
            text = file.read(MARKER_BYTES_MAX).decode("ascii", "replace").strip()
    except OSError as fault:
        raise _unreadable(marker, fault) from fault
    if not _ID.fullmatch(text):
        raise MarkerUnusable(f"{marker} does not hold the id of a Workspace", "restore it, or remove it to begin a new Workspace")
    return text


def _unreadable(marker: Path, fault: OSError) -> MarkerUnusable:
    if isinstance(fault, FileNotFoundError):
        return MarkerUnusable(f"{marker} is a link to nothing", "restore it, or remove it to begin a new Workspace")
    return MarkerUnusable(f"{marker} cannot be read: {reason(fault)}", "make it readable for this user")


def _unwritable(marker: Path, fault: OSError) -> MarkerUnusable:
    return MarkerUnusable(f"{marker} cannot be written: {reason(fault)}", _ELSEWHERE)
