"""The border between rows and values (`codecs.py`) for flows and tokens; apart, since whoever works on a log needs neither."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from stateward.runtime.ports.flows import ActKind, FlowAct, Revision, RevisionFacts, StoredToken
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.closures import closure_digest_of
from stateward.store.codecs import require_as_written, typed, typed_or_none, with_digest
from stateward.store.limits import CLOSURE_DIGEST
from stateward.store.prepared import NotWritten, Row


def revision_values(revision: Revision) -> Row:
    """Give a revision as a row; its slug lies in the row of its flow."""
    values = {
        "workspace": revision.workspace,
        "flow_id": revision.flow_id,
        "revision": revision.revision,
        "content": revision.content,
        "content_digest": revision.content_digest,
        "definition_digest": revision.definition_digest,
        "compiler": revision.compiler,
        "author": revision.author,
        "note": revision.note,
        "created": revision.created,
        CLOSURE_DIGEST: revision.closure_digest,
    }
    return with_digest("flow_source_revisions", values)


def module_values(revision: Revision) -> Iterator[Row]:
    """Give the modules of a revision as rows."""
    for number, (path, content) in enumerate(revision.modules, start=1):
        yield {
            "workspace": revision.workspace,
            "flow_id": revision.flow_id,
            "revision": revision.revision,
            "number": number,
            "path": path,
            "content": content,
            CLOSURE_DIGEST: revision.closure_digest,
        }


def modules_of(rows: Sequence[Row], closure: str | None) -> tuple[tuple[str, bytes], ...]:
    """Read the modules of a revision whose row says that digest of them all."""
    modules = tuple((typed(str, row, "path"), typed(bytes, row, "content")) for row in rows)
    if any(row[CLOSURE_DIGEST] != closure for row in rows) or closure_digest_of(modules) != closure:
        raise NotWritten("the modules of a revision do not have their digest")
    return modules


def facts_of(row: Row, slug: str) -> RevisionFacts:
    """Read a revision of the flow that has that slug, without its source."""
    require_as_written("flow_source_revisions", row)
    return RevisionFacts(
        workspace=typed(str, row, "workspace"),
        flow_id=typed(str, row, "flow_id"),
        slug=slug,
        revision=typed(int, row, "revision"),
        content_digest=typed(str, row, "content_digest"),
        definition_digest=typed(str, row, "definition_digest"),
        compiler=typed(str, row, "compiler"),
        author=typed(str, row, "author"),
        note=typed(str, row, "note"),
        created=typed(datetime, row, "created"),
        closure_digest=typed_or_none(str, row, CLOSURE_DIGEST),
    )


def revision_of(row: Row, slug: str, modules: Callable[[], Sequence[Row]]) -> Revision:
    """Read a revision of the flow that has that slug. `modules` gives its modules, and is asked where there are any."""
    facts, content = facts_of(row, slug), typed(bytes, row, "content")
    if facts.content_digest != digest_of(content):
        raise NotWritten("a source does not have its digest")
    return Revision(
        facts.workspace,
        facts.flow_id,
        facts.slug,
        facts.revision,
        facts.content_digest,
        facts.definition_digest,
        facts.compiler,
        facts.author,
        facts.note,
        facts.created,
        content,
        modules_of(modules(), facts.closure_digest) if facts.closure_digest is not None else (),
        closure_digest=facts.closure_digest,
    )


def act_values(act: FlowAct) -> Row:
    """Give an act as a row."""
    values = {
        "workspace": act.workspace,
        "flow_id": act.flow_id,
        "number": act.number,
        "kind": act.kind.value,
        "revision": act.revision,
        "first": act.first,
        "author": act.author,
        "note": act.note,
        "created": act.created,
        "bundle": act.bundle,
        "origin": act.origin,
    }
    return with_digest("flow_acts", values)


def act_of(row: Row) -> FlowAct:
    """Read an act."""
    require_as_written("flow_acts", row)
    return FlowAct(
        workspace=typed(str, row, "workspace"),
        flow_id=typed(str, row, "flow_id"),
        number=typed(int, row, "number"),
        kind=_kind_of(typed(str, row, "kind")),
        revision=typed(int, row, "revision"),
        first=typed(int, row, "first"),
        author=typed(str, row, "author"),
        note=typed(str, row, "note"),
        created=typed(datetime, row, "created"),
        bundle=typed(str, row, "bundle"),
        origin=typed(str, row, "origin"),
    )


def _kind_of(name: str) -> ActKind:
    try:
        return ActKind(name)
    except ValueError as problem:
        raise NotWritten(f"its kind is none that this program knows: {problem}") from problem


def token_values(token: StoredToken) -> Row:
    """Give a new token as a row."""
    values = {
        "workspace": token.workspace,
        "id": token.id,
        "digest": token.digest,
        "name": token.name,
        "scopes": " ".join(token.scopes),
        "issuer": token.issuer,
        "created": token.created,
        "expires": token.expires,
        "revoked_at": None,
    }
    return with_digest("tokens", values)


def token_of(row: Row) -> StoredToken:
    """Read a token."""
    require_as_written("tokens", row)
    return StoredToken(
        id=typed(str, row, "id"),
        workspace=typed(str, row, "workspace"),
        digest=typed(str, row, "digest"),
        name=typed(str, row, "name"),
        scopes=tuple(typed(str, row, "scopes").split()),
        issuer=typed(str, row, "issuer"),
        created=typed(datetime, row, "created"),
        expires=typed_or_none(datetime, row, "expires"),
        revoked=typed_or_none(datetime, row, "revoked_at"),
    )
