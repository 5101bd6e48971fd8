"""What a hook does: it tells the log what happened, tells the agent where it stands, and keeps it from stopping while there is work.

Invariants: how often an agent was kept from stopping is durable before it is; an agent that records nothing new is let go after a bounded
number of times, and whoever is let go is told why; of a Worker whose flow has ended only that a run has, is recorded.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports.bindings import Binding, Bindings
from stateward.runtime.session.acts import RunOutcome
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.masking import Secrets
from stateward.runtime.surfaces.hooks.calls import HookCall, HookEvent, Host, block, context, warn
from stateward.runtime.surfaces.hooks.reading import digest
from stateward.runtime.surfaces.hooks.records import records_of

if TYPE_CHECKING:
    from stateward.runtime.ports.work import HostChannel, Standing
    from stateward.runtime.surfaces.hooks.importing import Imported

BLOCKS_DEFAULT: Final = 3
UNFINISHED: Final = "unfinished"
"""Why a Worker stopped whose agent was let go before the end of its flow."""
HOW_TO_ASK: Final = "Ask with the tool `request_flow_transition` of the MCP server `stateward`, or with `stateward request`."


class HookAnswer(NamedTuple):
    """What a hook says."""

    output: str = ""
    """For the host; empty where everything goes on as it is."""
    notice: str = ""
    """A line for whoever looks at the errors of hooks."""


NOTHING: Final = HookAnswer()


class Desk(NamedTuple):
    """What a hook works with."""

    host: Host
    call: HookCall
    binding: Binding
    bindings: Bindings
    channel: "HostChannel"
    secrets: Secrets
    blocks: int = BLOCKS_DEFAULT
    """How often an agent is kept from stopping without anything new."""


def handle(desk: Desk) -> HookAnswer:
    """Do what a hook is for. Raises Fault."""
    if desk.call.event is HookEvent.POST_TOOL:
        return _used(desk)
    standing = desk.channel.standing()
    if isinstance(standing, Refusal):
        return _let_go(desk, f"{standing.message}")
    if not standing.is_active:
        return _ended(desk) if desk.call.event is HookEvent.SESSION_END else NOTHING
    return _HANDLERS[desk.call.event](desk, standing)


def placed(call: HookCall) -> int:
    """Give how long the transcript of a session is, up to its last whole line; 0 where there is none that can be read."""
    from stateward.runtime.surfaces.hooks.transcripts import TranscriptUnusable, opened  # noqa: PLC0415 -- most hooks open none

    try:
        with opened(call.transcript) as transcript:
            return transcript.settled()
    except (FileNotFoundError, TranscriptUnusable):
        return 0


# --- what happens ---------------------------------------------------------------------------------------------------------------------


def _session_started(desk: Desk, standing: "Standing") -> HookAnswer:
    notice = _told_of_words(desk, standing)
    if desk.call.source != "compact":  # the same run goes on
        begun = replace(_kept(desk), run=desk.binding.run + 1, ended="", following="")
        desk.bindings.keep(begun)
        notice = _refused(desk.channel.start_run(_run(begun))) or notice
    return HookAnswer(context("SessionStart", desk.secrets.mask(_what_to_do(standing))), notice)


def _session_ended(desk: Desk, standing: "Standing") -> HookAnswer:
    notice = _told_of_words(desk, standing)
    return HookAnswer(notice=_ended(desk).notice or notice)


def _ended(desk: Desk) -> HookAnswer:
    """Say that the run has ended, if that was not said; its Worker may have come to its end before."""
    kept = _kept(desk)
    is_open = kept.run > 0 and not kept.ended
    notice = _refused(desk.channel.end_run(_run(kept), RunOutcome.COMPLETED, desk.call.reason)) if is_open else ""
    desk.bindings.keep(replace(kept, ended=desk.call.reason or "other"))
    return HookAnswer(notice=notice)


def _run(binding: Binding) -> str:
    return f"{binding.host}:{binding.session}:{binding.run}"


def _used(desk: Desk) -> HookAnswer:
    """Record the use of a tool. It comes most often, and asks for no more of the Worker than whether it works."""
    active = desk.channel.is_active()
    if isinstance(active, Refusal):
        return _let_go(desk, active.message)
    return _recorded(desk) if active else NOTHING


def _recorded(desk: Desk) -> HookAnswer:
    """Record what happened; what has no id goes by what it says, and by how far the transcript had come."""
    parts = [each if each.use else each._replace(use=f"{digest(each.payload)} {placed(desk.call)}") for each in desk.call.parts]
    answer = desk.channel.record(tuple(records_of(parts, desk.host.name, desk.binding.origin, desk.secrets)))
    return HookAnswer(notice=_refused(answer))


def _prompted(desk: Desk, standing: "Standing") -> HookAnswer:
    notice = _told_of_words(desk, standing)
    return HookAnswer(notice=_recorded(desk).notice or notice)


def _only_imported(desk: Desk, standing: "Standing") -> HookAnswer:
    return HookAnswer(notice=_told_of_words(desk, standing))


def _told_of_words(desk: Desk, standing: "Standing") -> str:
    """Take in the transcript and give what went wrong.

    Words alone are no reason to keep an agent from stopping once more: where nothing else came, what was seen last moves along.
    """
    imported, notice = _imported(desk)
    if imported.head and not imported.acts and desk.binding.blocks and desk.binding.seen >= standing.head.seq:
        desk.bindings.keep(replace(_kept(desk), seen=imported.head))
    return notice


def _imported(desk: Desk) -> "tuple[Imported, str]":
    """Take in the transcript, and say what went wrong."""
    from stateward.runtime.surfaces.hooks.importing import Imported, take_in  # noqa: PLC0415 -- what a tool did is only recorded
    from stateward.runtime.surfaces.hooks.transcripts import TranscriptUnusable  # noqa: PLC0415 -- as above

    if not desk.call.transcript:
        return Imported(), ""
    try:
        imported = take_in(desk.channel, desk.host, desk.binding, desk.call.transcript, desk.secrets)
    except FileNotFoundError:
        return Imported(), ""
    except TranscriptUnusable as problem:
        return Imported(), f"the transcript is not taken in: {problem}"
    return imported, _refused(imported.refused)


def _kept(desk: Desk) -> Binding:
    """Give the binding as it is kept by now: another hook may have been there."""
    return desk.bindings.find(desk.binding.host, desk.binding.session) or desk.binding


def _refused(answer: object) -> str:
    return answer.message if isinstance(answer, Refusal) else ""


# --- stopping -------------------------------------------------------------------------------------------------------------------------


def _stopped(desk: Desk, standing: "Standing") -> HookAnswer:
    flow = standing.flow
    assert flow is not None, "it is active"
    if flow.paused or standing.read_only:
        why = f"it is paused by {flow.paused}" if flow.paused else f"nothing can be written to it: {standing.read_only}"
        return _let_go(desk, f"the agent may stop in state `{flow.state}` of Worker {standing.worker}: {why}")
    imported, notice = _imported(desk)
    is_new = standing.head.seq > desk.binding.seen or imported.acts > 0
    if desk.binding.released and not is_new and desk.call.is_kept_on:
        return HookAnswer(notice=notice)
    blocks = 0 if is_new or desk.binding.released else desk.binding.blocks
    if blocks >= desk.blocks:
        return _released(desk, standing, blocks)._replace(notice=notice)
    seen = max(imported.head, standing.head.seq)
    desk.bindings.keep(replace(desk.binding, blocks=blocks + 1, seen=seen, released=False))
    left = f"The flow has not ended, so stopping was refused ({blocks + 1} of {desk.blocks} times without anything new in the log)."
    return HookAnswer(block(desk.secrets.mask(f"{left}\n\n{_what_to_do(standing)}")), notice)


def _released(desk: Desk, standing: "Standing", blocks: int) -> HookAnswer:
    """Let an agent go that has nothing new to show; its Worker stays active and is listed as stopped."""
    flow = standing.flow
    assert flow is not None, "it is active"
    stopping = digest_of(f"{desk.binding.host} {desk.binding.session} {desk.binding.seen}".encode())
    answer = desk.channel.stop(UNFINISHED, f"{UNFINISHED}:{stopping}")
    seen = desk.binding.seen if isinstance(answer, Refusal) else answer.head.seq
    desk.bindings.keep(replace(desk.binding, blocks=blocks, seen=seen, released=True))
    where = f"Worker {standing.worker} stays in state `{flow.state}` of flow `{flow.name}`"
    return HookAnswer(warn(f"stateward: the flow has not ended. The agent was kept on {blocks} times and showed nothing new; {where}."))


def _let_go(desk: Desk, why: str) -> HookAnswer:
    if desk.call.event in {HookEvent.STOP, HookEvent.SESSION_START}:
        return HookAnswer(warn(f"stateward: {desk.secrets.mask(why)}"))
    return HookAnswer(notice=why)


_HANDLERS: Final[dict[HookEvent, "Callable[[Desk, Standing], HookAnswer]"]] = {
    HookEvent.SESSION_START: _session_started,
    HookEvent.USER_PROMPT: _prompted,
    HookEvent.PRE_TOOL: _only_imported,
    HookEvent.STOP: _stopped,
    HookEvent.PRE_COMPACT: _only_imported,
    HookEvent.SESSION_END: _session_ended,
}


def _what_to_do(standing: "Standing") -> str:
    from stateward.runtime.telling import standing_told  # noqa: PLC0415 -- most hooks tell nothing

    return f"{standing_told(standing)}\n\n{HOW_TO_ASK}"
