"""Run git over the objects and files of a repository that nobody vouches for, without letting the repository say how.

Invariants: git works in a git directory of our own, made for one taking of facts and removed after it: its configuration, its refs and
its index are what is written here, so no setting, hook, filter, helper, remote, include, attribute or exclude of the repository's own
git directory is ever read by git. It finds no program to start (`PATH` and its own folder of programs are empty) and speaks no protocol.
Its environment is exactly what is written here; it is killed at the time or the amount of output that it may take.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Final

from stateward.runtime.workdir.limits import GIT_MEMORY_MAX, FactsBounds
from stateward.runtime.workdir.processes import Ended, run

GIT_PLACES: Final = ("/usr/bin/git", "/usr/local/bin/git", "/opt/homebrew/bin/git", "/run/current-system/sw/bin/git")
"""Where git is looked for: never by `PATH`, which may be the worker's."""

_SETTINGS: Final = {
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.splitIndex": "false",
    "core.preloadIndex": "false",
    "core.sparseCheckout": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.checkStat": "default",
    "core.trustctime": "true",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "status.submoduleSummary": "false",
    "status.relativePaths": "false",
    "gc.auto": "0",
}
"""What git would assume anyway, said aloud: a default that changes some day changes nothing here."""


class GitFailed(Exception):
    """Git gave no answer; the message says why, in words of ours alone."""


def find_git() -> str | None:
    """Give the whole path of git; None when it is not installed in a usual place."""
    return next((each for each in GIT_PLACES if Path(each).is_file()), None)


@dataclass(frozen=True, slots=True)
class Git:
    """Git over one repository."""

    program: str
    folder: Path
    """Our own git directory."""
    environment: Mapping[str, str]
    deadline: float
    """Of the monotonic clock."""
    output_bytes: int

    def over(self, work_tree: Path, objects: Path) -> "Git":
        """Give the same over a work tree and the folder of its objects."""
        return replace(self, environment={**self.environment, "GIT_WORK_TREE": str(work_tree), "GIT_OBJECT_DIRECTORY": str(objects)})

    def ask(self, *arguments: str, given: bytes = b"", index: Path | None = None) -> bytes:
        """Run one command and give what it says, with an index of its own or the one of our git directory. Raises GitFailed."""
        environment = dict(self.environment) | ({"GIT_INDEX_FILE": str(index)} if index else {})
        try:
            ran = run(
                (self.program, "--no-pager", *arguments),
                environment=environment,
                seconds=max(0.0, self.deadline - monotonic()),
                output_bytes=self.output_bytes,
                given=given,
                memory_bytes=GIT_MEMORY_MAX,
            )
        except OSError as fault:
            raise GitFailed(f"git cannot be started: {(fault.strerror or 'unknown').lower()}") from fault
        if ran.ended is Ended.KILLED_LATE:
            raise GitFailed("git took longer than it may")
        if ran.ended is Ended.KILLED_LOUD:
            raise GitFailed(f"git said more than {self.output_bytes} bytes")
        if ran.status != 0:
            # What git itself says may quote what it read, so it is not passed on.
            raise GitFailed(f"`git {arguments[0]}` ended with status {ran.status}")
        return ran.output


@contextmanager
def private_git(program: str, bounds: FactsBounds) -> Iterator[Git]:
    """Make a git directory of our own, which knows no repository yet, and remove it at the end. Raises OSError."""
    with tempfile.TemporaryDirectory(prefix="stateward-git-") as name:
        folder = Path(name)
        for each in ("empty", "git/refs", "git/objects", "git/info"):
            (folder / each).mkdir(parents=True)
        (folder / "git" / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
        write_config(folder / "git", {})
        yield Git(program, folder / "git", _environment(folder), monotonic() + bounds.seconds, bounds.output_bytes)


def write_config(folder: Path, settings: Mapping[str, str], *, object_format: str = "sha1") -> None:
    """Write the configuration of our own git directory: what is always said, and such settings as `core.name`."""
    lines = ["[core]", "repositoryFormatVersion = 1", "bare = false", "[extensions]", f"objectFormat = {object_format}"]
    for key, value in {**_SETTINGS, **settings}.items():
        section, name = key.split(".")
        lines += [f"[{section}]", f"{name} = {value}"]
    (folder / "config").write_text("\n".join(lines) + "\n", "ascii")


def _environment(folder: Path) -> dict[str, str]:
    empty = str(folder / "empty")
    return {
        "PATH": empty,
        "GIT_EXEC_PATH": empty,
        "HOME": empty,
        "XDG_CONFIG_HOME": empty,
        "LC_ALL": "C",
        "GIT_DIR": str(folder / "git"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
    }
