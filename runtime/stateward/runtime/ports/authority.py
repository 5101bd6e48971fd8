"""The Workspace as an authority on flows, wherever it is kept: what people, services and the runtime ask of it, and its answers.

Two adapters: in process over a store (`engine`), and over HTTP to a service that holds the store (`remote`). Both compile what is
saved, on the side that holds the store. Resolving never writes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports.flows import Brought, Diverged, FlowAct, FlowRow, Removed, Revision, RevisionFacts, Saved

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition
    from stateward.compiler.pipeline import Compilation

BUNDLE_BYTES_MAX: Final = 64 * 1024 * 1024
MODULES_MAX: Final = 256
"""Of one revision."""
DIFFERENCE_BYTES_MAX: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A definition with its identity, as a selector resolved to it."""

    workspace: str
    flow_id: str
    selector: str
    flow_revision: int
    content_digest: str
    definition_digest: str
    definition: "CompiledFlowDefinition"
    definition_bytes: bytes
    """The canonical form that `definition_digest` covers."""


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A selector that names nothing, or nothing usable."""

    code: str
    """`bad_selector`, `flow_not_found` or `flow_broken`."""
    message: str
    help: str = ""


class Snapshots(Protocol):
    """Resolves selectors to snapshots; never writes."""

    def resolve(self, selector: str) -> Snapshot | Unresolved:
        """Resolve `builtin:<slug>` or `workspace:<slug>`."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts compared line by line, as a unified diff."""

    old: str
    """What the first is called: `paper revision 3`."""
    new: str
    text: str
    """Empty when they are the same bytes."""
    cut: bool = False
    """Whether there is more than the limit, DIFFERENCE_BYTES_MAX, let through."""


@dataclass(frozen=True, slots=True)
class NotCompiled:
    """Nothing was stored: the source has errors."""

    diagnostics: tuple[Mapping[str, Any], ...]
    """In the JSON form of `compile --format json`, errors and warnings."""
    compilation: "Compilation | None" = None
    """The whole compilation, where it happened in this process."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Nothing was written: it was based on another revision than the last one, and names both."""

    slug: str
    base: Revision | None
    """The revision it was based on; None when no base, or one that never was, was named."""
    named: int | None
    """The number that was named as the base."""
    current: Revision | None
    """The last revision; None when no flow has that slug."""
    removed: FlowAct | None
    difference: Difference | None
    """What changed from the base to the last revision; without a base, from the last revision to what was to be saved. None where there is
    nothing to compare."""


SaveAnswer: TypeAlias = Saved | Conflict | NotCompiled | Refusal
RemoveAnswer: TypeAlias = Removed | Conflict | Refusal


@dataclass(frozen=True, slots=True)
class TakenIn:
    """A bundle was taken in."""

    bundle: str
    """Its digest."""
    origin: str
    """The Workspace it came from."""
    flows: tuple[Brought, ...]


@dataclass(frozen=True, slots=True)
class BundleConflict:
    """Nothing was taken in: histories here and in the bundle part."""

    bundle: str
    flows: tuple[Diverged, ...]


TakeInAnswer: TypeAlias = TakenIn | BundleConflict | Refusal


class FlowAuthority(Snapshots, Protocol):
    """The flows of one Workspace. Who acts is fixed when it is made: the account of the terminal, or the name of a token.

    `dry_run` answers what would be, and writes nothing. Listings give at most PAGE_MAX rows at a time. Raises the faults of the store, or
    of the way to it.
    """

    @property
    def workspace(self) -> str:
        """The id of the Workspace."""

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
        """Compile a source and keep it as the next revision, with those of the modules that it imports.

        Modules are paths, seen from the folder of the flow, and contents; at most MODULES_MAX.

        `base` is the revision it was made from, None for a new slug. With `override` it is kept on whatever is the last revision then; if
        that is not the base, the note says so.
        """

    def restore(self, slug: str, revision: int, *, base: int, note: str = "", override: bool = False, dry_run: bool = False) -> SaveAnswer:
        """Make an old revision current again, as a new one with its bytes and its definition: nothing is compiled."""

    def remove(self, slug: str, *, base: int, note: str = "", dry_run: bool = False) -> RemoveAnswer:
        """Hide a flow from resolving; every revision stays."""

    def flows(self, limit: int, after: str = "", *, removed: bool = False) -> Sequence[FlowRow]:
        """List flows by slug, those after `after`."""

    def find(self, slug: str) -> FlowRow | None:
        """Give a flow as it is listed, also a removed one."""

    def source(self, slug: str, revision: int | None = None) -> Revision | None:
        """Give a revision with its source: the current one, none of a removed flow, or one by its number, also of a removed flow."""

    def holding(self, slug: str, content_digest: str) -> RevisionFacts | None:
        """Give the last revision of a flow that has this content."""

    def history(self, slug: str, limit: int, before: int | None = None) -> Sequence[RevisionFacts]:
        """List the revisions of a flow, the latest first."""

    def acts(self, slug: str, limit: int, before: int | None = None) -> Sequence[FlowAct]:
        """List the acts on a flow, the latest first."""

    def difference(self, slug: str, old: int, new: int) -> Difference | Refusal:
        """Compare two revisions of a flow."""

    def export(self, slugs: Sequence[str]) -> Iterator[bytes] | Refusal:
        """Give a bundle of flows with every revision, piece by piece; of all flows, the removed ones too, where none is named."""

    def take_in(
        self, bundle: bytes, *, note: str = "", expected: str | None = None, accept: bool = False, dry_run: bool = False
    ) -> TakeInAnswer:
        """Take in a bundle: what is not here yet of each flow, or nothing.

        `expected` is the digest it is to have. A definition that this program does not make of its source is taken in only with `accept`,
        and only where another compiler than this one made it.
        """
