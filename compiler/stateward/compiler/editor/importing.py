"""The files that a text imports, as far as they lie in the folder of its document or below.

Invariants: what a specifier means is what the loader of a file tree takes it for, whose root is that folder; of a file that is open in the
editor the text is the one there; nothing else is read than what a flow imports.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.documents import Document
from stateward.compiler.language.loader import FileTreeLoader, Loader, Refused, resolved
from stateward.compiler.language.nesting import children
from stateward.compiler.source import Source
from stateward.compiler.syntax.tree import Import, Node


def import_at(analysis: Analysis, offset: int) -> Import | None:
    """Give the import of a path that stands at an offset."""
    open_: list[Node] = [analysis.parsed.module]
    while open_:
        node = open_.pop()
        if isinstance(node, Import) and node.quoted:
            return node
        open_ += (each for each in children(node) if each.start <= offset <= each.end)
    return None


def alike(analysis: Analysis, importing: Import) -> Iterator[Import]:
    """Give the imports of a text that take in the same file as one of them, it among them."""
    file = resolved(importing.specifier, "")
    open_: list[Node] = [analysis.parsed.module]
    while open_:
        node = open_.pop()
        if isinstance(node, Import) and node.quoted and (node is importing or resolved(node.specifier, "") == file):
            yield node
        open_ += children(node)


def imported(uri: str, specifier: str) -> str | None:
    """Give the address of the file that a document imports; None where there is none that lies in its folder or below."""
    address = urlsplit(uri)
    path = resolved(specifier, "")
    if address.scheme != "file" or address.netloc or isinstance(path, Refused) or not path.isprintable():
        return None
    folder = Path(unquote(address.path)).parent
    there = os.path.isfile(folder / path)  # noqa: PTH113  the method of a path fails where a folder is closed or a name too long
    return urljoin(uri, quote(path)) if there else None


class OpenFirst:
    """The loader of a document: the texts that are open before the files of its folder and below."""

    def __init__(self, folder: Path, texts: Mapping[str, str]) -> None:
        """Take the texts by the paths of their files."""
        self._folder = folder
        self._texts = texts
        self._files = FileTreeLoader(folder)

    def load(self, specifier: str, importer: str) -> Source | Refused:
        """Give the text at a path that is seen from the folder."""
        path = resolved(specifier, importer)
        text = self._texts.get(str(self._folder / path)) if isinstance(path, str) else None
        return self._files.load(specifier, importer) if text is None else Source.from_text(specifier, text)


def loader_of(document: Document, open_: Iterable[Document]) -> Loader | None:
    """Give the loader for what a document imports; None where it is no file."""
    path = path_of(document.uri)
    if path is None:
        return None
    texts = {there: each.text for each in open_ if each.lost is None and (there := path_of(each.uri)) is not None}
    return OpenFirst(Path(path).parent, texts)


def path_of(uri: str) -> str | None:
    """Give the path of the file at an address; None where it is no file of this machine."""
    address = urlsplit(uri)
    path = unquote(address.path)
    return path if address.scheme == "file" and not address.netloc and path.startswith("/") and path.isprintable() else None


def sought_by(document: Document, analysis: Analysis) -> frozenset[str]:
    """Give the paths of the files that a document imports, whether they are there or not."""
    path = path_of(document.uri)
    return frozenset() if path is None else frozenset(str(Path(path).parent / each) for each in analysis.compilation.sought)
