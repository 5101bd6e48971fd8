"""An agent of pydantic-ai works through `coder-review`. Its model is a script, so that the example needs no key: run it with Python.

What matters stands in `main`: the agent gets the toolset of its Worker, and its own tools are wrapped so that what they do is evidence.
"""

import asyncio
from pathlib import Path

from place import FLOW, PROFILE, TICKET, copied, place
from pydantic_ai import Agent, FunctionToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from stateward.runtime.surfaces.agents.inside import inside, start_worker
from stateward.runtime.surfaces.agents.pydantic_ai import RecordedToolset, worker_toolset
from stateward.runtime.surfaces.agents.tools import Recorder

SCRIPT = (
    ToolCallPart("request_flow_transition", {"reason": "All tests pass, trust me."}),
    ToolCallPart("run_tests", {}),
    ToolCallPart("request_flow_transition", {"reason": "The tests pass; the last run shows it."}),
    ToolCallPart("review", {}),
    ToolCallPart("request_flow_transition", {"reason": "The review found nothing."}),
    ToolCallPart("commit", {}),
    ToolCallPart("request_flow_transition", {"reason": "The change is committed."}),
    TextPart("Done."),
)
"""What the model says, one step after the other: first a claim, then the work."""


def run_tests() -> str:
    """Run the tests."""
    return "4 passed, exit status 0"


def review() -> str:
    """Read the change as somebody who did not write it."""
    return "no findings"


def commit() -> str:
    """Commit the change."""
    return "1 file changed"


def scripted(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Say the next thing."""
    said = sum(isinstance(each, ModelResponse) for each in messages)
    return ModelResponse([SCRIPT[said]])


async def main(folder: Path) -> None:
    """Start a Worker and let the agent work in it."""
    worker = start_worker(FLOW, TICKET, folder=folder, profile=PROFILE)
    with inside(worker, session="conversation-1", folder=folder) as opened:
        own = RecordedToolset(FunctionToolset([run_tests, review, commit]), Recorder(opened))
        agent = Agent(FunctionModel(scripted), toolsets=[worker_toolset(opened.agent), own])
        run = await agent.run(TICKET)
        for message in run.all_messages():
            for part in message.parts:
                if isinstance(part, ToolReturnPart):
                    print(f"{part.tool_name}:\n{copied(str(part.content))}\n")
        standing = opened.agent.standing()
        print(standing.flow.status)


if __name__ == "__main__":
    with place() as work:
        asyncio.run(main(work))
