"""Who judges a Worker here: the profile in force, and the verifier that it names."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Damaged, Verifier
from stateward.runtime.profile import DEFAULT, Profile, VerifierKind
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.profile import profile_named
from stateward.runtime.surfaces.cli.show import chosen, chosen_id
from stateward.runtime.surfaces.cli.start import refused
from stateward.runtime.surfaces.cli.terminal import Terminal, is_terminal
from stateward.runtime.verifier.person import PersonVerifier
from stateward.runtime.wiring import Place, Runtime, in_force, judge, locate, person_at_terminal, reading, writing


@dataclass(frozen=True, slots=True)
class Working:
    """A Worker that something is to be done with, under the profile in force for it."""

    runtime: Runtime
    worker: str
    profile: Profile

    @property
    def view(self) -> WorkerView:
        """Where it stands now."""
        return chosen(self.runtime, self.worker)


@contextmanager
def working(named: str | None, workdir: Path, store: Place | None) -> Iterator[Working]:
    """Open the store under the profile of the Worker that was named, or of the latest. Raises Stop, and what opening a store raises."""
    location = locate(workdir, store)
    with reading(location) as runtime:
        worker = chosen_id(runtime, named)
        profile = _in_force(runtime, worker, workdir)
    with writing(location, profile) as runtime:
        yield Working(runtime, worker, profile)


def _in_force(runtime: Runtime, worker: str, workdir: Path) -> Profile:
    """Give the profile in force for a Worker; the usual one where its log cannot be read. Raises Stop."""
    try:
        view = chosen(runtime, worker)
    except Damaged:  # an operator may still delete it
        return profile_named(DEFAULT.name, workdir)
    return in_force(view, workdir, profile_named)


def judge_of(runtime: Runtime, profile: Profile, view: WorkerView, terminal: Terminal) -> Verifier:
    """Give the verifier of a Worker, where that is not a script. Raises Stop where it is none that can judge here."""
    if view.verifier == VerifierKind.SCRIPTED:
        raise Stop(
            STATUS_USAGE,
            f"Worker {view.worker} is judged by answers out of a file",
            "name its file: `stateward run … --resume --answers FILE`",
        )
    if view.verifier != profile.verifier:
        message = f"Worker {view.worker} is judged by `{view.verifier}`, and profile `{profile.name}` names `{profile.verifier}`"
        raise Stop(STATUS_USAGE, message, f"name the profile it was started under: `--profile {view.profile.name}`")
    if profile.verifier is not VerifierKind.PERSON:
        return judge(runtime, profile, view.workdir)
    if not is_terminal():
        raise Stop(STATUS_USAGE, "a person judges, and standard input is no terminal", "run it in a terminal")
    problem = runtime.engine.person_problem(view.worker, person_at_terminal())
    if problem is not None:
        raise refused(problem)
    return PersonVerifier(terminal)
