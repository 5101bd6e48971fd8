"""Stopping, from another thread, what waits for a process: something can be read from a handle once it was said.

Invariants: once said it stays said; saying it again, or after what waited is over, does nothing.
"""

import os
from threading import Lock


class Halt:
    """Says that something is to stop. Whoever made it closes it when nothing waits any more."""

    def __init__(self) -> None:
        self.handle, self._said_to = os.pipe()
        """From which something can be read once it was said."""
        self._lock = Lock()
        self._is_said = self._is_closed = False

    def say(self) -> None:
        """Say it."""
        with self._lock:
            if not (self._is_said or self._is_closed):
                os.write(self._said_to, b"!")
                self._is_said = True

    def close(self) -> None:
        """Let go of the handles."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                os.close(self.handle)
                os.close(self._said_to)
