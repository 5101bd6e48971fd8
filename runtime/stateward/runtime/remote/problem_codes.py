"""What a service may answer in place of what was asked for, besides a refusal of the ports. Codes are stable, and never used again."""

from enum import StrEnum


class ProblemCode(StrEnum):
    """What a problem may be besides a refusal, whose own code it then has. Codes are stable."""

    # of the request
    REQUEST_MALFORMED = "request_malformed"
    REQUEST_TOO_LARGE = "request_too_large"
    REQUEST_INCOMPLETE = "request_incomplete"
    HEADERS_TOO_LARGE = "headers_too_large"
    HOST_NOT_ALLOWED = "host_not_allowed"
    ORIGIN_NOT_ALLOWED = "origin_not_allowed"
    MEDIA_TYPE_UNKNOWN = "media_type_unknown"
    PRECONDITION_MALFORMED = "precondition_malformed"
    PRECONDITION_MISSING = "precondition_missing"
    ROUTE_NOT_FOUND = "route_not_found"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    # of who asks
    TOKEN_MISSING = "token_missing"  # noqa: S105 -- a code
    TOKEN_REFUSED = "token_refused"  # noqa: S105 -- a code
    SCOPE_MISSING = "scope_missing"
    # answers that are values of the ports
    BASE_STALE = "base_stale"
    NOT_COMPILED = "not_compiled"
    HISTORIES_PART = "histories_part"
    FLOW_NOT_FOUND = "flow_not_found"
    REVISION_NOT_FOUND = "revision_not_found"
    CONTENT_NOT_FOUND = "content_not_found"
    ATTEMPT_NOT_FOUND = "attempt_not_found"
    # the environment, and the program
    STORE_UNAVAILABLE = "store_unavailable"
    STORE_NEWER = "store_newer"
    STORE_OLDER = "store_older"
    STORE_DAMAGED = "store_damaged"
    OUTCOME_UNKNOWN = "outcome_unknown"
    BUSY = "busy"
    STOPPING = "stopping"
    BUG = "bug"
