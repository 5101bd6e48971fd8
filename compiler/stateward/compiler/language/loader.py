"""How modules reach the evaluator: the loader protocol, the rules of specifiers, and the loaders.

Invariants: the name of a source is its identity: a loader gives one and the same name however an import is spelled. A loader decides
what may be reached; the evaluator never looks at a path. The loader of a file tree is the only thing in the language that reads files,
and it reads nothing outside of its root, whatever links say.
"""

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.limits import LIMITS
from stateward.compiler.source import Source

NOTHING_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
"""What the system says where no file is."""
FORBIDDEN: Final[Mapping[str, str]] = {"\\": "a backslash", "\0": "a NUL", ":": "a colon"}


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing was loaded: a message, and what is to be said about the specifier."""

    message: str
    label: str
    is_limit: bool = False
    """Whether a limit was passed, so that the same import elsewhere would fail in the same way."""
    notes: tuple[str, ...] = ()
    """Facts to be told with it."""


class Loader(Protocol):
    """The host's policy on imports."""

    def load(self, specifier: str, importer: str) -> Source | Refused:
        """Give the source that a specifier names, seen from the source named `importer`."""
        ...


@dataclass(frozen=True, slots=True)
class RefusingLoader:
    """Refuses every import, and says why."""

    refused: Refused = Refused("imports are not allowed here", "imports a module")

    def load(self, specifier: str, importer: str) -> Source | Refused:  # the protocol's names
        """Refuse."""
        return self.refused


REFUSING: Final = RefusingLoader()


class MemoryLoader:
    """A small tree of texts by path."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._sources = {name: Source.from_text(name, text) for name, text in files.items()}

    def load(self, specifier: str, importer: str) -> Source | Refused:
        """Give the text at a path."""
        path = resolved(specifier, importer)
        if isinstance(path, Refused):
            return path
        return self._sources.get(path) or no_such_module(path)


class KeptLoader:
    """The modules that are kept with a flow, by their paths from its folder."""

    def __init__(self, modules: Mapping[str, bytes]) -> None:
        self._modules = modules

    def load(self, specifier: str, importer: str) -> Source | Refused:
        """Give the module at a path."""
        path = resolved(specifier, importer)
        if isinstance(path, Refused):
            return path
        content = self._modules.get(path)
        if content is None:
            return Refused(f"the module {quoted(path)} is not kept with the flow", "no such module")
        try:
            return Source.from_bytes(path, content)
        except UnicodeError:
            return Refused(f"{quoted(path)} is not UTF-8", "not a text")


def no_such_module(path: str) -> Refused:
    """Refuse a path at which there is nothing."""
    return Refused(f"there is no module {quoted(path)}", "no such module")


def resolved(specifier: str, importer: str) -> str | Refused:
    """Give the path, from the root, that a specifier means in the file at path `importer`.

    `./` and `../` start at the folder of the importer, everything else at the root; nothing is appended and nothing is folded.
    """
    fault = _malformed(specifier)
    if fault is not None:
        return Refused(f"the specifier {fault}", "not a path")
    relative = specifier.startswith(("./", "../")) or specifier in {".", ".."}
    parts = importer.split("/")[:-1] if relative else []
    for part in specifier.split("/"):
        if part == "..":
            if not parts:
                return Refused("the path leaves the tree", "leads outside")
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts) if parts else Refused("the path names no file", "not a file")


def _malformed(specifier: str) -> str | None:
    if not specifier:
        return "is empty"
    if specifier.startswith("/"):
        return "starts with `/`"
    return next((f"holds {name}" for char, name in FORBIDDEN.items() if char in specifier), None)


class FileTreeLoader:
    """The files of a folder and below. A file is known by what it is in the end: links and spellings make no second module of it."""

    def __init__(self, root: Path, *, shown: str = "", bytes_max: int = LIMITS.module_bytes) -> None:
        """Confine to `root`; `shown` is how people know that folder, and begins the names of its files."""
        self._root = os.path.realpath(root)
        self._prefix = f"{shown.rstrip('/')}/" if shown not in {"", "."} else ""
        self._bytes_max = bytes_max
        self._sources: dict[tuple[int, int], Source] = {}

    def load(self, specifier: str, importer: str) -> Source | Refused:
        """Read a file. An importer that is not of this tree stands at its root."""
        inside = importer.removeprefix(self._prefix) if importer in {each.name for each in self._sources.values()} else ""
        path = resolved(specifier, inside)
        if isinstance(path, Refused):
            return path
        try:
            real = os.path.realpath(f"{self._root}/{path}", strict=True)
            if os.path.commonpath((self._root, real)) != self._root:
                return Refused(f"{quoted(path)} leads out of the folder", "leads outside")
            return self._read(os.path.relpath(real, self._root), path)
        except OSError as fault:
            return no_such_module(path) if fault.errno in NOTHING_THERE else Refused(f"{quoted(path)} cannot be read", "not readable")
        except UnicodeError:
            return Refused(f"{quoted(path)} is not UTF-8", "not a text")

    def _read(self, real: str, path: str) -> Source | Refused:
        with closing(_Descriptor(_opened(self._root, real))) as file:
            found = os.fstat(file.number)
            if not stat.S_ISREG(found.st_mode):
                return Refused(f"{quoted(path)} is not a file", "not a file")
            identity = (found.st_dev, found.st_ino)
            if identity not in self._sources:
                data = _bytes(file.number, self._bytes_max + 1)
                if len(data) > self._bytes_max:
                    return Refused(f"the module {quoted(path)} is larger than {self._bytes_max:,} bytes", "too large", is_limit=True)
                self._sources[identity] = Source.from_bytes(self._prefix + real, data)
            return self._sources[identity]


@dataclass(frozen=True, slots=True)
class _Descriptor:
    number: int

    def close(self) -> None:
        os.close(self.number)


def _opened(root: str, real: str) -> int:
    """Open a file below the root by a path that holds no link; one that was put in meanwhile is not followed."""
    parts = real.split("/")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in parts[:-1]:
        with closing(_Descriptor(folder)):
            folder = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with closing(_Descriptor(folder)):
        return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)


def _bytes(descriptor: int, most: int) -> bytes:
    chunks = []
    left = most
    while left > 0:
        chunk = os.read(descriptor, left)
        if not chunk:
            break
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)
