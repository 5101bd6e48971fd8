"""The Workers that a service holds open for those who work in them.

Invariants: one channel for each Worker, actor and token, so that who asks again joins what goes on, and nobody stops or takes what
another one asked; none is closed while somebody uses it; bounded: whoever was asked least lately is closed where nobody uses it and nothing
is being verified there, those whose answer nobody fetched after the others (it is in the log, and is read by the id of its attempt); at the
end everything is closed, and nothing is opened any more.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeAlias

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import (
    LOG_PAGE_MAX,
    Asked,
    AttemptShown,
    LogPage,
    RecordedEntry,
    Standing,
    StoreUnavailable,
    Submitted,
    WorkerChannel,
    Written,
)
from stateward.runtime.session.entries import Actor
from stateward.runtime.session.segments import Segment

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition

OPEN_MAX: Final = 64
_Key: TypeAlias = tuple[str, Actor, str]


@dataclass(slots=True)
class _Open:
    channel: WorkerChannel
    held: ExitStack
    users: int = 0


class OpenWorkers:
    """Channels of Workers, opened when they are first asked for. May be shared between threads."""

    def __init__(self, opened: Callable[[str, Actor], AbstractContextManager[WorkerChannel]], most: int = OPEN_MAX) -> None:
        """Take what opens the channel of a Worker for an actor; it raises Fault where it cannot."""
        self._opened, self._most = opened, most
        self._lock = Lock()
        self._open: OrderedDict[_Key, _Open] = OrderedDict()
        self._is_closed = False

    def channel(self, worker: str, actor: Actor, token: str = "") -> WorkerChannel:
        """Give the channel of a Worker for an actor, and for the token of that id; open it, so that what keeps it from that is told now.

        It may be kept: each call of it has a channel that is open, whatever was closed meanwhile. Raises Fault.
        """
        key = (worker, actor, token)
        with self.used(key):
            return _Used(self, key)

    @contextmanager
    def used(self, key: tuple[str, Actor, str]) -> Iterator[WorkerChannel]:
        """Give a context in which a channel is open, and is not closed by whoever makes room. Raises Fault."""
        with self._lock:
            found = self._found(key)
            found.users += 1
            self._make_room()
        try:
            yield found.channel
        finally:
            with self._lock:
                found.users -= 1

    def _found(self, key: _Key) -> _Open:
        if self._is_closed:
            raise StoreUnavailable("the Workers that were held open are closed", "ask a service that runs")
        found = self._open.get(key)
        if found is None:
            held = ExitStack()
            found = self._open[key] = _Open(held.enter_context(self._opened(key[0], key[1])), held)
        self._open.move_to_end(key)
        return found

    def _make_room(self) -> None:
        """Close who was asked least lately; who is used, or being verified, is passed over, and who has an answer to tell comes last."""
        over = len(self._open) - self._most
        if over <= 0:
            return
        idle = [key for key, each in self._open.items() if not each.users and not each.channel.is_verifying]
        for key in sorted(idle, key=lambda each: self._open[each].channel.is_busy)[:over]:
            self._open.pop(key).held.close()

    def is_verifying(self, key: tuple[str, Actor, str]) -> bool:
        """Tell whether a channel is open in which something is being verified."""
        with self._lock:
            found = self._open.get(key)
            return found is not None and found.channel.is_verifying

    def is_busy(self, key: tuple[str, Actor, str]) -> bool:
        """Tell whether a channel is open in which something is being verified, or was not told yet."""
        with self._lock:
            found = self._open.get(key)
            return found is not None and found.channel.is_busy

    def close(self) -> None:
        """Close everything; what is verified is stopped, and stays open."""
        with self._lock:
            self._is_closed = True
            for each in self._open.values():
                each.held.close()
            self._open.clear()


class _Used:
    """The port `WorkerChannel` over one that is open while it is called."""

    def __init__(self, workers: OpenWorkers, key: _Key) -> None:
        self._workers, self._key = workers, key

    @property
    def worker(self) -> str:
        """The id of the Worker."""
        return self._key[0]

    def _use(self) -> AbstractContextManager[WorkerChannel]:
        return self._workers.used(self._key)

    def standing(self) -> Standing | Refusal:
        """Say where it stands now."""
        with self._use() as channel:
            return channel.standing()

    def submit(self, segments: Sequence[Segment], submission: str | None = None) -> Submitted | Refusal:
        """Commit an input."""
        with self._use() as channel:
            return channel.submit(segments, submission)

    def ask(self, reason: str, wait_seconds: float) -> Asked:
        """Ask to leave the current state, and wait so long at most for the answer."""
        with self._use() as channel:
            return channel.ask(reason, wait_seconds)

    def set_variables(self, values: Mapping[str, object]) -> Written | Refusal:
        """Set variables that the current state writes."""
        with self._use() as channel:
            return channel.set_variables(values)

    def cancel(self) -> bool:
        """Stop verifying what this channel asked."""
        with self._use() as channel:
            return channel.cancel()

    @property
    def is_verifying(self) -> bool:
        """Whether something is being verified here."""
        return self._workers.is_verifying(self._key)

    @property
    def is_busy(self) -> bool:
        """Whether something is being verified here, or its answer was not told yet."""
        return self._workers.is_busy(self._key)

    def attempt(self, attempt: str) -> AttemptShown | None:
        """Give an attempt of this Worker and what came of it."""
        with self._use() as channel:
            return channel.attempt(attempt)

    def note(self, text: str, use: str | None = None) -> RecordedEntry | Refusal:
        """Record what the agent says, as a claim."""
        with self._use() as channel:
            return channel.note(text, use)

    def log(self, after: int = 0, limit: int = LOG_PAGE_MAX) -> LogPage | Refusal:
        """Read entries with numbers behind `after`."""
        with self._use() as channel:
            return channel.log(after, limit)

    def source(self) -> str | None:
        """Give the source of the flow that it runs."""
        with self._use() as channel:
            return channel.source()

    def definition(self) -> "CompiledFlowDefinition | None":
        """Give the definition that is pinned."""
        with self._use() as channel:
            return channel.definition()
