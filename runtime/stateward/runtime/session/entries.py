"""Entries of a session log and their headers.

Invariants: key (worker, seq), seq gapless from 1; an entry is a header and payload bytes as they came; `digest` is the SHA-256 of the
header's canonical form, which holds the payload's digest and the previous entry's digest: one chain. Seals and key ids have their
place in `Entry` and are None in a log that is not sealed.
"""

import re
from datetime import datetime
from enum import StrEnum
from typing import Final

from stateward.runtime.core.values import value

ENTRY_VERSION: Final = 1
PAYLOAD_BYTES_MAX: Final = 16 * 1024 * 1024
GENESIS_DIGEST: Final = "sha256:" + "0" * 64


class Kind(StrEnum):
    """The kinds of entries this program writes; a stored kind it does not know is kept and shown as unknown."""

    SESSION_STARTED = "session_started"
    USER_INPUT = "user_input"
    EXTENSION = "extension"
    TOOL_RESULT = "tool_result"
    ASSISTANT_MESSAGE = "assistant_message"
    TOOL_CALL = "tool_call"
    NOTE = "note"
    CHECKPOINT = "checkpoint"
    RUN_STARTED = "run_started"
    RUN_ENDED = "run_ended"
    WORKER_STOPPED = "worker_stopped"
    OPERATOR_ACT = "operator_act"
    REWOUND = "rewound"
    INHERITED = "inherited"
    ROLLBACK_ACCEPTED = "rollback_accepted"
    REDACTED = "redacted"


class ActorClass(StrEnum):
    """Who an entry is from. Follows from the channel, never from the payload."""

    ENGINE = "engine"
    HOST = "host"
    AGENT = "agent"
    VERIFIER = "verifier"
    PERSON = "person"
    POLICY = "policy"


class Assurance(StrEnum):
    """How sure the runtime is of a person."""

    NONE = "none"
    TTY = "tty"
    TOKEN = "token"  # noqa: S105 -- a level of assurance, no secret
    SEPARATED = "separated"


@value
class Actor:
    """The actor of an entry."""

    actor_class: ActorClass
    channel: str
    """`in_process`, `terminal`, later `hook`, `mcp`, `http`."""
    principal: str = ""
    """The name under which the channel knows them; empty where it knows none."""
    assurance: Assurance = Assurance.NONE
    host_session: str | None = None


@value
class Head:
    """The last entry of a log: what an append is compared with."""

    seq: int
    digest: str


GENESIS: Final = Head(0, GENESIS_DIGEST)


@value
class NewEntry:
    """An entry before it has a place."""

    kind: str
    actor: Actor
    time: datetime
    """UTC, read in the shell."""
    payload: bytes
    key: str | None = None
    """A name that is unique in the Worker's log (an operation or attempt id); None where none is needed."""


@value
class Entry:
    """A committed entry."""

    worker: str
    seq: int
    version: int
    time: datetime
    actor: Actor
    kind: str
    payload_digest: str
    previous: str
    digest: str
    payload: bytes
    key: str | None = None
    key_id: str | None = None
    seal: bytes | None = None
    redacted: bool = False
    """Whether a secret was taken out of its payload since, as a later entry of kind `redacted` says; its digests are those of before."""

    @property
    def reference(self) -> str:
        """How people and verifiers name it: `E00000042`."""
        return reference(self.seq)


@value
class Unreadable:
    """What lies where an entry should, and is none that this program ever wrote."""

    seq: int
    problem: str


def reference(seq: int) -> str:
    """Give the stable reference of an entry."""
    return f"E{seq:08d}"


def numbered(named: str) -> int | None:
    """Give the number of the entry that a reference names, whether there is one or not; None for a text that is no reference."""
    found = _REFERENCE.fullmatch(named)
    return int(found[1]) if found is not None and named == reference(int(found[1])) else None


_REFERENCE: Final = re.compile(r"E([0-9]{8,18})")
