"""What can be said of a call without its Worker: whether there is nothing to be done, and whether it is refused in any case."""

from typing import Final

from stateward.runtime.surfaces.hooks.calls import TRANSITION_TOOL, HookCall, HookEvent, deny, own_tool

DENIED: Final = deny("a sub-agent asks for no transition; report to the agent that called it, which asks")


def is_refused(call: HookCall) -> bool:
    """Tell whether a tool is refused whatever the Worker is: that which asks for a transition, to a sub-agent."""
    return call.event is HookEvent.PRE_TOOL and bool(call.agent) and own_tool(call.tool) == TRANSITION_TOOL


def is_for_nobody(call: HookCall) -> bool:
    """Tell whether there is nothing to be done whatever the Worker is."""
    match call.event:
        case HookEvent.PRE_TOOL:
            return own_tool(call.tool) != TRANSITION_TOOL
        case HookEvent.POST_TOOL:
            return own_tool(call.tool) is not None
        case HookEvent.SESSION_START | HookEvent.STOP | HookEvent.USER_PROMPT | HookEvent.SESSION_END | HookEvent.PRE_COMPACT:
            return bool(call.agent)
