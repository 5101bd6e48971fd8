"""Making the judge that a profile names, of a model or of a program.

Importing this loads no library of models; making a judge of a model does, and takes seconds.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from stateward.runtime.ports import Clock, Ids, Transcripts, VerificationRequest
from stateward.runtime.profile import ModelSettings, Profile, VerifierBounds
from stateward.runtime.session.browse import ViewBounds
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.verifier.command import Command, CommandVerifier
from stateward.runtime.verifier.model import ModelBounds, ModelCaller, ModelMeans, ModelVerifier
from stateward.runtime.verifier.model_keys import ModelUnusable, read_key
from stateward.runtime.verifier.model_settings import Model
from stateward.runtime.verifier.toolbox import AttemptToolbox, OpenWorkdir, toolbox


def model_verifier(
    profile: Profile,
    transcripts: Transcripts,
    *,
    clock: Clock,
    ids: Ids,
    elapsed: Callable[[], float],
    open_workdir: OpenWorkdir | None,
    home: Path,
    secrets: Secrets = NO_SECRETS,
) -> ModelVerifier:
    """Make the judge of a profile whose verifier is a model; `home` is where a key file below `~/` lies. Raises ModelUnusable.

    The model is told none of the `secrets`.
    """
    assert profile.model is not None, "the profile names a model"
    caller = model_caller(profile.model, home)
    bounds = profile.verification
    means = ModelMeans(caller, transcripts, clock, ids, elapsed, _bounds(bounds), secrets=secrets)
    view = ViewBounds(bounds.read_bytes, bounds.page_entries)

    def box(request: VerificationRequest) -> AbstractContextManager[AttemptToolbox]:
        return toolbox(request, open_workdir, view, secrets)

    return ModelVerifier(means, box)


def model_caller(settings: ModelSettings, home: Path) -> ModelCaller:
    """Make what asks a model. Raises ModelUnusable."""
    try:
        from stateward.runtime.verifier.model_calls import LibraryCaller  # noqa: PLC0415 -- comes with an extra, and loads for seconds
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("stateward"):
            raise
        message = f"a model that judges needs the package that brings `{missing.name}`"
        raise ModelUnusable(message, "install `stateward[verifier]`") from missing
    try:
        model = Model(settings.model, settings.provider, settings.base_url)
    except ValueError as problem:
        raise ModelUnusable(f"the model of the profile cannot be asked: {problem}", "mend the profile") from None
    return LibraryCaller(model, None if settings.key is None else read_key(settings.key, home))


def command_verifier(
    profile: Profile,
    transcripts: Transcripts,
    workdir: Callable[[VerificationRequest], Path | None],
    secrets: Secrets = NO_SECRETS,
) -> CommandVerifier:
    """Make the judge of a profile whose verifier is a program."""
    assert profile.program, "the profile names a program"
    program, *arguments = profile.program
    command = Command(Path(program), tuple(arguments), seconds=float(profile.verification.wall_seconds))
    return CommandVerifier(command, transcripts, workdir, secrets)


def _bounds(given: VerifierBounds) -> ModelBounds:
    return ModelBounds(given.turns, float(given.wall_seconds), float(min(given.wall_seconds, 120)), given.tokens, given.output_tokens)
