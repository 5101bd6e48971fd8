"""Stopping what waits for a model, from another thread.

Invariant: once stopped it stays stopped, and whoever listens hears of it once, also who began to listen after it, and nobody after they
ceased to listen.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock


class Stopped(Exception):
    """What was going on was stopped on purpose."""


class Stop:
    """Says that something is to stop."""

    def __init__(self) -> None:
        self._event = Event()
        self._lock = Lock()
        self._listeners: list[Callable[[], None]] = []

    @property
    def is_stopped(self) -> bool:
        """Whether it was said."""
        return self._event.is_set()

    def stop(self) -> None:
        """Say it."""
        with self._lock:  # held while they are told: who ceases to listen waits for that
            self._event.set()
            listeners, self._listeners = self._listeners, []
            for each in listeners:
                each()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until it is said; tell whether it was."""
        return self._event.wait(seconds)

    @contextmanager
    def heard(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call a function when it is said, while in this context."""
        with self._lock:
            said = self._event.is_set()
            if not said:
                self._listeners.append(listener)
        if said:
            listener()
        try:
            yield
        finally:
            with self._lock:
                self._listeners = [each for each in self._listeners if each is not listener]
