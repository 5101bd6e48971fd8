"""The keys of entries: names, unique in a log, by which what one operation wrote is found again."""

from typing import Final

ID_BYTES_MAX: Final = 128
"""Of the id of a Worker, a submission or an attempt."""


def is_id(text: str) -> bool:
    """Tell whether a text that somebody gives for an id can be one: short, and nothing but printable ASCII."""
    return 1 <= len(text) <= ID_BYTES_MAX and text.isascii() and text.isprintable()


def operation_key(operation: str) -> str:
    """Name the entry of an operator's act."""
    return f"operation:{operation}"


def record_key(digest: str) -> str:
    """Name an entry that a host records, by the digest of where in the host it comes from."""
    return f"record:{digest}"


def cursor_key(session: str, number: int) -> str:
    """Name the entry that says for the so many-th time how far the transcript of a session, given by its digest, was taken in."""
    return f"cursor:{session}:{number}"


def run_key(run: str, end: str) -> str:
    """Name the entry of the start or the end of a run."""
    return f"run:{end}:{run}"


def inherited_key(part: int) -> str:
    """Name the entry that holds a part of what a fork inherited."""
    return f"inherited:{part}"


INHERITED_WHOLE: Final = "inherited:whole"
"""Names the entry that says that a fork holds all it inherited."""


def submission_key(submission: str) -> str:
    """Name the entry of a submission."""
    return f"submission:{submission}"


def request_key(attempt: str) -> str:
    """Name the entry that began an attempt."""
    return f"request:{attempt}"


def facts_key(attempt: str) -> str:
    """Name the entry that holds the facts of the Workdir as an attempt was begun on them."""
    return f"facts:{attempt}"


def check_key(attempt: str, check: str) -> str:
    """Name the entry of a check that was run for an attempt."""
    return f"check:{attempt}:{check}"


def passed_key(digest: str) -> str:
    """Name the entry of a check that passed, by the digest of what was run on what: it is not run again on that."""
    return f"passed:{digest}"


def checked_key(attempt: str, parts: int) -> str:
    """Name the entry that says what came of checks for an attempt of which so many parts were known."""
    return f"checked:{attempt}:{parts}"


def resolution_key(attempt: str) -> str:
    """Name the entry that resolved an attempt: with it, no attempt is ever resolved twice."""
    return f"resolution:{attempt}"


def late_key(attempt: str) -> str:
    """Name the entry that notes late results of an attempt: with it, they are noted once, however many there are."""
    return f"late:{attempt}"
