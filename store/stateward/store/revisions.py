"""The rules of saving a flow, the same for every store: what may be stored, and what a save comes to.

Invariants: the same bytes with the same modules and definition as the current revision are never stored again, unless the flow was
removed; a save that was based on another revision than the last one writes nothing; a flow's id follows from its Workspace and its slug,
so that whoever saves a slug first, and in whichever store, gives it the same id.
"""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid5

from stateward.runtime.ports import FlowAct, NewRevision, Revision, Saved, StaleBase
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.closures import closure_digest_of
from stateward.store.limits import MODULES_MAX

FLOWS_NAMESPACE: Final = UUID("6b1b0a52-3f0e-5c2b-9d57-0a4d3d6f6c11")
CONTENT_BYTES_MAX: Final = 1024 * 1024
DEFINITION_BYTES_MAX: Final = 16 * 1024 * 1024
NOTE_BYTES_MAX: Final = 16 * 1024
NAME_BYTES_MAX: Final = 1024
"""Of a slug, an author, a compiler's name."""


def flow_id_of(workspace: str, slug: str) -> str:
    """Give the id of a Workspace's flow: a UUIDv5, the same for ever."""
    return str(uuid5(FLOWS_NAMESPACE, f"{workspace}/{slug}"))


def require_storable(new: NewRevision) -> None:
    """Raise ValueError for a revision that no store takes: over a limit, or with a digest that is not that of its bytes."""
    require_texts(new.slug, new.author, new.compiler, note=new.note)
    _require_size("a source", len(new.content), CONTENT_BYTES_MAX)
    require_moment(new.created)
    if new.content_digest != digest_of(new.content):
        raise ValueError(f"{new.content_digest} is not the digest of the source")
    require_definition(new.definition_digest, new.definition)
    _require_modules(new)


def _require_modules(new: NewRevision) -> None:
    paths = [path for path, _ in new.modules]
    if len(paths) > MODULES_MAX or paths != sorted(set(paths)):
        raise ValueError(f"modules are at most {MODULES_MAX}, in the order of their paths")
    require_texts(*paths)
    _require_size("a source with its modules", len(new.content) + sum(len(content) for _, content in new.modules), CONTENT_BYTES_MAX)
    if new.closure_digest != closure_digest_of(new.modules):
        raise ValueError(f"{new.closure_digest} is not the digest of the modules")


def require_texts(*names: str, note: str = "") -> None:
    """Raise ValueError for a name or a note that no store takes: over a limit, no Unicode, or with a NUL in it."""
    for text, limit in (*((name, NAME_BYTES_MAX) for name in names), (note, NOTE_BYTES_MAX)):
        _require_size("a text", len(text.encode("utf-8")), limit)
        if "\0" in text:
            raise ValueError(f"{text!r} holds a NUL, which not every store can keep")


def require_moment(time: datetime) -> None:
    """Raise ValueError for a naive time."""
    if time.tzinfo is None:
        raise ValueError("a time without an offset names no moment")


def require_definition(digest: str, definition: bytes) -> None:
    """Raise ValueError for a definition that no store takes under that digest."""
    _require_size("a definition", len(definition), DEFINITION_BYTES_MAX)
    if digest != digest_of(definition):
        raise ValueError(f"{digest} is not the digest of the definition")


def _require_size(what: str, size: int, limit: int) -> None:
    if size > limit:
        raise ValueError(f"{what} of {size} bytes is over the limit of {limit}")


def answer_without_writing(
    last: Revision | None, new: NewRevision, base: int | None, removed: FlowAct | None = None
) -> Saved | StaleBase | None:
    """Answer a save that writes nothing; None when a revision is to be written after `last`, of a flow that was `removed` or not."""
    if last is None:
        return None if base is None else StaleBase(None)
    if removed is None and _compiled(last) == _compiled(new):
        return Saved(last, created=False)
    if last.revision != base:
        return StaleBase(last, removed)
    return None


def _compiled(revision: NewRevision | Revision) -> tuple[bytes, str, str | None]:
    """Give all that a flow was compiled from, and to."""
    return revision.content, revision.definition_digest, revision.closure_digest


def revision_numbered(number: int, workspace: str, new: NewRevision) -> Revision:
    """Give a new revision its number, which is the one after the last of its flow."""
    return Revision(
        workspace=workspace,
        flow_id=flow_id_of(workspace, new.slug),
        slug=new.slug,
        revision=number,
        content=new.content,
        content_digest=new.content_digest,
        definition_digest=new.definition_digest,
        compiler=new.compiler,
        author=new.author,
        note=new.note,
        created=new.created.astimezone(UTC),
        modules=new.modules,
        closure_digest=new.closure_digest,
    )
