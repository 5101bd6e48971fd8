"""What a flow imports: the modules that its evaluation reached, by the path under which they can be kept with it.

Invariants: a path is seen from the folder of the flow, leads nowhere outside of it, and means one and the same module for the whole of a
compile, whatever links there are; a module is named in what is shown as the flow is, with its path in place of the file; the flow and all
that it reached are together no larger than the limit says.
"""

from typing import Final, NamedTuple

from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.flow.canonical import digest
from stateward.compiler.flow.intake import raw_bytes
from stateward.compiler.language.loader import Loader, Refused, resolved
from stateward.compiler.limits import FlowLimits
from stateward.compiler.source import Source

NOT_FROM_HERE: Final = Refused(
    "a flow that is read from here cannot import",
    "imports a module",
    notes=("a flow imports files of its own folder and below where it is read from a file, and what is kept with it",),
)


class ImportedModule(NamedTuple):
    """A module that a flow reached."""

    path: str
    """Seen from the folder of the flow: no `.`, no `..`, no empty part."""
    content: bytes
    digest: str


class FlowModules:
    """The loader of one compile: it asks the one of the host, and keeps what was reached."""

    def __init__(self, root: Source, loader: Loader | None, limits: FlowLimits) -> None:
        """Begin with a flow; without a loader of the host it imports nothing."""
        self._root = root
        self._loader = loader
        self._limits = limits
        folder, slash, self._file = root.name.rpartition("/")
        self._prefix = folder + slash
        self._bytes = len(raw_bytes(root))
        self._answers: dict[str, Source | Refused] = {}
        self._paths: dict[str, str] = {}
        self._contents: dict[str, bytes] = {}
        self._asked: set[tuple[str, str]] = set()

    def load(self, specifier: str, importer: str) -> Source | Refused:
        """Give the module at the path that a specifier means."""
        self._asked.add((importer, specifier))
        if self._loader is None:
            return NOT_FROM_HERE
        path = resolved(specifier, self._paths.get(importer, ""))
        if isinstance(path, Refused):
            return path
        if path not in self._answers:
            self._answers[path] = self._loaded(path, self._loader)
        answer = self._answers[path]
        # the flow itself only where nothing else has the path: it is kept under its slug, and not under the name of its file
        return self._root if isinstance(answer, Refused) and path == self._file else answer

    def _loaded(self, path: str, loader: Loader) -> Source | Refused:
        most = self._limits.module_path_bytes
        if len(path.encode("utf-8", "surrogatepass")) > most:
            return Refused(f"the path of a module has more than {most:,} bytes", "the path is too long", is_limit=True)
        if not path.isprintable():
            return Refused("the path of a module holds what cannot be printed", "not a path")
        found = loader.load(path, "")
        if isinstance(found, Refused):
            return found
        content = raw_bytes(found)
        self._bytes += len(content)
        if self._bytes > self._limits.closure_bytes:
            message = f"the flow and what it imports are together larger than {self._limits.closure_bytes:,} bytes"
            return Refused(message, f"{quoted(path)} passes the limit", is_limit=True)
        own = "./" if path == self._file else ""  # the flow is known by its slug, and a module may have that name
        module = Source(f"{self._prefix}{own}{path}", found.text, found.has_mark)
        self._paths[module.name] = path
        self._contents[path] = content
        return module

    def forget(self) -> None:
        """Let go of all that was reached: it was asked for to learn the version of the flow, which imports nothing."""
        for kept in (self._answers, self._paths, self._contents):
            kept.clear()

    def was_needed(self, importer: str, specifier: str) -> bool:
        """Tell whether evaluation ever asked for an import."""
        return (importer, specifier) in self._asked

    @property
    def reached(self) -> tuple[ImportedModule, ...]:
        """The modules, by path."""
        return tuple(ImportedModule(path, content, digest(content)) for path, content in sorted(self._contents.items()))

    @property
    def sought(self) -> tuple[str, ...]:
        """The paths that were looked at, whether there was a module or not."""
        return tuple(sorted(self._answers))
