"""Resolving selectors to snapshots: the flows that come with the program, and those of one Workspace.

Invariants: a stored definition is never compiled again, it is read by its digest; resolving never writes.
"""

from typing import TYPE_CHECKING

from stateward.resources.catalog import VIRTUAL_FOLDER, builtin, builtins
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.compiling import canonical_of, compiled
from stateward.runtime.engine.folding import INSPECT
from stateward.runtime.engine.selectors import BUILTIN, Selector, parse_selector
from stateward.runtime.ports import Damaged, FlowStore, Snapshot, Unresolved
from stateward.runtime.session.chain import digest_of, time_text

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition


class WorkspaceSnapshots:
    """The port `Snapshots` over the built-in flows and those of one Workspace."""

    def __init__(self, workspace: str, flows: FlowStore | None) -> None:
        self._workspace = workspace
        self._flows = flows

    def resolve(self, selector: str) -> Snapshot | Unresolved:
        """Resolve `builtin:<slug>` or `workspace:<slug>`. Raises Damaged when a stored definition is not what was stored."""
        parsed = parse_selector(selector)
        if isinstance(parsed, Unresolved):
            return parsed
        find = self._builtin if parsed.scope == BUILTIN else self._stored
        return find(parsed)

    def _builtin(self, selector: Selector) -> Snapshot | Unresolved:
        source = builtin(selector.slug)
        if source is None:
            names = ", ".join(f"`{BUILTIN}:{each.slug}`" for each in builtins())
            return Unresolved("flow_not_found", f"there is no flow `{selector}`", f"name one of {names}")
        compilation = compiled(source.content, f"{VIRTUAL_FOLDER}/{selector.slug}.dcdl", selector.slug)
        definition = compilation.definition
        if definition is None:
            return Unresolved("flow_broken", f"flow `{selector}` does not compile", f"run `stateward compile {selector}`")
        canonical = canonical_of(definition)
        return Snapshot(
            workspace=self._workspace,
            flow_id=str(selector),
            selector=str(selector),
            flow_revision=source.revision,
            content_digest=compilation.content_digest,
            definition_digest=digest_of(canonical),
            definition=definition,
            definition_bytes=canonical,
        )

    def _stored(self, selector: Selector) -> Snapshot | Unresolved:
        revision = None if self._flows is None else self._flows.current(self._workspace, selector.slug)
        if self._flows is None or revision is None:
            return self._missing(selector)
        canonical = self._flows.definition(revision.definition_digest)
        if canonical is None:
            raise Damaged(
                f"definition {revision.definition_digest} of flow `{selector}`, revision {revision.revision}, is not there", INSPECT
            )
        return Snapshot(
            workspace=self._workspace,
            flow_id=revision.flow_id,
            selector=str(selector),
            flow_revision=revision.revision,
            content_digest=revision.content_digest,
            definition_digest=revision.definition_digest,
            definition=_definition(canonical, revision.definition_digest),
            definition_bytes=canonical,
        )

    def _missing(self, selector: Selector) -> Unresolved:
        row = None if self._flows is None else self._flows.find(self._workspace, selector.slug)
        if row is None or row.removed is None:
            return Unresolved("flow_not_found", f"there is no flow `{selector}` in this Workspace", "save it with `stateward flow save`")
        last, by = row.last.revision, shown(row.removed.author or "somebody")[1:-1]
        message = f"flow `{selector}` was removed by {by} at revision {last} on {time_text(row.removed.created)}"
        return Unresolved("flow_not_found", message, f"bring it back: `stateward flow restore {selector.slug} {last} --base {last}`")


def _definition(canonical: bytes, digest: str) -> "CompiledFlowDefinition":
    from stateward.compiler.flow.definition import CompiledFlowDefinition  # noqa: PLC0415 -- loads pydantic, for what starts a flow only

    try:
        return CompiledFlowDefinition.model_validate_json(canonical)
    except ValueError as problem:
        raise Damaged(f"definition {digest} is none that this program knows", INSPECT) from problem
