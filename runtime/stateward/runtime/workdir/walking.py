"""A walk over everything beneath a folder, in order of the parts of the paths.

Invariants: links are told of and never followed; `.git` and `.stateward` are not told of; each folder is opened by its one name in the
open folder above it; a walk ends at its number of entries, at its depth, or when its time is over, and says which.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from stateward.runtime.core.texts import shown
from stateward.runtime.workdir.beneath import FOLDER_FLAGS, Opener
from stateward.runtime.workdir.limits import DEPTH_MAX, FOLDER_ENTRIES_MAX, NOTICES_MAX, WALK_ENTRIES_MAX
from stateward.runtime.workdir.root import is_outside_name, is_text, not_shown
from stateward.runtime.workdir.shown import EntryKind


@dataclass(frozen=True, slots=True)
class Step:
    """An entry that a walk comes to; `folder`, in which it lies, is open until the next one is asked for."""

    folder: int
    name: str
    path: str
    kind: EntryKind


class Notices:
    """What an answer has to say besides: each thing once, and a bounded number of things."""

    def __init__(self) -> None:
        self._said: dict[str, None] = {}
        self.truncated = False

    def add(self, text: str, *, truncated: bool = True) -> None:
        """Say something: by default, that something was left out."""
        self.truncated |= truncated
        if len(self._said) < NOTICES_MAX:
            self._said[text] = None

    def all(self) -> tuple[str, ...]:
        """Give what was said, in order."""
        return tuple(self._said)


class Walk:
    """One walk; its notices fill as it goes."""

    def __init__(self, opener: Opener, notices: Notices, is_over: Callable[[], bool], depth_max: int | None = None) -> None:
        self._opener = opener
        self._notices = notices
        self._is_over = is_over
        self._depth_max = DEPTH_MAX if depth_max is None else min(depth_max, DEPTH_MAX)
        self._is_depth_asked = depth_max is not None and depth_max <= DEPTH_MAX
        self._left = WALK_ENTRIES_MAX

    def over(self, folder: int, path: str) -> Iterator[Step]:
        """Walk over what lies beneath an open folder, whose path is given; the folder stays open."""
        levels = [(os.dup(folder), iter(self._steps(folder, path)))]
        try:
            while levels and self._goes_on():
                here, steps = levels[-1]
                step = next(steps, None)
                if step is None:
                    levels.pop()
                    os.close(here)
                    continue
                self._left -= 1
                yield step
                below = self._below(here, step, len(levels)) if step.kind is EntryKind.FOLDER else None
                if below is not None:
                    levels.append((below, iter(self._steps(below, step.path))))
        finally:
            for here, _ in levels:
                os.close(here)

    def _goes_on(self) -> bool:
        if self._is_over():
            self._notices.add("the time for one search was over before everything was looked at")
            return False
        if self._left == 0:
            self._notices.add(f"more than {WALK_ENTRIES_MAX} entries; the others were not looked at")
            return False
        return True

    def _below(self, here: int, step: Step, depth: int) -> int | None:
        if depth >= self._depth_max:
            if not self._is_depth_asked:
                self._notices.add(f"folders more than {DEPTH_MAX} deep were not looked at")
            return None
        try:
            return self._opener(here, step.name, FOLDER_FLAGS)
        except OSError as fault:
            self._notices.add(f"not looked at: {not_shown(step.path, fault).refused.message}")
            return None

    def _steps(self, folder: int, path: str) -> list[Step]:
        try:
            with os.scandir(folder) as entries:
                found = list(islice(entries, FOLDER_ENTRIES_MAX + 1))
        except OSError as fault:
            self._notices.add(f"not looked at: {not_shown(path or '.', fault).refused.message}")
            return []
        if len(found) > FOLDER_ENTRIES_MAX:
            found.pop()
            self._notices.add(f"{shown(path or '.')} holds more than {FOLDER_ENTRIES_MAX} entries; the others were not looked at")
        if not all(is_text(each.name) for each in found):
            self._notices.add(f"{shown(path or '.')} holds names that are no UTF-8; those entries were not looked at")
        prefix = f"{path}/" if path else ""
        inside = sorted((each for each in found if is_text(each.name) and not is_outside_name(each.name)), key=lambda each: each.name)
        return [Step(folder, each.name, f"{prefix}{each.name}", entry_kind(each)) for each in inside]


def entry_kind(entry: "os.DirEntry[str]") -> EntryKind:
    """Tell what an entry is, without following it."""
    if entry.is_symlink():
        return EntryKind.LINK
    if entry.is_dir(follow_symlinks=False):
        return EntryKind.FOLDER
    return EntryKind.FILE if entry.is_file(follow_symlinks=False) else EntryKind.SPECIAL
