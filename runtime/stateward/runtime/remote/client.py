"""The Workspace of a service as an authority on flows: the port `FlowAuthority` over HTTP.

Invariants: everything that comes back is of the Workspace that was expected and has the digests it says, or it is a fault; what only reads
may be asked again; a write is sent once, and where its answer is lost, what became of it is looked up and told, or `OutcomeUnknown` is
raised. Safe to share between threads.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import urlencode

from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.compiling import compiled, diagnostics_of
from stateward.runtime.engine.flows import text_problem
from stateward.runtime.engine.limits import NOTE_BYTES_MAX, REVISION_MAX
from stateward.runtime.engine.selectors import is_slug, parse_selector, slug_problem
from stateward.runtime.ports import (
    BUNDLE_BYTES_MAX,
    PAGE_MAX,
    Conflict,
    Difference,
    FlowAct,
    FlowRow,
    NotCompiled,
    OutcomeUnknown,
    RemoveAnswer,
    Revision,
    RevisionFacts,
    SaveAnswer,
    Snapshot,
    TakeInAnswer,
    Unresolved,
)
from stateward.runtime.remote import lost
from stateward.runtime.remote.checks import DIGEST, Checks
from stateward.runtime.remote.credentials import Access
from stateward.runtime.remote.exchange import AnswerLost, Asked, Exchange, Reply
from stateward.runtime.remote.forms import (
    BUNDLE_TYPE,
    JSON_TYPE,
    PREFIX,
    SLUGS_MAX,
    ActsPage,
    DifferenceForm,
    FlowRowForm,
    FlowsPage,
    Form,
    ModuleForm,
    ProblemCode,
    ProblemForm,
    RemovedForm,
    RestoreForm,
    RevisionFactsForm,
    RevisionForm,
    RevisionsPage,
    SavedForm,
    SaveForm,
    SnapshotForm,
    TakenInForm,
    WorkspaceForm,
)
from stateward.runtime.remote.replies import Replies

F = TypeVar("F", bound=Form)
T = TypeVar("T")

_NOT_THERE: Final = frozenset({ProblemCode.FLOW_NOT_FOUND, ProblemCode.REVISION_NOT_FOUND, ProblemCode.CONTENT_NOT_FOUND})
_UNRESOLVED: Final = frozenset({"bad_selector", "flow_not_found", "flow_broken"})
_PIECE_BYTES: Final = 64 * 1024
SLUG_CHARACTERS_MAX: Final = 128
QUERY_CHARACTERS_MAX: Final = 60_000
"""Of the slugs that an export names; a longer address than this and the service's own is taken by nobody."""


class WorkspaceClient:
    """The flows of the Workspace that a service holds. Whoever the token names acts.

    Every call raises ServiceUnavailable and AccessRefused, besides the faults of the store that the service meets. `expected` is the id
    of the Workspace it must hold; without it, that of the first answer.
    """

    def __init__(self, access: Access, exchange: Exchange, expected: str | None = None) -> None:
        self._exchange = exchange
        self._replies = Replies(access)
        self._checks = Checks(access.address, expected)
        self._known: WorkspaceForm | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._exchange.close()

    # --- the Workspace ------------------------------------------------------------------------------------------------------------

    @property
    def workspace(self) -> str:
        """The id of the Workspace, as the service says it."""
        return self._about().workspace

    @property
    def scopes(self) -> tuple[str, ...]:
        """What the token was issued for."""
        return self._about().scopes

    @property
    def author(self) -> str:
        """The name that the token acts under."""
        return self._about().name

    def _about(self) -> WorkspaceForm:
        """Give what the service says about itself, asked once and before all else. Raises ServiceUnavailable for another Workspace."""
        if self._known is None:
            about = self._form(self._exchange.read(Asked("GET", f"{PREFIX}/workspace")), WorkspaceForm)
            self._checks.require(about.workspace)
            self._known = about
        return self._known

    # --- resolving ----------------------------------------------------------------------------------------------------------------

    def resolve(self, selector: str) -> Snapshot | Unresolved:
        """Resolve `builtin:<slug>` or `workspace:<slug>`. Raises Damaged when what comes has not the digests it says."""
        parsed = parse_selector(selector)
        if isinstance(parsed, Unresolved):
            return parsed
        answer = self._get("/snapshots", SnapshotForm, selector=str(parsed))
        if isinstance(answer, ProblemForm):
            return answer.unresolved() if answer.code in _UNRESOLVED else self._replies.unforeseen(answer)
        return self._checks.snapshot(answer, str(parsed))

    # --- writing ------------------------------------------------------------------------------------------------------------------

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
        """Have a source compiled and kept as the next revision, with those of the modules that it imports. Raises OutcomeUnknown."""
        problem = slug_problem(slug) or _note_problem(note)
        if problem is not None:
            return problem
        source = _text_of(content)
        if source is None:
            return _not_compiled_here(slug, content)
        sent = tuple(map(ModuleForm.of, modules))
        form = SaveForm(source=source, modules=sent, note=note, override=override, dry_run=dry_run)
        # A service that knows nothing of modules takes what imports nothing.
        asked = _json("PUT", _flow(slug), form, _based_on(base), left_out=() if sent else ("modules",))
        again = partial(lost.save, self, slug, content, base=base, modules=modules, note=note, override=override)
        return self._written(asked, partial(self._saved, slug, content), again, slug, dry_run=dry_run)

    def restore(self, slug: str, revision: int, *, base: int, note: str = "", override: bool = False, dry_run: bool = False) -> SaveAnswer:
        """Make an old revision current again, as a new one. Raises OutcomeUnknown."""
        problem = slug_problem(slug) or _note_problem(note)
        if problem is not None:
            return problem
        form = RestoreForm(revision=revision, note=note, override=override, dry_run=dry_run)
        asked = _json("POST", f"{_flow(slug)}/restore", form, _based_on(base))
        again = partial(lost.restore, self, slug, revision, base=base, note=note, override=override)
        return self._written(asked, partial(self._saved, slug, None), again, slug, dry_run=dry_run)

    def remove(self, slug: str, *, base: int, note: str = "", dry_run: bool = False) -> RemoveAnswer:
        """Hide a flow from resolving. Raises OutcomeUnknown."""
        problem = slug_problem(slug) or _note_problem(note)
        if problem is not None:
            return problem
        query = _query(note=note or None, dry_run="true" if dry_run else None)
        asked = Asked("DELETE", f"{_flow(slug)}{query}", _based_on(base))
        again = partial(lost.remove, self, slug, base=base, note=note)
        return self._written(asked, partial(self._removed, slug), again, slug, dry_run=dry_run)

    def take_in(
        self, bundle: bytes, *, note: str = "", expected: str | None = None, accept: bool = False, dry_run: bool = False
    ) -> TakeInAnswer:
        """Have a bundle taken in: what is not there yet of each flow, or nothing. Raises OutcomeUnknown."""
        problem = _note_problem(note) or _bundle_problem(bundle)
        if problem is not None:
            return problem
        flags = {"accept": "true" if accept else None, "dry_run": "true" if dry_run else None}
        query = _query(note=note or None, expected=expected, **flags)
        asked = Asked("POST", f"{PREFIX}/bundle{query}", {"Content-Type": BUNDLE_TYPE}, bundle, is_about_bundle=True)
        again = partial(lost.take_in, self, bundle, note=note, expected=expected, accept=accept)
        return self._written(asked, self._taken_in, again, "the bundle", dry_run=dry_run)

    def _written(self, asked: Asked, read: Callable[[Reply], T], again: Callable[[], T | None], what: str, *, dry_run: bool) -> T:
        """Have something written, once; where the answer is lost, look up what became of it. What is only tried may be tried again."""
        self._about()
        if dry_run:
            return read(self._exchange.read(asked))
        try:
            return read(self._exchange.write(asked))
        except (AnswerLost, OutcomeUnknown) as fault:
            return lost.outcome(fault, again, what)

    def _saved(self, slug: str, content: bytes | None, reply: Reply) -> SaveAnswer:
        answer = self._replies.form(reply, SavedForm)
        if isinstance(answer, SavedForm):
            return self._checks.saved(answer, slug, content)
        if answer.code == ProblemCode.NOT_COMPILED:
            return answer.not_compiled()
        return self._conflict(answer, slug) or self._refusal(answer)

    def _removed(self, slug: str, reply: Reply) -> RemoveAnswer:
        answer = self._replies.form(reply, RemovedForm)
        if isinstance(answer, RemovedForm):
            return self._checks.removed(answer)
        return self._conflict(answer, slug) or self._refusal(answer)

    def _taken_in(self, reply: Reply) -> TakeInAnswer:
        answer = self._replies.form(reply, TakenInForm)
        if isinstance(answer, TakenInForm):
            return self._checks.taken_in(answer)
        if answer.code == ProblemCode.HISTORIES_PART:
            return self._checks.bundle_conflict(answer)
        return self._refusal(answer)

    def _conflict(self, problem: ProblemForm, slug: str) -> Conflict | None:
        return self._checks.conflict(problem, slug) if problem.code == ProblemCode.BASE_STALE else None

    def _refusal(self, problem: ProblemForm) -> Refusal:
        """Give a refusal. Raises ServiceUnavailable for a problem that is none this program knows."""
        return problem.refusal() if problem.code in _REFUSALS else self._replies.unforeseen(problem)

    # --- reading ------------------------------------------------------------------------------------------------------------------

    def flows(self, limit: int, after: str = "", *, removed: bool = False) -> Sequence[FlowRow]:
        """List flows by slug, those after `after`."""
        if limit < 1:
            return ()
        known = _comparable(after)
        page = self._get("/flows", FlowsPage, limit=min(limit, PAGE_MAX), after=known or None, removed="true" if removed else None)
        return self._checks.rows(self._there(page).flows, limit, known)

    def find(self, slug: str) -> FlowRow | None:
        """Give a flow as it is listed, also a removed one."""
        row = self._found(slug, "", FlowRowForm)
        return None if row is None else self._checks.row(row, slug)

    def source(self, slug: str, revision: int | None = None) -> Revision | None:
        """Give a revision with its source: the current one, none of a removed flow, or one by its number."""
        if revision is not None:
            return self._revision(slug, revision)
        found = self._found(slug, "/current", RevisionForm)
        return None if found is None else self._checks.revision(found, slug)

    def _revision(self, slug: str, number: int) -> Revision | None:
        if not 1 <= number <= REVISION_MAX:
            return None
        found = self._found(slug, f"/revisions/{number}", RevisionForm)
        return None if found is None else self._checks.revision(found, slug, number)

    def holding(self, slug: str, content_digest: str) -> RevisionFacts | None:
        """Give the last revision of a flow that has this content."""
        if not DIGEST.fullmatch(content_digest):
            return None
        found = self._found(slug, "/holding", RevisionFactsForm, digest=content_digest)
        return None if found is None else self._checks.holding(found, slug, content_digest)

    def history(self, slug: str, limit: int, before: int | None = None) -> Sequence[RevisionFacts]:
        """List the revisions of a flow, the latest first."""
        if limit < 1:
            return ()
        page = self._found(slug, "/revisions", RevisionsPage, limit=min(limit, PAGE_MAX), before=_below(before))
        return () if page is None else self._checks.history(page.revisions, slug, limit, before)

    def acts(self, slug: str, limit: int, before: int | None = None) -> Sequence[FlowAct]:
        """List the acts on a flow, the latest first."""
        if limit < 1:
            return ()
        page = self._found(slug, "/acts", ActsPage, limit=min(limit, PAGE_MAX), before=_below(before))
        return () if page is None else self._checks.acts(page.acts, limit, before)

    def difference(self, slug: str, old: int, new: int) -> Difference | Refusal:
        """Compare two revisions of a flow."""
        problem = slug_problem(slug)
        if problem is not None:
            return problem
        answer = self._get(f"/flows/{slug}/difference", DifferenceForm, old=old, new=new)
        return self._refusal(answer) if isinstance(answer, ProblemForm) else answer.value()

    def export(self, slugs: Sequence[str]) -> Iterator[bytes] | Refusal:
        """Give a bundle of flows, whole before its first piece is given; of all flows where none is named."""
        problem = next((found for each in slugs if (found := slug_problem(each)) is not None), None)
        if problem is not None:
            return problem
        query = f"?{urlencode([('slug', each) for each in slugs])}" if slugs else ""
        if len(slugs) > SLUGS_MAX or len(query) > QUERY_CHARACTERS_MAX:
            return Refusal(
                RefusalCode.INPUT_TOO_LARGE, f"{len(slugs)} flows are too many to name at once", ("name fewer, or none for all",)
            )
        self._about()
        reply = self._exchange.read(Asked("GET", f"{PREFIX}/bundle{query}", reply_bytes=BUNDLE_BYTES_MAX, is_about_bundle=True))
        if reply.status != 200:
            return self._refusal(self._replies.problem(reply))
        body = self._replies.raw(reply, BUNDLE_TYPE)
        return (body[start : start + _PIECE_BYTES] for start in range(0, len(body), _PIECE_BYTES))

    # --- asking -------------------------------------------------------------------------------------------------------------------

    def _get(self, path: str, form: type[F], **query: str | int | None) -> F | ProblemForm:
        self._about()
        return self._replies.form(self._exchange.read(Asked("GET", f"{PREFIX}{path}{_query(**query)}")), form)

    def _found(self, slug: str, path: str, form: type[F], **query: str | int | None) -> F | None:
        """Read something of a flow; None where there is none, as there is none under what is no slug."""
        if not is_slug(slug):
            return None
        answer = self._get(f"/flows/{slug}{path}", form, **query)
        return None if isinstance(answer, ProblemForm) and answer.code in _NOT_THERE else self._there(answer)

    def _form(self, reply: Reply, form: type[F]) -> F:
        return self._there(self._replies.form(reply, form))

    def _there(self, answer: F | ProblemForm) -> F:
        if isinstance(answer, ProblemForm):
            self._replies.unforeseen(answer)
        return answer


_REFUSALS: Final = frozenset(map(str, RefusalCode))


def _flow(slug: str) -> str:
    return f"{PREFIX}/flows/{slug}"


def _query(**given: str | int | None) -> str:
    named = {name: value for name, value in given.items() if value is not None}
    return f"?{urlencode(named)}" if named else ""


def _based_on(base: int | None) -> Mapping[str, str]:
    return {"If-None-Match": "*"} if base is None else {"If-Match": f'"{base}"'}


def _json(method: str, path: str, form: Form, headers: Mapping[str, str], left_out: Iterable[str] = ()) -> Asked:
    body = form.model_dump_json(exclude=set(left_out)).encode("utf-8")
    return Asked(method, path, {**headers, "Content-Type": JSON_TYPE}, body)


def _comparable(after: str) -> str:
    """Give a text that every service takes and that the same slugs come after: they hold no NUL, ASCII alone, and are no longer."""
    known = after.partition("\0")[0][:SLUG_CHARACTERS_MAX]
    return "".join(min("\x7f", each) for each in known)


def _below(before: int | None) -> int | None:
    """Give a bound that every service takes and that the same numbers are below."""
    return None if before is None or before > REVISION_MAX else max(before, 0)


def _text_of(content: bytes) -> str | None:
    """Give a source as it travels; None for one that no service needs to see, for it compiles nowhere."""
    if len(content) > FLOW_SOURCE_BYTES_MAX:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _not_compiled_here(slug: str, content: bytes) -> NotCompiled:
    compilation = compiled(content, f"flows/{slug}.dcdl", slug)
    assert compilation.definition is None, "what is no text, or too large, compiles nowhere"
    return NotCompiled(diagnostics_of(compilation), compilation)


def _note_problem(note: str) -> Refusal | None:
    return text_problem("note", note, NOTE_BYTES_MAX)


def _bundle_problem(bundle: bytes) -> Refusal | None:
    if len(bundle) <= BUNDLE_BYTES_MAX:
        return None
    message = f"the bundle has {len(bundle)} bytes, more than {BUNDLE_BYTES_MAX}"
    return Refusal(RefusalCode.BUNDLE_TOO_LARGE, message, ("export fewer flows at a time",))
