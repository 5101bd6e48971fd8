"""What a service answered, held against what it was asked and against its own digests.

Invariants: a value of another Workspace, of another flow or out of order is never given on; neither are bytes that do not have the digest
they came with.
"""

import operator
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from stateward.runtime.core.texts import shown
from stateward.runtime.engine.selectors import is_slug
from stateward.runtime.ports import (
    ActKind,
    BundleConflict,
    Conflict,
    Damaged,
    FlowAct,
    FlowRow,
    Removed,
    Revision,
    RevisionFacts,
    Saved,
    ServiceUnavailable,
    Snapshot,
    TakenIn,
)
from stateward.runtime.remote.address import Address
from stateward.runtime.remote.exchange import AnswerLost
from stateward.runtime.remote.forms import (
    FlowActForm,
    FlowRowForm,
    ProblemForm,
    RemovedForm,
    RevisionFactsForm,
    RevisionForm,
    SavedForm,
    SnapshotForm,
    TakenInForm,
)
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.closures import closure_digest_of

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_ASK_AGAIN: Final = "see whether the store of the service is whole, and what stands between"
_NAME_IT: Final = "name the service that holds it with `--server`"


class Checks:
    """Checks what the service at an address answers for one Workspace: `expected`, or the first it names."""

    def __init__(self, address: Address, expected: str | None) -> None:
        self._address = address
        self._workspace = expected

    def require(self, workspace: str) -> None:
        """Raise ServiceUnavailable for what belongs to another Workspace, or to what is none: ids become names of folders."""
        if not _ID.fullmatch(workspace):
            raise AnswerLost(f"{self._address} names a Workspace by {shown(workspace)}, which is no id of one", _ASK_AGAIN)
        if self._workspace is None:
            self._workspace = workspace
        if workspace != self._workspace:
            message = f"{self._address} holds Workspace `{workspace}`, and `{self._workspace}` was expected"
            raise ServiceUnavailable(message, _NAME_IT)

    def snapshot(self, form: SnapshotForm, selector: str) -> Snapshot:
        """Give a snapshot. Raises Damaged, and ServiceUnavailable for another one than was asked for."""
        self.require(form.workspace)
        self._same("a snapshot of", form.selector, selector)
        self._digests(form.content_digest, form.definition_digest)
        canonical = form.definition.encode("utf-8")
        if form.definition_digest != digest_of(canonical):
            raise Damaged(f"the definition of `{selector}` came with a digest that is not its own: {form.definition_digest}", _ASK_AGAIN)
        try:
            return form.value()
        except ValueError:
            message = f"definition {form.definition_digest} of `{selector}` is none that this program knows"
            raise Damaged(message, "bring both programs to the same version") from None

    def revision(self, form: RevisionForm, slug: str, number: int | None = None) -> Revision:
        """Give a revision with its source. Raises Damaged, and ServiceUnavailable for another one than was asked for."""
        revision = form.revision_value()
        self._facts(revision, slug)
        if number is not None:
            self._same(f"a revision of `{slug}`,", str(revision.revision), str(number))
        if revision.content_digest != digest_of(revision.content):
            message = f"revision {revision.revision} of `{slug}` came with a digest that is not its own: {revision.content_digest}"
            raise Damaged(message, _ASK_AGAIN)
        if revision.closure_digest != closure_digest_of(revision.modules):
            message = f"revision {revision.revision} of `{slug}` came with modules that are not those of {revision.closure_digest}"
            raise Damaged(message, _ASK_AGAIN)
        return revision

    def saved(self, form: SavedForm, slug: str, content: bytes | None) -> Saved:
        """Give what a save came to, of that content if one was sent. Raises AnswerLost for anything else: it tells nothing of the save."""
        try:
            saved = Saved(self.revision(form.revision, slug), form.created)
        except (Damaged, ServiceUnavailable) as fault:
            raise AnswerLost(fault.message, fault.remedy) from fault
        if content is not None and content != saved.revision.content:
            raise AnswerLost(f"{self._address} answered with another source than was sent", _ASK_AGAIN)
        return saved

    def removed(self, form: RemovedForm) -> Removed:
        """Give what a removal came to. Raises AnswerLost for anything else: it tells nothing of the removal."""
        if form.act.kind is not ActKind.REMOVED:
            raise AnswerLost(f"{self._address} answered a removal with something else that was done", _ASK_AGAIN)
        try:
            self.require(form.act.workspace)
        except ServiceUnavailable as fault:
            raise AnswerLost(fault.message, fault.remedy) from fault
        return form.value()

    def conflict(self, problem: ProblemForm, slug: str) -> Conflict:
        """Give a conflict. Raises what `revision` raises."""
        self._same("a conflict over", problem.slug or "", slug)
        for form in (problem.base, problem.current):
            if form is not None:
                self.revision(form, slug)
        if problem.removed is not None:
            self.require(problem.removed.workspace)
        return problem.conflict()

    def bundle_conflict(self, problem: ProblemForm) -> BundleConflict:
        """Give a conflict over a bundle. Raises Damaged, and ServiceUnavailable for what is of another Workspace."""
        for each in problem.flows or ():
            self._facts(each.here.value(), each.slug)
            if each.there.content_digest != digest_of(each.there.value().content):
                message = f"revision {each.revision} of `{each.slug}` in the bundle came with a digest that is not its own"
                raise Damaged(message, _ASK_AGAIN)
        return problem.bundle_conflict()

    def row(self, form: FlowRowForm, slug: str) -> FlowRow:
        """Give a flow as it is listed."""
        row = form.value()
        self._facts(row.last, slug)
        if row.removed is not None:
            self.require(row.removed.workspace)
        return row

    def holding(self, form: RevisionFactsForm, slug: str, digest: str) -> RevisionFacts:
        """Give a revision that has a content."""
        facts = form.value()
        self._facts(facts, slug)
        self._same(f"a revision of `{slug}` with content", facts.content_digest, digest)
        return facts

    def rows(self, forms: Sequence[FlowRowForm], limit: int, after: str) -> Sequence[FlowRow]:
        """Give a page of flows."""
        rows = [self.row(each, each.last.slug) for each in forms]
        self._bounded(len(rows), limit)
        self._in_order([after, *(each.last.slug for each in rows)], operator.lt)
        return rows

    def history(self, forms: Sequence[RevisionFactsForm], slug: str, limit: int, before: int | None) -> Sequence[RevisionFacts]:
        """Give a page of revisions."""
        found = [each.value() for each in forms]
        for each in found:
            self._facts(each, slug)
        self._latest_first([each.revision for each in found], limit, before)
        return found

    def acts(self, forms: Sequence[FlowActForm], limit: int, before: int | None) -> Sequence[FlowAct]:
        """Give a page of acts."""
        found = [each.value() for each in forms]
        for each in found:
            self.require(each.workspace)
        self._latest_first([each.number for each in found], limit, before)
        return found

    def taken_in(self, form: TakenInForm) -> TakenIn:
        """Give what taking a bundle in came to. Raises AnswerLost for anything else: it tells nothing of that."""
        self._digests(form.bundle)
        for each in form.flows:
            self._slug(each.slug)
        return form.value()

    def _facts(self, facts: RevisionFacts, slug: str) -> None:
        self.require(facts.workspace)
        self._slug(facts.slug)
        self._same("a revision of", facts.slug, slug)
        self._digests(facts.content_digest, facts.definition_digest)

    def _slug(self, slug: str) -> None:
        """Require that a slug is one: slugs become names of files."""
        if not is_slug(slug):
            raise AnswerLost(f"{self._address} names a flow {shown(slug)}, which is no slug", _ASK_AGAIN)

    def _digests(self, *digests: str) -> None:
        for each in digests:
            if not DIGEST.fullmatch(each):
                raise AnswerLost(f"{self._address} gives {shown(each)} as a digest, which is none", _ASK_AGAIN)

    def _same(self, what: str, came: str, asked: str) -> None:
        if came != asked:
            message = f"{self._address} answered with {what} `{came:.200}`, where `{asked:.200}` was asked for"
            raise AnswerLost(message, _ASK_AGAIN)

    def _latest_first(self, numbers: Sequence[int], limit: int, before: int | None) -> None:
        self._bounded(len(numbers), limit)
        self._in_order([*(() if before is None else (before,)), *numbers], operator.gt)

    def _bounded(self, rows: int, limit: int) -> None:
        if rows > limit:
            raise AnswerLost(f"{self._address} answered with {rows} rows, where {limit} were asked for", _ASK_AGAIN)

    def _in_order(self, values: Sequence[str] | Sequence[int], right: Callable[..., bool]) -> None:
        """Hold a page to its order: out of it, whoever reads page by page would never come to an end."""
        if not all(right(one, other) for one, other in pairwise(values)):
            raise AnswerLost(f"{self._address} answered with a page that is out of order", _ASK_AGAIN)
