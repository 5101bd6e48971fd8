"""Load one store from many processes, on each database, and hold every log against what was done: `python -m tests.soak`.

64 Workers in 8 processes make 100 transitions each, and 8 processes append to one Worker, while another process looks at all of it and
yet another tidies the store up. Ends with 1, and the trace of what went wrong, when anybody heard of a lock, an entry is lost or a chain
is broken.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cases.stored import StoredPlace, place_on
from tests.postgres import server
from tests.soak.story import Figures, many_workers, one_worker

DATABASES = ("sqlite", "postgresql")


@contextmanager
def place_for(database: str) -> Iterator[StoredPlace]:
    """Give an empty place, whose store lies on the disk, or in a server that waits for it."""
    with tempfile.TemporaryDirectory(prefix="stateward-soak-") as folder:
        if database == "sqlite":
            yield place_on(None, Path(folder))
            return
        with server(durable=True) as started:
            yield place_on(started, Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=64, help="a multiple of the processes")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--transitions", type=int, default=100, help="of each Worker")
    parser.add_argument("--appends", type=int, default=100, help="of each process, to one Worker")
    parser.add_argument("--database", choices=DATABASES, action="append", help="both, unless one is named")
    given = parser.parse_args()
    stories: list[Callable[[StoredPlace], Figures]] = [
        lambda here: many_workers(here, given.workers, given.processes, given.transitions),
        lambda here: one_worker(here, given.processes, given.appends),
    ]
    for database in given.database or DATABASES:
        for story in stories:
            with place_for(database) as here:
                sys.stdout.write(f"{database}: {story(here)}\n")
                sys.stdout.flush()
    sys.stdout.write("nothing lost, nothing twice, every chain unbroken, and nobody heard of a lock\n")


if __name__ == "__main__":
    main()
