"""How the runtime says "not now": a value with a stable code, what is so, and what is allowed instead. Nothing was written."""

from enum import StrEnum

from stateward.runtime.core.values import value


class RefusalCode(StrEnum):
    """Every code with which the core and the engine refuse. Codes are stable: never renamed, never given another meaning."""

    # a request for a transition
    REASON_BLANK = "reason_blank"
    REASON_TOO_LARGE = "reason_too_large"
    NO_ACTIVE_INSTANCE = "no_active_instance"
    STATE_CHANGED = "state_changed"
    VERIFIER_NOT_ALLOWED = "verifier_not_allowed"
    INSTANCE_PAUSED = "instance_paused"
    INSTANCE_HELD = "instance_held"
    INSTANCE_HALTED = "instance_halted"
    BUDGET_EXHAUSTED = "budget_exhausted"
    VERIFICATION_STOPPED = "verification_stopped"
    # a write to variables
    VARIABLES_EMPTY = "variables_empty"
    VARIABLES_TOO_LARGE = "variables_too_large"
    VARIABLE_UNKNOWN = "variable_unknown"
    VARIABLE_NOT_WRITABLE = "variable_not_writable"
    VARIABLE_MISFIT = "variable_misfit"
    # a verifier's report
    ATTEMPT_UNKNOWN = "attempt_unknown"
    LEASE_LOST = "lease_lost"
    # an operator's act
    OPERATOR_ONLY = "operator_only"
    ALREADY_PAUSED = "already_paused"
    NOT_PAUSED = "not_paused"
    NOT_HELD = "not_held"
    NO_OPEN_ATTEMPT = "no_open_attempt"
    STATE_NOT_ENTERED = "state_not_entered"
    REWINDS_EXHAUSTED = "rewinds_exhausted"
    OPERATION_ID_MALFORMED = "operation_id_malformed"
    OPERATION_CONFLICT = "operation_conflict"
    ENTRY_NOT_FOUND = "entry_not_found"
    FORKS_DEPEND = "forks_depend"
    NOT_A_FORK = "not_a_fork"
    ALREADY_WHOLE = "already_whole"
    NOT_ROLLED_BACK = "not_rolled_back"
    NOT_REDACTED = "not_redacted"
    # a record of a host
    RECORD_MALFORMED = "record_malformed"
    RECORD_TOO_LARGE = "record_too_large"
    RECORD_NOT_ALLOWED = "record_not_allowed"
    RECORD_CONFLICT = "record_conflict"
    # a submission
    INPUT_EMPTY = "input_empty"
    INPUT_TOO_LARGE = "input_too_large"
    SEGMENT_MALFORMED = "segment_malformed"
    SEGMENT_KIND_UNKNOWN = "segment_kind_unknown"
    FLOW_SEGMENT_COUNT = "flow_segment_count"
    FLOW_NOT_ENABLED = "flow_not_enabled"
    SELECTOR_NOT_ALLOWED = "selector_not_allowed"
    INSTANCE_ACTIVE = "instance_active"
    BAD_SELECTOR = "bad_selector"
    FLOW_NOT_FOUND = "flow_not_found"
    FLOW_BROKEN = "flow_broken"
    SUBMISSION_ID_MALFORMED = "submission_id_malformed"
    SUBMISSION_CONFLICT = "submission_conflict"
    INPUT_UNKNOWN = "input_unknown"
    INPUT_MISSING = "input_missing"
    INPUT_MISFIT = "input_misfit"
    # a flow to be saved, restored or removed
    SLUG_MALFORMED = "slug_malformed"
    NAME_DIFFERS = "name_differs"
    TEXT_MALFORMED = "text_malformed"
    DEFINITION_TOO_LARGE = "definition_too_large"
    REVISION_NOT_FOUND = "revision_not_found"
    # a bundle of flows
    BUNDLE_TOO_LARGE = "bundle_too_large"
    BUNDLE_MALFORMED = "bundle_malformed"
    BUNDLE_TOO_COSTLY = "bundle_too_costly"
    BUNDLE_NEWER = "bundle_newer"
    BUNDLE_UNEXPECTED = "bundle_unexpected"
    DEFINITION_UNTRUE = "definition_untrue"
    COMPILER_DIFFERS = "compiler_differs"
    # a folder of flows
    SYNC_TOO_LARGE = "sync_too_large"
    # a Worker that a service is to start, or to open
    WORKDIR_NOT_ALLOWED = "workdir_not_allowed"
    PROFILE_UNUSABLE = "profile_unusable"
    # any of them
    WORKER_NOT_FOUND = "worker_not_found"
    WORKER_READ_ONLY = "worker_read_only"
    ROLLED_BACK = "rolled_back"
    WORKER_CONTENDED = "worker_contended"


@value
class Refusal:
    """The caller may not do this now."""

    code: RefusalCode
    message: str
    """One fact, lower case, no remedy."""
    allowed: tuple[str, ...] = ()
    """What may be done instead, each as one imperative phrase."""
