"""What a Worker may do: what the profile in force and the one that its log pins both grant."""

from typing import Final

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import shown
from stateward.runtime.engine.folding import INSPECT
from stateward.runtime.engine.means import Means
from stateward.runtime.ports import Damaged
from stateward.runtime.profile import DEFAULT, Rights, VerifierKind
from stateward.runtime.profile.layers import granted, other_judge
from stateward.runtime.profile.selectors import allowed
from stateward.runtime.session.entries import ActorClass
from stateward.runtime.session.payloads import PinnedProfile, SessionStarted
from stateward.runtime.session.strict import Malformed

EVERY_FLOW: Final = DEFAULT.selectors
"""Where nothing is left out, a selector of no kind is refused by whoever resolves it, who knows what was probably meant."""


def rights_of(means: Means, pinned: PinnedProfile) -> Rights:
    """Give what a Worker may do whose log pins this profile. Raises Damaged when what is pinned is none."""
    try:
        return granted(means.profile, pinned)
    except Malformed as problem:
        raise Damaged(f"profile `{pinned.name:.80}` cannot be read as a log pins it: {problem}", INSPECT) from None


def start_problem(selector: str, actor: ActorClass, rights: Rights, name: str) -> Refusal | None:
    """Refuse a flow that may not be started, under a profile of this name."""
    if not rights.flow_enabled:
        return Refusal(RefusalCode.FLOW_NOT_ENABLED, f"profile `{name}` does not enable flows", ("submit text",))
    if rights.selectors != EVERY_FLOW and not allowed(selector, rights.selectors):
        message = f"profile `{name}` does not let {shown(selector)} be started"
        return Refusal(RefusalCode.SELECTOR_NOT_ALLOWED, message, tuple(f"submit `{each}`" for each in rights.selectors))
    if actor is ActorClass.AGENT and selector not in rights.agent_selectors:
        message = f"profile `{name}` does not let an agent submit {shown(selector)} to itself"
        return Refusal(RefusalCode.SELECTOR_NOT_ALLOWED, message, tuple(f"submit `{each}`" for each in rights.agent_selectors))
    return None


def request_problem(means: Means, session: SessionStarted, rights: Rights) -> Refusal | None:
    """Refuse a request to leave a state where flows are not enabled, or whoever judges this Worker may not."""
    pinned, in_force = session.profile, means.profile
    if not rights.flow_enabled:
        return Refusal(RefusalCode.FLOW_NOT_ENABLED, f"profile `{pinned.name}` does not enable flows")
    if session.verifier == VerifierKind.SCRIPTED and not rights.demonstration:
        message = f"profile `{in_force.name}` is no demonstration, and a script judges this Worker"
        return Refusal(RefusalCode.VERIFIER_NOT_ALLOWED, message, ("use a profile that is marked as a demonstration",))
    if session.verifier == in_force.verifier and (changed := other_judge(in_force, pinned)):
        message = f"another {session.verifier} judges under profile `{in_force.name}` than when this Worker was started: {changed}"
        return Refusal(RefusalCode.VERIFIER_NOT_ALLOWED, message, (f"let {changed} be what the log pins", "start a new Worker"))
    if session.verifier not in rights.verifiers:
        message = f"profile `{in_force.name}` does not let `{session.verifier}` judge, which judges this Worker"
        return Refusal(
            RefusalCode.VERIFIER_NOT_ALLOWED, message, tuple(f"use a profile under which `{each}` judges" for each in rights.verifiers)
        )
    return None
