"""The ids of the states of a flow, and what a name that is none of them was probably meant to be.

Invariants: a name is looked up once however often it is used; the work is bounded: of a source with more wrong names than `LOOKUPS_MAX`
the later ones get no near name, and no name is compared with more than `CANDIDATES_MAX` ids.
"""

import unicodedata
from functools import cached_property
from typing import Final, NamedTuple

from stateward.compiler.diagnostics.wording import is_alone, nearest
from stateward.compiler.flow.identifiers import id_like, identifier_fault

LOOKUPS_MAX: Final = 256
CANDIDATES_MAX: Final = 256


class Meant(NamedTuple):
    """What a name that is not declared may stand for; at most one of the two is there."""

    near: str | None
    """The id that it was probably mistyped from."""
    twin: str | None
    """An id that looks the same and is written with other characters."""
    alone: bool = True
    """Whether no other id is as near."""


NOTHING_MEANT: Final = Meant(None, None)


class Declared:
    """The ids of all states, in order of declaration."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        self.ids = ids
        self._names = frozenset(ids)
        self._proper = tuple(each for each in ids if identifier_fault(each) is None)
        self._mended = frozenset(id_like(each) for each in self._names.difference(self._proper))
        self._looked_up: dict[str, Meant] = {}

    def __contains__(self, name: str) -> bool:
        """Tell whether a state has this id, or will have it once an id that is none was mended."""
        return name in self._names or name in self._mended

    @cached_property
    def _by_look(self) -> dict[str, str]:
        """Each id by what it looks like, the first of those that look the same."""
        return {_look(each): each for each in reversed(self.ids)}

    def meant(self, name: str) -> Meant:
        """Say what a name that is not declared may stand for."""
        found = self._looked_up.get(name)
        if found is None:
            found = self._sought(name) if len(self._looked_up) < LOOKUPS_MAX else NOTHING_MEANT
            self._looked_up[name] = found
        return found

    def _sought(self, name: str) -> Meant:
        twin = self._by_look.get(_look(name))
        if twin is not None:
            return Meant(None, twin)
        candidates = self._proper[:CANDIDATES_MAX]
        near = nearest(name, candidates)
        return Meant(near, None, near is None or is_alone(name, near, candidates))


def _look(name: str) -> str:
    """Fold what looks alike: composed and decomposed letters, compatibility forms, and marks without a width."""
    if name.isascii():
        return name
    return "".join(char for char in unicodedata.normalize("NFKC", name) if unicodedata.category(char) != "Cf")
