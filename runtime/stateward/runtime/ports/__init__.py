"""The protocols the engine needs. Adapters implement them and never call use cases.

Each name is imported from its module when it is first asked for: whatever only records what happened needs few of them, and what a module
of values costs is paid by every call of a hook.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stateward.runtime.ports.asking import LOG_PAGE_MAX as LOG_PAGE_MAX
    from stateward.runtime.ports.asking import Answered as Answered
    from stateward.runtime.ports.asking import Asked as Asked
    from stateward.runtime.ports.asking import AttemptShown as AttemptShown
    from stateward.runtime.ports.asking import EntryShown as EntryShown
    from stateward.runtime.ports.asking import InProgress as InProgress
    from stateward.runtime.ports.asking import LogPage as LogPage
    from stateward.runtime.ports.asking import Submitted as Submitted
    from stateward.runtime.ports.asking import Waiting as Waiting
    from stateward.runtime.ports.asking import WorkerChannel as WorkerChannel
    from stateward.runtime.ports.asking import Written as Written
    from stateward.runtime.ports.authority import BUNDLE_BYTES_MAX as BUNDLE_BYTES_MAX
    from stateward.runtime.ports.authority import DIFFERENCE_BYTES_MAX as DIFFERENCE_BYTES_MAX
    from stateward.runtime.ports.authority import MODULES_MAX as MODULES_MAX
    from stateward.runtime.ports.authority import BundleConflict as BundleConflict
    from stateward.runtime.ports.authority import Conflict as Conflict
    from stateward.runtime.ports.authority import Difference as Difference
    from stateward.runtime.ports.authority import FlowAuthority as FlowAuthority
    from stateward.runtime.ports.authority import NotCompiled as NotCompiled
    from stateward.runtime.ports.authority import RemoveAnswer as RemoveAnswer
    from stateward.runtime.ports.authority import SaveAnswer as SaveAnswer
    from stateward.runtime.ports.authority import Snapshot as Snapshot
    from stateward.runtime.ports.authority import Snapshots as Snapshots
    from stateward.runtime.ports.authority import TakeInAnswer as TakeInAnswer
    from stateward.runtime.ports.authority import TakenIn as TakenIn
    from stateward.runtime.ports.authority import Unresolved as Unresolved
    from stateward.runtime.ports.faults import AccessRefused as AccessRefused
    from stateward.runtime.ports.faults import Damaged as Damaged
    from stateward.runtime.ports.faults import Fault as Fault
    from stateward.runtime.ports.faults import KeysUnusable as KeysUnusable
    from stateward.runtime.ports.faults import OutcomeUnknown as OutcomeUnknown
    from stateward.runtime.ports.faults import SealMismatch as SealMismatch
    from stateward.runtime.ports.faults import ServiceUnavailable as ServiceUnavailable
    from stateward.runtime.ports.faults import StoreNewer as StoreNewer
    from stateward.runtime.ports.faults import StoreOlder as StoreOlder
    from stateward.runtime.ports.faults import StoreUnavailable as StoreUnavailable
    from stateward.runtime.ports.flows import PAGE_MAX as PAGE_MAX
    from stateward.runtime.ports.flows import ActKind as ActKind
    from stateward.runtime.ports.flows import Bringing as Bringing
    from stateward.runtime.ports.flows import Brought as Brought
    from stateward.runtime.ports.flows import Diverged as Diverged
    from stateward.runtime.ports.flows import FlowAct as FlowAct
    from stateward.runtime.ports.flows import FlowHistory as FlowHistory
    from stateward.runtime.ports.flows import FlowRow as FlowRow
    from stateward.runtime.ports.flows import FlowStore as FlowStore
    from stateward.runtime.ports.flows import NewRevision as NewRevision
    from stateward.runtime.ports.flows import Removed as Removed
    from stateward.runtime.ports.flows import Revision as Revision
    from stateward.runtime.ports.flows import RevisionFacts as RevisionFacts
    from stateward.runtime.ports.flows import Saved as Saved
    from stateward.runtime.ports.flows import StaleBase as StaleBase
    from stateward.runtime.ports.flows import StoredToken as StoredToken
    from stateward.runtime.ports.flows import TokenStore as TokenStore
    from stateward.runtime.ports.leases import LEASE_SECONDS_MAX as LEASE_SECONDS_MAX
    from stateward.runtime.ports.leases import Held as Held
    from stateward.runtime.ports.leases import Lease as Lease
    from stateward.runtime.ports.leases import LeaseStore as LeaseStore
    from stateward.runtime.ports.observing import NoObserver as NoObserver
    from stateward.runtime.ports.observing import Observed as Observed
    from stateward.runtime.ports.observing import Observer as Observer
    from stateward.runtime.ports.outside import Clock as Clock
    from stateward.runtime.ports.outside import Ids as Ids
    from stateward.runtime.ports.outside import TreeFacts as TreeFacts
    from stateward.runtime.ports.outside import Workdirs as Workdirs
    from stateward.runtime.ports.records import KEY_TEXT_BYTES_MAX as KEY_TEXT_BYTES_MAX
    from stateward.runtime.ports.records import RECORDS_MAX as RECORDS_MAX
    from stateward.runtime.ports.records import Cursor as Cursor
    from stateward.runtime.ports.records import HostRecord as HostRecord
    from stateward.runtime.ports.records import Recorded as Recorded
    from stateward.runtime.ports.records import RecordedEntry as RecordedEntry
    from stateward.runtime.ports.records import RecordKey as RecordKey
    from stateward.runtime.ports.sealing import ListedKey as ListedKey
    from stateward.runtime.ports.sealing import Sealer as Sealer
    from stateward.runtime.ports.sealing import TrustedKey as TrustedKey
    from stateward.runtime.ports.sealing import Witness as Witness
    from stateward.runtime.ports.sessions import Appended as Appended
    from stateward.runtime.ports.sessions import Committed as Committed
    from stateward.runtime.ports.sessions import Deleted as Deleted
    from stateward.runtime.ports.sessions import Duplicate as Duplicate
    from stateward.runtime.ports.sessions import Moved as Moved
    from stateward.runtime.ports.sessions import SessionStore as SessionStore
    from stateward.runtime.ports.sessions import StoredLogs as StoredLogs
    from stateward.runtime.ports.sessions import Transcripts as Transcripts
    from stateward.runtime.ports.sessions import WorkerRow as WorkerRow
    from stateward.runtime.ports.verification import Question as Question
    from stateward.runtime.ports.verification import StoppableVerifier as StoppableVerifier
    from stateward.runtime.ports.verification import VerificationRequest as VerificationRequest
    from stateward.runtime.ports.verification import Verifier as Verifier
    from stateward.runtime.ports.verification import VerifierAnswered as VerifierAnswered
    from stateward.runtime.ports.verification import VerifierCancelled as VerifierCancelled
    from stateward.runtime.ports.verification import VerifierFailed as VerifierFailed
    from stateward.runtime.ports.verification import VerifierOutcome as VerifierOutcome
    from stateward.runtime.ports.work import FlowStanding as FlowStanding
    from stateward.runtime.ports.work import HostChannel as HostChannel
    from stateward.runtime.ports.work import OpenAttempt as OpenAttempt
    from stateward.runtime.ports.work import Standing as Standing
    from stateward.runtime.ports.work import ValueShown as ValueShown
    from stateward.runtime.ports.work import WayOut as WayOut
    from stateward.runtime.ports.work import Writable as Writable
    from stateward.runtime.ports.workspaces import Workspace as Workspace
    from stateward.runtime.ports.workspaces import Workspaces as Workspaces

_PLACES: Final = {
    "BUNDLE_BYTES_MAX": "stateward.runtime.ports.authority",
    "MODULES_MAX": "stateward.runtime.ports.authority",
    "DIFFERENCE_BYTES_MAX": "stateward.runtime.ports.authority",
    "BundleConflict": "stateward.runtime.ports.authority",
    "Conflict": "stateward.runtime.ports.authority",
    "Difference": "stateward.runtime.ports.authority",
    "FlowAuthority": "stateward.runtime.ports.authority",
    "NotCompiled": "stateward.runtime.ports.authority",
    "RemoveAnswer": "stateward.runtime.ports.authority",
    "SaveAnswer": "stateward.runtime.ports.authority",
    "Snapshot": "stateward.runtime.ports.authority",
    "Snapshots": "stateward.runtime.ports.authority",
    "TakeInAnswer": "stateward.runtime.ports.authority",
    "TakenIn": "stateward.runtime.ports.authority",
    "Unresolved": "stateward.runtime.ports.authority",
    "AccessRefused": "stateward.runtime.ports.faults",
    "Damaged": "stateward.runtime.ports.faults",
    "Fault": "stateward.runtime.ports.faults",
    "KeysUnusable": "stateward.runtime.ports.faults",
    "OutcomeUnknown": "stateward.runtime.ports.faults",
    "SealMismatch": "stateward.runtime.ports.faults",
    "ServiceUnavailable": "stateward.runtime.ports.faults",
    "StoreNewer": "stateward.runtime.ports.faults",
    "StoreOlder": "stateward.runtime.ports.faults",
    "StoreUnavailable": "stateward.runtime.ports.faults",
    "PAGE_MAX": "stateward.runtime.ports.flows",
    "ActKind": "stateward.runtime.ports.flows",
    "Bringing": "stateward.runtime.ports.flows",
    "Brought": "stateward.runtime.ports.flows",
    "Diverged": "stateward.runtime.ports.flows",
    "FlowAct": "stateward.runtime.ports.flows",
    "FlowHistory": "stateward.runtime.ports.flows",
    "FlowRow": "stateward.runtime.ports.flows",
    "FlowStore": "stateward.runtime.ports.flows",
    "NewRevision": "stateward.runtime.ports.flows",
    "Removed": "stateward.runtime.ports.flows",
    "Revision": "stateward.runtime.ports.flows",
    "RevisionFacts": "stateward.runtime.ports.flows",
    "Saved": "stateward.runtime.ports.flows",
    "StaleBase": "stateward.runtime.ports.flows",
    "StoredToken": "stateward.runtime.ports.flows",
    "TokenStore": "stateward.runtime.ports.flows",
    "Workspace": "stateward.runtime.ports.workspaces",
    "Workspaces": "stateward.runtime.ports.workspaces",
    "LEASE_SECONDS_MAX": "stateward.runtime.ports.leases",
    "Held": "stateward.runtime.ports.leases",
    "Lease": "stateward.runtime.ports.leases",
    "LeaseStore": "stateward.runtime.ports.leases",
    "NoObserver": "stateward.runtime.ports.observing",
    "Observed": "stateward.runtime.ports.observing",
    "Observer": "stateward.runtime.ports.observing",
    "Clock": "stateward.runtime.ports.outside",
    "Ids": "stateward.runtime.ports.outside",
    "TreeFacts": "stateward.runtime.ports.outside",
    "Workdirs": "stateward.runtime.ports.outside",
    "ListedKey": "stateward.runtime.ports.sealing",
    "Sealer": "stateward.runtime.ports.sealing",
    "TrustedKey": "stateward.runtime.ports.sealing",
    "Witness": "stateward.runtime.ports.sealing",
    "Appended": "stateward.runtime.ports.sessions",
    "Committed": "stateward.runtime.ports.sessions",
    "Deleted": "stateward.runtime.ports.sessions",
    "Duplicate": "stateward.runtime.ports.sessions",
    "Moved": "stateward.runtime.ports.sessions",
    "SessionStore": "stateward.runtime.ports.sessions",
    "StoredLogs": "stateward.runtime.ports.sessions",
    "Transcripts": "stateward.runtime.ports.sessions",
    "WorkerRow": "stateward.runtime.ports.sessions",
    "Question": "stateward.runtime.ports.verification",
    "StoppableVerifier": "stateward.runtime.ports.verification",
    "VerificationRequest": "stateward.runtime.ports.verification",
    "Verifier": "stateward.runtime.ports.verification",
    "VerifierAnswered": "stateward.runtime.ports.verification",
    "VerifierCancelled": "stateward.runtime.ports.verification",
    "VerifierFailed": "stateward.runtime.ports.verification",
    "VerifierOutcome": "stateward.runtime.ports.verification",
    "KEY_TEXT_BYTES_MAX": "stateward.runtime.ports.records",
    "LOG_PAGE_MAX": "stateward.runtime.ports.asking",
    "RECORDS_MAX": "stateward.runtime.ports.records",
    "Answered": "stateward.runtime.ports.asking",
    "Asked": "stateward.runtime.ports.asking",
    "AttemptShown": "stateward.runtime.ports.asking",
    "Cursor": "stateward.runtime.ports.records",
    "EntryShown": "stateward.runtime.ports.asking",
    "FlowStanding": "stateward.runtime.ports.work",
    "HostChannel": "stateward.runtime.ports.work",
    "HostRecord": "stateward.runtime.ports.records",
    "InProgress": "stateward.runtime.ports.asking",
    "LogPage": "stateward.runtime.ports.asking",
    "OpenAttempt": "stateward.runtime.ports.work",
    "Recorded": "stateward.runtime.ports.records",
    "RecordedEntry": "stateward.runtime.ports.records",
    "RecordKey": "stateward.runtime.ports.records",
    "Standing": "stateward.runtime.ports.work",
    "Submitted": "stateward.runtime.ports.asking",
    "Waiting": "stateward.runtime.ports.asking",
    "Written": "stateward.runtime.ports.asking",
    "ValueShown": "stateward.runtime.ports.work",
    "WayOut": "stateward.runtime.ports.work",
    "Writable": "stateward.runtime.ports.work",
    "WorkerChannel": "stateward.runtime.ports.asking",
}
"""The module of each name."""

if not TYPE_CHECKING:  # a checker is to miss a name that is none

    def __getattr__(name: str) -> object:
        """Give a name of one of the modules, which is imported then."""
        module = _PLACES.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(module), name)
        globals()[name] = value
        return value
