"""A folder of sources and the flows of a Workspace, brought together: what would be done, and doing it.

Invariants: a file is only overwritten or taken away while its very bytes are those of a revision, and a revision is only followed by what
was made from it, so nothing that anybody wrote is lost; where both sides changed, neither is touched; what was removed on one side is
removed on the other only when that is asked for. Each step is checked again when it is done: what changed in the meantime is left alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, TypeAlias, assert_never

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.differences import difference
from stateward.runtime.engine.limits import SYNC_FLOWS_MAX
from stateward.runtime.engine.selectors import is_slug
from stateward.runtime.ports import PAGE_MAX, Conflict, Difference, FlowAuthority, FlowRow, NotCompiled, Removed, Saved
from stateward.runtime.session.chain import digest_of


@dataclass(frozen=True, slots=True)
class SyncBase:
    """The revision that a file was the same as when both sides were last brought together."""

    revision: int
    content_digest: str


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that is there and cannot be read or written; it never counts as one that is not there."""

    reason: str
    """One line, lower case."""


class SourceFolder(Protocol):
    """The files of a folder, each by its name without the ending of sources. What was found is named by its digest, nothing by None."""

    def read(self, name: str) -> bytes | FileProblem | None:
        """Give what a file holds; None where there is none."""

    def write_if_unchanged(self, name: str, content: bytes, was: str | None) -> bool | FileProblem:
        """Put a content in the place of what was there, whole or not at all; false where something else is there now."""

    def remove_if_unchanged(self, name: str, was: str) -> bool | FileProblem:
        """Take a file away; false where something else is there now."""


class SyncKind(StrEnum):
    """How a file and a flow of one name stand to each other."""

    IN_STEP = "in_step"
    PUSH = "push"
    """Changed here, made from the current revision."""
    PULL = "pull"
    """Changed there; what the file holds is an older revision."""
    NEW_HERE = "new_here"
    NEW_THERE = "new_there"
    REMOVED_HERE = "removed_here"
    REMOVED_THERE = "removed_there"
    CONFLICT = "conflict"
    """Changed on both sides, or removed on one and changed on the other."""
    BROKEN = "broken"
    """It would be kept, and it does not compile, or cannot be kept under its name."""
    SKIPPED = "skipped"
    """No flow can have that name, or the file cannot be read."""


@dataclass(frozen=True, slots=True)
class SyncStep:
    """What is to be done about one name."""

    name: str
    """The slug, or what cannot be one."""
    kind: SyncKind
    here: str | None = None
    """The digest of the file; None where there is none."""
    there: FlowRow | None = None
    """The flow, also a removed one."""
    base: SyncBase | None = None
    """As it was remembered."""
    difference: Difference | None = None
    """Of a conflict and of a push: from what is there to what is here. Where nothing is here: from the base to what is there."""
    problem: NotCompiled | Refusal | FileProblem | None = None
    """Why it is broken or skipped."""

    @property
    def revision(self) -> int | None:
        """The last revision there."""
        return None if self.there is None else self.there.last.revision


class SyncResult(StrEnum):
    """What became of a step."""

    DONE = "done"
    NOTHING = "nothing"
    """Both sides were the same already."""
    LEFT = "left"
    """It is not for a program to decide, or was not asked for."""
    MOVED = "moved"
    """One side changed since it was looked at; nothing was done."""
    FAILED = "failed"
    """The file could not be read or written."""


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    """What was done about one name."""

    step: SyncStep
    result: SyncResult
    base: SyncBase | None
    """What is to be remembered of that name from now on; None when nothing is."""
    problem: FileProblem | Conflict | NotCompiled | Refusal | None = None
    """What stood in the way of a step that moved or failed, where there is more to say."""


Files: TypeAlias = Mapping[str, bytes | FileProblem]


# --- planning -----------------------------------------------------------------------------------------------------------------------


def plan_sync(files: Files, bases: Mapping[str, SyncBase], authority: FlowAuthority) -> tuple[SyncStep, ...] | Refusal:
    """Say, name by name, how a folder and a Workspace stand to each other. Writes nothing.

    `bases` is what was remembered of the names, as far as it is known; what is remembered wrongly leads to a conflict and to no loss.
    """
    rows = _rows(authority)
    if rows is None or len(files) > SYNC_FLOWS_MAX:
        message = f"there are more than {SYNC_FLOWS_MAX} {'flows in the Workspace' if rows is None else 'files in the folder'}"
        return Refusal(RefusalCode.SYNC_TOO_LARGE, message, ("save them one by one",))
    planning = _Planning(bases, authority)
    names = sorted({*files, *rows, *(name for name in bases if is_slug(name))})
    return tuple(
        planning.step(name, files.get(name), rows.get(name)) for name in names if name in files or name in bases or _is_there(rows[name])
    )


def _rows(authority: FlowAuthority) -> dict[str, FlowRow] | None:
    """Give every flow by its slug; None when there are too many."""
    rows: dict[str, FlowRow] = {}
    after = ""
    while len(rows) <= SYNC_FLOWS_MAX:
        page = authority.flows(PAGE_MAX, after, removed=True)
        if not page:
            return rows
        rows |= {row.last.slug: row for row in page}
        after = page[-1].last.slug
    return None


def _is_there(row: FlowRow | None) -> bool:
    return row is not None and row.removed is None


class _Planning:
    """Decides what is to be done about a name."""

    def __init__(self, bases: Mapping[str, SyncBase], authority: FlowAuthority) -> None:
        self._bases = bases
        self._authority = authority

    def step(self, name: str, file: bytes | FileProblem | None, row: FlowRow | None) -> SyncStep:
        base = self._bases.get(name)
        if isinstance(file, FileProblem):
            return SyncStep(name, SyncKind.SKIPPED, None, row, base, problem=file)
        if not is_slug(name):
            problem = FileProblem(f"{shown(name)} cannot be a slug")
            return SyncStep(name, SyncKind.SKIPPED, None if file is None else digest_of(file), problem=problem)
        if row is not None and row.last.closure_digest is not None:
            return SyncStep(name, SyncKind.SKIPPED, None, row, base, problem=FileProblem("it imports, and is kept file by file"))
        if file is None:
            return self._without_file(SyncStep(name, SyncKind.IN_STEP, None, row, base))
        return self._with_file(SyncStep(name, SyncKind.IN_STEP, digest_of(file), row, base), file)

    def _without_file(self, step: SyncStep) -> SyncStep:
        row, base = step.there, step.base
        if row is None or row.removed is not None:
            return step  # gone from both sides, and only remembered
        if base is None:
            return replace(step, kind=SyncKind.NEW_THERE)
        if _is_current(base, row):
            return replace(step, kind=SyncKind.REMOVED_HERE)
        return replace(step, kind=SyncKind.CONFLICT, difference=self._since(base, row))

    def _with_file(self, step: SyncStep, file: bytes) -> SyncStep:
        row = step.there
        if row is None:
            return self._to_be_kept(replace(step, kind=SyncKind.NEW_HERE), file)
        if row.removed is None and row.last.content_digest == step.here:
            return step
        if row.removed is None and step.base is not None and _is_current(step.base, row):
            return self._to_be_kept(replace(step, kind=SyncKind.PUSH, difference=self._to_the_file(step, row, file)), file)
        if self._is_kept(step):
            return replace(step, kind=SyncKind.PULL if row.removed is None else SyncKind.REMOVED_THERE)
        return self._conflict(step, row, file)

    def _is_kept(self, step: SyncStep) -> bool:
        """Tell whether what the file holds is a revision, so that it is not lost with the file."""
        return step.here is not None and self._authority.holding(step.name, step.here) is not None

    def _to_be_kept(self, step: SyncStep, file: bytes) -> SyncStep:
        """Try whether a file could be kept."""
        answer = self._authority.save(step.name, file, base=step.revision, dry_run=True)
        match answer:
            case Saved():
                return step
            case NotCompiled() | Refusal():
                return replace(step, kind=SyncKind.BROKEN, problem=answer)
            case Conflict():  # somebody was quicker
                return replace(step, kind=SyncKind.CONFLICT, difference=answer.difference)
        assert_never(answer)

    def _conflict(self, step: SyncStep, row: FlowRow, file: bytes) -> SyncStep:
        return replace(step, kind=SyncKind.CONFLICT, difference=self._to_the_file(step, row, file))

    def _to_the_file(self, step: SyncStep, row: FlowRow, file: bytes) -> Difference | None:
        """Compare the last revision with a file."""
        last = self._authority.source(step.name, row.last.revision)
        if last is None:
            return None
        return difference(last.content, file, f"{step.name} revision {last.revision}", f"{step.name} in the folder")

    def _since(self, base: SyncBase, row: FlowRow) -> Difference | None:
        """Compare a flow with what it was; None where what is remembered is not so."""
        if not 1 <= base.revision < row.last.revision:
            return None
        changed = self._authority.difference(row.last.slug, base.revision, row.last.revision)
        return None if isinstance(changed, Refusal) else changed


def _is_current(base: SyncBase, row: FlowRow) -> bool:
    return (base.revision, base.content_digest) == (row.last.revision, row.last.content_digest)


# --- doing ------------------------------------------------------------------------------------------------------------------------


def apply_sync(
    steps: Iterable[SyncStep], folder: SourceFolder, authority: FlowAuthority, *, delete: bool = False, note: str = ""
) -> Iterator[SyncOutcome]:
    """Do the steps one after the other; each outcome says what is to be remembered before the next is done.

    With `delete`, what was removed on one side is removed on the other. `note` is what is said about the revisions and removals.
    """
    doing = _Doing(folder, authority, note)
    for step in steps:
        yield doing.outcome(step, delete=delete)


class _Doing:
    """Does steps, each only as long as both sides are as they were when it was planned."""

    def __init__(self, folder: SourceFolder, authority: FlowAuthority, note: str) -> None:
        self._folder = folder
        self._authority = authority
        self._note = note

    def outcome(self, step: SyncStep, *, delete: bool) -> SyncOutcome:
        match step.kind:
            case SyncKind.IN_STEP:
                return SyncOutcome(step, SyncResult.NOTHING, _last_of(step) if step.here is not None else None)
            case SyncKind.PUSH | SyncKind.NEW_HERE:
                return self._push(step)
            case SyncKind.PULL | SyncKind.NEW_THERE:
                return self._pull(step)
            case SyncKind.REMOVED_HERE:
                return self._remove_there(step) if delete else _left(step)
            case SyncKind.REMOVED_THERE:
                return self._remove_here(step) if delete else _left(step)
            case SyncKind.CONFLICT | SyncKind.BROKEN | SyncKind.SKIPPED:
                return _left(step)
        assert_never(step.kind)

    def _push(self, step: SyncStep) -> SyncOutcome:
        file = self._folder.read(step.name)
        if isinstance(file, FileProblem):
            return SyncOutcome(step, SyncResult.FAILED, step.base, file)
        if file is None or digest_of(file) != step.here:
            return _moved(step)
        answer = self._authority.save(step.name, file, base=step.revision, note=self._note)
        if not isinstance(answer, Saved):
            return SyncOutcome(step, SyncResult.MOVED, step.base, answer)
        return SyncOutcome(step, SyncResult.DONE, SyncBase(answer.revision.revision, answer.revision.content_digest))

    def _pull(self, step: SyncStep) -> SyncOutcome:
        current = self._authority.source(step.name)
        if current is None or current.revision != step.revision:
            return _moved(step)
        return self._written(step, self._folder.write_if_unchanged(step.name, current.content, step.here), _last_of(step))

    def _remove_here(self, step: SyncStep) -> SyncOutcome:
        row = self._authority.find(step.name)
        if row is None or row.removed is None or row.last.revision != step.revision:
            return _moved(step)
        assert step.here is not None, "a file that is not there is not to be removed"
        return self._written(step, self._folder.remove_if_unchanged(step.name, step.here), None)

    def _remove_there(self, step: SyncStep) -> SyncOutcome:
        file = self._folder.read(step.name)
        if isinstance(file, FileProblem):
            return SyncOutcome(step, SyncResult.FAILED, step.base, file)
        if file is not None or step.revision is None:
            return _moved(step)
        answer = self._authority.remove(step.name, base=step.revision, note=self._note)
        if not isinstance(answer, Removed):
            return SyncOutcome(step, SyncResult.MOVED, step.base, answer)
        return SyncOutcome(step, SyncResult.DONE, None)

    def _written(self, step: SyncStep, done: bool | FileProblem, base: SyncBase | None) -> SyncOutcome:
        if isinstance(done, FileProblem):
            return SyncOutcome(step, SyncResult.FAILED, step.base, done)
        return SyncOutcome(step, SyncResult.DONE, base) if done else _moved(step)


def _last_of(step: SyncStep) -> SyncBase | None:
    return None if step.there is None else SyncBase(step.there.last.revision, step.there.last.content_digest)


def _left(step: SyncStep) -> SyncOutcome:
    return SyncOutcome(step, SyncResult.LEFT, step.base)


def _moved(step: SyncStep) -> SyncOutcome:
    return SyncOutcome(step, SyncResult.MOVED, step.base)
