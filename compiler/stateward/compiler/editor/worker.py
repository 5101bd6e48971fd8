"""One thread that does one thing after the other, and never keeps the process.

Invariants: work is done in the order in which it was given; what was cancelled before it began is left out; what is under way when the
process ends ends with it.
"""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

Made = TypeVar("Made")


class Worker:
    """The thread. How much waits for it is bounded by those who give it work."""

    def __init__(self, name: str) -> None:
        self._waiting: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = Thread(target=self._work, name=name, daemon=True)

    def submit(self, work: Callable[[], Made]) -> Future[Made]:
        """Have something done later."""
        if self._thread.ident is None:
            self._thread.start()
        future: Future[Made] = Future()
        self._waiting.put(lambda: _do(future, work))
        return future

    def end(self) -> None:
        """Take no more work; what waits already is done."""
        self._waiting.put(None)

    def _work(self) -> None:
        while (work := self._waiting.get()) is not None:
            work()


def _do(future: Future[Made], work: Callable[[], Made]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        made = work()
    except BaseException as fault:  # noqa: BLE001 - not hidden: whoever waits gets it
        future.set_exception(fault)
    else:
        future.set_result(made)
