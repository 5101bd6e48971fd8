"""Reading what the hosts send, as far as they send it alike.

Invariants: what identifies something is short, so that it fits into keys and headers; what is recorded stands as the host wrote it.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from stateward.runtime.surfaces.hooks.calls import HookCall, HookEvent, HookProblem, Part
from stateward.runtime.surfaces.hooks.scanning import Unreadable, members_of, object_of, text_in

SESSION_BYTES_MAX: Final = 100
ID_BYTES_MAX: Final = 512
PATH_BYTES_MAX: Final = 4096


class Form(NamedTuple):
    """What one host sends that another does not."""

    names: Mapping[HookEvent, frozenset[str]]
    """Its own names of the events."""
    results: tuple[str, ...]
    """The members that tell what came of a tool."""
    prompt: str
    """The member that identifies what the user typed."""


def read_call(event: HookEvent, members: Mapping[str, str], form: Form) -> HookCall:
    """Read what a hook is sent. Raises HookProblem and Unreadable."""
    call = _call(event, members, form.names[event])
    match event:
        case HookEvent.SESSION_START:
            return call._replace(source=id_in(members, "source"))
        case HookEvent.SESSION_END:
            return call._replace(reason=id_in(members, "reason"))
        case HookEvent.STOP:
            return call._replace(is_kept_on=flag_in(members, "stop_hook_active"))
        case HookEvent.USER_PROMPT:
            return call._replace(parts=tuple(_prompt(members, id_in(members, form.prompt))))
        case HookEvent.PRE_TOOL:
            return call._replace(tool=id_in(members, "tool_name"))
        case HookEvent.POST_TOOL:
            return call._replace(tool=id_in(members, "tool_name"), parts=tuple(_used(members, form.results, call.agent)))
        case HookEvent.PRE_COMPACT:
            return call


def _call(event: HookEvent, members: Mapping[str, str], names: frozenset[str]) -> HookCall:
    """Read of which session it is, where that works, and where its transcript lies."""
    named = text_in(members, "hook_event_name")
    if named not in names:
        raise HookProblem(f"the input is of the event `{named:.40}`, not of `{event}`")
    session = text_in(members, "session_id")
    if not (session and session.isascii() and session.isprintable() and len(session) <= SESSION_BYTES_MAX):
        raise HookProblem("the input names no session that can be one")
    return HookCall(
        event,
        session,
        folder=path_in(members, "cwd"),
        transcript=path_in(members, "transcript_path"),
        agent=id_in(members, "agent_id"),
    )


def _prompt(members: Mapping[str, str], given: str) -> Iterator[Part]:
    """Give what the user typed; of several texts in one turn each is one."""
    if "prompt" in members:
        payload = object_of(prompt=members["prompt"])
        yield Part("note", payload, f"{given} {digest(payload)}" if given else "", "prompt")


def _used(members: Mapping[str, str], results: tuple[str, ...], agent: str) -> Iterator[Part]:
    """Give the call of a tool and what came of it."""
    tool, came = id_in(members, "tool_name"), {name: members[name] for name in results if name in members}
    named = {name: members[name] for name in ("tool_name", "tool_use_id") if name in members}
    given = object_of(**named, **{name: members[name] for name in ("tool_input",) if name in members})
    use = id_in(members, "tool_use_id") or digest(given + object_of(**came))
    yield Part("tool_call", given, use, "call", tool, agent)
    yield Part("tool_result", object_of(**named, **came), use, "result", tool, agent)


def digest(text: str) -> str:
    """Give an id for what its host gives none."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def path_in(members: Mapping[str, str], name: str) -> str:
    """Give a path; empty where there is none. Raises HookProblem for one that can be none."""
    path = text_in(members, name)
    if "\0" in path or len(path.encode("utf-8", "surrogatepass")) > PATH_BYTES_MAX:
        raise HookProblem(f"`{name}` of the input is no path")
    return path


def id_in(members: Mapping[str, str], name: str) -> str:
    """Give an id; empty where there is none. Raises HookProblem for one that is too long."""
    found = text_in(members, name)
    if len(found.encode("utf-8", "surrogatepass")) > ID_BYTES_MAX:
        raise HookProblem(f"`{name}` of the input is longer than {ID_BYTES_MAX} bytes")
    return found


def flag_in(members: Mapping[str, str], name: str) -> bool:
    """Give a flag; false where there is none."""
    return members.get(name) == "true"


def inner(members: Mapping[str, str], name: str) -> Mapping[str, str]:
    """Give the members of an object in an object. Raises Unreadable where there is none."""
    if name not in members:
        raise Unreadable(f"`{name}` is missing")
    return members_of(members[name])
