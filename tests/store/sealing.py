"""Keys, sealers and witnesses for tests."""

from datetime import UTC, datetime
from pathlib import Path

from stateward.store.keys import KeyFolder
from stateward.store.seal import HmacSealer
from stateward.store.witness import FileWitness

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def key_folder(path: Path) -> KeyFolder:
    return KeyFolder(path, lambda: NOON)


def sealer(path: Path) -> HmacSealer:
    return HmacSealer(key_folder(path))


class Said(list[str]):
    """A witness's folder and what it said."""

    def witness(self, path: Path) -> FileWitness:
        return FileWitness(path, self.append)
