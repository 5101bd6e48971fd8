"""kill -9 while a model judges: the next request after the lease goes on with the same attempt, and asks for no reply again."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from stateward.runtime.core.events import TransitionRequested
from stateward.runtime.session.payloads import decode, flow_events
from stateward.store.database import open_store
from tests.contracts.failing_closed import saying
from tests.openai_server.server import Book, Handler, Json, Says, serving
from tests.verifier.boxes import FINISH


@dataclass
class Kills:
    """Kills the process that asks."""

    known: Event = field(default_factory=Event)
    pid: int = 0

    def do(self, handler: Handler, asked: Json) -> None:
        """Kill it, once it is known which one it is."""
        self.known.wait()
        os.kill(self.pid, signal.SIGKILL)


def requesting(book: Book, store: Path, hour: int, worker: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.verifier.requesting", book.url, str(store), str(hour), *filter(None, (worker,))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def attempts(store: Path, worker: str) -> list[str]:
    with open_store(store, write=False) as opened:
        events = [event for entry in opened.sessions.entries(worker) for event in flow_events(decode(entry))]
    return [each.attempt for each in events if isinstance(each, TransitionRequested)]


def test_killed_while_judging_it_is_gone_on_with_after_the_lease_and_not_before(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    kills = Kills()
    with serving(Says((("ShowOverview", {}),)), kills) as book:
        first = requesting(book, store, 0)
        kills.pid = first.pid
        kills.known.set()
        told, _ = first.communicate()
        worker = told.strip()
        assert (-signal.SIGKILL, 2) == (first.returncode, len(book.asked))
        (attempt,) = attempts(store, worker)
        second = requesting(book, store, 0, worker)
        told, _ = second.communicate()
        assert ("InProgress", 2) == (told.strip(), len(book.asked))
        book.steps.append(Says(((FINISH, {"results": saying({})}),)))
        third = requesting(book, store, 1, worker)
        told, _ = third.communicate()
    # Asked, replied; asked by the one that was killed; asked again, replied.
    assert f"{attempt} no_condition_met a 5" == told.strip()
    assert (3, "tool") == (len(book.asked), book.asked[-1]["messages"][-1]["role"])
    assert [attempt] == attempts(store, worker)
