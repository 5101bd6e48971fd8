"""A host of the authors' commands that keeps its files in memory, and changes them by a script where a command waits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stateward.compiler.cli.host import STATUS_USAGE, Document, Found
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.text import PLAIN, Look
from stateward.compiler.language.loader import REFUSING, Loader


@dataclass
class TextHost:
    """Files by path; a path that ends with `/` is the folder of all that begin with it."""

    files: dict[str, bytes]
    shown: Look = PLAIN
    script: list[Callable[[dict[str, bytes]], None]] = field(default_factory=list)
    """What happens to the files at each wait, one after the other; when it is over, watching ends."""
    waits: list[float] = field(default_factory=list)

    def find(self, argument: str, *, bytes_max: int) -> Found | Failure:
        names = sorted(each for each in self.files if each == argument or (argument.endswith("/") and each.startswith(argument)))
        if not names:
            return Failure(f"`{argument}` does not exist", "check the path", STATUS_USAGE)
        return Found((self._document(each, bytes_max) for each in names), is_folder=argument.endswith("/"))

    def _document(self, name: str, bytes_max: int) -> Document:
        return Document(name, self.files[name][: bytes_max + 1], name, path=name)

    def standard_input(self, name: str, *, bytes_max: int) -> Document | Failure:
        return Document(name, b"", "-")

    def write(self, path: str, data: bytes, *, never: Sequence[str] = ()) -> Failure | None:
        self.files[path] = data
        return None

    def loader(self, argument: str) -> Loader:
        return REFUSING

    def look(self, *, err: bool = False) -> Look:
        return self.shown


def texts(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in files.items()}
