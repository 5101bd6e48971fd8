"""The rules of saving a flow, the same for every store: what may be stored, and what a save comes to.

Invariants: the same bytes with the same definition as the current revision are never stored again; a save that was based on another
revision than the current one writes nothing; a flow's id follows from its Workspace and its slug, so that whoever saves a slug first,
and in whichever store, gives it the same id.
"""

from datetime import UTC
from typing import Final
from uuid import UUID, uuid5

from stateward.runtime.ports import NewRevision, Revision, Saved, StaleBase
from stateward.runtime.session.chain import digest_of

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
    for text, limit in (
        (new.slug, NAME_BYTES_MAX),
        (new.author, NAME_BYTES_MAX),
        (new.compiler, NAME_BYTES_MAX),
        (new.note, NOTE_BYTES_MAX),
    ):
        _require_size("a text", len(text.encode("utf-8")), limit)
        if "\0" in text:
            raise ValueError(f"{text!r} holds a NUL, which not every store can keep")
    _require_size("a source", len(new.content), CONTENT_BYTES_MAX)
    if new.created.tzinfo is None:
        raise ValueError("a time without an offset names no moment")
    if new.content_digest != digest_of(new.content):
        raise ValueError(f"{new.content_digest} is not the digest of the source")
    require_definition(new.definition_digest, new.definition)


def require_definition(digest: str, definition: bytes) -> None:
    """Raise ValueError for a definition that no store takes under that digest."""
    _require_size("a definition", len(definition), DEFINITION_BYTES_MAX)
    if digest != digest_of(definition):
        raise ValueError(f"{digest} is not the digest of the definition")


def _require_size(what: str, size: int, limit: int) -> None:
    if size > limit:
        raise ValueError(f"{what} of {size} bytes is over the limit of {limit}")


def answer_without_writing(current: Revision | None, new: NewRevision, base: int | None) -> Saved | StaleBase | None:
    """Answer a save that writes nothing; None when a revision is to be written after `current`."""
    if current is None:
        return None if base is None else StaleBase(None)
    if (current.content, current.definition_digest) == (new.content, new.definition_digest):
        return Saved(current, created=False)
    if current.revision != base:
        return StaleBase(current)
    return None


def revision_after(current: Revision | None, workspace: str, new: NewRevision) -> Revision:
    """Give a new revision its number: the one after `current`, 1 for the first."""
    return Revision(
        workspace=workspace,
        flow_id=flow_id_of(workspace, new.slug) if current is None else current.flow_id,
        slug=new.slug,
        revision=1 if current is None else current.revision + 1,
        content=new.content,
        content_digest=new.content_digest,
        definition_digest=new.definition_digest,
        compiler=new.compiler,
        author=new.author,
        note=new.note,
        created=new.created.astimezone(UTC),
    )
