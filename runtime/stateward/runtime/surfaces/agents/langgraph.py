"""An agent of LangGraph inside a Worker: its tools, a node that keeps it from stopping early, and the recording of what its tools did."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.graph import END
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from stateward.runtime.ports import WorkerChannel
from stateward.runtime.surfaces.agents.tools import DESCRIPTIONS, WAIT_SECONDS, Recorder, WorkerTools

BLOCKS_MAX: Final = 3
"""How often in a row an agent that would stop is sent back, without having called a tool in between."""
_SENT_BACK: Final = "stateward_sent_back"

Answer = ToolMessage | Command[Any]


def worker_tools(channel: WorkerChannel, wait_seconds: float = WAIT_SECONDS) -> list[StructuredTool]:
    """Give the tools of an agent inside a Worker."""
    tools = WorkerTools(channel, wait_seconds)
    pairs = (
        (tools.request, tools.request_flow_transition),
        (tools.status, tools.flow_status),
        (tools.note, tools.session_note),
        (tools.assign, tools.set_variables),
    )
    return [StructuredTool.from_function(once, loop, name=loop.__name__, description=DESCRIPTIONS[loop.__name__]) for once, loop in pairs]


def stop_node(channel: WorkerChannel, agent: str = "agent") -> Callable[[dict[str, Any]], Command[Any]]:
    """Give a node for the place where an agent would stop: it goes back to the node `agent` while the flow is active.

    The agent is told where the flow stands. After BLOCKS_MAX times in a row the graph ends; the Worker stays active.
    """
    tools = WorkerTools(channel)

    def stop(state: dict[str, Any]) -> Command[Any]:
        rest = tools.unfinished()
        if rest is None or _sent_back(state["messages"]) >= BLOCKS_MAX:
            return Command(goto=END)
        message = HumanMessage(f"The flow is not finished.\n\n{rest}", additional_kwargs={_SENT_BACK: True})
        return Command(goto=agent, update={"messages": [message]})

    return stop


def _sent_back(messages: list[Any]) -> int:
    """Count how often the agent was sent back since a tool was called."""
    count = 0
    for each in reversed(messages):
        if isinstance(each, ToolMessage):
            break
        count += bool(each.additional_kwargs.get(_SENT_BACK))
    return count


def recorded(recorder: Recorder) -> Callable[[ToolCallRequest, Callable[[ToolCallRequest], Answer]], Answer]:
    """Give what `ToolNode(…, wrap_tool_call=…)` takes: calls, and what they give, are recorded as evidence before the model is told."""

    def wrapped(request: ToolCallRequest, execute: Callable[[ToolCallRequest], Answer]) -> Answer:
        use, name = _begun(recorder, request)
        try:
            answer = execute(request)
        except Exception as problem:
            recorder.failed(use, name, problem)
            raise
        recorder.gave(use, name, _given(answer))
        return answer

    return wrapped


def recorded_async(
    recorder: Recorder,
) -> Callable[[ToolCallRequest, Callable[[ToolCallRequest], Awaitable[Answer]]], Awaitable[Answer]]:
    """Give what `ToolNode(…, awrap_tool_call=…)` takes."""

    async def wrapped(request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Answer]]) -> Answer:
        use, name = await asyncio.to_thread(_begun, recorder, request)
        try:
            answer = await execute(request)
        except Exception as problem:
            await asyncio.to_thread(recorder.failed, use, name, problem)
            raise
        await asyncio.to_thread(recorder.gave, use, name, _given(answer))
        return answer

    return wrapped


def _begun(recorder: Recorder, request: ToolCallRequest) -> tuple[str, str]:
    use, name = str(request.tool_call["id"]), request.tool_call["name"]
    recorder.called(use, name, request.tool_call["args"])
    return use, name


def _given(answer: Answer) -> object:
    return {"status": answer.status, "content": answer.content} if isinstance(answer, ToolMessage) else str(answer)
