"""The pause of Python's cycle collector while values are made.

An evaluation only makes objects until it ends, in numbers that its limits bound; searching them for garbage over and over costs more than
the evaluation itself.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Pause the collector, if it runs."""
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_running:
            gc.enable()
