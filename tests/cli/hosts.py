"""A host of the authors' commands that keeps its files in memory, and changes them by a script where a command waits."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stateward.compiler.cli.host import STATUS_USAGE, Document, Found
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.text import PLAIN, Look
from stateward.compiler.language.loader import Loader, MemoryLoader

Happening = Callable[[dict[str, bytes]], None]
"""Something that happens to the files."""


@dataclass
class TextHost:
    """Files by path; a path that ends with `/` is the folder of all that begin with it."""

    files: dict[str, bytes]
    shown: Look = PLAIN
    script: list[Happening] = field(default_factory=list)
    """What happens at each wait, one after the other; when it is over, waiting ends."""
    waits: list[float] = field(default_factory=list)

    def find(self, argument: str, *, bytes_max: int) -> Found | Failure:
        names = self._named(argument)
        if not names:
            return Failure(f"`{argument}` does not exist", "check the path", STATUS_USAGE)
        return Found(self._documents(names, bytes_max), is_folder=argument.endswith("/"))

    def _named(self, argument: str) -> list[str]:
        return sorted(each for each in self.files if each == argument or (argument.endswith("/") and each.startswith(argument)))

    def _documents(self, names: Sequence[str], bytes_max: int) -> Iterator[Document | Failure]:
        yield from (Document(each, self.files[each][: bytes_max + 1], each, path=each) for each in names)

    def standard_input(self, name: str, *, bytes_max: int) -> Document | Failure:
        return Document(name, self.files.get("-", b""), "-")

    def write(self, path: str, data: bytes, *, never: Sequence[str] = ()) -> Failure | None:
        self.files[path] = data
        return None

    def rewrite(self, path: str, data: bytes, *, expected: bytes) -> Failure | None:
        assert expected == self.files[path]
        return self.write(path, data)

    def stamps(self, argument: str) -> Mapping[str, Hashable]:
        return {name: self.files[name] for name in self._named(argument)}

    def wait(self, seconds: float) -> bool:
        self.waits.append(seconds)
        if not self.script:
            return False
        self.script.pop(0)(self.files)
        return True

    def loader(self, argument: str) -> Loader:
        folder = argument[: argument.rfind("/") + 1]
        return MemoryLoader({name.removeprefix(folder): data.decode() for name, data in self.files.items() if name.startswith(folder)})

    def look(self, *, err: bool = False) -> Look:
        return self.shown


def texts(**files: str) -> dict[str, bytes]:
    """Give files by their names without `.dcdl`."""
    return {f"{name}.dcdl": text.encode() for name, text in files.items()}
