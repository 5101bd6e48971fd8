"""What the database itself refuses, whoever asks and with whichever program: the rules of immutability, as triggers of PostgreSQL.

The same rules as on SQLite (`triggers.py`), said in its words. What differs: a key that is there refuses a second row by itself, since
nothing here replaces a row without firing the triggers of an update; TRUNCATE is one more way to delete, and refused; and the triggers
fire always, also in a session that plays a replica. Two look when the transaction is committed: that a flow has its first revision, and
says its last one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SCHEMA: Final = "stateward"

# What the functions look at is named with its schema: whoever connects may look for names elsewhere.
_WRITTEN_ONCE: Final[Mapping[str, tuple[str, str]]] = {
    "definitions": ("a definition", "TRUE"),
    "flow_source_revisions": ("a revision", "TRUE"),
    "flow_modules": ("a module of a revision", "TRUE"),
    "workspaces": ("a Workspace", "TRUE"),
    "flow_acts": ("an act on a flow", "TRUE"),
    "tokens": ("a token", "TRUE"),
    "tombstones": ("a tombstone", "TRUE"),
    "payloads": ("a payload of an entry", "EXISTS (SELECT 1 FROM stateward.entries WHERE payload_digest = OLD.digest AND payload IS NULL)"),
    "workers": ("the identity of a Worker", "NOT EXISTS (SELECT 1 FROM stateward.tombstones WHERE worker = OLD.id)"),
    "transcripts": ("a record of a transcript", "NOT EXISTS (SELECT 1 FROM stateward.tombstones WHERE worker = OLD.worker)"),
    "entries": ("an entry", "NOT EXISTS (SELECT 1 FROM stateward.tombstones WHERE worker = OLD.worker)"),
}
"""What a row is called, and when it may not be deleted."""
_NOT_THE_NEXT_REVISION: Final = (
    "NEW.revision IS DISTINCT FROM (SELECT coalesce(max(revision), 0) + 1 FROM stateward.flow_source_revisions"
    " WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
)
_LAST_REVISION: Final = (
    "(SELECT max(revision) FROM stateward.flow_source_revisions WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
)
_LAST_ACT: Final = "(SELECT max(number) FROM stateward.flow_acts WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
_NOT_THE_NEXT_ACT: Final = f"NEW.number IS DISTINCT FROM coalesce({_LAST_ACT}, 0) + 1 OR NEW.revision IS DISTINCT FROM {_LAST_REVISION}"
_LAST_MODULE: Final = (
    "(SELECT max(number) FROM stateward.flow_modules WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id AND revision = NEW.revision)"
)
_NOT_THE_NEXT_MODULE: Final = (
    f"NEW.number IS DISTINCT FROM coalesce({_LAST_MODULE}, 0) + 1 OR NEW.revision IS DISTINCT FROM {_LAST_REVISION}"
)
_HIDDEN_AT: Final = (
    "(SELECT CASE WHEN kind = 'removed' AND revision = NEW.revision THEN created END"
    " FROM stateward.flow_acts WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id ORDER BY number DESC LIMIT 1)"
)
_NOT_AS_THE_FLOW_IS: Final = (
    "(NEW.workspace, NEW.flow_id, NEW.slug, NEW.created) IS DISTINCT FROM (OLD.workspace, OLD.flow_id, OLD.slug, OLD.created)"
    f" OR NEW.revision < OLD.revision OR NEW.revision IS DISTINCT FROM {_LAST_REVISION} OR NEW.removed_at IS DISTINCT FROM {_HIDDEN_AT}"
)
_TIME: Final = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}Z$"
_AS_ISSUED: Final = (
    "{row}.workspace, {row}.id, {row}.digest, {row}.name, {row}.scopes, {row}.issuer, {row}.created, {row}.expires, {row}.row_digest"
)
_NOT_REVOKED_ONCE: Final = (
    f"OLD.revoked_at IS NOT NULL OR (NEW.revoked_at ~ '{_TIME}') IS NOT TRUE"
    f" OR ({_AS_ISSUED.format(row='NEW')}) IS DISTINCT FROM ({_AS_ISSUED.format(row='OLD')})"
)
"""Of a token only one thing changes, and once: that it is revoked."""
_NOT_THE_NEXT_ENTRY: Final = (
    "(NEW.seq - 1) || ' ' || NEW.previous IS DISTINCT FROM coalesce("
    "(SELECT seq || ' ' || digest FROM stateward.entries WHERE worker = NEW.worker ORDER BY seq DESC LIMIT 1),"
    " (SELECT base_seq || ' ' || base_digest FROM stateward.workers WHERE id = NEW.worker), '')"
    " OR (NEW.payload IS NULL AND NOT EXISTS (SELECT 1 FROM stateward.payloads WHERE digest = NEW.payload_digest))"
)
_NOT_THE_LAST_ENTRY: Final = (
    "NOT EXISTS (SELECT 1 FROM (SELECT seq, digest FROM stateward.entries WHERE worker = NEW.worker ORDER BY seq DESC LIMIT 1) AS last"
    " WHERE seq = NEW.seq AND digest = NEW.digest)"
)
_NOT_THE_END: Final = (
    "NOT EXISTS (SELECT 1 FROM stateward.heads WHERE worker = NEW.worker AND seq = NEW.seq AND digest = NEW.digest FOR UPDATE)"
)
_NOT_THE_NEXT_RECORD: Final = (
    "NEW.number IS DISTINCT FROM (SELECT coalesce(max(number), 0) + 1 FROM stateward.transcripts"
    " WHERE worker = NEW.worker AND attempt = NEW.attempt)"
    " OR EXISTS (SELECT 1 FROM stateward.tombstones WHERE worker = NEW.worker)"
)
_BURIED: Final = "EXISTS (SELECT 1 FROM stateward.tombstones WHERE worker = NEW.id)"


_KEPT: Final = ", ".join(
    f'{{row}}."{name}"'
    for name in (
        "worker", "seq", "version", "time", "actor_class", "channel", "principal", "assurance", "host_session", "kind", "key",
        "payload_digest", "previous", "digest", "key_id", "seal",
    )
)  # fmt: skip
_NOT_REDACTED: Final = (
    f"NEW.payload IS NULL OR ({_KEPT.format(row='NEW')}) IS DISTINCT FROM ({_KEPT.format(row='OLD')})"  # noqa: S608 -- constants
    " OR NOT EXISTS (SELECT 1 FROM stateward.entries WHERE worker = OLD.worker AND kind = 'redacted'"
    " AND starts_with(key, 'redacted:' || OLD.seq || ':'))"
)
"""Of an entry only the payload changes, and only where a later one says that a secret was taken out of it."""


_WITHOUT_REVISION: Final = (
    "NOT EXISTS (SELECT 1 FROM stateward.flow_source_revisions WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id AND revision = 1)"
)
_NOT_SAID_BY_THE_FLOW: Final = (
    "NOT EXISTS (SELECT 1 FROM stateward.flow_sources"
    " WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id AND revision >= NEW.revision)"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A trigger and the function that it calls; both have the rule's name."""

    name: str
    table: str
    event: str
    says: str
    refused_when: str = "TRUE"
    at_commit: bool = False
    """Whether it looks at what the whole transaction made."""

    @property
    def trigger(self) -> str:
        """The trigger, as PostgreSQL writes one that is there."""
        if self.at_commit:
            return (
                f"CREATE CONSTRAINT TRIGGER {self.name} AFTER {self.event} ON {SCHEMA}.{self.table}"
                f" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION {self.name}()"
            )
        each = "STATEMENT" if self.event == "TRUNCATE" else "ROW"
        return f"CREATE TRIGGER {self.name} BEFORE {self.event} ON {SCHEMA}.{self.table} FOR EACH {each} EXECUTE FUNCTION {self.name}()"

    @property
    def body(self) -> str:
        """What its function does."""
        row = {"INSERT": "NEW", "UPDATE": "NEW", "DELETE": "OLD", "TRUNCATE": "NULL"}[self.event]
        raised = f"RAISE EXCEPTION USING MESSAGE = '{self.name}: {self.says}', ERRCODE = 'integrity_constraint_violation'"
        return f" BEGIN IF {self.refused_when} THEN {raised}; END IF; RETURN {row}; END "

    @property
    def statements(self) -> tuple[str, ...]:
        """What makes it."""
        return (
            f"CREATE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS $rule${self.body}$rule$",
            self.trigger,
            f"ALTER TABLE {self.table} ENABLE ALWAYS TRIGGER {self.name}",
        )


_CHANGED: Final[Mapping[str, str]] = {"entries": _NOT_REDACTED, "tokens": _NOT_REVOKED_ONCE}
"""What may not be changed of the rows of a table, where it is not everything."""


def _written_once(table: str, what: str, kept_when: str) -> tuple[Rule, Rule]:
    return (
        Rule(f"{table}_no_update", table, "UPDATE", f"{what} is never changed", _CHANGED.get(table, "TRUE")),
        Rule(f"{table}_no_delete", table, "DELETE", f"{what} is never deleted", kept_when),
    )


RULES: Final[tuple[Rule, ...]] = (
    *(rule for table, (what, kept_when) in _WRITTEN_ONCE.items() for rule in _written_once(table, what, kept_when)),
    *(Rule(f"{table}_no_truncate", table, "TRUNCATE", f"{table} is never emptied") for table in (*_WRITTEN_ONCE, "heads", "flow_sources")),
    Rule(
        "flow_source_revisions_only_next",
        "flow_source_revisions",
        "INSERT",
        "a revision is written once, after the last one of its flow",
        _NOT_THE_NEXT_REVISION,
    ),
    Rule(
        "flow_modules_only_next",
        "flow_modules",
        "INSERT",
        "a module is written once, after the last one of the last revision of its flow",
        _NOT_THE_NEXT_MODULE,
    ),
    Rule(
        "flow_sources_only_new",
        "flow_sources",
        "INSERT",
        "a flow begins with its first revision",
        "NEW.revision IS DISTINCT FROM 1 OR NEW.removed_at IS NOT NULL",
    ),
    Rule("flow_sources_saved", "flow_sources", "INSERT", "a flow is written with its first revision", _WITHOUT_REVISION, at_commit=True),
    Rule(
        "flow_source_revisions_current",
        "flow_source_revisions",
        "INSERT",
        "the last revision of a flow is written with its flow",
        _NOT_SAID_BY_THE_FLOW,
        at_commit=True,
    ),
    Rule(
        "flow_sources_only_forward",
        "flow_sources",
        "UPDATE",
        "a flow keeps its name and says what its last revision and its last act are",
        _NOT_AS_THE_FLOW_IS,
    ),
    Rule("flow_sources_no_delete", "flow_sources", "DELETE", "a flow is never deleted"),
    Rule(
        "flow_acts_only_next",
        "flow_acts",
        "INSERT",
        "an act is written once, after the last one on its flow, of its last revision",
        _NOT_THE_NEXT_ACT,
    ),
    Rule("tokens_only_new", "tokens", "INSERT", "a token is not revoked before it is there", "NEW.revoked_at IS NOT NULL"),
    Rule(
        "transcripts_only_next",
        "transcripts",
        "INSERT",
        "a record of a transcript is written once, after the last one of its attempt",
        _NOT_THE_NEXT_RECORD,
    ),
    Rule("tombstones_only_last", "tombstones", "INSERT", "a tombstone is written once and says what the head is", _NOT_THE_END),
    Rule("workers_only_new", "workers", "INSERT", "the identity of a Worker is never used again", _BURIED),
    Rule("entries_only_next", "entries", "INSERT", "an entry is written once, after the last one of its log", _NOT_THE_NEXT_ENTRY),
    Rule("heads_only_first", "heads", "INSERT", "a head is written once and says what the last entry is", _NOT_THE_LAST_ENTRY),
    Rule(
        "heads_only_forward",
        "heads",
        "UPDATE",
        "a head moves forward only, to the last entry",
        f"NEW.worker IS DISTINCT FROM OLD.worker OR NEW.seq <= OLD.seq OR {_NOT_THE_LAST_ENTRY}",
    ),
    Rule(
        "heads_no_delete",
        "heads",
        "DELETE",
        "a head is never deleted",
        "NOT EXISTS (SELECT 1 FROM stateward.tombstones WHERE worker = OLD.worker)",
    ),
)
"""The rules, as the database is to hold them."""

HELD: Final = f"""
SELECT t.tgname, pg_get_triggerdef(t.oid), t.tgenabled::text, p.prosrc
FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_proc AS p ON p.oid = t.tgfoid
WHERE c.relnamespace = '{SCHEMA}'::regnamespace AND NOT t.tgisinternal
"""  # noqa: S608 -- a constant of this file
"""Gives the rules that a database holds, for `broken_rule`."""


def broken_rule(held: Mapping[str, tuple[str, str, str]]) -> str | None:
    """Say in one line which rule a database lacks, or holds in another form; None when it holds exactly ours."""
    for rule in RULES:
        if rule.name not in held:
            return f"the rule `{rule.name}` is missing"
        if held[rule.name] != (rule.trigger, "A", rule.body):
            return f"the rule `{rule.name}` was altered"
    unknown = sorted(held.keys() - {rule.name for rule in RULES})
    return f"there is a rule `{unknown[0]}` of somebody else" if unknown else None
