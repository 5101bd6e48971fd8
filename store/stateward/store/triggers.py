"""What the database itself refuses, whoever asks and with whichever program: the rules of immutability, as triggers of SQLite.

Invariants: what is written once is never updated, deleted or replaced; an entry follows the last one of its log and a revision the last
one of its flow, so that neither has a gap; a head says what the last entry is. Each refusal begins with the name of the rule.

`INSERT OR REPLACE` deletes without firing a trigger for the deletion, so every insert is looked at before: nothing may be there under
any key of the new row, the row id of `entries` included (where a statement names none, it is -1 in such a trigger, and no row has it).
"""

from collections.abc import Mapping
from typing import Final

from stateward.runtime.session.entries import GENESIS_DIGEST

# Nothing but constants of this program is ever put into these texts.
_NOT_THE_NEXT_REVISION: Final = (
    "NEW.revision IS NOT (SELECT coalesce(max(revision), 0) + 1 FROM flow_source_revisions"
    " WHERE workspace = NEW.workspace AND flow_id = NEW.flow_id)"
)
_NOT_THE_NEXT_ENTRY: Final = (
    "(NEW.seq - 1) || ' ' || NEW.previous IS NOT coalesce("
    "(SELECT seq || ' ' || digest FROM entries WHERE worker = NEW.worker ORDER BY seq DESC LIMIT 1), '0 <genesis>')"
    ' OR EXISTS (SELECT 1 FROM entries WHERE worker = NEW.worker AND "key" = NEW."key")'
    " OR EXISTS (SELECT 1 FROM entries WHERE rowid = NEW.rowid)"
).replace("<genesis>", GENESIS_DIGEST)
_NOT_THE_LAST_ENTRY: Final = (
    "NOT EXISTS (SELECT 1 FROM (SELECT seq, digest FROM entries WHERE worker = NEW.worker ORDER BY seq DESC LIMIT 1)"
    " WHERE seq = NEW.seq AND digest = NEW.digest)"
)
_ANOTHER_DEFINITION: Final = "EXISTS (SELECT 1 FROM definitions WHERE digest = NEW.digest)"
_ANOTHER_WORKER: Final = "EXISTS (SELECT 1 FROM workers WHERE id = NEW.id)"
_ANOTHER_HEAD: Final = "EXISTS (SELECT 1 FROM heads WHERE worker = NEW.worker)"


def _rule(name: str, event: str, table: str, says: str, when: str = "") -> tuple[str, str]:
    condition = f" WHEN {when}" if when else ""
    return name, f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW{condition} BEGIN SELECT RAISE(ABORT, '{name}: {says}'); END"


def _written_once(table: str, what: str) -> tuple[tuple[str, str], tuple[str, str]]:
    return (
        _rule(f"{table}_no_update", "UPDATE", table, f"{what} is never changed"),
        _rule(f"{table}_no_delete", "DELETE", table, f"{what} is never deleted"),
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
        *_written_once("workers", "the identity of a Worker"),
        _rule("workers_only_new", "INSERT", "workers", "the identity of a Worker is never replaced", _ANOTHER_WORKER),
        *_written_once("entries", "an entry"),
        _rule("entries_only_next", "INSERT", "entries", "an entry is written once, after the last one of its log", _NOT_THE_NEXT_ENTRY),
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
        _rule("heads_no_delete", "DELETE", "heads", "a head is never deleted"),
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
