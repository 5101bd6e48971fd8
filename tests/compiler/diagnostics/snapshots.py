"""Snapshots as plain text, with input and output together, to be read as prose in review.

`STATEWARD_SNAPSHOTS=write` writes them anew; otherwise a snapshot that is missing or differs fails.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from stateward.compiler.diagnostics.cells import shown

WRITE = "write"


def assert_snapshot(path: Path, actual: str) -> None:
    """Compare a text with the snapshot of that name."""
    if os.environ.get("STATEWARD_SNAPSHOTS") == WRITE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(actual, "utf-8")
    assert path.exists(), f"there is no snapshot {path.name}; STATEWARD_SNAPSHOTS=write makes it"
    assert path.read_text("utf-8") == actual


def titled(sections: Iterable[tuple[str, str]]) -> str:
    """Put texts under titles."""
    return "\n".join(f"=== {title}\n\n{text.rstrip()}\n" for title, text in sections)


def visible(text: str) -> str:
    """Show a source so that nothing in the snapshot is hidden; lines stay lines."""
    return "".join(char if char in "\n\t" else shown(char) for char in text)
