"""The statements on session logs and what belongs to a Worker; `texts.json` keeps what they come to on SQLite.

Each module that runs some takes them by their names here (`texts.statement`).
"""

from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Select,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    literal_column,
    select,
    update,
)

from stateward.store.compiling import insert_unless_there, prepared
from stateward.store.limits import CHECKPOINT, DIGEST_CHARACTERS, PAGE_BYTES_MAX, PAGE_ENTRIES_MAX
from stateward.store.tables import DEFINITIONS, ENTRIES, HEADS, LEASES, PAYLOADS, TOMBSTONES, TRANSCRIPTS, WORKERS

_WORKER: Final[BindParameter[Any]] = bindparam("worker")
_SEQ: Final[BindParameter[Any]] = bindparam("seq")
_WORKSPACE: Final[BindParameter[Any]] = bindparam("workspace")

# --- appending ----------------------------------------------------------------------------------------------------------------------

INSERT_WORKER: Final = prepared(insert(WORKERS))
INSERT_ENTRY: Final = prepared(insert(ENTRIES))
REDACT: Final = prepared(update(ENTRIES).where(ENTRIES.c.worker == _WORKER, ENTRIES.c.seq == _SEQ).values(payload=bindparam("left")))
INSERT_HEAD: Final = prepared(insert(HEADS))
SWAP_HEAD: Final = prepared(
    update(HEADS)
    .where(HEADS.c.worker == _WORKER, HEADS.c.seq == _SEQ, HEADS.c.digest == bindparam("digest"))
    .values(seq=bindparam("new_seq"), digest=bindparam("new_digest")),
)

# --- reading ------------------------------------------------------------------------------------------------------------------------

HEAD: Final = prepared(select(HEADS.c.seq, HEADS.c.digest).where(HEADS.c.worker == _WORKER))
FIND_KEY: Final = prepared(select(ENTRIES.c.seq).where(ENTRIES.c.worker == _WORKER, ENTRIES.c.key == bindparam("key")))
DIGEST: Final = prepared(select(ENTRIES.c.digest, ENTRIES.c.key_id).where(ENTRIES.c.worker == _WORKER, ENTRIES.c.seq == _SEQ))
_LATEST: Final = select(ENTRIES.c.seq).where(ENTRIES.c.worker == _WORKER).order_by(ENTRIES.c.seq.desc()).limit(1)
LATEST_OF_KIND: Final = prepared(_LATEST.where(ENTRIES.c.kind == bindparam("kind")))
# The kind as a literal: only so does the database see that its index of checkpoints answers this.
LATEST_CHECKPOINT: Final = prepared(_LATEST.where(ENTRIES.c.kind == literal_column(f"'{CHECKPOINT}'")))

_BESIDE: Final = PAYLOADS.c.digest == ENTRIES.c.payload_digest
# An entry's payload, wherever it lies, and its size, which is read off without reading the payload.
_PAYLOAD: Final = func.coalesce(ENTRIES.c.payload, select(PAYLOADS.c.content).where(_BESIDE).scalar_subquery()).label("payload")
_PAYLOAD_BYTES: Final = func.coalesce(
    func.octet_length(ENTRIES.c.payload), select(func.octet_length(PAYLOADS.c.content)).where(_BESIDE).scalar_subquery(), 0
)
_COLUMNS: Final = tuple(_PAYLOAD if column is ENTRIES.c.payload else column for column in ENTRIES.c)
_IN_PAGE: Final = (ENTRIES.c.worker == _WORKER) & (ENTRIES.c.seq > bindparam("after")) & (ENTRIES.c.seq <= bindparam("upto"))
# PostgreSQL sends all that a statement gives, so there the statement itself ends where the payloads before are too many bytes.
_SIZES: Final = (
    select(ENTRIES.c.seq, func.sum(_PAYLOAD_BYTES).over(order_by=ENTRIES.c.seq, rows=(None, -1)).label("before"))
    .where(_IN_PAGE)
    .order_by(ENTRIES.c.seq)
    .limit(PAGE_ENTRIES_MAX)
    .subquery()
)
PAGE: Final = prepared(
    select(*_COLUMNS).where(_IN_PAGE).order_by(ENTRIES.c.seq).limit(PAGE_ENTRIES_MAX),
    select(*_COLUMNS)
    .join(_SIZES, _SIZES.c.seq == ENTRIES.c.seq)
    .where(ENTRIES.c.worker == _WORKER, func.coalesce(_SIZES.c.before, 0) <= literal(PAGE_BYTES_MAX))
    .order_by(ENTRIES.c.seq),
)

# --- payloads beside their entries --------------------------------------------------------------------------------------------------

# Held until the entry that refers to it is committed, so that nobody who deletes another entry takes it away.
HOLD_PAYLOAD: Final = prepared(
    select(PAYLOADS.c.digest).where(PAYLOADS.c.digest == bindparam("digest")).with_for_update(read=True, key_share=True),
)
INSERT_PAYLOAD: Final = insert_unless_there(PAYLOADS)
_REFERS: Final = (ENTRIES.c.payload_digest == PAYLOADS.c.digest) & ENTRIES.c.payload.is_(None)
SWEEP_PAYLOADS: Final = prepared(delete(PAYLOADS).where(~exists().where(_REFERS)))

# --- definitions --------------------------------------------------------------------------------------------------------------------

FIND_DEFINITION: Final = prepared(select(DEFINITIONS.c.canonical).where(DEFINITIONS.c.digest == bindparam("digest")))
INSERT_DEFINITION: Final = insert_unless_there(DEFINITIONS)

# --- the ends of logs ---------------------------------------------------------------------------------------------------------------

_OTHERS: Final = WORKERS.alias("others")
_LAST: Final = select(ENTRIES.c.seq).where(ENTRIES.c.worker == WORKERS.c.id).order_by(ENTRIES.c.seq.desc()).limit(1).scalar_subquery()
_LAST_DIGEST: Final = (
    select(ENTRIES.c.digest).where(ENTRIES.c.worker == WORKERS.c.id).order_by(ENTRIES.c.seq.desc()).limit(1).scalar_subquery()
)


def _logs(*identity: ColumnElement[Any]) -> Select[Any]:
    return select(*identity, HEADS.c.seq, HEADS.c.digest, _LAST.label("last_seq"), _LAST_DIGEST.label("last_digest")).select_from(
        WORKERS.outerjoin(HEADS, HEADS.c.worker == WORKERS.c.id)
    )


ENDS: Final = prepared(_logs(WORKERS.c.base_seq, WORKERS.c.base_digest).where(WORKERS.c.id == _WORKER))
# A row of another table, on a page that was written over one of these, holds no such digest.
_WITHOUT_IDENTITY: Final = ~exists(
    select(WORKERS.c.id).where(WORKERS.c.id == HEADS.c.worker, func.length(WORKERS.c.row_digest) == DIGEST_CHARACTERS)
)
_NO_IDENTITY: Final = ~exists(select(WORKERS.c.id).where(WORKERS.c.id == _WORKER))
HEAD_ALONE: Final = prepared(select(HEADS.c.seq).where(HEADS.c.worker == _WORKER, _NO_IDENTITY))
ENTRIES_ALONE: Final = prepared(select(ENTRIES.c.seq).where(ENTRIES.c.worker == _WORKER, _NO_IDENTITY).limit(1))
# Compared in an expression, the Workspace is looked at in the rows themselves; besides it is in the index, which has a copy. What either of
# the two says is read.
_BY_INDEX: Final = select(_OTHERS.c.id).where(_OTHERS.c.workspace == _WORKSPACE)
LIST: Final = prepared(
    _logs(*WORKERS.c)
    .where((WORKERS.c.workspace + literal("") == _WORKSPACE) | WORKERS.c.id.in_(_BY_INDEX), WORKERS.c.id > bindparam("after"))
    .order_by(WORKERS.c.id)
    .limit(bindparam("limit")),
    _logs(*WORKERS.c)
    .where(WORKERS.c.workspace == _WORKSPACE, WORKERS.c.id > bindparam("after"))
    .order_by(WORKERS.c.id)
    .limit(bindparam("limit")),
)
LOST: Final = prepared(
    select(HEADS.c.worker)
    .where(HEADS.c.worker > bindparam("after"), HEADS.c.worker <= bindparam("upto"), _WITHOUT_IDENTITY)
    .order_by(HEADS.c.worker)
    .limit(1),
)

# --- deleting -----------------------------------------------------------------------------------------------------------------------

HEAD_TO_DELETE: Final = prepared(
    select(HEADS.c.seq, HEADS.c.digest, WORKERS.c.workspace)
    .join(WORKERS, WORKERS.c.id == HEADS.c.worker)
    .where(HEADS.c.worker == _WORKER)
    .with_for_update(of=HEADS),
)
TOMBSTONE: Final = prepared(select(TOMBSTONES).where(TOMBSTONES.c.worker == _WORKER))
BURY: Final = prepared(insert(TOMBSTONES))
CLEAR_LEASES: Final = prepared(delete(LEASES).where(LEASES.c.worker == _WORKER))
CLEAR_TRANSCRIPTS: Final = prepared(delete(TRANSCRIPTS).where(TRANSCRIPTS.c.worker == _WORKER))
CLEAR_HEADS: Final = prepared(delete(HEADS).where(HEADS.c.worker == _WORKER))
CLEAR_ENTRIES: Final = prepared(delete(ENTRIES).where(ENTRIES.c.worker == _WORKER))
CLEAR_WORKERS: Final = prepared(delete(WORKERS).where(WORKERS.c.id == _WORKER))

# --- leases -------------------------------------------------------------------------------------------------------------------------

_LEASE: Final = (LEASES.c.worker == _WORKER) & (LEASES.c.attempt == bindparam("attempt"))
_NOW: Final[BindParameter[Any]] = bindparam("now", type_=LEASES.c.expires.type)
_LATEST_EXPIRY: Final[BindParameter[Any]] = bindparam("latest", type_=LEASES.c.expires.type)
_RELEASED: Final[BindParameter[Any]] = bindparam("released", type_=LEASES.c.expires.type)
LEASE_HELD: Final = prepared(
    select(LEASES.c.holder, LEASES.c.expires).where(_LEASE, LEASES.c.expires > _NOW, LEASES.c.expires <= _LATEST_EXPIRY)
)
LEASE_GREATEST: Final = prepared(select(func.max(LEASES.c.token).label("token")).where(LEASES.c.worker == _WORKER))
LEASE_CLEAR: Final = prepared(
    delete(LEASES).where(LEASES.c.worker == _WORKER, (LEASES.c.expires <= _NOW) | (LEASES.c.expires > _LATEST_EXPIRY))
)
LEASE_INSERT: Final = prepared(insert(LEASES))
_GIVEN: Final = LEASES.c.token == bindparam("given")
LEASE_RENEW: Final = prepared(update(LEASES).where(_LEASE, _GIVEN, LEASES.c.expires > _NOW).values(expires=bindparam("until")))
LEASE_RELEASE: Final = prepared(update(LEASES).where(_LEASE, _GIVEN, LEASES.c.expires > _RELEASED).values(expires=_RELEASED))

# --- transcripts --------------------------------------------------------------------------------------------------------------------

_OF_ATTEMPT: Final = (TRANSCRIPTS.c.worker == _WORKER) & (TRANSCRIPTS.c.attempt == bindparam("attempt"))
TRANSCRIPT_FIND: Final = prepared(select(TRANSCRIPTS.c.digest).where(_OF_ATTEMPT, TRANSCRIPTS.c.number == bindparam("number")))
TRANSCRIPT_LAST: Final = prepared(select(func.max(TRANSCRIPTS.c.number).label("number")).where(_OF_ATTEMPT))
TRANSCRIPT_INSERT: Final = prepared(insert(TRANSCRIPTS))
TRANSCRIPT_RECORDS: Final = prepared(
    select(TRANSCRIPTS.c.number, TRANSCRIPTS.c.digest, TRANSCRIPTS.c.content).where(_OF_ATTEMPT).order_by(TRANSCRIPTS.c.number)
)
