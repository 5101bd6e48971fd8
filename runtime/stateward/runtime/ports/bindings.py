"""The port on bindings: which Worker a session of a host works in, and what is remembered of that session between its hooks.

A binding is a memory of what a host said, never an authority: whoever loses it binds again, and nothing in a log depends on it. So is what
is remembered of the store: which Workers were active while it looked like this, so that nobody looks through it for each call of a hook.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from stateward.runtime.core.values import value
from stateward.runtime.ports.faults import Fault

BINDINGS_MAX: Final = 1024
"""Bindings of one Workspace; beyond that the one that was kept longest ago gives way."""
BINDING_TEXT_BYTES_MAX: Final = 4096
"""Of each text in a binding."""
ACTIVE_KEPT_MAX: Final = 64
"""Workers that are remembered as active; where there are more, nothing is."""


class BindingsUnusable(Fault):
    """Bindings can be neither read nor kept."""


@value
class Binding:
    """A session of a host, and the Worker it works in."""

    host: str
    session: str
    worker: str
    origin: str
    """The first of the sessions that go on one from another (resumed, cleared): of all of them a record is unique together."""
    folder: str
    """Where the session works."""
    after: int = 0
    """How many bytes its transcript had when it was bound: what was said before is not of this Worker."""
    run: int = 0
    """How often it began or went on."""
    ended: str = ""
    """Why it ended; empty while it goes on."""
    following: str = ""
    """The session that goes on from this one; empty where none does."""
    blocks: int = 0
    """How often it was kept from stopping without anything having been recorded in between."""
    seen: int = 0
    """The last entry of the log when it was kept from stopping last."""
    released: bool = False
    """Whether it was let go although the flow had not ended."""


class Bindings(Protocol):
    """The bindings of one Workspace. All of them may raise BindingsUnusable."""

    def find(self, host: str, session: str) -> Binding | None:
        """Give the binding of a session; None where there is none, or none that can be understood."""

    def bind(self, binding: Binding) -> Binding:
        """Keep a binding where the session has none, and give the one that it has then."""

    def keep(self, binding: Binding) -> None:
        """Keep a binding in the place of the one that the session has. Raises ValueError for a text over its limit."""

    def cleared(self, host: str, folder: str) -> Binding | None:
        """Give the session of that host in that folder that was bound or kept last and from which none goes on."""

    def active(self, mark: str) -> tuple[str, ...] | None:
        """Give the Workers that were active while the store looked like this; None where that is not remembered."""

    def keep_active(self, mark: str, workers: Sequence[str]) -> None:
        """Remember which Workers are active while the store looks like this."""
