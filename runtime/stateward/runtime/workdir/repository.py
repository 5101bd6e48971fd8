"""The git directory of a Workdir, read without git: where it lies, what is checked out, what its configuration says.

Invariants: a git directory is believed to be that of the Workdir only when it lies in it, or names it itself (a linked work tree, a
submodule); everything is read through a confined root, so a link that leaves the directory is never followed; a link, pipe or device
among the objects, or objects that lie in another repository, make the facts unknown, for git would follow.
"""

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.runtime.core.texts import shown
from stateward.runtime.workdir.beneath import FILE_FLAGS
from stateward.runtime.workdir.limits import (
    INDEX_BYTES_MAX,
    OBJECT_FILES_MAX,
    PACKED_REFS_BYTES_MAX,
    REF_BYTES_MAX,
    REF_HOPS_MAX,
    SMALL_FILE_BYTES_MAX,
)
from stateward.runtime.workdir.root import NotShown, Root
from stateward.runtime.workdir.shown import EntryKind, RefusalCode
from stateward.runtime.workdir.walking import entry_kind

_COMMIT: Final = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PARENTS_MAX: Final = 256


class Unknown(Exception):
    """The facts cannot be taken; the message says why."""


class NotATop(Exception):
    """The folder is not the top of a work tree; the message says why."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """What is checked out."""

    ref: str | None
    """The whole name of the branch's ref; None when no branch is."""
    commit: str | None
    """None when the branch has no commit yet."""


class Repository:
    """The git directory of one work tree. A context manager."""

    def __init__(self, folder: Path, common: Path) -> None:
        """Open its folders: that of the work tree, and the one that linked work trees share. Raises Unknown."""
        self.folder, self.common = folder, common
        try:
            self._own = Root.at(folder)
            try:
                self._shared = Root.at(common)
            except OSError:
                self._own.close()
                raise
        except OSError as fault:
            raise Unknown(f"the git directory cannot be opened: {(fault.strerror or 'unknown').lower()}") from fault

    def __enter__(self) -> "Repository":
        return self

    def __exit__(self, *_: object) -> None:
        self._own.close()
        self._shared.close()

    @property
    def objects(self) -> Path:
        """The folder of objects."""
        return self.common / "objects"

    def checkout(self) -> Checkout:
        """Read what is checked out. Raises Unknown."""
        content = _read(self._own, "HEAD", REF_BYTES_MAX)
        if content is None:
            raise Unknown("the git directory has no `HEAD`")
        ref = _named(content)
        return Checkout(None, _commit(content)) if ref is None else Checkout(ref, self.resolve(ref))

    def resolve(self, ref: str) -> str | None:
        """Give the commit of a ref; None when there is no such ref. Raises Unknown."""
        for _ in range(REF_HOPS_MAX):
            content = _read(self._shared, ref, REF_BYTES_MAX)
            if content is None:
                return self._packed(ref)
            named = _named(content)
            if named is None:
                return _commit(content)
            ref = named
        raise Unknown(f"more than {REF_HOPS_MAX} refs name each other")

    def config(self) -> Sequence[bytes]:
        """Give the texts of the configuration. Raises Unknown."""
        texts = (_read(self._shared, "config", SMALL_FILE_BYTES_MAX), _read(self._own, "config.worktree", SMALL_FILE_BYTES_MAX))
        return [each for each in texts if each is not None]

    def index(self) -> bytes | None:
        """Give the index; None when there is none. Raises Unknown."""
        return _read(self._own, "index", INDEX_BYTES_MAX)

    def shallow(self) -> bytes | None:
        """Give the file that says where the history was cut off. Raises Unknown."""
        return _read(self._shared, "shallow", SMALL_FILE_BYTES_MAX)

    def has_own_attributes(self) -> bool:
        """Tell whether attributes exist that are not committed. Raises Unknown."""
        return _has_lines(_read(self._shared, "info/attributes", SMALL_FILE_BYTES_MAX))

    def excludes(self) -> bytes:
        """Give the excludes that are not committed. Raises Unknown."""
        return _read(self._shared, "info/exclude", SMALL_FILE_BYTES_MAX) or b""

    def has_replaced_objects(self) -> bool:
        """Tell whether refs exist that replace objects. Raises Unknown."""
        packed = _read(self._shared, "packed-refs", PACKED_REFS_BYTES_MAX)
        if packed is not None and b" refs/replace/" in packed:
            return True
        try:
            opened = self._shared.open_folder("refs/replace")
        except NotShown as problem:
            if problem.refused.code is RefusalCode.NOT_FOUND:
                return False
            raise Unknown("`refs/replace` is no folder") from problem
        try:
            with os.scandir(opened.handle) as entries:
                return next(entries, None) is not None
        finally:
            os.close(opened.handle)

    def vet_objects(self) -> None:
        """Make sure that git, which follows links, finds objects in their own folder alone. Raises Unknown."""
        for name in ("alternates", "http-alternates"):
            if _has_lines(_read(self._shared, f"objects/info/{name}", SMALL_FILE_BYTES_MAX)):
                raise Unknown("objects of the repository lie in another one")
        left = OBJECT_FILES_MAX
        waiting = ["objects"]
        while waiting:
            path = waiting.pop()
            for entry_path, kind in _listed(self._shared, path, left):
                left -= 1
                if kind is EntryKind.FOLDER:
                    waiting.append(entry_path)
                elif kind is not EntryKind.FILE:
                    raise Unknown(f"{shown(entry_path)} in the git directory is a link or a special file")

    def _packed(self, ref: str) -> str | None:
        packed = _read(self._shared, "packed-refs", PACKED_REFS_BYTES_MAX) or b""
        found = re.search(rb"^([0-9a-f]+) " + re.escape(ref.encode("utf-8")) + rb"$", packed, re.MULTILINE)
        return None if found is None else _commit(found[1])


def find_repository(root: Path) -> Repository:
    """Open the git directory of a folder. Raises NotATop and Unknown."""
    entry = root / ".git"
    try:
        mode = entry.lstat().st_mode
    except FileNotFoundError:
        raise NotATop(_why_not(root)) from None
    except OSError as fault:
        raise Unknown(f"`.git` cannot be looked at: {(fault.strerror or 'unknown').lower()}") from fault
    if stat.S_ISLNK(mode):
        raise Unknown("`.git` is a link")
    if stat.S_ISDIR(mode):
        return Repository(entry, _common(entry))
    with _root(root) as opened:
        folder = root / _pointed(_git_file(opened), b"gitdir: ", "`.git`")
    if not (_names_back(folder, root) or _is_submodule_of(folder, root)):
        raise Unknown("`.git` names a git directory that does not name this folder")
    return Repository(folder, _common(folder))


def _git_file(root: Root) -> bytes:
    """Read `.git` where it is a file: outside of every view, so it is opened by its name."""
    handle = -1
    try:
        handle = root.opener(root.handle, ".git", FILE_FLAGS)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unknown("`.git` is neither a folder nor a file")
        return os.read(handle, SMALL_FILE_BYTES_MAX)
    except OSError as fault:
        raise Unknown(f"`.git` cannot be read: {(fault.strerror or 'unknown').lower()}") from fault
    finally:
        if handle >= 0:
            os.close(handle)


def _why_not(root: Path) -> str:
    above = next((each for each in root.parents[:_PARENTS_MAX] if os.path.lexists(each / ".git")), None)
    return "it is no git work tree" if above is None else "it lies in a git work tree and is not the top of it"


def _common(folder: Path) -> Path:
    """Give the folder that linked work trees share; without links to others, the same."""
    with _root(folder) as opened:
        content = _read(opened, "commondir", SMALL_FILE_BYTES_MAX)
    return folder if content is None else Path(os.path.normpath(folder / _pointed(content, b"", "`commondir`")))


def _names_back(folder: Path, root: Path) -> bool:
    """Tell whether a git directory is that of a linked work tree, and says that this is it."""
    with _root(folder) as opened:
        content = _read(opened, "gitdir", SMALL_FILE_BYTES_MAX)
    return content is not None and _is_same(folder / _pointed(content, b"", "`gitdir`"), root / ".git")


def _is_submodule_of(folder: Path, root: Path) -> bool:
    with _root(folder) as opened:
        content = _read(opened, "config", SMALL_FILE_BYTES_MAX) or b""
    named = re.search(rb"^\s*worktree\s*=\s*(\S.*?)\s*$", content, re.MULTILINE | re.IGNORECASE)
    return named is not None and _is_same(folder / os.fsdecode(named[1]), root)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _pointed(content: bytes, prefix: bytes, name: str) -> str:
    if not content.startswith(prefix) or b"\0" in content or not content.strip():
        raise Unknown(f"{name} does not name a folder")
    return os.fsdecode(content.removeprefix(prefix).rstrip(b"\r\n"))


def _root(folder: Path) -> Root:
    try:
        return Root.at(folder)
    except (OSError, ValueError) as fault:
        raise Unknown(f"the git directory {shown(str(folder))} cannot be opened") from fault


def _read(root: Root, path: str, bytes_max: int) -> bytes | None:
    """Read a file of a git directory; None when it is not there. Raises Unknown."""
    try:
        opened = root.open_file(path)
    except NotShown as problem:
        if problem.refused.code in {RefusalCode.NOT_FOUND, RefusalCode.FOLDER}:
            return None
        raise Unknown(f"in the git directory, {problem.refused.message}") from problem
    try:
        data = bytearray()
        while len(data) <= bytes_max and (chunk := os.read(opened.handle, bytes_max + 1 - len(data))):
            data += chunk
    except OSError as fault:
        raise Unknown(f"{shown(path)} in the git directory cannot be read: {(fault.strerror or 'unknown').lower()}") from fault
    finally:
        os.close(opened.handle)
    if len(data) > bytes_max:
        raise Unknown(f"{shown(path)} in the git directory is larger than {bytes_max} bytes")
    return bytes(data)


def _listed(root: Root, path: str, entries_max: int) -> Sequence[tuple[str, EntryKind]]:
    """List a folder of a git directory with the modes of its entries. Raises Unknown."""
    try:
        opened = root.open_folder(path)
    except NotShown as problem:
        if problem.refused.code is RefusalCode.NOT_FOUND:  # git packs objects beside us, and removes the folders that are left empty
            return ()
        raise Unknown(f"in the git directory, {problem.refused.message}") from problem
    try:
        with os.scandir(opened.handle) as entries:
            listed: list[tuple[str, EntryKind]] = []
            for each in entries:
                if len(listed) >= entries_max:
                    raise Unknown(f"the repository has more than {OBJECT_FILES_MAX} files of objects")
                listed.append((f"{path}/{each.name}", entry_kind(each)))
            return listed
    except OSError as fault:
        raise Unknown(f"{shown(path)} in the git directory cannot be listed: {(fault.strerror or 'unknown').lower()}") from fault
    finally:
        os.close(opened.handle)


def _has_lines(content: bytes | None) -> bool:
    """Tell whether a file says anything besides comments."""
    return any(line.strip() and not line.startswith(b"#") for line in (content or b"").splitlines())


def _named(content: bytes) -> str | None:
    """Give the ref that a ref names; None when it holds a commit. Raises Unknown."""
    if not content.startswith(b"ref:"):
        return None
    try:
        ref = content.removeprefix(b"ref:").strip().decode("utf-8")
    except UnicodeDecodeError:
        raise Unknown("a ref names one whose name is no UTF-8") from None
    if not ref.startswith("refs/") or ".." in ref or not ref.isprintable():
        raise Unknown("a ref names something that is no ref")
    return ref


def _commit(content: bytes) -> str:
    found = _COMMIT.fullmatch(content.strip())
    if found is None:
        raise Unknown("a ref holds no commit")
    return found[0].decode("ascii")
