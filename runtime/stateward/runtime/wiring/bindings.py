"""Where the bindings of a Workspace's sessions lie, in its folder among the user's state wherever its store is; and how a store looks.

Invariant: nothing is loaded for it that opens a store.
"""

import os
from hashlib import sha256
from pathlib import Path
from typing import Final

from stateward.runtime.ports.bindings import Bindings
from stateward.runtime.wiring.places import Place, user_folder
from stateward.store.bindings import FileBindings

FOLDER: Final = "sessions"
_INDEX_BYTES: Final = 48
"""The head of the index of a write-ahead log, which counts transactions."""


def bindings_of(workspace: str) -> Bindings:
    """Give the bindings of a Workspace. Raises NoHome."""
    return FileBindings(user_folder("XDG_STATE_HOME", ".local/state") / workspace / FOLDER)


def mark_of(store: Place) -> str:
    """Tell how a store looks: another text after each commit. Empty for one that is no file, or is not there."""
    if not isinstance(store, Path):
        return ""
    try:
        looks = [_looks(store)]
    except OSError:
        return ""
    for suffix in ("-wal", "-shm"):
        try:
            looks.append(_looks(store.with_name(store.name + suffix)))
        except OSError:
            looks.append("none")
    return sha256(
        "\n".join([str(store), *looks, _index(store.with_name(f"{store.name}-shm"))]).encode("utf-8", "surrogateescape")
    ).hexdigest()


def _looks(file: Path) -> str:
    found = os.stat(file)  # noqa: PTH116 -- as it is
    return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _index(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(_INDEX_BYTES).hex()
    except OSError:
        return ""
