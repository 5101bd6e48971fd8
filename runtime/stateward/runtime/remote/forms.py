"""The forms that go over the wire between a service that holds a Workspace and its clients, and what they are as values.

One form per value of the ports, with the same names for the same things; who reads one checks it whole. Invariants: a form has no field
that is not named here, takes no value for another type, and bounds every text and list; a source travels as its UTF-8 text, byte-order
mark and line ends included (in base64 where it is none), a definition as its exact canonical text; a time has an offset. A form and its
value are made of each other without loss.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.limits import NOTE_BYTES_MAX
from stateward.runtime.ports import (
    DIFFERENCE_BYTES_MAX,
    MODULES_MAX,
    PAGE_MAX,
    ActKind,
    Brought,
    BundleConflict,
    Conflict,
    Difference,
    Diverged,
    FlowAct,
    FlowRow,
    NewRevision,
    NotCompiled,
    Removed,
    Revision,
    RevisionFacts,
    Saved,
    Snapshot,
    TakenIn,
    Unresolved,
)
from stateward.runtime.remote.problem_codes import ProblemCode as ProblemCode  # noqa: PLC0414 - it is offered from here

PREFIX: Final = "/v1"
"""Where every resource of this version of the wire lies; `/healthz` and `/readyz` lie beside it."""
JSON_TYPE: Final = "application/json"
PROBLEM_TYPE: Final = "application/problem+json"
BUNDLE_TYPE: Final = "application/octet-stream"
PROBLEM_URN: Final = "urn:stateward:problem:"
"""What the type of a problem begins with; its code follows."""
REQUEST_ID_HEADER: Final = "X-Request-ID"

NAME_CHARACTERS_MAX: Final = 1024
SAID_CHARACTERS_MAX: Final = 16 * 1024
"""Of a note as it is kept."""
SOURCE_CHARACTERS_MAX: Final = 1024 * 1024
DEFINITION_CHARACTERS_MAX: Final = 16 * 1024 * 1024
DIAGNOSTICS_MAX: Final = 4096
FLOWS_MAX: Final = 100_000
"""Flows of one bundle."""
ALLOWED_MAX: Final = 64
PROBLEMS_MAX: Final = 64
"""What is said to be wrong with one request."""
MESSAGE_CHARACTERS_MAX: Final = 64 * 1024
SELECTOR_CHARACTERS_MAX: Final = 256
NUMBER_MAX: Final = 2**53 - 1
SLUGS_MAX: Final = 500
"""Flows that one export names."""

Slug = Annotated[str, Field(max_length=NAME_CHARACTERS_MAX)]
Name = Annotated[str, Field(max_length=NAME_CHARACTERS_MAX)]
Said = Annotated[str, Field(max_length=SAID_CHARACTERS_MAX)]
Message = Annotated[str, Field(max_length=MESSAGE_CHARACTERS_MAX)]
Digest = Annotated[str, Field(max_length=128, examples=["sha256:" + 64 * "0"])]
Number = Annotated[int, Field(ge=1, le=NUMBER_MAX)]
SourceText = Annotated[str, Field(max_length=SOURCE_CHARACTERS_MAX)]
StoredText = Annotated[str, Field(max_length=2 * SOURCE_CHARACTERS_MAX)]
Encoding = Literal["utf-8", "base64"]
DefinitionText = Annotated[str, Field(max_length=DEFINITION_CHARACTERS_MAX)]
Note = Annotated[str, Field(max_length=NOTE_BYTES_MAX, pattern=r"^[^\x00]*$")]
"""What is to be said about an act; UTF-8 bytes are counted where it is kept."""


def _whole(value: object) -> object:
    """Take `2.0` for 2, as JSON does, which knows one kind of numbers."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Form(BaseModel):
    """A form: frozen, and nothing but its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


# --- what is stored


class ModuleForm(Form):
    """A module that a flow imports: its path, seen from the folder of the flow, and its content."""

    path: Name
    content: StoredText
    encoding: Encoding = "utf-8"
    """How the content is written here: `base64` where it is no UTF-8."""

    @model_validator(mode="after")
    def _readable(self) -> Self:
        _read(self.content, self.encoding)
        return self

    @classmethod
    def of(cls, module: tuple[str, bytes]) -> Self:
        """Make it of the value."""
        path, data = module
        content, encoding = _written(data)
        return cls(path=path, content=content, encoding=encoding)

    def value(self) -> tuple[str, bytes]:
        """Give the value."""
        return self.path, _read(self.content, self.encoding)


Modules = Annotated[tuple[ModuleForm, ...], Field(max_length=MODULES_MAX)]


class RevisionFactsForm(Form):
    """A stored revision without its source."""

    workspace: Name
    flow_id: Name
    slug: Slug
    revision: Number
    content_digest: Digest
    definition_digest: Digest
    compiler: Name
    author: Name
    note: Said
    created: AwareDatetime
    closure_digest: Digest | None = None
    """Covers what it imports; null where that is nothing."""

    @classmethod
    def of(cls, facts: RevisionFacts) -> Self:
        """Make it of the value."""
        return cls(**_facts(facts))

    def value(self) -> RevisionFacts:
        """Give the value."""
        return RevisionFacts(**_facts(self))


class RevisionForm(RevisionFactsForm):
    """A stored revision with its source."""

    source: StoredText
    encoding: Encoding = "utf-8"
    """How the source is written here: `base64` where it is no UTF-8, which only what another compiler made can be."""
    modules: Modules = ()

    @classmethod
    def of_revision(cls, revision: Revision) -> Self:
        """Make it of the value."""
        source, encoding = _written(revision.content)
        return cls(**_facts(revision), source=source, encoding=encoding, modules=tuple(map(ModuleForm.of, revision.modules)))

    @model_validator(mode="after")
    def _readable(self) -> Self:
        _read(self.source, self.encoding)
        return self

    def revision_value(self) -> Revision:
        """Give the value with its source."""
        modules = tuple(each.value() for each in self.modules)
        return Revision(**_facts(self), content=_read(self.source, self.encoding), modules=modules)


class NewRevisionForm(Form):
    """A revision of a bundle that is not stored here."""

    slug: Slug
    source: StoredText
    encoding: Encoding = "utf-8"
    content_digest: Digest
    definition_digest: Digest
    definition: DefinitionText
    compiler: Name
    author: Name
    note: Said
    created: AwareDatetime
    modules: Modules = ()
    closure_digest: Digest | None = None

    @model_validator(mode="after")
    def _readable(self) -> Self:
        _read(self.source, self.encoding)
        return self

    @classmethod
    def of(cls, new: NewRevision) -> Self:
        """Make it of the value."""
        source, encoding = _written(new.content)
        return cls(
            slug=new.slug,
            source=source,
            encoding=encoding,
            content_digest=new.content_digest,
            definition_digest=new.definition_digest,
            definition=text_of(new.definition),
            compiler=new.compiler,
            author=new.author,
            note=new.note,
            created=new.created,
            modules=tuple(map(ModuleForm.of, new.modules)),
            closure_digest=new.closure_digest,
        )

    def value(self) -> NewRevision:
        """Give the value."""
        return NewRevision(
            slug=self.slug,
            content=_read(self.source, self.encoding),
            content_digest=self.content_digest,
            definition_digest=self.definition_digest,
            definition=bytes_of(self.definition),
            compiler=self.compiler,
            author=self.author,
            note=self.note,
            created=self.created,
            modules=tuple(each.value() for each in self.modules),
            closure_digest=self.closure_digest,
        )


class FlowActForm(Form):
    """An act on a flow."""

    workspace: Name
    flow_id: Name
    number: Number
    kind: ActKind
    revision: Number
    first: Number
    author: Name
    note: Said
    created: AwareDatetime
    bundle: Digest = ""
    origin: Name = ""

    @classmethod
    def of(cls, act: FlowAct) -> Self:
        """Make it of the value."""
        return cls(**{name: getattr(act, name) for name in cls.model_fields})

    def value(self) -> FlowAct:
        """Give the value."""
        return FlowAct(**{name: getattr(self, name) for name in type(self).model_fields})


class FlowRowForm(Form):
    """A flow as it is listed."""

    last: RevisionFactsForm
    removed: FlowActForm | None = None

    @classmethod
    def of(cls, row: FlowRow) -> Self:
        """Make it of the value."""
        return cls(last=RevisionFactsForm.of(row.last), removed=_act(row.removed))

    def value(self) -> FlowRow:
        """Give the value."""
        return FlowRow(self.last.value(), _act_value(self.removed))


# --- pages


class FlowsPage(Form):
    """Some flows by slug; `next` is what `after` is to be for those that follow, null at the end."""

    flows: Annotated[tuple[FlowRowForm, ...], Field(max_length=PAGE_MAX)]
    next: Slug | None


class RevisionsPage(Form):
    """Some revisions, the latest first; `next` is what `before` is to be for those that follow, null at the end."""

    revisions: Annotated[tuple[RevisionFactsForm, ...], Field(max_length=PAGE_MAX)]
    next: Number | None


class ActsPage(Form):
    """Some acts, the latest first; `next` is what `before` is to be for those that follow, null at the end."""

    acts: Annotated[tuple[FlowActForm, ...], Field(max_length=PAGE_MAX)]
    next: Number | None


# --- what is asked


class SaveForm(Form):
    """A source to be saved; its base is named by `If-Match` or `If-None-Match: *`."""

    source: SourceText
    modules: Modules = ()
    """What the source may import; what it does not need is not kept."""
    note: Note = ""
    override: bool = False
    dry_run: bool = False


class RestoreForm(Form):
    """An old revision to be made current again; its base is named by `If-Match`."""

    revision: Annotated[int, Field(ge=-NUMBER_MAX, le=NUMBER_MAX), BeforeValidator(_whole)]
    note: Note = ""
    override: bool = False
    dry_run: bool = False


# --- what is answered


class WorkspaceForm(Form):
    """The Workspace that a service holds, and as whom it is asked."""

    workspace: Name
    program: Name
    """The program that holds it, and compiles what is saved."""
    name: Name
    """That of the token."""
    scopes: Annotated[tuple[Name, ...], Field(max_length=256)]


class SavedForm(Form):
    """The current revision after a save or a restore; `created` is false when there was nothing to store."""

    revision: RevisionForm
    created: bool

    @classmethod
    def of(cls, saved: Saved) -> Self:
        """Make it of the value."""
        return cls(revision=RevisionForm.of_revision(saved.revision), created=saved.created)

    def value(self) -> Saved:
        """Give the value."""
        return Saved(self.revision.revision_value(), self.created)


class RemovedForm(Form):
    """The act that hides a flow; `created` is false when it was hidden already."""

    act: FlowActForm
    created: bool

    @classmethod
    def of(cls, removed: Removed) -> Self:
        """Make it of the value."""
        return cls(act=FlowActForm.of(removed.act), created=removed.created)

    def value(self) -> Removed:
        """Give the value."""
        return Removed(self.act.value(), self.created)


class DifferenceForm(Form):
    """Two texts compared line by line, as a unified diff."""

    old: Message
    new: Message
    text: Annotated[str, Field(max_length=DIFFERENCE_BYTES_MAX)]
    cut: bool = False

    @classmethod
    def of(cls, difference: Difference) -> Self:
        """Make it of the value."""
        return cls(old=difference.old, new=difference.new, text=difference.text, cut=difference.cut)

    def value(self) -> Difference:
        """Give the value."""
        return Difference(self.old, self.new, self.text, self.cut)


class SnapshotForm(Form):
    """A definition with its identity, as a selector resolved to it."""

    workspace: Name
    flow_id: Name
    selector: Name
    flow_revision: Number
    content_digest: Digest
    definition_digest: Digest
    definition: DefinitionText
    """The canonical text, whose UTF-8 bytes `definition_digest` covers."""

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """Make it of the value."""
        named = {name: getattr(snapshot, name) for name in cls.model_fields if name != "definition"}
        return cls(**named, definition=text_of(snapshot.definition_bytes))

    def value(self) -> Snapshot:
        """Give the value. Raises ValueError for a definition that this program does not know; the digest is for the caller to check."""
        canonical = bytes_of(self.definition)
        named = {name: getattr(self, name) for name in type(self).model_fields if name != "definition"}
        return Snapshot(**named, definition=CompiledFlowDefinition.model_validate_json(canonical), definition_bytes=canonical)


class BroughtForm(Form):
    """What became of one flow of a bundle; `first` is `last + 1` when nothing was new."""

    slug: Slug
    first: Number
    last: Annotated[int, Field(ge=0)]
    removed: bool
    """Whether the flow is removed afterwards."""
    was_removed: bool
    """Whether it was removed before."""

    @classmethod
    def of(cls, brought: Brought) -> Self:
        """Make it of the value."""
        return cls(**{name: getattr(brought, name) for name in cls.model_fields})

    def value(self) -> Brought:
        """Give the value."""
        return Brought(self.slug, self.first, self.last, self.removed, self.was_removed)


class TakenInForm(Form):
    """A bundle was taken in."""

    bundle: Digest
    origin: Name
    flows: Annotated[tuple[BroughtForm, ...], Field(max_length=FLOWS_MAX)]

    @classmethod
    def of(cls, taken: TakenIn) -> Self:
        """Make it of the value."""
        return cls(bundle=taken.bundle, origin=taken.origin, flows=tuple(map(BroughtForm.of, taken.flows)))

    def value(self) -> TakenIn:
        """Give the value."""
        return TakenIn(self.bundle, self.origin, tuple(each.value() for each in self.flows))


class DivergedForm(Form):
    """Where the history of a flow here and that of a bundle part."""

    slug: Slug
    revision: Number
    here: RevisionFactsForm
    there: NewRevisionForm

    @classmethod
    def of(cls, diverged: Diverged) -> Self:
        """Make it of the value."""
        here, there = RevisionFactsForm.of(diverged.here), NewRevisionForm.of(diverged.there)
        return cls(slug=diverged.slug, revision=diverged.revision, here=here, there=there)

    def value(self) -> Diverged:
        """Give the value."""
        return Diverged(self.slug, self.revision, self.here.value(), self.there.value())


# --- what is answered instead


class RequestProblem(Form):
    """One thing that is wrong with a request."""

    at: Message
    """Where: `body.source`, `query.limit`, `header.if-match`."""
    message: Message


class ProblemForm(Form):
    """A problem in the form of RFC 9457, with the members that its code brings along; the others are left out."""

    type: Message
    """`urn:stateward:problem:` and the code."""
    title: Message
    """The same for every problem of this code."""
    status: Annotated[int, Field(ge=400, le=599)]
    detail: Message
    """What happened this time."""
    code: Name
    request_id: Name | None = None
    allowed: Annotated[tuple[Message, ...], Field(max_length=ALLOWED_MAX)] | None = None
    """What may be done instead."""
    help: Message | None = None
    scope: Name | None = None
    """`scope_missing`: what the token would have to be issued for."""
    errors: Annotated[tuple[RequestProblem, ...], Field(max_length=PROBLEMS_MAX)] | None = None
    """`request_malformed`: each thing that is wrong."""
    diagnostics: Annotated[tuple[dict[str, JsonValue], ...], Field(max_length=DIAGNOSTICS_MAX)] | None = None
    """`not_compiled`: as `compile --format json` gives them."""
    slug: Slug | None = None
    """`base_stale`: the flow."""
    base: RevisionForm | None = None
    """`base_stale`: the revision that was named, where it is one."""
    named: int | None = None
    """`base_stale`: the number that was named."""
    current: RevisionForm | None = None
    """`base_stale`: the last revision, which won."""
    removed: FlowActForm | None = None
    """`base_stale`: how the flow was removed, if it is."""
    difference: DifferenceForm | None = None
    """`base_stale`: what came between."""
    bundle: Digest | None = None
    """`histories_part`: the digest of the bundle."""
    flows: Annotated[tuple[DivergedForm, ...], Field(max_length=FLOWS_MAX)] | None = None
    """`histories_part`: where each of them parts."""

    def json_bytes(self) -> bytes:
        """Give it as it goes over the wire: a member that this problem does not bring along is left out."""
        return self.model_dump_json(exclude_none=True).encode("utf-8")

    def conflict(self) -> Conflict:
        """Give the value of `base_stale`."""
        return Conflict(
            slug=self.slug or "",
            base=None if self.base is None else self.base.revision_value(),
            named=self.named,
            current=None if self.current is None else self.current.revision_value(),
            removed=_act_value(self.removed),
            difference=None if self.difference is None else self.difference.value(),
        )

    def not_compiled(self) -> NotCompiled:
        """Give the value of `not_compiled`."""
        diagnostics: tuple[Mapping[str, Any], ...] = self.diagnostics or ()
        return NotCompiled(diagnostics)

    def bundle_conflict(self) -> BundleConflict:
        """Give the value of `histories_part`."""
        return BundleConflict(self.bundle or "", tuple(each.value() for each in self.flows or ()))

    def unresolved(self) -> Unresolved:
        """Give the value of a selector that names nothing usable."""
        return Unresolved(self.code, self.detail, self.help or "")

    def refusal(self) -> Refusal:
        """Give the value of a refusal. Raises ValueError when its code is none that this program knows."""
        return Refusal(RefusalCode(self.code), self.detail, self.allowed or ())


def conflict_members(conflict: Conflict) -> dict[str, Any]:
    """Give what a conflict brings along in a problem."""
    return {
        "slug": conflict.slug,
        "base": None if conflict.base is None else RevisionForm.of_revision(conflict.base),
        "named": conflict.named,
        "current": None if conflict.current is None else RevisionForm.of_revision(conflict.current),
        "removed": _act(conflict.removed),
        "difference": None if conflict.difference is None else DifferenceForm.of(conflict.difference),
    }


def bundle_conflict_members(conflict: BundleConflict) -> dict[str, Any]:
    """Give what a conflict over a bundle brings along in a problem."""
    return {"bundle": conflict.bundle, "flows": tuple(DivergedForm.of(each) for each in conflict.flows)}


def text_of(content: bytes) -> str:
    """Give a source, or canonical bytes, as they travel; a byte-order mark stays. Raises UnicodeDecodeError for what is no UTF-8."""
    return content.decode("utf-8")


def bytes_of(text: str) -> bytes:
    """Give the bytes of a text that travelled."""
    return text.encode("utf-8")


def _written(content: bytes) -> tuple[str, Encoding]:
    try:
        return text_of(content), "utf-8"
    except UnicodeDecodeError:
        return b64encode(content).decode("ascii"), "base64"


def _read(source: str, encoding: Encoding) -> bytes:
    return bytes_of(source) if encoding == "utf-8" else b64decode(source, validate=True)


_FACTS: Final = tuple(RevisionFactsForm.model_fields)


def _facts(of: RevisionFacts | RevisionFactsForm) -> dict[str, Any]:
    return {name: getattr(of, name) for name in _FACTS}


def _act(act: FlowAct | None) -> FlowActForm | None:
    return None if act is None else FlowActForm.of(act)


def _act_value(form: FlowActForm | None) -> FlowAct | None:
    return None if form is None else form.value()
