"""The checks of a flow, run in the folder of the work: the port `CheckRunner` over processes of this machine.

Invariants: nothing is run that the rights do not let through, nor, unless they say so, a program that the worker could have written into
the folder of the work; no shell; the environment is reduced to the variables named here; a command is over when it ended, or its whole
process group is dead. What is kept of its output holds no known secret, also where it was cut.

docs/reference/checks.md describes it.
"""

import os
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

from stateward.compiler.diagnostics.wording import counted
from stateward.runtime.core.texts import path_shown, reason, shown
from stateward.runtime.ports.checking import OUTPUT_BYTES_MAX, CheckRights, CheckRun
from stateward.runtime.ports.outside import TreeFacts
from stateward.runtime.profile.commands import allowed
from stateward.runtime.session.browse_status import masked_by
from stateward.runtime.session.checks import CheckEnd
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.session.strict import Malformed
from stateward.runtime.workdir.facts import decode_facts
from stateward.runtime.workdir.limits import CHECK_MARGIN_BYTES
from stateward.runtime.workdir.processes import Ended, Watched, watch

if TYPE_CHECKING:
    from stateward.compiler.predicates.declarations import CheckDeclaration

VARIABLES: Final = (
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "TZ",
    "USER",
)
"""What a check sees of the environment."""
SHOWN_CHARACTERS: Final = 200
"""Of a command in a message."""
CHANGED_NAMED_MAX: Final = 3
"""Files named that a check changed."""
_HALF: Final = OUTPUT_BYTES_MAX // 2
_IGNORE: Final = "let git ignore what the check writes, or let it write elsewhere"


class _Refused(Exception):
    """A check cannot be run."""

    def __init__(self, problem: str, allowed: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.problem, self.allowed = problem, allowed


@dataclass(frozen=True, slots=True)
class _Job:
    """A check that may be run."""

    check: "CheckDeclaration"
    program: Path
    folder: Path
    environment: Mapping[str, str]


class WorkdirChecks:
    """Runs checks; may be shared between threads."""

    def __init__(
        self,
        *,
        facts: Callable[[str], TreeFacts | None],
        now: Callable[[], datetime],
        environment: Mapping[str, str],
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        """Take what takes the facts of a folder, the time and the environment of this process; none of the `secrets` is told."""
        self._facts, self._now, self._secrets = facts, now, secrets
        self._environment = {name: environment[name] for name in VARIABLES if name in environment}

    def run(self, check: "CheckDeclaration", root: str, rights: CheckRights, halt: int | None = None) -> CheckRun:
        """Run a check in a folder."""
        started = self._now()
        try:
            folder = _folder(root)
            _require_allowed(check.command, rights)
            path = _path(self._environment.get("PATH", os.defpath), folder, rights)
            program = _program(check.command[0], path, folder, rights)
            job = _Job(check, program, folder, {**self._environment, "PATH": path})
            return self._watched(job, started, halt)
        except _Refused as refused:
            return CheckRun(CheckEnd.NOT_RUN, started, problem=self._secrets.mask(refused.problem), allowed=refused.allowed)

    def _watched(self, job: _Job, started: datetime, halt: int | None) -> CheckRun:
        before = self._facts(str(job.folder))
        began = monotonic()
        try:
            watched = watch(
                (str(job.program), *job.check.command[1:]),
                environment=job.environment,
                seconds=job.check.timeout_seconds,
                folder=str(job.folder),
                keep=_HALF + CHECK_MARGIN_BYTES,
                halt=halt,
            )
        except OSError as fault:
            raise _Refused(f"{path_shown(job.program)} cannot be run: {reason(fault)}") from None
        except ValueError:  # a zero byte, or half a surrogate pair
            raise _Refused("its command holds a character that no argument of a program can hold") from None
        milliseconds = round((monotonic() - began) * 1000)
        run = _ended(CheckRun(CheckEnd.EXITED, started, milliseconds, program=str(job.program)), watched, job.check)
        after = self._facts(str(job.folder))
        run = replace(run, tree="" if before is None else before.digest, tree_after="" if after is None else after.digest)
        run = _told(run, watched, self._secrets)
        if run.status is None or run.tree == run.tree_after:
            return run
        problem = f"the Workdir changed while it ran{_changes(before, after)}"
        return replace(run, problem=self._secrets.mask(problem), allowed=(_IGNORE,))


# --- what may be run ------------------------------------------------------------------------------------------------------------------


def _folder(root: str) -> Path:
    try:
        folder = Path(root).resolve(strict=True)
    except OSError as fault:
        raise _Refused(f"the Workdir {path_shown(Path(root))} cannot be used: {reason(fault)}") from None
    if not folder.is_dir():
        raise _Refused(f"the Workdir {path_shown(folder)} is no folder")
    return folder


def _require_allowed(command: Sequence[str], rights: CheckRights) -> None:
    if not allowed(command, rights.allow):
        remedy = f"an operator allows it in a profile: `checks.allow = [[{_words(command)}]];`"
        raise _Refused(f"no profile lets `{shlex.join(command):.{SHOWN_CHARACTERS}}` be run", (remedy,))


def _words(command: Sequence[str]) -> str:
    """Write a command as words of a profile; where it is long or odd, only what it begins with."""
    plain = list(takewhile(lambda each: each.isprintable() and not set(each) & {'"', "\\"}, command))
    whole = ", ".join(f'"{each}"' for each in plain)
    if len(plain) == len(command) and len(whole) <= SHOWN_CHARACTERS:
        return whole
    return ", ".join([*(f'"{each}"' for each in plain[:1]), "…"])


def _path(given: str, folder: Path, rights: CheckRights) -> str:
    """Give where programs are looked for: whole paths, and none of them in the folder of the work."""
    entries = [each for each in given.split(os.pathsep) if Path(each).is_absolute()]
    return os.pathsep.join(each for each in entries if rights.workdir_programs or not _is_inside(Path(each), folder))


def _program(word: str, path: str, folder: Path, rights: CheckRights) -> Path:
    """Find a program. One that is named by a relative path is looked for from the folder of the work on."""
    named = folder / word if os.sep in word else None
    found = shutil.which(word if named is None else str(named), path=path)
    if found is None:
        raise _Refused(f"there is no program {shown(word)}{'' if named is not None else ' where programs are looked for'}")
    program = Path(found)
    if not rights.workdir_programs and _is_inside(program, folder):
        remedy = "let the check name a program elsewhere; an operator may also allow it in a profile: `checks.workdir_programs = true;`"
        raise _Refused(f"the program {path_shown(program)} lies in the folder of the work, where the worker can write it", (remedy,))
    return program


def _is_inside(path: Path, folder: Path) -> bool:
    """Tell whether a path lies in a folder as it is written, as its folder is reached, or where it leads."""
    written = Path(os.path.normpath(path))
    reached = Path(os.path.realpath(path.parent)) / path.name
    return any(each.is_relative_to(folder) for each in (written, reached, Path(os.path.realpath(path))))


# --- what came of it ------------------------------------------------------------------------------------------------------------------


def _ended(run: CheckRun, watched: Watched, check: "CheckDeclaration") -> CheckRun:
    match watched.ended:
        case Ended.KILLED_LATE:
            problem = f"it did not end in {counted(check.timeout_seconds, 'second')} and was killed"
            return replace(run, ended=CheckEnd.TIMED_OUT, problem=problem)
        case Ended.KILLED_HALTED:
            return replace(run, ended=CheckEnd.STOPPED, problem="it was stopped by whoever asked")
        case _ if watched.status < 0:
            return replace(run, ended=CheckEnd.KILLED, problem=f"it was killed by signal {-watched.status}")
    masked = masked_by(check.command) if watched.status == 0 else None
    return replace(run, status=watched.status, problem="" if masked is None else f"its exit status may be masked: {masked}")


def _told(run: CheckRun, watched: Watched, secrets: Secrets) -> CheckRun:
    """Keep the beginning and the end of what was said, without secrets."""
    if watched.said == len(watched.beginning) + len(watched.end):
        whole = secrets.mask((watched.beginning + watched.end).decode("utf-8", "replace")).encode("utf-8", "replace")
        if len(whole) <= OUTPUT_BYTES_MAX:
            return replace(run, output=whole.decode("utf-8"))
        first, last = whole, whole
    else:
        first, last = _safe_beginning(watched.beginning, secrets), _safe_end(watched.end, secrets)
    output, end = first[:_HALF].decode("utf-8", "ignore"), last[-_HALF:].decode("utf-8", "ignore")
    left_out = max(1, watched.said - len(output.encode()) - len(end.encode()))
    return replace(run, output=output, output_end=end, left_out=left_out)


def _safe_beginning(data: bytes, secrets: Secrets) -> bytes:
    """Mask a beginning. What is the same with and without a margin behind it does not end with the half of a secret."""
    texts = [secrets.mask(each.decode("utf-8", "replace")) for each in (data, data[:-CHECK_MARGIN_BYTES])]
    return _in_common(*texts).encode("utf-8", "replace")


def _safe_end(data: bytes, secrets: Secrets) -> bytes:
    """Mask an end, as a beginning."""
    texts = [secrets.mask(each.decode("utf-8", "replace"))[::-1] for each in (data, data[CHECK_MARGIN_BYTES:])]
    return _in_common(*texts)[::-1].encode("utf-8", "replace")


def _in_common(one: str, other: str) -> str:
    """Give what two texts begin with."""
    return "".join(each for each, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _changes(before: TreeFacts | None, after: TreeFacts | None) -> str:
    """Name the first files that are changed after a run and were not, or otherwise, before; empty where that cannot be told."""
    try:
        was, now = _changed(before), _changed(after)
    except Malformed:  # there are no facts, or none are known
        return ""
    names = sorted({path for path, _ in was ^ now})
    more = f" and {len(names) - CHANGED_NAMED_MAX} more" if len(names) > CHANGED_NAMED_MAX else ""
    return f": {', '.join(map(shown, names[:CHANGED_NAMED_MAX]))}{more}" if names else ""


def _changed(taken: TreeFacts | None) -> set[tuple[str, str]]:
    """Give what differs from the commit. Raises Malformed where that is not known."""
    return {(each.path, each.kind) for each in decode_facts(b"" if taken is None else taken.stated).changed}
