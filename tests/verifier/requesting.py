"""A process that requests a transition, judged by a model, and says what came of it.

`python -m tests.verifier.requesting URL STORE HOUR [WORKER]`: at that hour of the day by its clock; without a Worker it starts one.
"""

import sys
from datetime import datetime, timedelta
from pathlib import Path

from stateward.runtime.engine.worker import Engine
from stateward.runtime.ports import Answered
from stateward.runtime.profile import ModelSettings, Profile, VerifierKind
from stateward.runtime.verifier.model import ModelMeans, ModelVerifier
from stateward.runtime.verifier.model_settings import Model
from stateward.runtime.verifier.toolbox import toolbox
from stateward.runtime.wiring import TimeOrderedIds
from stateward.store.database import Store, open_store
from tests.runtime.engines import PERSON, WORKSPACE, Catalog, TickingClock, input_for, submitted
from tests.verifier.boxes import Seconds
from tests.verifier.judging import Moved


class At(TickingClock):
    """A clock that begins so many hours after noon."""

    def __init__(self, hours: int) -> None:
        super().__init__()
        self._later = timedelta(hours=hours)

    def now(self) -> datetime:
        """Give the present."""
        return super().now() + self._later


def judged(store: Store, url: str, clock: At, worker: str) -> str:
    profile = Profile("model", VerifierKind.MODEL, model=ModelSettings("judge-1", base_url=url))
    engine = Engine(store.sessions, Catalog(), clock, TimeOrderedIds(), profile, leases=store.leases, holder="a process")
    if not worker:
        worker = submitted(engine.start_worker(WORKSPACE, input_for("fork", "Ticket 41"), PERSON)).worker
        print(worker, flush=True)
    seconds = Seconds()
    means = ModelMeans(
        Moved(Model("judge-1", url=url), None), store.transcripts, clock, TimeOrderedIds(), seconds.elapsed, pause=seconds.pause
    )
    answer = engine.request_transition(worker, "done", PERSON, ModelVerifier(means, lambda request: toolbox(request, None)))
    if not isinstance(answer, Answered):
        return type(answer).__name__
    records = len(store.transcripts.records(worker, answer.answer.attempt))
    return f"{answer.answer.attempt} {answer.answer.code} {answer.answer.state} {records}"


def main(url: str, path: str, hours: str, worker: str = "") -> None:
    with open_store(Path(path), write=True, create=True) as store:
        print(judged(store, url, At(int(hours)), worker))


if __name__ == "__main__":
    main(*sys.argv[1:])
