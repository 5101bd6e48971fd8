"""The files that a text imports, as far as they lie in the folder of its document or below.

Invariants: nothing is read; what a specifier means is what the loader of a file tree takes it for, whose root is that folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.language.loader import Refused, resolved
from stateward.compiler.language.nesting import children
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
