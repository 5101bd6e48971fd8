"""The flows of a Workspace over a store: saving, restoring, removing and reading them, and bundles of them.

Invariants: what does not compile is not stored; a flow's name is the slug it is kept under; nothing is written on another revision than
the last, and what was written over somebody's revision says so in its note; restoring compiles nothing; what no store could hold is
refused or not found, and never reaches one. The compiler is loaded only where something is compiled.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import is_unicode, shown, size_of
from stateward.runtime.engine.bundle_reading import read_bundle
from stateward.runtime.engine.bundles import VERSION, WITH_MODULES, BundleHeader, BundleWriter
from stateward.runtime.engine.compiling import compiled, diagnostics_of
from stateward.runtime.engine.differences import difference, revisions_compared
from stateward.runtime.engine.folding import INSPECT
from stateward.runtime.engine.limits import (
    BUNDLE_REVISIONS_MAX,
    COMMITS_MAX,
    DEFINITION_BYTES_MAX,
    NAME_BYTES_MAX,
    NOTE_BYTES_MAX,
    REVISION_MAX,
)
from stateward.runtime.engine.selectors import is_slug, slug_problem
from stateward.runtime.engine.snapshots import WorkspaceSnapshots
from stateward.runtime.engine.taking import foreseen_bringing, latest_first, told, untrue
from stateward.runtime.ports import (
    BUNDLE_BYTES_MAX,
    PAGE_MAX,
    Bringing,
    Brought,
    BundleConflict,
    Clock,
    Conflict,
    Damaged,
    Difference,
    Diverged,
    FlowAct,
    FlowRow,
    FlowStore,
    NewRevision,
    NotCompiled,
    RemoveAnswer,
    Removed,
    Revision,
    RevisionFacts,
    SaveAnswer,
    Saved,
    Snapshot,
    StaleBase,
    TakeInAnswer,
    TakenIn,
    Unresolved,
)
from stateward.runtime.ports.flows import ActKind

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")


class WorkspaceFlows:
    """The port `FlowAuthority` over the flows that a store keeps of one Workspace.

    `author` is who acts, `compiler` names the program that compiles, `name` is what the Workspace is called in the bundles it gives,
    `bundle_work_max` what compiling the sources of one that is taken in may cost (see `untrue`), as where others wait for it.
    """

    def __init__(
        self,
        store: FlowStore,
        workspace: str,
        author: str,
        compiler: str,
        clock: Clock,
        *,
        name: str = "",
        bundle_work_max: int | None = None,
    ) -> None:
        self._store = store
        self._workspace = workspace
        self._author = author
        self._compiler = compiler
        self._clock = clock
        self._name = name
        self._bundle_work_max = bundle_work_max
        self._snapshots = WorkspaceSnapshots(workspace, store)

    @property
    def workspace(self) -> str:
        """The id of the Workspace."""
        return self._workspace

    def resolve(self, selector: str) -> Snapshot | Unresolved:
        """Resolve `builtin:<slug>` or `workspace:<slug>`. Raises Damaged when a stored definition is not what was stored."""
        return self._snapshots.resolve(selector)

    # --- changing -------------------------------------------------------------------------------------------------------------------

    def save(
        self,
        slug: str,
        content: bytes,
        *,
        base: int | None,
        modules: Sequence[tuple[str, bytes]] = (),
        note: str = "",
        override: bool = False,
        dry_run: bool = False,
    ) -> SaveAnswer:
        """Compile a source and keep it as the next revision of its slug, with those of the modules that it imports."""
        problem = self._problem(slug, note)
        if problem is not None:
            return problem
        new = self._draft(slug, content, modules, note)
        if not isinstance(new, NewRevision):
            return new
        return self._kept(new, base, override=override, dry_run=dry_run)

    def restore(self, slug: str, revision: int, *, base: int, note: str = "", override: bool = False, dry_run: bool = False) -> SaveAnswer:
        """Make an old revision current again, as a new one with its bytes and its definition."""
        problem = self._problem(slug, note)
        if problem is not None:
            return problem
        old = self._required(slug, revision)
        if isinstance(old, Refusal):
            return old
        new = NewRevision(
            slug=slug,
            content=old.content,
            content_digest=old.content_digest,
            definition_digest=old.definition_digest,
            definition=self._definition(old),
            compiler=old.compiler,
            author=self._author,
            note=note or f"restored from revision {revision}",
            created=self._clock.now(),
            modules=old.modules,
            closure_digest=old.closure_digest,
        )
        return self._kept(new, base, override=override, dry_run=dry_run)

    def remove(self, slug: str, *, base: int, note: str = "", dry_run: bool = False) -> RemoveAnswer:
        """Hide a flow from resolving; every revision stays."""
        problem = self._problem(slug, note)
        if problem is not None:
            return problem
        if self._store.find(self._workspace, slug) is None:
            return _not_found(slug)
        foreseen = self._foreseen_removal(slug, base, note)
        if dry_run or isinstance(foreseen, StaleBase):
            answer: Removed | StaleBase = foreseen
        else:
            answer = self._store.remove(self._workspace, slug, base, author=self._author, note=note, time=self._clock.now())
        return answer if isinstance(answer, Removed) else self._conflict(slug, base, answer, None)

    def _problem(self, slug: str, note: str) -> Refusal | None:
        return slug_problem(slug) or text_problem("author", self._author, NAME_BYTES_MAX) or text_problem("note", note, NOTE_BYTES_MAX)

    def _draft(self, slug: str, content: bytes, modules: Sequence[tuple[str, bytes]], note: str) -> NewRevision | NotCompiled | Refusal:
        """Compile a source as the next revision of a slug."""
        compilation = compiled(content, f"flows/{slug}.dcdl", slug, modules)
        canonical, digest = compilation.canonical, compilation.definition_digest
        if canonical is None or digest is None:
            return NotCompiled(diagnostics_of(compilation), compilation)
        if compilation.flow != slug:
            message = f"the flow is named `{compilation.flow}` and saved as `{slug}`"
            return Refusal(RefusalCode.NAME_DIFFERS, message, (f"name it `{slug}`", f"save it as `{compilation.flow}`"))
        if len(canonical) > DEFINITION_BYTES_MAX:
            message = f"the definition that the flow compiles to has {len(canonical)} bytes"
            return Refusal(RefusalCode.DEFINITION_TOO_LARGE, message, (f"give it at most {DEFINITION_BYTES_MAX} bytes of texts",))
        return NewRevision(
            slug=slug,
            content=content,
            content_digest=compilation.content_digest,
            definition_digest=digest,
            definition=canonical,
            compiler=self._compiler,
            author=self._author,
            note=note,
            created=self._clock.now(),
            modules=tuple((each.path, each.content) for each in compilation.modules),
            closure_digest=compilation.closure_digest,
        )

    def _kept(self, new: NewRevision, base: int | None, *, override: bool, dry_run: bool) -> SaveAnswer:
        """Keep a revision on its base; with `override` on whatever is the last one."""
        keep = self._foreseen if dry_run else self._stored
        answer = keep(new, base)
        for _ in range(COMMITS_MAX if override else 0):
            if isinstance(answer, Saved):
                break
            answer = keep(replace(new, note=_noted(new.note, answer, base)), answer.current.revision if answer.current else None)
        return answer if isinstance(answer, Saved) else self._conflict(new.slug, base, answer, new.content)

    def _stored(self, new: NewRevision, base: int | None) -> Saved | StaleBase:
        if base is None or _is_number(base):
            return self._store.save(self._workspace, new, base)
        return self._foreseen(new, base)  # writes nothing: no revision has that number

    def _foreseen(self, new: NewRevision, base: int | None) -> Saved | StaleBase:
        """Say what saving would come to. The id of a flow that is new comes from the store, so it is not known yet."""
        row = self._store.find(self._workspace, new.slug)
        if row is not None:
            same = _compiled_from(row.last) == _compiled_from(new)
            if (same and row.removed is None) or row.last.revision != base:
                last = self._last(row)
                return Saved(last, created=False) if same and row.removed is None else StaleBase(last, row.removed)
        elif base is not None:
            return StaleBase(None)
        revision = Revision(
            workspace=self._workspace,
            flow_id="" if row is None else row.last.flow_id,
            slug=new.slug,
            revision=1 if row is None else row.last.revision + 1,
            content_digest=new.content_digest,
            definition_digest=new.definition_digest,
            compiler=new.compiler,
            author=new.author,
            note=new.note,
            created=new.created,
            content=new.content,
            modules=new.modules,
            closure_digest=new.closure_digest,
        )
        return Saved(revision, created=True)

    def _foreseen_removal(self, slug: str, base: int, note: str) -> Removed | StaleBase:
        row = self._store.find(self._workspace, slug)
        if row is not None and row.removed is not None:
            return Removed(row.removed, created=False)
        if row is None or row.last.revision != base:
            return StaleBase(None) if row is None else StaleBase(self._last(row))
        number = next((each.number + 1 for each in self._store.acts(self._workspace, slug, 1)), 1)
        now = self._clock.now()
        act = FlowAct(self._workspace, row.last.flow_id, number, ActKind.REMOVED, base, base, self._author, note, now)
        return Removed(act, created=True)

    def _conflict(self, slug: str, named: int | None, stale: StaleBase, content: bytes | None) -> Conflict:
        """Give both revisions and what changed between them; without a base, what differs in what was to be saved."""
        base = None if named is None else self.source(slug, named)
        current = stale.current
        changed: Difference | None = None
        if current is not None and base is not None and base.revision != current.revision:
            changed = revisions_compared(base, current, _called(base), _called(current))
        elif current is not None and content is not None:
            changed = difference(current.content, content, _called(current), f"{slug} as it was to be saved")
        return Conflict(slug, base, named, current, stale.removed, changed)

    # --- reading --------------------------------------------------------------------------------------------------------------------

    def flows(self, limit: int, after: str = "", *, removed: bool = False) -> Sequence[FlowRow]:
        """List flows by slug, those after `after`."""
        rows = _rows(limit)
        return self._store.sources(self._workspace, rows, _before_any(after), removed=removed) if rows else ()

    def find(self, slug: str) -> FlowRow | None:
        """Give a flow as it is listed, also a removed one."""
        return self._store.find(self._workspace, slug) if is_slug(slug) else None

    def source(self, slug: str, revision: int | None = None) -> Revision | None:
        """Give a revision with its source: the current one, or one by its number."""
        if not is_slug(slug):
            return None
        if revision is None:
            return self._store.current(self._workspace, slug)
        return self._store.revision(self._workspace, slug, revision) if _is_number(revision) else None

    def holding(self, slug: str, content_digest: str) -> RevisionFacts | None:
        """Give the last revision of a flow that has this content."""
        known = is_slug(slug) and _DIGEST.fullmatch(content_digest)
        return self._store.holding(self._workspace, slug, content_digest) if known else None

    def history(self, slug: str, limit: int, before: int | None = None) -> Sequence[RevisionFacts]:
        """List the revisions of a flow, the latest first."""
        rows = _rows(limit) if is_slug(slug) and (before is None or before > 1) else 0
        return self._store.history(self._workspace, slug, rows, _bounded(before)) if rows else ()

    def acts(self, slug: str, limit: int, before: int | None = None) -> Sequence[FlowAct]:
        """List the acts on a flow, the latest first."""
        rows = _rows(limit) if is_slug(slug) and (before is None or before > 1) else 0
        return self._store.acts(self._workspace, slug, rows, _bounded(before)) if rows else ()

    def difference(self, slug: str, old: int, new: int) -> Difference | Refusal:
        """Compare two revisions of a flow."""
        first = self._required(slug, old)
        if isinstance(first, Refusal):
            return first
        second = self._required(slug, new)
        if isinstance(second, Refusal):
            return second
        return revisions_compared(first, second, _called(first), _called(second))

    # --- bundles --------------------------------------------------------------------------------------------------------------------

    def export(self, slugs: Sequence[str]) -> Iterator[bytes] | Refusal:
        """Give a bundle of flows with every revision, piece by piece; of all flows, the removed ones too, where none is named.

        What it holds is settled when it is asked for. All of it is gone through once before, so that none is given that is too large.
        """
        chosen = self._chosen(slugs)
        if isinstance(chosen, Refusal):
            return chosen
        revisions = sum(row.last.revision for row in chosen)
        if revisions > BUNDLE_REVISIONS_MAX:
            return _too_large(f"{revisions} revisions, and a bundle holds {BUNDLE_REVISIONS_MAX}")
        header = BundleHeader(self._workspace, self._name, self._clock.now(), self._author, self._version(chosen))
        size = 0
        for piece in self._pieces(header, chosen):
            size += len(piece)
            if size > BUNDLE_BYTES_MAX:
                return _too_large(f"more than {BUNDLE_BYTES_MAX} bytes")
        return self._pieces(header, chosen)

    def _chosen(self, slugs: Sequence[str]) -> list[FlowRow] | Refusal:
        rows: list[FlowRow] = []
        for slug in sorted(set(slugs)):
            problem = slug_problem(slug)
            if problem is not None:
                return problem
            row = self._store.find(self._workspace, slug)
            if row is None:
                return _not_found(slug)
            rows.append(row)
        if not slugs:
            while len(rows) <= BUNDLE_REVISIONS_MAX and (page := self.flows(PAGE_MAX, rows[-1].last.slug if rows else "", removed=True)):
                rows += page
        return rows

    def _version(self, rows: Sequence[FlowRow]) -> int:
        """Give the oldest version of the form that can hold all revisions of flows."""
        facts = (each for row in rows for each in latest_first(self._store, self._workspace, row.last.slug, row.last.revision))
        return WITH_MODULES if any(each.closure_digest is not None for each in facts) else VERSION

    def _pieces(self, header: BundleHeader, rows: Sequence[FlowRow]) -> Iterator[bytes]:
        writer = BundleWriter()
        yield writer.header(header)
        for row in rows:
            for number in range(1, row.last.revision + 1):
                revision = self._kept_revision(row.last.slug, number)
                if revision.definition_digest not in writer.definitions:
                    yield writer.definition(revision.definition_digest, self._definition(revision))
                yield writer.revision(revision)
            if row.removed is not None:
                yield writer.removal(row.last.slug, row.removed)
        yield writer.end()

    def take_in(
        self, bundle: bytes, *, note: str = "", expected: str | None = None, accept: bool = False, dry_run: bool = False
    ) -> TakeInAnswer:
        """Take in a bundle: what is not here yet of each flow, or nothing."""
        problem = text_problem("author", self._author, NAME_BYTES_MAX) or text_problem("note", note, NOTE_BYTES_MAX)
        if problem is not None:
            return problem
        read = read_bundle(bundle)
        if isinstance(read, Refusal):
            return read
        if expected not in (None, read.digest):
            message = f"the bundle has the digest {read.digest}, expected was {shown(expected)}"
            return Refusal(RefusalCode.BUNDLE_UNEXPECTED, message, ("fetch it from where that digest comes from",))
        wrong = untrue(read, self._compiler, accept=accept, work_max=self._bundle_work_max)
        if wrong is not None:
            return wrong
        bringing = Bringing(self._author, note, self._clock.now(), read.digest, read.header.workspace)
        answers: Sequence[Brought | Diverged] = (
            foreseen_bringing(self._store, self._workspace, read.flows)
            if dry_run
            else self._store.bring(self._workspace, read.flows, bringing)
        )
        diverged = tuple(each for each in answers if isinstance(each, Diverged))
        if diverged:
            return BundleConflict(read.digest, diverged)
        brought = [each for each in answers if isinstance(each, Brought)]
        return TakenIn(read.digest, read.header.workspace, told(self._store, self._workspace, read.flows, brought))

    # --- what must be there ---------------------------------------------------------------------------------------------------------

    def _required(self, slug: str, revision: int) -> Revision | Refusal:
        problem = slug_problem(slug)
        if problem is not None:
            return problem
        found = self.source(slug, revision)
        if found is not None:
            return found
        row = self.find(slug)
        if row is None:
            return _not_found(slug)
        last = row.last.revision
        allowed = "name revision 1" if last == 1 else f"name one from 1 to {last}"
        return Refusal(RefusalCode.REVISION_NOT_FOUND, f"there is no revision {revision} of flow `{slug}`", (allowed,))

    def _last(self, row: FlowRow) -> Revision:
        return self._kept_revision(row.last.slug, row.last.revision)

    def _kept_revision(self, slug: str, number: int) -> Revision:
        revision = self._store.revision(self._workspace, slug, number)
        if revision is None:
            raise Damaged(f"revision {number} of flow `{slug}` is not there", INSPECT)
        return revision

    def _definition(self, revision: Revision) -> bytes:
        canonical = self._store.definition(revision.definition_digest)
        if canonical is None:
            message = f"definition {revision.definition_digest} of flow `{revision.slug}`, revision {revision.revision}, is not there"
            raise Damaged(message, INSPECT)
        return canonical


def text_problem(what: str, text: str, bytes_max: int) -> Refusal | None:
    """Refuse a text that is too long or that not every store can keep."""
    if size_of(text) > bytes_max:
        return Refusal(RefusalCode.INPUT_TOO_LARGE, f"the {what} has {size_of(text)} bytes", (f"give at most {bytes_max} bytes",))
    if "\0" in text:
        return Refusal(RefusalCode.TEXT_MALFORMED, f"the {what} holds a NUL", ("leave it out",))
    if not is_unicode(text):
        return Refusal(RefusalCode.TEXT_MALFORMED, f"the {what} is no Unicode text", ("write it in UTF-8",))
    return None


def _not_found(slug: str) -> Refusal:
    return Refusal(RefusalCode.FLOW_NOT_FOUND, f"there is no flow `{slug}` in this Workspace", ("list those that there are",))


def _too_large(what: str) -> Refusal:
    return Refusal(RefusalCode.BUNDLE_TOO_LARGE, f"the bundle would have {what}", ("export fewer flows at a time",))


def _compiled_from(of: RevisionFacts | NewRevision) -> tuple[str, str, str | None]:
    return of.content_digest, of.definition_digest, of.closure_digest


def _called(revision: RevisionFacts) -> str:
    return f"{revision.slug} revision {revision.revision}"


def _noted(note: str, stale: StaleBase, base: int | None) -> str:
    """Add to a note over whose revision one is kept."""
    made_from = "no revision" if base is None else f"revision {base}"
    over = "saved anew"
    if stale.current is not None:
        removed = ", which was removed" if stale.removed else ""
        over = f"saved over revision {stale.current.revision} by {shown(stale.current.author or 'somebody')[1:-1]}{removed}"
    return f"{note}\n{over}; it was made from {made_from}".lstrip("\n")


def _is_number(revision: int) -> bool:
    """Tell whether there could be a revision of that number."""
    return 1 <= revision <= REVISION_MAX


def _rows(limit: int) -> int:
    return max(min(limit, PAGE_MAX), 0)


def _bounded(before: int | None) -> int | None:
    """Give a bound that a store can compare with."""
    return None if before is None or before > REVISION_MAX else before


def _before_any(after: str) -> str:
    """Give a text that every store can compare with and that the same slugs come after: they hold no NUL, and ASCII alone."""
    known = after.partition("\0")[0]
    return "".join(min("\x7f", each) for each in known)
