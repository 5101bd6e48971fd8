"""An agent of pydantic-ai inside a Worker: its toolset, and a wrapper that records what its other tools did."""

import asyncio
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import uuid4

from pydantic_ai import RunContext
from pydantic_ai.toolsets import FunctionToolset, ToolsetTool, WrapperToolset

from stateward.runtime.ports import WorkerChannel
from stateward.runtime.surfaces.agents.tools import DESCRIPTIONS, WAIT_SECONDS, Recorder, WorkerTools

Deps = TypeVar("Deps")


def worker_toolset(channel: WorkerChannel, wait_seconds: float = WAIT_SECONDS) -> FunctionToolset[Any]:
    """Give the tools of an agent inside a Worker, with the instructions of the state it is in at each step."""
    tools = WorkerTools(channel, wait_seconds)
    toolset: FunctionToolset[Any] = FunctionToolset(id="stateward", sequential=True, instructions=tools.status)
    for function in (tools.request_flow_transition, tools.flow_status, tools.session_note, tools.set_variables):
        toolset.add_function(function, name=function.__name__, description=DESCRIPTIONS[function.__name__])
    return toolset


@dataclass
class RecordedToolset(WrapperToolset[Deps], Generic[Deps]):
    """A toolset whose calls, and what they give, are recorded as evidence before the model is told."""

    recorder: Recorder

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: RunContext[Deps], tool: ToolsetTool[Deps]) -> Any:
        """Call a tool, recorded. Raises what the tool raises, and Refused where nothing can be recorded."""
        use = f"{ctx.tool_call_id or uuid4()}:{ctx.retry}"
        await asyncio.to_thread(self.recorder.called, use, name, tool_args)
        try:
            output = await super().call_tool(name, tool_args, ctx, tool)
        except Exception as problem:
            await asyncio.to_thread(self.recorder.failed, use, name, problem)
            raise
        await asyncio.to_thread(self.recorder.gave, use, name, output)
        return output
