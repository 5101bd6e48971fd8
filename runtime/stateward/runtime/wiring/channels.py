"""Opening one Worker for those who work inside it, over a store of this machine."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from socket import gethostname

from stateward.resources.catalog import builtin
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.channels import EngineWorkerChannel, Judges
from stateward.runtime.engine.selectors import BUILTIN, parse_selector
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Fault, Standing, StoppableVerifier, Unresolved, WorkerChannel
from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.session.entries import Actor
from stateward.runtime.wiring.beginning import locate
from stateward.runtime.wiring.judging import judge
from stateward.runtime.wiring.opening import Runtime, reading, writing
from stateward.runtime.wiring.places import Place
from stateward.runtime.wiring.profiles import in_force
from stateward.runtime.wiring.system import DaemonThreads, TimeOrderedIds


class NoWorker(Fault):
    """There is no such Worker."""


@contextmanager
def agent_channel(folder: Path, store: Place | None, worker: str, actor: Actor) -> Iterator[WorkerChannel]:
    """Open a Worker for its agent, under the profile in force for it. Raises NoWorker, and what opening a store and a profile raise."""
    location = locate(folder, store)
    with reading(location) as runtime:
        profile = in_force(_view(runtime, worker), folder)
    with writing(location, profile) as runtime, closing(worker_channel(runtime, profile, worker, actor)) as channel:
        yield channel


def worker_channel(runtime: Runtime, profile: Profile, worker: str, actor: Actor) -> EngineWorkerChannel:
    """Give a Worker of a store that is open, whose engine works under that profile, for its agent. Whoever takes it closes it."""
    holder = f"process {os.getpid()} on {gethostname()}"
    return EngineWorkerChannel(
        runtime.engine,
        worker,
        actor,
        judges=Judges(lambda view: _judge(runtime, profile, view), holder, profile.lease_seconds),
        threads=DaemonThreads(),
        clock=runtime.clock,
        ids=TimeOrderedIds(),
        source_of=lambda standing: source_of(runtime, standing),
    )


def _view(runtime: Runtime, worker: str) -> WorkerView:
    view = runtime.engine.view(worker)
    if isinstance(view, Refusal):
        raise NoWorker(view.message, "; ".join(view.allowed))
    return view


def _judge(runtime: Runtime, profile: Profile, view: WorkerView) -> StoppableVerifier | Refusal:
    if view.verifier == VerifierKind.SCRIPTED:
        message = f"Worker {view.worker} is judged by answers out of a file, which only `stateward run` reads"
        return Refusal(RefusalCode.VERIFIER_NOT_ALLOWED, message, ("start a Worker under a profile whose judge is a model or a program",))
    if view.verifier != profile.verifier:
        message = f"Worker {view.worker} is judged by `{view.verifier}`, and profile `{profile.name}` names `{profile.verifier}`"
        return Refusal(RefusalCode.VERIFIER_NOT_ALLOWED, message, ("let an operator look at the profile",))
    return judge(runtime, profile, view.workdir)


def source_of(runtime: Runtime, standing: Standing) -> str | None:
    """Give the source of the pinned revision, where it is the one that the store or the program has."""
    if standing.flow is None:
        return None
    parsed = parse_selector(standing.flow.selector)
    if isinstance(parsed, Unresolved):
        return None
    if parsed.scope == BUILTIN:
        shipped = builtin(parsed.slug)
        return None if shipped is None or shipped.revision != standing.flow.revision else shipped.content.decode("utf-8")
    kept = runtime.flows.revision(runtime.location.workspace, parsed.slug, standing.flow.revision)
    return None if kept is None else kept.content.decode("utf-8")
