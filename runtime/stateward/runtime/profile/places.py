"""Where the layers of a profile lie, and how a profile of a name is made of them.

| layer | file | who writes it |
| --- | --- | --- |
| operator | `/etc/stateward/operator.dcdl`, for every profile | whoever administers the machine |
| workspace | `<configuration>/workspaces/<workspace id>.dcdl`, for every profile in that Workspace | the user |
| role | `<configuration>/profiles/<name>.dcdl` | the user |
| built-in | ships with the program | |

Invariants: a layer that is there and cannot be used stops everything, for it may deny what others grant; nothing is read that lies in the
folder of the work, however it is reached, nor what anybody but its owner, the user or the superuser, can write; where the operator's
file lies follows from nothing that a user can set.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.diagnostics.wording import listed, nearest
from stateward.resources.profiles import BuiltinProfile, builtin_names, builtin_profile
from stateward.runtime.core.texts import reason
from stateward.runtime.ports import Fault
from stateward.runtime.profile.layers import Layer, Said, Unusable, profile_of
from stateward.runtime.profile.reading import FILE_BYTES_MAX, read_profile
from stateward.runtime.profile.terms import DEFAULT, Profile
from stateward.runtime.profile.texts import name_fault
from stateward.runtime.session.chain import digest_of

OPERATOR_FILE: Final = Path("/etc/stateward/operator.dcdl")
WORKSPACES: Final = "workspaces"
ROLES: Final = "profiles"
SUFFIX: Final = ".dcdl"
NAMES_MAX: Final = 1_000
"""Files of one folder that are looked at for names."""
SUPERUSER: Final = 0


class ProfileUnreadable(Fault):
    """A file of a profile is there and cannot be read, or not trusted."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the layers lie, seen from a folder of work."""

    configuration: Path
    """The user's folder of configuration."""
    workspace: str | None
    """The id of the Workspace; None where there is none yet."""
    workdir: Path | None
    """The folder of the work, in which no profile may lie."""
    operator: Path = OPERATOR_FILE

    @property
    def roles(self) -> Path:
        """The folder of the user's own profiles."""
        return self.configuration / ROLES


@dataclass(frozen=True, slots=True)
class Chosen:
    """A profile, and the layers that it was made of, the highest first."""

    profile: Profile
    layers: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """There is no profile of that name."""

    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A file of the profile is not right."""

    diagnostics: tuple[Diagnostic, ...]


def choose(name: str, places: Places) -> Chosen | Unknown | Broken | Unusable:
    """Make the profile of a name. Raises ProfileUnreadable."""
    found = _layers(name, places)
    if not isinstance(found, tuple):
        return found
    profile = profile_of(name, [each.terms for each in found])
    return profile if isinstance(profile, Unusable) else Chosen(profile, found)


def names(places: Places) -> tuple[str, ...]:
    """Give the names of all profiles that can be chosen, in order. Raises ProfileUnreadable."""
    try:
        files = sorted(each.name for each in places.roles.iterdir())[:NAMES_MAX]
    except (FileNotFoundError, NotADirectoryError):
        files = []
    except OSError as fault:
        raise _unreadable(places.roles, fault) from fault
    own = (each.removesuffix(SUFFIX) for each in files if each.endswith(SUFFIX))
    return tuple(sorted({*builtin_names(), *(each for each in own if name_fault(each) is None)}))


def files_of(name: str, places: Places) -> tuple[tuple[Layer, Path], ...]:
    """Say where the layers above the built-in one lie, the highest first, whether or not they are there. `name` is that of a profile."""
    shared = () if places.workspace is None else ((Layer.WORKSPACE, places.configuration / WORKSPACES / f"{places.workspace}{SUFFIX}"),)
    return ((Layer.OPERATOR, places.operator), *shared, (Layer.ROLE, places.roles / f"{name}{SUFFIX}"))


def _layers(name: str, places: Places) -> tuple[Said, ...] | Unknown | Broken:
    if name_fault(name) is not None:
        return _unknown(name, places)
    found: list[Said] = []
    base = name if builtin_profile(name) is not None else ""
    for layer, file in files_of(name, places):
        said = _said(layer, file, places)
        if isinstance(said, Broken):
            return said
        if said is not None:
            found.append(said[0])
        if said is not None and layer is Layer.ROLE:
            base = said[1] or base or DEFAULT.name
    if not base:
        return _unknown(name, places)
    shipped = builtin_profile(base)
    if shipped is None:
        return Unknown(f"profile `{name}` stands on `{base}`, which is not built in", f"there are {listed(builtin_names())}")
    return (*found, _builtin(shipped))


def _builtin(shipped: BuiltinProfile) -> Said:
    read = read_profile(shipped.path, shipped.content, with_base=False)
    assert not isinstance(read, tuple), f"{shipped.path} is at fault"
    return Said(Layer.BUILT_IN, shipped.path, digest_of(shipped.content), read.terms, read.about)


def _said(layer: Layer, file: Path, places: Places) -> tuple[Said, str] | Broken | None:
    """Read a layer, with the name of what it stands on; None where there is no such file."""
    content = _content(file, places.workdir)
    if content is None:
        return None
    read = read_profile(str(file), content, with_base=layer is Layer.ROLE)
    if isinstance(read, tuple):
        return Broken(read)
    return Said(layer, str(file), digest_of(content), read.terms, read.about), read.base


def _content(file: Path, workdir: Path | None) -> bytes | None:
    """Read a file that nobody else can have written, to its end or to one byte more than a profile has; None where there is none."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as fault:
        raise _unreadable(file, fault) from fault
    try:
        real = Path(os.path.realpath(file, strict=True))
        if workdir is not None and real.is_relative_to(os.path.realpath(workdir)):
            raise ProfileUnreadable(f"the profile {file} lies in the folder of the work", "keep it elsewhere")
        _require_trusted(real.parent, real.parent.stat())
        descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise ProfileUnreadable(f"the profile {file} is no file", "put a file there, or take it away")
            _require_trusted(real, found)
            return opened.read(FILE_BYTES_MAX + 1)
    except OSError as fault:
        raise _unreadable(file, fault) from fault


def _require_trusted(path: Path, found: os.stat_result) -> None:
    if found.st_uid not in {SUPERUSER, os.geteuid()}:
        raise ProfileUnreadable(f"{path} belongs to another user", "make it belong to this user (chown)")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise ProfileUnreadable(f"{path} can be written by others (mode {mode})", f"chmod go-w {path}")


def _unreadable(file: Path, fault: OSError) -> ProfileUnreadable:
    return ProfileUnreadable(f"the profile {file} cannot be read: {reason(fault)}", "make it readable, or take it away")


def _unknown(name: str, places: Places) -> Unknown:
    known = names(places)
    near = nearest(name, known)
    remedy = f"did you mean `{near}`?" if near is not None else f"there are {listed(known)}"
    return Unknown(f"no profile is named `{name}`", remedy)
