"""Blocks between markers, in files that have comments: put behind everything else, brought up to date where they stand, taken out again.

Invariants: what is outside the markers stays byte for byte; taking out a block that was put in gives the text as it was, also when that did
not end with a line end (then the block does not either). Markers that do not pair up are never guessed at.
"""

import re
from dataclasses import dataclass
from typing import Final

from stateward.runtime.surfaces.cli.init.faults import Unsafe

FOLDERS: Final = re.compile(r"stateward:(?:begin|skill) folders=(\d{1,2})\b")
"""How many folders were made for the file, so that they can go with it."""


@dataclass(frozen=True, slots=True)
class Markers:
    """How the first and the last line of a block look."""

    before: str
    after: str

    def block(self, body: str, folders: int) -> str:
        """Give a block, without a line end behind it."""
        first = f"{self.before} stateward:begin folders={folders}{self.after}"
        return f"{first}\n{body.rstrip()}\n{self.before} stateward:end{self.after}"


MARKDOWN: Final = Markers("<!--", " -->")
TOML: Final = Markers("#", "")


def found(text: str, markers: Markers, name: str) -> tuple[int, int] | None:
    """Give where the block lies; None when there is none. Raises Unsafe when the markers do not pair up."""
    before, after = re.escape(markers.before), re.escape(markers.after)
    begins = list(re.finditer(rf"^{before} stateward:begin\b[^\r\n]*?{after}(?=\r?$)", text, re.MULTILINE))
    ends = list(re.finditer(rf"^{before} stateward:end{after}(?=\r?$|[^\S\r\n])", text, re.MULTILINE))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        raise Unsafe(f"`{name}` has markers of stateward that do not pair up", "take these lines out, with what is between them")
    return begins[0].start(), ends[0].end()


def put(text: str | None, block: str, markers: Markers, name: str) -> str:
    """Give the text with the block in it; None stands for a file that is not there."""
    if text is None:
        return block + "\n"
    there = found(text, markers, name)
    newline = _newline_of(text if there is None else text[slice(*there)])
    said = block.replace("\n", newline)
    if there is not None:
        return text[: there[0]] + said + text[there[1] :]
    if not text:
        return said
    return f"{text}{newline}{said}{newline}" if text.endswith("\n") else f"{text}{newline}{newline}{said}"


def taken(text: str, markers: Markers, name: str) -> str | None:
    """Give the text without its block; None when the file held nothing else."""
    there = found(text, markers, name)
    if there is None:
        return text
    before, block, behind = text[: there[0]], text[slice(*there)], text[there[1] :]
    newline = _newline_of(block)
    if not before and behind == newline:
        return None
    if not behind:
        return before.removesuffix(newline).removesuffix(newline)
    kept, rest = before.removesuffix(newline), behind.removeprefix(newline)
    if rest and kept and not kept.endswith("\n"):  # somebody wrote around it, and no line is to run into another
        kept = before
    return kept + rest


def _newline_of(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
