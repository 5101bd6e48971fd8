"""The Workers that a service holds open for those who work in them.

Invariants: one channel for each Worker and principal, so that who asks again joins what goes on; bounded: whoever was asked least lately is
closed where nothing of it is being verified; at the end everything is.
"""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from threading import Lock
from typing import Final

from stateward.runtime.ports import WorkerChannel
from stateward.runtime.session.entries import Actor

OPEN_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class _Open:
    channel: WorkerChannel
    held: ExitStack


class OpenWorkers:
    """Channels of Workers, opened when they are first asked for. May be shared between threads."""

    def __init__(self, opened: Callable[[str, Actor], AbstractContextManager[WorkerChannel]], most: int = OPEN_MAX) -> None:
        """Take what opens the channel of a Worker for an actor; it raises Fault where it cannot."""
        self._opened, self._most = opened, most
        self._lock = Lock()
        self._open: OrderedDict[tuple[str, Actor], _Open] = OrderedDict()

    def channel(self, worker: str, actor: Actor) -> WorkerChannel:
        """Give the channel of a Worker for an actor. Raises Fault."""
        with self._lock:
            found = self._open.get((worker, actor))
            if found is None:
                held = ExitStack()
                found = self._open[(worker, actor)] = _Open(held.enter_context(self._opened(worker, actor)), held)
            self._open.move_to_end((worker, actor))
            self._make_room()
            return found.channel

    def _make_room(self) -> None:
        """Close who was asked least lately; who is being verified is passed over."""
        for key, each in list(self._open.items())[: max(0, len(self._open) - self._most)]:
            if not each.channel.is_busy:
                del self._open[key]
                each.held.close()

    def close(self) -> None:
        """Close everything; what is verified is stopped, and stays open."""
        with self._lock:
            for each in self._open.values():
                each.held.close()
            self._open.clear()
