"""How modules reach the evaluator: the loader protocol, the rules of specifiers, the loaders that touch no file.

Invariants: the name of a source is its identity: a loader gives one and the same name however an import is spelled. A loader decides
what may be reached; the evaluator never looks at a path.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from stateward.compiler.source import Source

FORBIDDEN: Final[Mapping[str, str]] = {"\\": "a backslash", "\0": "a NUL", ":": "a colon"}


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing was loaded: a message, and what is to be said about the specifier."""

    message: str
    label: str
    is_limit: bool = False
    """Whether a limit was passed, so that the same import elsewhere would fail in the same way."""


class Loader(Protocol):
    """The host's policy on imports."""

    def load(self, specifier: str, importer: str) -> Source | Refused:
        """Give the source that a specifier names, seen from the source named `importer`."""
        ...


class RefusingLoader:
    """Refuses every import."""

    def load(self, specifier: str, importer: str) -> Source | Refused:  # the protocol's names
        """Refuse."""
        return Refused("imports are not allowed here", "imports a module")


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


def no_such_module(path: str) -> Refused:
    """Refuse a path at which there is nothing."""
    return Refused(f"there is no module `{path}`", "no such module")


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
