"""The flows of a Workspace: saving them, and resolving selectors to snapshots.

Invariants: what does not compile is not stored; a flow's name is the slug it is kept under; a stored definition is never compiled
again, it is read by its digest; resolving never writes. The compiler is loaded only where something is compiled.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.resources.catalog import VIRTUAL_FOLDER, builtin, builtins
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown, size_of
from stateward.runtime.engine.folding import INSPECT
from stateward.runtime.engine.limits import NAME_BYTES_MAX, NOTE_BYTES_MAX
from stateward.runtime.ports import Clock, Damaged, FlowStore, NewRevision, Saved, Snapshot, StaleBase, Unresolved
from stateward.runtime.session.chain import digest_of

if TYPE_CHECKING:
    from stateward.compiler.pipeline import Compilation

BUILTIN: Final = "builtin"
WORKSPACE: Final = "workspace"
_SLUG: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SCOPES: Final = (BUILTIN, WORKSPACE)


@dataclass(frozen=True, slots=True)
class Selector:
    """How a flow is named: where it is kept, and under what."""

    scope: str
    slug: str

    def __str__(self) -> str:
        return f"{self.scope}:{self.slug}"


@dataclass(frozen=True, slots=True)
class NotCompiled:
    """Nothing was stored: the source has errors."""

    compilation: "Compilation"


SaveAnswer: TypeAlias = Saved | StaleBase | NotCompiled | Refusal


def parse_selector(text: str) -> Selector | Unresolved:
    """Read a selector; nothing but `builtin:<slug>` and `workspace:<slug>` is one."""
    scope, colon, slug = text.partition(":")
    if colon and scope in _SCOPES and is_slug(slug):
        return Selector(scope, slug)
    named = text if is_slug(text) else "<slug>"
    return Unresolved("bad_selector", f"{shown(text)} is no selector", f"write `{BUILTIN}:{named}` or `{WORKSPACE}:{named}`")


def is_slug(text: str) -> bool:
    """Tell whether a flow can be kept under this: 1 to 128 ASCII letters, digits, `-` and `_`."""
    return _SLUG.fullmatch(text) is not None


def save_flow(
    store: FlowStore, workspace: str, content: bytes, *, slug: str, base: int | None, author: str, note: str, compiler: str, clock: Clock
) -> SaveAnswer:
    """Compile a source and store it under its slug.

    `base` is the revision it was made from, None for a new slug; `compiler` names the program that compiles. The same bytes with the same
    definition make no revision.
    """
    problem = _save_problem(slug, author, note)
    if problem is not None:
        return problem
    compilation = _compile(content, f"flows/{slug}.dcdl", slug)
    definition = compilation.definition
    if definition is None or compilation.definition_digest is None:
        return NotCompiled(compilation)
    if definition.name != slug:
        message = f"the flow is named `{definition.name}` and saved as `{slug}`"
        return Refusal(RefusalCode.NAME_DIFFERS, message, (f"name it `{slug}`", f"save it as `{definition.name}`"))
    new = NewRevision(
        slug=slug,
        content=content,
        content_digest=compilation.content_digest,
        definition_digest=compilation.definition_digest,
        definition=_canonical(definition),
        compiler=compiler,
        author=author,
        note=note,
        created=clock.now(),
    )
    return store.save(workspace, new, base)


def _save_problem(slug: str, author: str, note: str) -> Refusal | None:
    if not is_slug(slug):
        allowed = ("name it with 1 to 128 ASCII letters, digits, `-` and `_`",)
        return Refusal(RefusalCode.SLUG_MALFORMED, f"{shown(slug)} cannot be a slug", allowed)
    for what, text, limit in (("author", author, NAME_BYTES_MAX), ("note", note, NOTE_BYTES_MAX)):
        if size_of(text) > limit:
            return Refusal(RefusalCode.INPUT_TOO_LARGE, f"the {what} has {size_of(text)} bytes", (f"give at most {limit} bytes",))
    return None


def _compile(content: bytes, name: str, slug: str) -> "Compilation":
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415 -- costs more than all else; most calls compile nothing

    return compile_source(content, name=name, slug=slug)


def _canonical(definition: CompiledFlowDefinition) -> bytes:
    from stateward.compiler.flow.canonical import canonical_bytes  # noqa: PLC0415 -- as above

    return canonical_bytes(definition)


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
        compilation = _compile(source.content, f"{VIRTUAL_FOLDER}/{selector.slug}.dcdl", selector.slug)
        definition = compilation.definition
        if definition is None:
            return Unresolved("flow_broken", f"flow `{selector}` does not compile", f"run `stateward compile {selector}`")
        canonical = _canonical(definition)
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
            return Unresolved("flow_not_found", f"there is no flow `{selector}` in this Workspace", "save it with `stateward flow save`")
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


def _definition(canonical: bytes, digest: str) -> CompiledFlowDefinition:
    try:
        return CompiledFlowDefinition.model_validate_json(canonical)
    except ValueError as problem:
        raise Damaged(f"definition {digest} is none that this program knows", INSPECT) from problem
