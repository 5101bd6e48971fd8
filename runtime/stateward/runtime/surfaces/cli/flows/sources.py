"""The files that a command names: single ones, folders, patterns, standard input; and their bytes.

Invariants: a pattern that the shell has not expanded is expanded here, and a name that is there is never taken for a pattern; no file is
given twice; what is no flow counts only where it was named by itself.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from stateward.compiler.cli.host import SELECTORS, STANDARD_INPUT, STATUS_USAGE, SUFFIX, TEST_SUFFIX, Document, Found, read_standard_input
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX
from stateward.runtime.surfaces.cli.errors import Stop
from stateward.runtime.surfaces.cli.reading import FILES_MAX, FileHost
from stateward.runtime.surfaces.cli.writing import shown_path

FOUND_MAX: Final = 10_000
"""Names that one pattern may fit, and files that are saved at a time."""
BYTES_MAX: Final = 256 * 1024 * 1024
"""Of all files together: they are held at once."""


@dataclass(slots=True)
class Sources:
    """What the arguments of a command come to."""

    found: list[Document | Failure] = field(default_factory=list)
    passed_over: int = 0
    """Files of folders and patterns that are no flows."""
    several: bool = False
    """Whether more than one file may have been meant."""
    _seen: set[str] = field(default_factory=set)
    _bytes: int = 0

    def take(self, argument: str) -> None:
        """Take in what one argument names. Raises Stop when that is too much."""
        if not os.path.lexists(argument) and glob.has_magic(argument) and not argument.startswith(SELECTORS):
            self._take_all(argument, _fitting(argument))
        else:
            self._take_one(argument, _found(argument))

    def _take_one(self, argument: str, found: Found | Failure) -> None:
        if isinstance(found, Failure):
            self.found.append(found)
        elif found.is_folder:
            self._take_all(argument, found.documents)
        else:
            for each in found.documents:
                self._keep(each)

    def _take_all(self, argument: str, documents: Iterator[Document | Failure]) -> None:
        self.several = True
        flows, before = 0, self.passed_over
        for each in documents:
            if not _is_candidate(each):
                self.passed_over += self._is_new(each)
                continue
            flows += 1
            self._keep(each)
        if not flows:
            self.found.append(_no_flow(argument, self.passed_over - before))

    def _keep(self, document: Document | Failure) -> None:
        """Keep a document that is new. Raises Stop when there are too many."""
        if not self._is_new(document):
            return
        self.found.append(document)
        self._bytes += len(document.data) if isinstance(document, Document) else 0
        if len(self.found) > FOUND_MAX or self._bytes > BYTES_MAX:
            message = f"the files that are named are more than {FOUND_MAX:,}, or have more than {BYTES_MAX:,} bytes"
            raise Stop(STATUS_USAGE, message, "save them folder by folder")

    def _is_new(self, document: Document | Failure) -> bool:
        if isinstance(document, Failure):
            return True
        known = document.identity in self._seen
        self._seen.add(document.identity)
        return not known


def sources_of(arguments: Sequence[str]) -> Sources:
    """Find and read what is named. Raises Stop when it is more than is saved at a time."""
    sources = Sources(several=len(arguments) > 1)
    for each in dict.fromkeys(arguments):
        sources.take(each)
    return sources


def document_at(path: str) -> Document:
    """Read a source from one file, to its end or to one byte more than a source has. Raises Stop."""
    found = _found(path)
    document = found if isinstance(found, Failure) else next(found.documents) if not found.is_folder else None
    if document is None:
        raise Stop(STATUS_USAGE, f"`{shown_path(path)}` is a folder", "name a file in it")
    if isinstance(document, Failure):
        raise Stop(document.status, document.message, document.remedy)
    return document


def content_of(path: Path) -> bytes:
    """Read the bytes of a source from one file. Raises Stop."""
    return document_at(str(path)).data


def imported_by(document: Document, slug: str) -> tuple[tuple[str, bytes], ...]:
    """Give what a source imports of its folder, as far as that is there; nothing is compiled where nothing can be imported."""
    if document.path is None or b"import" not in document.data:
        return ()
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415 - most flows import nothing

    compilation = compile_source(document.data, name=document.name, slug=slug, loader=FileHost().loader(document.path))
    return tuple((each.path, each.content) for each in compilation.modules)


def slug_for(document: Document) -> str:
    """Give the slug that a file is kept under where none is named: its name without the ending."""
    return Path(document.path or document.name).name.removesuffix(SUFFIX)


def _found(argument: str) -> Found | Failure:
    if argument == STANDARD_INPUT:
        return Found(iter([read_standard_input("<stdin>", FLOW_SOURCE_BYTES_MAX)]), is_folder=False)
    if not argument:
        return Failure("an empty path names nothing", "name a file, a folder, a pattern or `-`", STATUS_USAGE)
    if argument.startswith(SELECTORS):
        return Failure(f"`{shown_path(argument)}` is no file", "name the file it is saved from", STATUS_USAGE)
    return FileHost().find(argument, bytes_max=FLOW_SOURCE_BYTES_MAX)


def _fitting(pattern: str) -> Iterator[Document | Failure]:
    """Read the `*.dcdl` files that fit a pattern, and those of folders that fit it, by name."""
    names = list(islice(glob.iglob(pattern, recursive=True), FOUND_MAX + 1))  # noqa: PTH207 - a pattern may be of a whole path
    if len(names) > FOUND_MAX:
        yield Failure(f"more than {FOUND_MAX:,} names fit `{shown_path(pattern)}`", "name less by it", STATUS_USAGE)
        return
    for name in sorted(names):
        found = _found(name) if name.endswith(SUFFIX) else None
        if isinstance(found, Failure):
            yield found
        elif found is not None:
            yield from islice(found.documents, FILES_MAX)


def _is_candidate(document: Document | Failure) -> bool:
    """Tell whether a file of a folder is to be saved; what cannot be read might be."""
    return isinstance(document, Failure) or is_flow(document.name, document.data)


def is_flow(name: str, content: bytes) -> bool:
    """Tell whether a file of a folder is meant as a flow."""
    from stateward.compiler.flow.recognize import is_flow_source  # noqa: PLC0415 - loads the compiler, which single files do not need here

    return not name.endswith(TEST_SUFFIX) and is_flow_source(content)


def _no_flow(argument: str, passed_over: int) -> Failure:
    passed = f" ({counted(passed_over, 'other file')} passed over)" if passed_over else ""
    remedy = "a flow is a `*.dcdl` file with `states` or `schema_version`; name the file itself"
    return Failure(f"no flow in `{shown_path(argument)}`{passed}", remedy, STATUS_USAGE)
