"""The program, with an end in it: `python -m tests.crash.dying ACKNOWLEDGED before|after|never N ARGUMENTS…`.

Runs the command line as it is. Every head that the store acknowledged is written to the file ACKNOWLEDGED at once; and right before, or
right after, the N-th durable write of the process it kills itself with SIGKILL.
"""

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from stateward.runtime.ports import Committed
from stateward.runtime.surfaces.cli import main
from stateward.store.sessions import SqlSessionStore

WRITES = ("COMMIT", "WITH held")
"""How the statements begin that make something durable."""


class End:
    """Counts durable writes, and ends the process at one of them."""

    def __init__(self, when: str, number: int) -> None:
        self.when, self.left = when, number

    def around(self, sql: str, run: Callable[[], Any]) -> Any:
        if not sql.startswith(WRITES):
            return run()
        self.left -= 1
        if self.left == 0 and self.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        answer = run()
        if self.left == 0 and self.when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return answer


def end_sqlite(end: End) -> None:
    class Ending(sqlite3.Connection):
        def execute(self, sql: str, *given: Any) -> sqlite3.Cursor:
            cursor: sqlite3.Cursor = end.around(sql, lambda: super(Ending, self).execute(sql, *given))
            return cursor

    sqlite3.connect = partial(sqlite3.connect, factory=Ending)  # type: ignore[assignment]


def end_postgres(end: End) -> None:
    from stateward.store.postgres import PostgresConnection  # noqa: PLC0415 -- stories on SQLite need no driver

    execute = PostgresConnection.execute
    PostgresConnection.execute = (  # type: ignore[method-assign]
        lambda self, sql, parameters=(): end.around(sql, lambda: execute(self, sql, parameters))
    )


def tell_acknowledged(path: Path) -> None:
    def telling(write: Callable[..., Any]) -> Callable[..., Any]:
        def told(self: SqlSessionStore, worker: str, *given: Any, **named: Any) -> Any:
            answer = write(self, worker, *given, **named)
            if isinstance(answer, Committed):
                with path.open("ab", buffering=0) as file:
                    file.write(f"{worker} {answer.head.seq} {answer.head.digest}\n".encode())
            return answer

        return told

    SqlSessionStore.create = telling(SqlSessionStore.create)  # type: ignore[method-assign]
    SqlSessionStore.append = telling(SqlSessionStore.append)  # type: ignore[method-assign]


if __name__ == "__main__":
    acknowledged, when, number, *arguments = sys.argv[1:]
    tell_acknowledged(Path(acknowledged))
    (end_postgres if os.environ["STATEWARD_STORE"].startswith("postgresql://") else end_sqlite)(End(when, int(number)))
    main(arguments)
