"""How the environment fails: exceptions of one family. Everything a caller must decide on is a value instead.

Fault
├── StoreUnavailable    cannot be opened, read or written; nothing was changed
├── StoreNewer          written by a newer program; unchanged
├── StoreOlder          written by an older program and not yet migrated; unchanged
├── ServiceUnavailable  the service that holds a Workspace cannot be asked, or is another one; nothing was changed
├── AccessRefused       that service does not let whoever asks do that; nothing was changed
├── KeysUnusable        the keys cannot be read, or others can read them; nothing was sealed or signed
├── Damaged             what is stored is not what was written; names the entry
│   └── SealMismatch    an entry's seal does not check: the session can be inspected, not gone on with
└── OutcomeUnknown      a commit whose answer was lost; the caller looks the key up before it says anything
"""


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


class StoreOlder(Fault):
    """The store was written by an older program: it is migrated by what writes, and never by what reads."""


class ServiceUnavailable(Fault):
    """The service that holds a Workspace cannot be reached, fails, or is no such service; nothing was changed."""


class AccessRefused(Fault):
    """The service wants a token, does not know the one it was shown, or lets it do less; nothing was changed."""


class KeysUnusable(Fault):
    """The keys cannot be read or made, or others can read them; nothing was sealed or signed."""


class Damaged(Fault):
    """What is stored is not what was written."""


class SealMismatch(Damaged):
    """The seal of an entry does not check: the session can be inspected, and not gone on with."""


class OutcomeUnknown(Fault):
    """A commit whose answer was lost: it may or may not have happened."""
