"""Folders for tests of the Workdir: a root, what lies outside of it, and what must never be read."""

import os
from dataclasses import dataclass
from pathlib import Path

from stateward.runtime.workdir.beneath import Opener, best_opener, kernel_open, portable_open

ELSEWHERE = "what lies outside"
OPENERS: dict[str, Opener] = {"portable": portable_open} | ({"kernel": kernel_open} if best_opener() is kernel_open else {})


@dataclass(frozen=True)
class Tree:
    """A root, and beside it a folder that is outside."""

    root: Path
    outside: Path

    def write(self, path: str, data: bytes | str = "inside\n") -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
        return place

    def link(self, path: str, target: str | Path) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
        return place


def tree(folder: Path) -> Tree:
    made = Tree(folder / "root", folder / "outside")
    made.root.mkdir()
    (made.outside / "folder").mkdir(parents=True)
    for name in ("secret.txt", "folder/secret.txt"):
        (made.outside / name).write_text(f"{ELSEWHERE}\n", "utf-8")
    return made


def children() -> set[str]:
    """Give the ids of this process's children, the dead ones that nobody waited for included."""
    return {child for task in Path("/proc/self/task").iterdir() for child in (task / "children").read_text().split()}


def open_handles() -> int:
    return len(os.listdir("/dev/fd"))  # noqa: PTH208 -- entries of a folder of this process, not paths
