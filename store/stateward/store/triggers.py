"""What the database itself refuses, whoever asks and with whichever program: the rules of immutability, as triggers of SQLite.

Invariants: what is written once is never updated, deleted or replaced, but for the payload of an entry of which a later one says so, and
for the time at which a token is revoked; an entry follows the last one of its log, a revision and an act the last one of their flow, so
that none has a gap; a head says what the last entry is, and the row of a flow what its last revision and its last act are. Each refusal
begins with the name of the rule.

The row of a flow of which nothing was saved, which no save leaves and a hand can make, may be deleted: it is no flow.

A Worker as a whole can be deleted: a tombstone that names its head lets its rows go, and stays (`sessions.py`, `delete`).

`INSERT OR REPLACE` deletes without firing a trigger for the deletion, so every insert is looked at before: nothing may be there under
any key of the new row, the row id of `entries` included (where a statement names none, it is -1 in such a trigger, and no row has it).
"""

from collections.abc import Mapping
from typing import Final

# Nothing but constants of this program is ever put into these texts.
_NOT_THE_NEXT_REVISION: Final = (
    "NEW.revision IS NOT (SELECT coalesce(max(revision), 0) + 1 FROM flow_source_revisions"
    " WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
    " OR NOT EXISTS (SELECT 1 FROM flow_sources WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
)
_SAVED: Final = "EXISTS (SELECT 1 FROM flow_source_revisions WHERE workspace = OLD.workspace AND flow_id = OLD.flow_id)"
"""Whoever makes the row of a flow without a revision can take it out again; no save leaves one."""
_LAST_REVISION: Final = "(SELECT max(revision) FROM flow_source_revisions WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
_LAST_ACT: Final = "(SELECT max(number) FROM flow_acts WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
_NOT_THE_NEXT_ACT: Final = f"NEW.number IS NOT coalesce({_LAST_ACT}, 0) + 1 OR NEW.revision IS NOT {_LAST_REVISION}"
_LAST_MODULE: Final = (
    "(SELECT max(number) FROM flow_modules WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id AND revision = NEW.revision)"
)
_NOT_THE_NEXT_MODULE: Final = f"NEW.number IS NOT coalesce({_LAST_MODULE}, 0) + 1 OR NEW.revision IS NOT {_LAST_REVISION}"
_ANOTHER_WORKSPACE: Final = "EXISTS (SELECT 1 FROM workspaces WHERE id = NEW.id)"
_ANOTHER_FLOW: Final = (
    "NEW.revision IS NOT 1 OR NEW.removed_at IS NOT NULL"
    " OR EXISTS (SELECT 1 FROM flow_sources WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
    " OR EXISTS (SELECT 1 FROM flow_sources WHERE workspace = NEW.workspace AND slug = NEW.slug)"
)
_HIDDEN_AT: Final = (
    "(SELECT CASE WHEN kind = 'removed' AND revision = NEW.revision THEN created END"
    " FROM flow_acts WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id ORDER BY number DESC LIMIT 1)"
)
_NOT_AS_THE_FLOW_IS: Final = " OR ".join(
    [
        *(f'NEW."{name}" IS NOT OLD."{name}"' for name in ("workspace", "flow_id", "slug", "created")),
        f"NEW.revision < OLD.revision OR NEW.revision IS NOT {_LAST_REVISION} OR NEW.removed_at IS NOT {_HIDDEN_AT}",
    ]
)
_ISSUED_BEFORE: Final = (
    "NEW.revoked_at IS NOT NULL OR EXISTS (SELECT 1 FROM tokens WHERE digest = NEW.digest)"
    " OR EXISTS (SELECT 1 FROM tokens WHERE workspace = NEW.workspace AND id = NEW.id)"
)
_TIME: Final = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9][0-9][0-9][0-9]Z"
_NOT_REVOKED_ONCE: Final = " OR ".join(
    [
        f"OLD.revoked_at IS NOT NULL OR typeof(NEW.revoked_at) IS NOT 'text' OR NEW.revoked_at NOT GLOB '{_TIME}'",
        *(
            f'NEW."{name}" IS NOT OLD."{name}"'
            for name in ("workspace", "id", "digest", "name", "scopes", "issuer", "created", "expires", "row_digest")
        ),
    ]
)
"""Of a token only one thing changes, and once: that it is revoked."""
_NOT_THE_NEXT_ENTRY: Final = (
    "(NEW.seq - 1) || ' ' || NEW.previous IS NOT coalesce("
    "(SELECT seq || ' ' || digest FROM entries WHERE worker = NEW.worker ORDER BY seq DESC LIMIT 1),"
    " (SELECT base_seq || ' ' || base_digest FROM workers WHERE id = NEW.worker))"
    ' OR EXISTS (SELECT 1 FROM entries WHERE worker = NEW.worker AND "key" = NEW."key")'
    " OR EXISTS (SELECT 1 FROM entries WHERE rowid = NEW.rowid)"
    " OR (NEW.payload IS NULL AND NOT EXISTS (SELECT 1 FROM payloads WHERE digest = NEW.payload_digest))"
)
_NOT_THE_LAST_ENTRY: Final = (
    "NOT EXISTS (SELECT 1 FROM (SELECT seq, digest FROM entries WHERE worker = NEW.worker ORDER BY seq DESC LIMIT 1)"
    " WHERE seq = NEW.seq AND digest = NEW.digest)"
)
_ANOTHER_DEFINITION: Final = "EXISTS (SELECT 1 FROM definitions WHERE digest = NEW.digest)"
_ANOTHER_WORKER: Final = "EXISTS (SELECT 1 FROM workers WHERE id = NEW.id) OR EXISTS (SELECT 1 FROM tombstones WHERE worker = NEW.id)"
_ANOTHER_PAYLOAD: Final = "EXISTS (SELECT 1 FROM payloads WHERE digest = NEW.digest)"
_REFERRED_TO: Final = "EXISTS (SELECT 1 FROM entries WHERE payload_digest = OLD.digest AND payload IS NULL)"
_NOT_THE_END: Final = (
    "EXISTS (SELECT 1 FROM tombstones WHERE worker = NEW.worker) OR NOT EXISTS"
    " (SELECT 1 FROM heads WHERE worker = NEW.worker AND seq = NEW.seq AND digest = NEW.digest)"
)
_NOT_THE_NEXT_RECORD: Final = (
    "NEW.number IS NOT (SELECT coalesce(max(number), 0) + 1 FROM transcripts WHERE worker = NEW.worker AND attempt = NEW.attempt)"
    " OR EXISTS (SELECT 1 FROM tombstones WHERE worker = NEW.worker)"
)
_ANOTHER_HEAD: Final = "EXISTS (SELECT 1 FROM heads WHERE worker = NEW.worker)"


_KEPT: Final = (
    "worker", "seq", "version", "time", "actor_class", "channel", "principal", "assurance", "host_session", "kind", "key", "payload_digest",
    "previous", "digest", "key_id", "seal",
)  # fmt: skip
_NOT_SAID: Final = (
    "NOT EXISTS (SELECT 1 FROM entries WHERE worker = OLD.worker AND kind = 'redacted'"
    " AND substr(\"key\", 1, length('redacted:' || OLD.seq || ':')) = 'redacted:' || OLD.seq || ':')"
)
_NOT_REDACTED: Final = " OR ".join(["NEW.payload IS NULL", *(f'NEW."{name}" IS NOT OLD."{name}"' for name in _KEPT), _NOT_SAID])
"""Of an entry only the payload changes, and only where a later one says that a secret was taken out of it."""


def _rule(name: str, event: str, table: str, says: str, when: str = "") -> tuple[str, str]:
    condition = f" WHEN {when}" if when else ""
    return name, f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW{condition} BEGIN SELECT RAISE(ABORT, '{name}: {says}'); END"


def _not_deleted(worker: str) -> str:
    return f"NOT EXISTS (SELECT 1 FROM tombstones WHERE worker = OLD.{worker})"  # noqa: S608 -- a name of a column


def _written_once(table: str, what: str, kept: str = "", fixed: str = "") -> tuple[tuple[str, str], tuple[str, str]]:
    return (
        _rule(f"{table}_no_update", "UPDATE", table, f"{what} is never changed", fixed),
        _rule(f"{table}_no_delete", "DELETE", table, f"{what} is never deleted", kept),
    )


TRIGGERS: Final[Mapping[str, str]] = dict(
    (
        *_written_once("definitions", "a definition"),
        _rule("definitions_only_new", "INSERT", "definitions", "a definition is never replaced", _ANOTHER_DEFINITION),
        *_written_once("flow_source_revisions", "a revision"),
        _rule(
            "flow_source_revisions_only_next",
            "INSERT",
            "flow_source_revisions",
            "a revision is written once, after the last one of its flow",
            _NOT_THE_NEXT_REVISION,
        ),
        *_written_once("flow_modules", "a module of a revision"),
        _rule(
            "flow_modules_only_next",
            "INSERT",
            "flow_modules",
            "a module is written once, after the last one of the last revision of its flow",
            _NOT_THE_NEXT_MODULE,
        ),
        *_written_once("workspaces", "a Workspace"),
        _rule("workspaces_only_new", "INSERT", "workspaces", "a Workspace is never replaced", _ANOTHER_WORKSPACE),
        _rule(
            "flow_sources_only_new",
            "INSERT",
            "flow_sources",
            "a flow begins with its first revision and is never replaced",
            _ANOTHER_FLOW,
        ),
        _rule(
            "flow_sources_only_forward",
            "UPDATE",
            "flow_sources",
            "a flow keeps its name and says what its last revision and its last act are",
            _NOT_AS_THE_FLOW_IS,
        ),
        _rule("flow_sources_no_delete", "DELETE", "flow_sources", "a flow is never deleted", _SAVED),
        *_written_once("flow_acts", "an act on a flow"),
        _rule(
            "flow_acts_only_next",
            "INSERT",
            "flow_acts",
            "an act is written once, after the last one on its flow, of its last revision",
            _NOT_THE_NEXT_ACT,
        ),
        *_written_once("tokens", "a token", fixed=_NOT_REVOKED_ONCE),
        _rule("tokens_only_new", "INSERT", "tokens", "a token is never replaced and is not revoked before it is there", _ISSUED_BEFORE),
        *_written_once("tombstones", "a tombstone"),
        _rule("tombstones_only_last", "INSERT", "tombstones", "a tombstone is written once and says what the head is", _NOT_THE_END),
        *_written_once("payloads", "a payload of an entry", _REFERRED_TO),
        _rule("payloads_only_new", "INSERT", "payloads", "a payload is never replaced", _ANOTHER_PAYLOAD),
        *_written_once("workers", "the identity of a Worker", _not_deleted("id")),
        _rule("workers_only_new", "INSERT", "workers", "the identity of a Worker is never replaced", _ANOTHER_WORKER),
        *_written_once("entries", "an entry", _not_deleted("worker"), _NOT_REDACTED),
        _rule("entries_only_next", "INSERT", "entries", "an entry is written once, after the last one of its log", _NOT_THE_NEXT_ENTRY),
        *_written_once("transcripts", "a record of a transcript", _not_deleted("worker")),
        _rule(
            "transcripts_only_next",
            "INSERT",
            "transcripts",
            "a record of a transcript is written once, after the last one of its attempt",
            _NOT_THE_NEXT_RECORD,
        ),
        _rule(
            "heads_only_first",
            "INSERT",
            "heads",
            "a head is written once and says what the last entry is",
            f"{_ANOTHER_HEAD} OR {_NOT_THE_LAST_ENTRY}",
        ),
        _rule(
            "heads_only_forward",
            "UPDATE",
            "heads",
            "a head moves forward only, to the last entry",
            f"NEW.worker IS NOT OLD.worker OR NEW.seq <= OLD.seq OR {_NOT_THE_LAST_ENTRY}",
        ),
        _rule("heads_no_delete", "DELETE", "heads", "a head is never deleted", _not_deleted("worker")),
    )
)
"""The triggers by their names, as the database is to hold them."""


def broken_rule(held: Mapping[str, str]) -> str | None:
    """Say in one line which rule a database lacks, or holds in another form; None when it holds exactly ours."""
    for name, sql in TRIGGERS.items():
        if name not in held:
            return f"the rule `{name}` is missing"
        if held[name] != sql:
            return f"the rule `{name}` was altered"
    unknown = sorted(held.keys() - TRIGGERS.keys())
    return f"there is a rule `{unknown[0]}` of somebody else" if unknown else None
