"""The profile in force for a Worker: that of the name which its log pins, its bounds narrowed by what is pinned."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Fault
from stateward.runtime.profile import Profile
from stateward.runtime.wiring.places import profile_places

if TYPE_CHECKING:
    from stateward.runtime.profile.places import ProfileUnreadable


class ProfileUnusable(Fault):
    """There is no profile of that name, or it cannot be used. `elsewhere` says so without where its files lie."""

    def __init__(self, message: str, remedy: str = "", elsewhere: str = "") -> None:
        super().__init__(message, remedy)
        self.elsewhere = elsewhere or message


def not_usable(problem: "ProfileUnusable | ProfileUnreadable") -> Refusal:
    """Say that a profile cannot be used; where files of the machine lie is told to nobody who asks from elsewhere."""
    if isinstance(problem, ProfileUnusable):
        return Refusal(RefusalCode.PROFILE_UNUSABLE, problem.elsewhere, (problem.remedy,))
    allowed = ("let the operator of the service look at its profiles", "name another folder of work")
    return Refusal(RefusalCode.PROFILE_UNUSABLE, "a file of the profile cannot be read by the service, or not trusted", allowed)


def profile_of_name(name: str, folder: Path, workspace: str | None = None) -> Profile:
    """Give the profile of a name for a folder of work, in the Workspace that is known, or that a marker there names.

    Raises ProfileUnusable, and what reading its files raises.
    """
    from stateward.runtime.profile.layers import Unusable  # noqa: PLC0415 -- loads the language, which few commands need
    from stateward.runtime.profile.places import Broken, Chosen, Unknown, choose  # noqa: PLC0415 -- the same

    found = choose(name, profile_places(folder, workspace))
    match found:
        case Chosen(profile=profile):
            return profile
        case Unknown(message=message, remedy=remedy) | Unusable(message=message, remedy=remedy):
            raise ProfileUnusable(message, remedy)
        case Broken(diagnostics=diagnostics):
            place = diagnostics[0].primary.place
            line, _ = place.source.line_column(place.span.start)
            message = f"profile `{name}` cannot be used: {place.source.name}:{line}: {diagnostics[0].message}"
            elsewhere = f"profile `{name}` cannot be used: {diagnostics[0].message}"
            raise ProfileUnusable(message, f"see `stateward profile show {name}`", elsewhere)
    assert_never(found)


def in_force(view: WorkerView, folder: Path, named: Callable[[str, Path, str | None], Profile] = profile_of_name) -> Profile:
    """Give the profile that a Worker works under now; `named` gives one by its name.

    Raises ProfileUnusable, or what `named` raises in its place, and what reading its files raises.
    """
    from stateward.runtime.profile.layers import granted  # noqa: PLC0415 -- the same

    profile = named(view.profile.name, Path(view.workdir) if view.workdir else folder, view.workspace)
    return replace(profile, verification=granted(profile, view.profile).verification)
