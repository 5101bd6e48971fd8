"""Stories of crashes: a scripted run is killed, looked at and resumed until it comes to its end.

After every kill: the log is one unbroken chain, holds every head that was acknowledged and everything that was ever read of it, and no
key twice. At the end: folding the log gives what `status` says, the run is where an undisturbed one ends, no id was used twice.
A story follows from its seed, but for the moments at which the machine lets a kill fall.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from stateward.runtime.session.entries import Entry
from stateward.store.database import open_store
from tests.cli.program import Place, folded, place

ROOT = Path(__file__).resolve().parents[2]
FLOW = "builtin:coder-review"
WRITES = 10
"""At which durable write of a process it is ended at most; a whole run has more, so that the end is come to in steps."""
SECONDS_MAX = 1.5
END = ("completed", "done", 6)


@dataclass(frozen=True)
class PlaceAt(Place):
    """A folder of work whose store lies where it is told."""

    url: str | None = None

    @property
    def environment(self) -> Mapping[str, str]:
        ours = {**super().environment, "PYTHONPATH": str(ROOT)}
        return ours if self.url is None else {**ours, "STATEWARD_STORE": self.url}


@dataclass
class Story:
    """One run and what became of it."""

    here: PlaceAt
    random: Random
    kills: int = 0
    read: list[Entry] = field(default_factory=list)

    @property
    def acknowledged(self) -> Path:
        return self.here.folder / "acknowledged"

    def tell(self, kills_max: int) -> int:
        """Kill the run again and again, at most so often, then let it end; give how many kills fell."""
        while self.kills < kills_max:
            status = self._run()
            if status != -signal.SIGKILL:
                assert 0 == status
                break
            self.kills += 1
            self._look()
        ended = self.here.call(*self.here.scripted("--resume"))
        assert (0, "") == (ended.status, ended.err)
        self._look()
        self._compare()
        return self.kills

    def _run(self) -> int:
        """Run the program until it ends or is killed: at a named point, or at any moment.

        The first kill is at a named point, for on a quick machine the run may have ended before the moment comes.
        """
        arguments = self.here.scripted("--resume")
        if self.kills == 0 or self.random.random() < 0.5:
            point = (self.random.choice(("before", "after")), str(self.random.randint(1, WRITES)))
            return self._ended([sys.executable, "-m", "tests.crash.dying", str(self.acknowledged), *point, *arguments], None)
        return self._ended(self.here.command(*arguments), self.random.uniform(0.2, SECONDS_MAX))

    def _ended(self, command: list[str], seconds: float | None) -> int:
        process = subprocess.Popen(
            command,
            cwd=self.here.work,
            env=self.here.environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            return process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.wait()

    def _look(self) -> None:
        """Read the log as it is now and hold it against everything that is known of it."""
        entries = self._entries()
        assert self.read == entries[: len(self.read)]
        assert list(range(1, len(entries) + 1)) == [entry.seq for entry in entries]
        keys = [entry.key for entry in entries if entry.key is not None]
        assert len(keys) == len(set(keys))
        told = self.acknowledged.read_text().splitlines() if self.acknowledged.exists() else []
        for worker, seq, digest in (line.split() for line in told):
            assert (worker, digest) == (entries[int(seq) - 1].worker, entries[int(seq) - 1].digest)
        self.read = entries

    def _entries(self) -> list[Entry]:
        marker = self.here.work / ".stateward" / "workspace"
        if not marker.exists() or not self._begun():
            return []
        with open_store(self.here.url or self.here.store, write=True, create=True) as store:
            # Whoever held a lease is dead: nobody needs to wait until it has run out.
            store._database.write(
                lambda connection: connection.execute("UPDATE leases SET expires = '1970-01-01T00:00:00.000000Z'"), durable=False
            )
            workers = store.sessions.workers(marker.read_text().strip(), 2)
            assert len(workers) <= 1
            return [entry for worker in workers for entry in store.sessions.entries(worker.worker)]

    def _begun(self) -> bool:
        return self.here.url is not None or self.here.store.exists()

    def _compare(self) -> None:
        entries, status = self.here.log(), self.here.status()
        instance = folded(status, entries, FLOW).instance
        assert instance is not None
        assert END == (str(instance.status), instance.state, instance.visit)
        assert END == (status["flow"]["status"], status["flow"]["state"], status["flow"]["visit"])
        events = [event for entry in entries for event in entry["events"]]
        attempts = [event["attempt"] for event in events if event["type"] == "transition_requested"]
        assert len(attempts) == len(set(attempts))
        assert 1 == sum(event["type"] == "instance_started" for event in events)


def story(folder: Path, seed: int, url: str | None = None) -> Story:
    made = place(folder)
    return Story(PlaceAt(made.folder, url), Random(seed))  # noqa: S311 -- a story is to be told again
