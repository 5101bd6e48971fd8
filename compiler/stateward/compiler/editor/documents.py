"""The texts that an editor holds, as it tells of them.

Invariants: a document never changes, an edit makes another; a text is what the editor has or it is lost, never something in between. A
lost document says why, and is found again when the editor sends the whole text. The halves of a character that were sent one after the
other are one character.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from stateward.compiler.editor.positions import Encoding, Lines, Position

DOCUMENTS_MAX: Final = 1_000
"""Documents that are open at once."""
TEXT_CHARS_MAX: Final = 1024 * 1024
"""Characters of one text; no flow is nearly as long."""
TEXTS_CHARS_MAX: Final = 32 * 1024 * 1024
"""Characters of all open texts together."""
_HALVES: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ENDING: Final = ".dcdl"
_TEST_ENDING: Final = ".test.dcdl"


class Change(NamedTuple):
    """New text in place of a range, or of everything."""

    text: str
    range: tuple[Position, Position] | None = None


@dataclass(frozen=True, eq=False)
class Document:
    """One version of a text."""

    uri: str
    version: int | None
    text: str
    lost: str | None = None
    """Why the text is not known any more; it is empty then."""

    @property
    def name(self) -> str:
        """How people know it: the name of its file."""
        return PurePosixPath(unquote(urlsplit(self.uri).path)).name or self.uri

    @property
    def slug(self) -> str | None:
        """What the flow in it is kept under; None where it is no file for a flow."""
        name = self.name
        return name.removesuffix(_ENDING) if name.endswith(_ENDING) and not name.endswith(_TEST_ENDING) else None

    def edited(self, version: int | None, changes: Iterable[Change], encoding: Encoding) -> "Document":
        """Make changes one after the other."""
        text, lost = self.text, self.lost
        for change in changes:
            if change.range is None:
                text, lost = _whole(change.text), None
            elif lost is None:
                made = replaced(text, change.range, change.text, encoding)
                if made is None:
                    begin, end = change.range
                    lost = (
                        f"version {version} changes {begin.line + 1}:{begin.character + 1} to {end.line + 1}:{end.character + 1}, "
                        "which is no range of the text"
                    )
                text = _whole(made or "")
            if len(text) > TEXT_CHARS_MAX:
                lost = f"it has more than {TEXT_CHARS_MAX:,} characters"
        return Document(self.uri, version, "" if lost else text, lost)

    def without(self, why: str) -> "Document":
        """Give the document, lost."""
        return Document(self.uri, self.version, "", why)


def replaced(text: str, between: tuple[Position, Position], new: str, encoding: Encoding) -> str | None:
    """Put new text in place of a range; None where the text has no such range."""
    lines = Lines(text, encoding)
    start, end = lines.offset(between[0]), lines.offset(between[1])
    if start is None or end is None or end < start:
        return None
    return text[:start] + new + text[end:]


def _whole(text: str) -> str:
    """Join the halves of characters."""
    if text.isascii() or _HALVES.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
