"""Making the judge that a profile names, and opening what it is given."""

from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from stateward.runtime.ports import (
    StoppableVerifier,
    VerificationRequest,
)
from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.wiring.opening import Runtime
from stateward.runtime.wiring.places import home
from stateward.runtime.wiring.system import TimeOrderedIds

if TYPE_CHECKING:
    from stateward.runtime.verifier.toolbox import AttemptToolbox, OpenWorkdir


def judge(runtime: Runtime, profile: Profile, workdir: str) -> StoppableVerifier:
    """Make the judge of a profile whose verifier is a model or a program, of a Worker with that folder of work. Raises ModelUnusable."""
    from stateward.runtime.verifier.model_judge import command_verifier, model_verifier  # noqa: PLC0415 -- may load a library of models

    if profile.verifier is VerifierKind.COMMAND:
        return command_verifier(profile, runtime.transcripts, lambda _: Path(workdir) if workdir else None, runtime.secrets)
    opener = _opener(profile, workdir)
    return model_verifier(
        profile,
        runtime.transcripts,
        clock=runtime.clock,
        ids=TimeOrderedIds(),
        elapsed=monotonic,
        open_workdir=opener,
        home=home(),
        secrets=runtime.secrets,
    )


def given_to_a_judge(
    runtime: Runtime, profile: Profile, request: VerificationRequest, workdir: str
) -> "AbstractContextManager[AttemptToolbox]":
    """Open everything that a judge of this profile would be given for a request."""
    from stateward.runtime.session.browse import ViewBounds  # noqa: PLC0415 -- only what judges needs it
    from stateward.runtime.verifier.toolbox import toolbox  # noqa: PLC0415

    bounds = ViewBounds(profile.verification.read_bytes, profile.verification.page_entries)
    return toolbox(request, _opener(profile, workdir), bounds, runtime.secrets)


def _opener(profile: Profile, workdir: str) -> "OpenWorkdir | None":
    """Give what opens the folder of the work for a judge to look at; None where there is none."""
    from stateward.runtime.workdir.limits import ViewBounds  # noqa: PLC0415
    from stateward.runtime.workdir.view import WorkdirView  # noqa: PLC0415 -- only what judges needs it

    if not workdir:
        return None
    bounds = ViewBounds(read_bytes=profile.verification.read_bytes)
    return lambda _: WorkdirView(Path(workdir), bounds)
