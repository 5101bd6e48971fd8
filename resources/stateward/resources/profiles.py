"""The built-in profiles: files that ship with the program, by name.

Invariant: a name is one that the folder lists, so no path is ever made from what a caller says. Knows nothing of the language.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.resources import folder

VIRTUAL_FOLDER: Final = "builtin/profiles"
SUFFIX: Final = ".dcdl"


@dataclass(frozen=True, slots=True)
class BuiltinProfile:
    """A built-in profile as it ships."""

    name: str
    path: str
    """Its virtual path, by which people know it."""
    content: bytes


def builtin_profile(name: str) -> BuiltinProfile | None:
    """Give the built-in profile of a name; None when there is none."""
    file = _files().get(name)
    return None if file is None else BuiltinProfile(name, f"{VIRTUAL_FOLDER}/{file.name}", file.read_bytes())


def builtin_names() -> tuple[str, ...]:
    """Give the names of all built-in profiles, in order."""
    return tuple(sorted(_files()))


def _files() -> dict[str, Path]:
    return {each.stem: each for each in folder("profiles").iterdir() if each.suffix == SUFFIX}
