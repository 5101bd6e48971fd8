"""The ports on what lies around the program: the folder of the work, time and ids."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from stateward.runtime.core.events import FileCitation


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """What a git work tree looked like at one moment."""

    digest: str
    """Equal for two moments when head, index and files were the same; empty when that could not be found out."""
    stated: bytes
    """The facts as JSON, for the log."""


class Workdirs(Protocol):
    """Looks at the folder of the work. Reads only, within bounds; never raises for what lies there."""

    def facts(self, root: str) -> TreeFacts | None:
        """Take the facts of a folder; None when it is no git work tree, or is not there."""

    def shows(self, root: str, cited: FileCitation) -> bool:
        """Tell whether those lines of that file, read as a verifier reads them, still are what was quoted."""


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Give the present, UTC, aware."""


class Ids(Protocol):
    """Makes ids."""

    def new(self) -> str:
        """Give a UUIDv7 in its canonical text form, later than every one given before."""
