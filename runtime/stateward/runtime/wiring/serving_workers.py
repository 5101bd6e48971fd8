"""The Workers that a service attends to, over the store of a Workspace.

Invariants: a Worker that is started through a service has a folder of work only beneath one that the operator allows; links are followed
before that is looked at. What is verified when the service ends is stopped, and stays open.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.attended import Attended, ToStart
from stateward.runtime.ports import Submitted, WorkerChannel
from stateward.runtime.profile import DEFAULT, Profile, VerifierKind
from stateward.runtime.profile.places import ProfileUnreadable
from stateward.runtime.session.entries import Actor, ActorClass
from stateward.runtime.wiring.channels import agent_channel, source_of
from stateward.runtime.wiring.opening import Runtime, reading, writing
from stateward.runtime.wiring.places import Location
from stateward.runtime.wiring.profiles import ProfileUnusable, not_usable, profile_of_name
from stateward.runtime.wiring.workers import OpenWorkers


@dataclass(frozen=True, slots=True)
class _Starting:
    """Starts Workers."""

    location: Location
    folder: Path
    workdirs: Sequence[Path]
    opened: Callable[[Location, Profile], AbstractContextManager[Runtime]] = writing

    def __call__(self, wanted: ToStart, actor: Actor) -> Submitted | Refusal:
        """Start one. Raises Fault."""
        folder = None if wanted.workdir is None else self._allowed(wanted.workdir)
        if isinstance(folder, Refusal):
            return folder
        name = DEFAULT.name if wanted.profile is None else wanted.profile
        try:
            profile = profile_of_name(name, folder or self.folder, self.location.workspace)
        except (ProfileUnusable, ProfileUnreadable) as problem:
            return not_usable(problem)
        if profile.verifier is VerifierKind.SCRIPTED:
            message = f"under profile `{name}` answers out of a file judge, which a service does not read"
            return Refusal(RefusalCode.PROFILE_UNUSABLE, message, ("name a profile whose judge is a model, a program or a person",))
        with self.opened(self.location, profile) as runtime:
            return runtime.engine.start_worker(
                self.location.workspace,
                wanted.segments,
                actor,
                wanted.submission,
                worked_by=ActorClass.AGENT,
                workdir="" if folder is None else str(folder),
            )

    def _allowed(self, named: str) -> Path | Refusal:
        """Give a folder of work, resolved, where it lies beneath one that is allowed."""
        folder = Path(named)
        if folder.is_absolute():
            resolved = folder.resolve()
            if resolved.is_dir() and any(resolved.is_relative_to(each) for each in self.workdirs):
                return resolved
        allowed = ("name a folder beneath one that the operator of the service allows", "leave the folder out")
        return Refusal(RefusalCode.WORKDIR_NOT_ALLOWED, "the folder of work is none that this service allows", allowed)


@contextmanager
def served_workers(location: Location, folder: Path, workdirs: Sequence[Path] = ()) -> Iterator[Attended]:
    """Open the Workers of a Workspace whose store is there. Those that are started may work beneath `workdirs`.

    Raises what opening a store raises.
    """

    def opened(worker: str, actor: Actor) -> AbstractContextManager[WorkerChannel]:
        return agent_channel(folder, location.store, worker, actor)

    with reading(location) as reader, writing(location) as writer, closing(OpenWorkers(opened)) as agents:

        def agent(worker: str, actor: Actor, token: str) -> WorkerChannel | Refusal:
            try:
                return agents.channel(worker, actor, token)
            except (ProfileUnusable, ProfileUnreadable) as problem:
                return not_usable(problem)

        starting = _Starting(location, folder, [each.resolve() for each in workdirs])
        yield Attended(location.workspace, reader.engine, writer.engine, agent, starting, lambda standing: source_of(reader, standing))
