"""The digest of everything in which a work tree and its index differ from a commit.

Invariants: the same differences give the same digest, and others another one; files are opened through the confined root, links are read
and never followed; contents are read up to a bound, past which a file enters by its size and its times, and a caveat says so.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from time import monotonic

from stateward.runtime.workdir.beneath import FILE_FLAGS
from stateward.runtime.workdir.facts import Caveat, ChangeKind
from stateward.runtime.workdir.limits import CHUNK_BYTES
from stateward.runtime.workdir.repository import Unknown
from stateward.runtime.workdir.root import NotShown, Root


class Digester:
    """One digest; its caveats fill as it goes."""

    def __init__(self, root: Root, bytes_max: int, deadline: float) -> None:
        self._root = root
        self._left = bytes_max
        self._deadline = deadline
        self.caveats: set[Caveat] = set()

    def digest(self, changes: Sequence[tuple[str, ChangeKind]], staged: Mapping[str, bytes]) -> str:
        """Give the digest of changed paths, in order, and of what is staged. Raises Unknown."""
        whole = hashlib.sha256()
        for path, kind in changes:
            whole.update(b"\0".join((os.fsencode(path), kind.value.encode(), self._content(path), b"")))
        for path, entry in sorted(staged.items()):
            whole.update(b"\0".join((os.fsencode(path), b"index", entry, b"")))
        return f"sha256:{whole.hexdigest()}"

    def _content(self, path: str) -> bytes:
        if monotonic() >= self._deadline:
            raise Unknown("reading the changed files took longer than it may")
        above, _, name = path.removesuffix("/").rpartition("/")
        try:
            folder = self._root.open_folder(above)
        except NotShown:
            return b"absent"
        try:
            # Reached through a link, it is no file of this path.
            return b"absent" if folder.path != above else self._entry(folder.handle, name)
        except OSError as fault:
            if fault.errno == errno.ENOENT:
                return b"absent"
            self.caveats.add(Caveat.PARTIAL_DIGEST)
            return f"unread {fault.errno}".encode()
        finally:
            os.close(folder.handle)

    def _entry(self, folder: int, name: str) -> bytes:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        mode = found.st_mode
        if stat.S_ISLNK(mode):
            return b"link " + os.fsencode(os.readlink(name, dir_fd=folder))
        if not stat.S_ISREG(mode):
            return f"type {stat.S_IFMT(mode):o}".encode()
        head = f"file {bool(mode & stat.S_IXUSR):d} ".encode()
        if found.st_size > self._left:
            self.caveats.add(Caveat.PARTIAL_DIGEST)
            return head + f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}".encode()
        return head + self._contents(folder, name)

    def _contents(self, folder: int, name: str) -> bytes:
        handle = self._root.opener(folder, name, FILE_FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return b"swapped"
            digest = hashlib.sha256()
            while self._left > 0 and monotonic() < self._deadline and (chunk := os.read(handle, CHUNK_BYTES)):
                digest.update(chunk)
                self._left -= len(chunk)
            return digest.hexdigest().encode()
        finally:
            os.close(handle)
