"""The protocols the engine needs. Adapters implement them and never call use cases.

Failures of the environment are exceptions of the `Fault` family; everything a caller must decide on is a value.

Fault
├── StoreUnavailable    cannot be opened, read or written; nothing was changed
├── StoreNewer          written by a newer program; unchanged
├── KeysUnusable        the keys cannot be read, or others can read them; nothing was sealed or signed
├── Damaged             what is stored is not what was written; names the entry
│   └── SealMismatch    an entry's seal does not check: the session can be inspected, not gone on with
└── OutcomeUnknown      a commit whose answer was lost; the caller looks the key up before it says anything
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol, TypeAlias

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.events import Account, Citation, FailureCause, FileCitation, Judgement
from stateward.runtime.core.instance import Aside
from stateward.runtime.session.entries import Entry, Head, NewEntry, Unreadable
from stateward.runtime.session.verification import Ends


class Fault(Exception):
    """The environment failed. `message` is one line for people, `remedy` the one thing to do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class StoreUnavailable(Fault):
    """The store cannot be opened, read or written; nothing was changed."""


class StoreNewer(Fault):
    """The store was written by a newer program; it is refused for reading too and left as it is."""


class KeysUnusable(Fault):
    """The keys cannot be read or made, or others can read them; nothing was sealed or signed."""


class Damaged(Fault):
    """What is stored is not what was written."""


class SealMismatch(Damaged):
    """The seal of an entry does not check: the session can be inspected, and not gone on with."""


class OutcomeUnknown(Fault):
    """A commit whose answer was lost: it may or may not have happened."""


# --- session logs -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Committed:
    """The entries are durable; `head` is the last of them."""

    head: Head


@dataclass(frozen=True, slots=True)
class Moved:
    """Nothing was written: somebody appended first. Reload and decide again."""

    head: Head


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Nothing was written: an entry with that key is there already."""

    key: str
    seq: int


Appended: TypeAlias = Committed | Moved | Duplicate


@dataclass(frozen=True, slots=True)
class Deleted:
    """The log is gone for good; `head` was its last entry."""

    head: Head


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A Worker as listed: read off its first entry and its head."""

    worker: str
    workspace: str
    created: datetime
    head: Head
    problem: str = ""
    """Why its log cannot be read or gone on with, where its ends tell that by themselves: then `head` is only what is stored there."""


class SessionStore(Protocol):
    """Append-only logs, one per Worker, and the definitions they pin.

    An append is one transaction: all entries, all definitions, the head, or nothing. After it returned `Committed` the entries
    survive kill -9 and power loss.
    """

    def create(
        self, worker: str, workspace: str, entries: Sequence[NewEntry], definitions: Mapping[str, bytes], base: Head = ...
    ) -> Appended:
        """Start a log with its first entries. `Moved` when the Worker exists.

        `base` is where the log goes on from: `GENESIS`, the default, or in a fork the entry of another log, after whose number and
        digest the first entry is linked. What lies before the base is not in this log.
        """

    def append(self, worker: str, expected: Head, entries: Sequence[NewEntry], definitions: Mapping[str, bytes] = ...) -> Appended:
        """Append where the head is still `expected`; `definitions` maps digests to canonical bytes, stored once."""

    def redact(self, worker: str, expected: Head, new: NewEntry, seq: int, payload: bytes) -> Appended:
        """Append `new`, which says so, and put `payload` in the place of that of entry `seq`, in one transaction.

        `new` is of kind `redacted` under `redaction_key(seq, payload)`, and `seq` one of this log. Its digests stay; whoever reads the
        entry is told that it was redacted.
        """

    def delete(self, worker: str, expected: Head, time: datetime) -> Deleted | Moved:
        """Delete a log whose head is still `expected`, and what nothing else refers to; definitions stay.

        What is left is that it was deleted, when, and at which head: its id is never used again (`create` answers `Moved` with that
        head). Deleting what was deleted at that head gives the same answer.
        """

    def head(self, worker: str) -> Head | None:
        """Give the head, or None when there is no such Worker."""

    def entries(self, worker: str, after: int = 0, upto: int | None = None) -> Iterator[Entry]:
        """Read entries with `after < seq <= upto` in order. Raises Damaged at an entry that is not what was written."""

    def find(self, worker: str, key: str) -> Entry | None:
        """Look an entry up by its key."""

    def latest(self, worker: str, kind: str) -> Entry | None:
        """Give the last entry of a kind, at a cost that does not grow with the log. Raises Damaged when it is not what was written."""

    def workers(self, workspace: str, limit: int, after: str = "") -> Sequence[WorkerRow]:
        """List Workers by id (UUIDv7: oldest first), `limit` at a time, those after `after`."""

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes. Raises Damaged when they do not have that digest."""


# --- leases -------------------------------------------------------------------------------------------------------------------------

LEASE_SECONDS_MAX: Final = 60.0
"""No lease lasts longer; one that seems to was taken before the clock was set back."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who has it works on the attempt until it expires."""

    token: int
    """Greater than that of every lease ever taken before on an attempt of the same Worker."""
    expires: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody works on the attempt."""

    holder: str
    expires: datetime


class LeaseStore(Protocol):
    """Leases on attempts: small mutable state beside the logs, no part of their history.

    A lease is known by its token alone: a holder that slept past the expiry and comes back under the same name has nothing. Times are
    the caller's; a lease has expired at its expiry, and, where the clock was set back, as long as that lies further ahead than a lease can
    last: its holder may still renew it, anybody may take it. Raises ValueError for seconds that are not more than 0 or more than
    LEASE_SECONDS_MAX, and for a time without an offset.
    """

    def take(self, worker: str, attempt: str, holder: str, now: datetime, seconds: float) -> Lease | Held:
        """Take an attempt that nobody holds; of several who try at once one gets it. Whoever holds it already is told so like others."""

    def renew(self, worker: str, attempt: str, token: int, now: datetime, seconds: float) -> Lease | None:
        """Hold it for so long from now on; None when it expired, was released or was taken by somebody else."""

    def release(self, worker: str, attempt: str, token: int) -> bool:
        """Give it back; false when it is no longer the caller's to give."""

    def holder(self, worker: str, attempt: str, now: datetime) -> Held | None:
        """Say who works on an attempt."""


# --- transcripts ----------------------------------------------------------------------------------------------------------------------


class Transcripts(Protocol):
    """What went between a verifier and its model, record by record, as it happened; no part of any log, which holds its digest.

    Append-only, one transcript per attempt, its records numbered from 1. A record survives a killed process once `append` returned.
    """

    def append(self, worker: str, attempt: str, number: int, content: bytes) -> bool:
        """Keep a record; false when another lies under that number, or the Worker was deleted. Keeping what is there is true.

        Raises ValueError for a number that does not follow the last one.
        """

    def records(self, worker: str, attempt: str) -> Sequence[bytes]:
        """Give the records of an attempt, in order. Raises Damaged when they are not what was written."""


# --- seals and witnesses ------------------------------------------------------------------------------------------------------------


class Sealer(Protocol):
    """Seals digests under the current key, and checks seals under every key that is known here."""

    @property
    def key_id(self) -> str:
        """The key that seals. Raises KeysUnusable."""

    def seal(self, digest: str) -> bytes:
        """Seal a digest under that key. Raises KeysUnusable."""

    def check(self, key_id: str, digest: str, seal: bytes) -> bool | None:
        """Tell whether a seal is that of the digest; None when the key is not known here. Raises KeysUnusable."""


class Witness(Protocol):
    """Keeps the head of each Worker outside the store."""

    def note(self, worker: str, head: Head) -> None:
        """Keep a head that was committed; only forward. Never raises: what fails is said elsewhere, and the append stands."""

    def last(self, worker: str) -> Head | None:
        """Give the head that was kept last; None when none was. Raises Damaged when it cannot be told."""

    def contradict(self, worker: str, head: Head) -> None:
        """Say that the log of a Worker is not the one whose head is kept, so that `head` is not noted. Never raises."""

    def give_up(self, worker: str, lost: Head, head: Head) -> None:
        """Keep `head` in place of `lost`, which a person gave up; nothing where another is kept. Never raises: it is tried again."""


@dataclass(frozen=True, slots=True)
class ListedKey:
    """A key as it is listed."""

    id: str
    purpose: str
    """`seal` or `sign`."""
    created: str
    """RFC 3339, UTC."""
    current: bool
    """Whether it is the one that seals or signs; the others only check."""


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """The public half of a signing key, and why it is trusted."""

    id: str
    public: bytes
    why: str


class StoredLogs(Protocol):
    """Logs as they lie, for whoever verifies them: nothing is checked, and damage ends no reading."""

    def ends(self, worker: str) -> Ends | None:
        """Give the ends of a log, both as of one moment; None when there is no such Worker."""

    def deleted(self, worker: str) -> Head | None:
        """Give the head at which a Worker was deleted; None when it never was."""

    def stored(self, worker: str, upto: int) -> Iterator[Entry | Unreadable]:
        """Read what lies under the numbers up to `upto`, in order."""


# --- the Workspace ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Workspace:
    """A Workspace, as a store keeps it."""

    id: str
    """A UUIDv7."""
    name: str
    created: datetime


class Workspaces(Protocol):
    """The Workspaces that a store keeps. Flows are saved only in one that is there."""

    def ensure(self, workspace: Workspace) -> Workspace:
        """Keep a Workspace unless one with its id is there; give the one that is there."""

    def get(self, workspace: str) -> Workspace | None:
        """Give a Workspace by its id."""


@dataclass(frozen=True, slots=True)
class NewRevision:
    """A compiled source to be stored."""

    slug: str
    content: bytes
    content_digest: str
    definition_digest: str
    definition: bytes
    """Canonical bytes."""
    compiler: str
    author: str
    note: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Revision:
    """A stored revision; never changed."""

    workspace: str
    flow_id: str
    slug: str
    revision: int
    content: bytes
    content_digest: str
    definition_digest: str
    compiler: str
    author: str
    note: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Saved:
    """The current revision after a save; `created` is false when the same bytes with the same definition were current already."""

    revision: Revision
    created: bool


@dataclass(frozen=True, slots=True)
class StaleBase:
    """Nothing was written: the save was based on another revision than the current one."""

    current: Revision | None
    """None when a base was named and no flow has that slug."""


class FlowStore(Protocol):
    """The Workspace's flows: current source and every revision it ever had."""

    def save(self, workspace: str, new: NewRevision, base: int | None) -> Saved | StaleBase:
        """Store a revision. `base` is the revision it was made from, None for a new slug."""

    def current(self, workspace: str, slug: str) -> Revision | None:
        """Give the current revision; None when there is none or it was removed."""

    def revision(self, workspace: str, slug: str, revision: int) -> Revision | None:
        """Give one revision."""

    def sources(self, workspace: str, limit: int, after: str = "") -> Sequence[Revision]:
        """List current revisions by slug, `limit` at a time, those after `after`."""

    def definition(self, digest: str) -> bytes | None:
        """Give a stored definition's canonical bytes. Raises Damaged when they do not have that digest."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A definition with its identity, as a selector resolved to it."""

    workspace: str
    flow_id: str
    selector: str
    flow_revision: int
    content_digest: str
    definition_digest: str
    definition: CompiledFlowDefinition
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


# --- the verifier -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """One outgoing transition to be judged; the synthetic one by the same standard."""

    transition: str
    target: str
    condition: str
    synthetic: bool


@dataclass(frozen=True, slots=True)
class VerificationRequest:
    """What a verifier is given: everything it may know."""

    worker: str
    attempt: str
    attempt_number: int
    """1 for the instance's first attempt."""
    flow: str
    state: str
    visit: int
    instructions: str
    reason: str
    """The worker's words: a claim."""
    questions: tuple[Question, ...]
    captured: Sequence[Entry]
    """The committed log up to and including the request, oldest first."""
    aside: tuple[Aside, ...] = ()
    """The parts of it that an operator set aside: to be read, and no evidence."""


@dataclass(frozen=True, slots=True)
class VerifierAnswered:
    """The verifier finished."""

    judgements: tuple[Judgement, ...]
    """The verdicts as they were given; `checked` equals `verdict`: the runtime does the checking."""
    shown: Set[Citation] | None = None
    """The citations that name what the verifier was shown in full, word for word. None for a judge that keeps no ledger: then entries
    resolve by their number, and no file does."""
    account: Account | None = None


@dataclass(frozen=True, slots=True)
class VerifierFailed:
    """The verifier came to no verdicts."""

    cause: FailureCause
    message: str
    account: Account | None = None


@dataclass(frozen=True, slots=True)
class VerifierCancelled:
    """Verification was given up on purpose."""

    account: Account | None = None


VerifierOutcome: TypeAlias = VerifierAnswered | VerifierFailed | VerifierCancelled


class Verifier(Protocol):
    """A read-only judge."""

    @property
    def kind(self) -> str:
        """`scripted`, `person`, `model` or `command`: pinned in the session and shown everywhere."""

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Judge each question. Never raises for what a judge can do wrong: that is an outcome. KeyboardInterrupt passes through."""


# --- the folder of the work ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TreeFacts:
    """What a git work tree looked like at one moment."""

    digest: str
    """Equal for two moments when head, index and files were the same; empty when that could not be found out."""
    stated: bytes
    """The facts as JSON, for the log."""


class Workdirs(Protocol):
    """Looks at the folder of the work. Reads only, within bounds; never raises for what lies there."""

    def facts(self, root: str) -> TreeFacts | None:
        """Take the facts of a folder; None when it is no git work tree, or is not there."""

    def shows(self, root: str, cited: FileCitation) -> bool:
        """Tell whether those lines of that file, read as a verifier reads them, still are what was quoted."""


# --- the shell ----------------------------------------------------------------------------------------------------------------------


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Give the present, UTC, aware."""


class Ids(Protocol):
    """Makes ids."""

    def new(self) -> str:
        """Give a UUIDv7 in its canonical text form, later than every one given before."""
