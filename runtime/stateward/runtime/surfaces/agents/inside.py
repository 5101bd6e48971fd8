"""Opening a Worker in a Python program: for the agent that works in it, and for the program around that agent.

Invariants: the agent's channel speaks as an agent, and what it says is a claim; the program's channel speaks as the agent's host, and what
it records is evidence. Which of the two a piece of code is handed decides what it can say.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.marker import work_folder
from stateward.runtime.ports import Fault, HostChannel, Submitted, WorkerChannel
from stateward.runtime.profile import DEFAULT
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.session.segments import NO_INPUTS, FlowSegment, Segment, TextSegment
from stateward.runtime.wiring import (
    NoWorker,
    Place,
    account_name,
    active_workers,
    agent_channel,
    host_channel,
    is_new,
    locate_or_begin,
    profile_of_name,
    rehearsal,
    writing,
)

CHANNEL: Final = "python"


class Refused(Fault):
    """The runtime refused what was asked."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.code}: {refusal.message}", " or ".join(refusal.allowed))
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class Inside:
    """A Worker that is open."""

    agent: WorkerChannel
    """For the agent: where it stands, asking to leave, notes."""
    host: HostChannel
    """For the program around it: what the agent did, as evidence."""
    session: str
    """The name under which the host records."""


def start_worker(
    selector: str,
    *texts: str,
    folder: Path | str = ".",
    profile: str = DEFAULT.name,
    store: Place | None = None,
    inputs: Mapping[str, object] = NO_INPUTS,
) -> str:
    """Start a Worker on a flow, with texts that say what the work is about, and give its id.

    `inputs` is what the flow is given, by name, as JSON. `folder` is the folder of the work; a Workspace is begun there where there is
    none. Raises Refused, and Fault.
    """
    workdir = work_folder(Path(folder))
    in_force = profile_of_name(profile, workdir)
    segments: tuple[Segment, ...] = (FlowSegment(selector, inputs), *map(TextSegment, texts))
    actor = Actor(ActorClass.PERSON, CHANNEL, account_name())
    if is_new(workdir, store):  # what would be refused begins no Workspace
        trial = rehearsal(in_force)
        _taken(trial.engine.start_worker(trial.workspace, segments, actor))
    with writing(locate_or_begin(workdir, store, sealing=True), in_force) as runtime:
        started = runtime.engine.start_worker(runtime.location.workspace, segments, actor, worked_by=ActorClass.AGENT, workdir=str(workdir))
    return _taken(started).worker


def _taken(started: Submitted | Refusal) -> Submitted:
    if isinstance(started, Refusal):
        raise Refused(started)
    return started


@contextmanager
def inside(worker: str | None = None, *, session: str, folder: Path | str = ".", store: Place | None = None) -> Iterator[Inside]:
    """Open a Worker, by its id or as the only active one of the folder's Workspace.

    `session` names the run of the agent, by which what it did is recorded once: another name for each conversation, the same one when it
    goes on. Raises NoWorker, and Fault where the environment fails.
    """
    place = Path(folder)
    named = worker or _only_active(place, store)
    agent = Actor(ActorClass.AGENT, CHANNEL, account_name(), host_session=session)
    host = Actor(ActorClass.HOST, CHANNEL, account_name(), host_session=session)
    with ExitStack() as held:
        asking = held.enter_context(agent_channel(place, store, named, agent))
        recording = held.enter_context(host_channel(place, store, named, host))
        yield Inside(asking, recording, session)


def _only_active(folder: Path, store: Place | None) -> str:
    active = active_workers(folder, store)
    if len(active) == 1:
        return active[0]
    if not active:
        raise NoWorker("no Worker of this Workspace is active", "start one with `start_worker`")
    raise NoWorker(f"{len(active)} Workers of this Workspace are active: {', '.join(active)}", "name the one that is meant")
