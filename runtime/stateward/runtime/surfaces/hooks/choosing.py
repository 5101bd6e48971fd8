"""Which Worker a session works in.

The one that is named; else the one that the session is bound to; else, after it was cleared, that of the session before; else the only
active one of the Workspace. A session that is bound keeps its Worker until that has ended and another one is the only active one.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports.bindings import Binding, Bindings
from stateward.runtime.session.masking import Secrets
from stateward.runtime.surfaces.hooks.calls import HookCall, HookEvent, Host
from stateward.runtime.surfaces.hooks.handling import BLOCKS_DEFAULT, NOTHING, Desk, HookAnswer, handle, placed
from stateward.runtime.surfaces.hooks.reading import digest

if TYPE_CHECKING:
    from stateward.runtime.ports.work import HostChannel

LISTED_MAX: Final = 8
"""Workers that are named where several could be meant."""
_OWN_FILE: Final = frozenset({"startup", "clear"})
"""How sessions begin whose transcript holds nothing of an earlier one."""


class Opening(Protocol):
    """Opens what a hook works with. All of it may raise Fault."""

    def bindings(self) -> Bindings:
        """Give the bindings of the Workspace."""

    def active(self) -> Sequence[str]:
        """Give the Workers of the Workspace whose flow is active."""

    def channel(self, worker: str, session: str) -> "AbstractContextManager[HostChannel]":
        """Open a Worker for the harness of its agent."""

    def secrets(self) -> Secrets:
        """Give what is kept out of the log."""


class Asked(NamedTuple):
    """A hook that was called, and how."""

    host: Host
    call: HookCall
    worker: str = ""
    """The Worker that was named; empty where none was."""
    blocks: int = BLOCKS_DEFAULT


def answer_to(asked: Asked, opening: Opening) -> HookAnswer:
    """Find the Worker, and do there what the hook is for; nothing where there is no Worker. Raises Fault."""
    secrets = opening.secrets()
    asked = asked._replace(call=without_secrets(asked.call, secrets))
    bindings = opening.bindings()
    binding = _bound(asked, bindings, opening)
    if binding is None:
        return _several(asked, opening)
    with opening.channel(binding.worker, binding.session) as channel:
        other = None if asked.worker else _other(asked, binding, channel, opening)
        if other is None:
            return handle(Desk(asked.host, asked.call, binding, bindings, channel, secrets, asked.blocks))
    rebound = replace(_fresh(asked, other), run=binding.run)
    bindings.keep(rebound)
    with opening.channel(rebound.worker, rebound.session) as channel:
        return handle(Desk(asked.host, asked.call, rebound, bindings, channel, secrets, asked.blocks))


def without_secrets(call: HookCall, secrets: Secrets) -> HookCall:
    """Give a call whose names hold no secret: they stand in bindings, and in the heads of entries, as they are."""
    session = secrets.mask(call.session)
    session = call.session if session == call.session else digest(session)
    return call._replace(session=session, folder=secrets.mask(call.folder), reason=secrets.mask(call.reason))


def _bound(asked: Asked, bindings: Bindings, opening: Opening) -> Binding | None:
    call = asked.call
    there = bindings.find(asked.host.name, call.session)
    if there is not None and asked.worker in {"", there.worker}:
        return there
    if asked.worker:
        named = _fresh(asked, asked.worker)
        with opening.channel(named.worker, named.session) as channel:
            is_there = not isinstance(channel.standing(), Refusal)
        if is_there:  # else it is a text like any other
            bindings.keep(named)
        return named
    before = bindings.cleared(asked.host.name, call.folder) if call.source == "clear" else None
    if before is not None:
        bindings.keep(replace(before, following=call.session))
        return bindings.bind(replace(_fresh(asked, before.worker), origin=before.origin))
    active = opening.active()
    return bindings.bind(_fresh(asked, active[0])) if len(active) == 1 else None


def _fresh(asked: Asked, worker: str) -> Binding:
    call = asked.call
    after = 0 if call.source in _OWN_FILE else placed(call)
    return Binding(asked.host.name, call.session, worker, call.session, call.folder, after=after)


def _other(asked: Asked, binding: Binding, channel: "HostChannel", opening: Opening) -> str | None:
    """Give the Worker that a session goes on in whose own has ended; None while it has not."""
    if asked.call.event not in {HookEvent.SESSION_START, HookEvent.USER_PROMPT}:
        return None
    standing = channel.standing()
    if not isinstance(standing, Refusal) and standing.is_active:
        return None
    active = [each for each in opening.active() if each != binding.worker]
    return active[0] if len(active) == 1 else None


def _several(asked: Asked, opening: Opening) -> HookAnswer:
    """Say that there are several Workers, when a session begins; silence where there is none."""
    if asked.call.event is not HookEvent.SESSION_START:
        return NOTHING
    active = opening.active()
    if len(active) < 2:
        return NOTHING
    some = f"{', '.join(active[:LISTED_MAX])}{', …' if len(active) > LISTED_MAX else ''}"
    return HookAnswer(
        notice=f"{len(active)} Workers are active here and none is named ({some}); name one with `--worker` or STATEWARD_WORKER"
    )
