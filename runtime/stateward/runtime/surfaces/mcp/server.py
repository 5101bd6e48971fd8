"""The requests of a client, each answered over the channel of one Worker.

Invariants: nothing is decided here; a call blocks no other, and one that is cancelled stops its verification, unless its client only had
no more time: then it goes on for the next call; arguments that are not known are refused; what fails is told as the failure of that call,
with what to do, and ends nothing.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import anyio
import mcp_types as types
from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.ports import Asked, Fault, InProgress, WorkerChannel
from stateward.runtime.session.halves import whole
from stateward.runtime.session.segments import FlowSegment, Segment, TextSegment
from stateward.runtime.surfaces.mcp import forms
from stateward.runtime.surfaces.mcp.hosts import caller_of
from stateward.runtime.surfaces.mcp.reading import PROMPT, RESOURCES, next_step, read
from stateward.runtime.telling import asked_told, refusal_told, standing_told, written_told

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]

WAIT_SECONDS: Final = 40.0
"""How long a request is waited for: clients give up after 60."""
GIVEN_UP_MAX: Final = 256
"""Calls that are remembered as given up."""
SLICE_SECONDS: Final = 1.0
"""How long a thread waits at a time: so often progress is told and cancelling heard."""
INSTRUCTIONS: Final = (
    "You work inside a flow of stateward. `flow_status` says which state it is in, what is to be done there and how it is left. When that "
    "is done, call `request_flow_transition` with the reason. A verifier checks it against the session and the work; nobody can name the "
    "next state. Where the state lists variables that may be set, set them with `set_variables` before. If the answer is `verifying`, call "
    "again with the same reason. Go on until the flow is completed."
)


def _told_here(fault: Fault) -> tuple[str, str]:
    """Give all of a fault: who asks works on this machine."""
    return fault.message, fault.remedy


class GivenUp:
    """The calls whose clients gave up because their own time was over, and not because they want no answer. Lives on the event loop."""

    def __init__(self) -> None:
        self._calls: deque[types.RequestId] = deque(maxlen=GIVEN_UP_MAX)

    def note(self, calls: Iterable[types.RequestId]) -> None:
        """Note calls, by the ids of their requests."""
        self._calls.extend(calls)

    def holds(self, call: types.RequestId | None) -> bool:
        """Tell whether a call is one of those."""
        return call in self._calls


@dataclass(frozen=True, slots=True)
class Served:
    """What a server is for."""

    channel: Callable[[Context], WorkerChannel]
    """Gives the Worker of a call. Raises Fault."""
    version: str
    wait_seconds: float = WAIT_SECONDS
    given_up: GivenUp = field(default_factory=GivenUp)
    told: Callable[[Fault], tuple[str, str]] = _told_here
    """Gives what is told of a fault, and what to do."""


def make_server(served: Served) -> Server[Any]:
    """Make the server of one Worker, or of the Worker that each call names by its token."""
    handling = _Handling(served)
    return Server(
        "stateward",
        version=served.version,
        title="stateward",
        instructions=INSTRUCTIONS,
        on_list_tools=handling.tools,
        on_call_tool=handling.call,
        on_list_prompts=handling.prompts,
        on_get_prompt=handling.prompt,
        on_list_resources=handling.resources,
        on_read_resource=handling.resource,
    )


_READS: Final = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_WRITES: Final = types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_SETS: Final = types.ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
TRANSITION: Final = types.Tool(
    name="request_flow_transition",
    title="Ask to leave the state",
    description=(
        "Ask to leave the current state of the flow. Give the reason why its work is done, with where that can be seen. An independent "
        "verifier checks it; the answer is the next state with its instructions, or what is missing. `verifying` means that the check "
        "takes longer: call again with the same reason."
    ),
    input_schema=forms.REASON,
    output_schema=forms.ASKED,
    annotations=_WRITES,  # not idempotent: once the state was left, the same reason asks to leave the next one
)
STATUS: Final = types.Tool(
    name="flow_status",
    title="Where the flow stands",
    description="Say in which state the flow is, what is to be done there, how it is left and what was missing last.",
    input_schema=forms.NOTHING,
    output_schema=forms.STATUS,
    annotations=_READS,
)
NOTE: Final = types.Tool(
    name="session_note",
    title="Keep a note",
    description="Keep a note in the session log. A note is a claim; it is no evidence.",
    input_schema=forms.NOTE,
    output_schema=forms.NOTED,
    annotations=_WRITES,
)
SET: Final = types.Tool(
    name="set_variables",
    title="Set variables",
    description=(
        "Set variables that the current state writes, all that are given or none. `flow_status` lists them with what each must be. Guards "
        "read them when a transition is asked for: set them before. A flow without variables has none to set."
    ),
    input_schema=forms.VALUES,
    output_schema=forms.SET,
    annotations=_SETS,
)
SUBMIT: Final = types.Tool(
    name="submit_flow_input",
    title="Start a flow",
    description="Start one of the flows that this agent may start by itself, when none is active.",
    input_schema=forms.INPUT,
    output_schema=forms.SUBMITTED,
    annotations=_WRITES,
)


class _Handling:
    """Answers the requests of clients."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._tools: dict[str, tuple[types.Tool, Callable[[Context, WorkerChannel, dict[str, Any]], Awaitable[types.CallToolResult]]]] = {
            TRANSITION.name: (TRANSITION, self._request),
            STATUS.name: (STATUS, self._status),
            NOTE.name: (NOTE, self._note),
            SET.name: (SET, self._set),
            SUBMIT.name: (SUBMIT, self._submit),
        }

    # --- tools --------------------------------------------------------------------------------------------------------------------

    async def tools(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """List the tools: the one that starts a flow only where the profile lists flows that an agent may start."""
        try:
            standing = await run_sync(lambda: self._served.channel(context).standing())
        except Fault:  # told at the call
            standing = None
        may_submit = standing is not None and not isinstance(standing, Refusal) and bool(standing.self_selectors)
        return types.ListToolsResult(tools=[tool for tool, _ in self._tools.values() if tool is not SUBMIT or may_submit])

    async def call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool."""
        found = self._tools.get(params.name)
        if found is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool `{params.name[:64]}`")
        tool, function = found
        arguments = forms.as_texts(tool.input_schema, params.arguments or {})
        problem = forms.problem_of(tool.input_schema, arguments)
        if problem is not None:
            return _failed(f"{tool.name}: {problem}")
        try:
            channel = await run_sync(self._served.channel, context)
            return await function(context, channel, arguments)
        except Fault as fault:
            message, remedy = await run_sync(self._served.told, fault)
            return _failed(f"{message}\nWhat to do: {remedy}" if remedy else message)

    async def _request(self, context: Context, channel: WorkerChannel, arguments: dict[str, Any]) -> types.CallToolResult:
        named = caller_of(context.meta, {}).sub_agent
        if named:
            return _failed(f"a sub-agent ({named[:64]}) may not ask to leave the state; the agent that it works for may")
        asked = await self._asked(context, channel, arguments["reason"])
        form = forms.asked_form(asked, channel.worker)
        return _told(asked_told(asked), form, is_error=isinstance(asked, Refusal))

    async def _asked(self, context: Context, channel: WorkerChannel, reason: str) -> Asked:
        """Ask, and wait in slices, so that progress can be told and a client that gives up is heard."""
        begun = anyio.current_time()
        asked: Asked | None = None
        while True:
            rest = begun + self._served.wait_seconds - anyio.current_time()
            try:
                asked = await run_sync(channel.ask, reason, max(0.0, min(SLICE_SECONDS, rest)))
                await anyio.lowlevel.checkpoint_if_cancelled()
            except anyio.get_cancelled_exc_class():
                goes_on = asked is None or isinstance(asked, InProgress)
                if not (goes_on and self._served.given_up.holds(context.request_id)):  # an answer that nobody heard is told again
                    with anyio.CancelScope(shield=True):
                        await run_sync(channel.cancel)
                raise
            if not isinstance(asked, InProgress) or rest <= 0:
                return asked
            passed = anyio.current_time() - begun
            await context.session.report_progress(passed, None, f"verifying attempt {asked.attempt}")

    async def _status(self, _: Context, channel: WorkerChannel, __: dict[str, Any]) -> types.CallToolResult:
        standing = await run_sync(channel.standing)
        if isinstance(standing, Refusal):
            return _failed(refusal_told(standing))
        return _told(standing_told(standing), forms.status_form(standing))

    async def _note(self, _: Context, channel: WorkerChannel, arguments: dict[str, Any]) -> types.CallToolResult:
        noted = await run_sync(channel.note, arguments["text"])
        if isinstance(noted, Refusal):
            return _failed(refusal_told(noted))
        form = forms.noted_form(noted)
        return _told(f"Noted in entry {form['entry']}.", form)

    async def _set(self, context: Context, channel: WorkerChannel, arguments: dict[str, Any]) -> types.CallToolResult:
        named = caller_of(context.meta, {}).sub_agent
        if named:
            return _failed(f"a sub-agent ({named[:64]}) may not set variables; the agent that it works for may")
        values = forms.values_of(arguments["values"])
        if isinstance(values, str):
            return _failed(f"{SET.name}: the argument `values` cannot be read: {values}")
        written = await run_sync(channel.set_variables, values)
        if isinstance(written, Refusal):
            return _failed(written_told(written))
        return _told(written_told(written), forms.set_form(written))

    async def _submit(self, _: Context, channel: WorkerChannel, arguments: dict[str, Any]) -> types.CallToolResult:
        inputs = forms.values_of(arguments["inputs"])
        if isinstance(inputs, str):
            return _failed(f"{SUBMIT.name}: the argument `inputs` cannot be read: {inputs}")
        segments: list[Segment] = [FlowSegment(arguments["selector"], inputs)]
        if arguments["text"]:
            segments.append(TextSegment(arguments["text"]))
        submitted = await run_sync(channel.submit, segments)
        if isinstance(submitted, Refusal):
            return _failed(refusal_told(submitted))
        standing = await run_sync(channel.standing)
        told = "" if isinstance(standing, Refusal) else standing_told(standing)
        return _told(told, forms.submitted_form(submitted))

    # --- prompts and resources ----------------------------------------------------------------------------------------------------

    async def prompts(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """List the one prompt."""
        return types.ListPromptsResult(prompts=[PROMPT])

    async def prompt(self, context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Give the prompt: what is to be done next."""
        if params.name != PROMPT.name:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt `{params.name[:64]}`")
        return await self._read(context, next_step)

    async def resources(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """List the resources."""
        return types.ListResourcesResult(resources=list(RESOURCES))

    async def resource(self, context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read a resource."""
        uri = str(params.uri)
        found = await self._read(context, lambda channel: read(channel, uri))
        if found is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no resource `{uri[:256]}`")
        return types.ReadResourceResult(contents=[found])

    async def _read(self, context: Context, function: Callable[[WorkerChannel], T]) -> T:
        """Read something of the Worker. Raises MCPError where that cannot be."""
        try:
            return await run_sync(lambda: function(self._served.channel(context)))
        except Fault as fault:
            message, remedy = await run_sync(self._served.told, fault)
            raise MCPError(types.INTERNAL_ERROR, f"{message}; {remedy}" if remedy else message) from fault


def _told(text: str, form: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    said = types.TextContent(type="text", text=whole(text))  # the wire holds no half of a character
    return types.CallToolResult(content=[said], structured_content=whole(form), is_error=is_error)


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=whole(text))], is_error=True)
