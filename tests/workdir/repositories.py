"""Git repositories for tests, made by git itself as a worker would."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT: Mapping[str, str] = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "worker",
    "GIT_AUTHOR_EMAIL": "worker@example.org",
    "GIT_COMMITTER_NAME": "worker",
    "GIT_COMMITTER_EMAIL": "worker@example.org",
    "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    "GIT_ALLOW_PROTOCOL": "file",
}


@dataclass(frozen=True)
class Repo:
    """A work tree, and a place outside of it where a trap leaves its mark."""

    root: Path
    mark: Path

    def git(self, *arguments: str, given: str = "", **environment: str) -> str:
        return self.said(*arguments, given=given, **environment).strip()

    def said(self, *arguments: str, given: str = "", **environment: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env={**ENVIRONMENT, **environment}, input=given, capture_output=True, text=True, check=True
        )
        return done.stdout

    def write(self, path: str, data: str | bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
        return place

    def commit(self, path: str = "a.txt", data: str | bytes = "one\n") -> str:
        self.write(path, data)
        self.git("add", "--force", "--", path)
        self.git("commit", "--quiet", "--message", f"Write {path}")
        return self.git("rev-parse", "HEAD")

    def trap(self, name: str = "trap") -> Path:
        """Write a program that leaves a mark when it is started."""
        program = self.mark.with_name(name)
        program.write_text(f'#!/bin/sh\necho "$0" >> "{self.mark}"\nexec cat\n', "utf-8")
        program.chmod(0o755)
        return program

    def is_sprung(self) -> bool:
        return self.mark.exists()


def repo(folder: Path, *arguments: str) -> Repo:
    """Make a work tree below a folder."""
    made = Repo(folder / "tree", folder / "mark")
    made.root.mkdir(parents=True)
    made.git("init", "--quiet", "--initial-branch", "main", *arguments)
    return made


def tracked_repo(folder: Path) -> Repo:
    """Make a work tree with one commit in it."""
    made = repo(folder)
    made.commit()
    return made


def contents(folder: Path) -> dict[str, tuple[int, int]]:
    """Give size and time of every file below a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        info = path.lstat()
        found[str(path)] = (info.st_size, info.st_mtime_ns)
    return found
