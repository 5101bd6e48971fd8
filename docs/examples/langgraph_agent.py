"""An agent of LangGraph works through `coder-review`. Its model is a script, so that the example needs no key: run it with Python.

What matters stands in `graph`: the agent gets the tools of its Worker, what its own tools do is recorded as evidence, and where it would
stop a node sends it back while the flow is active.
"""

from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from place import FLOW, PROFILE, TICKET, copied, place

from stateward.runtime.surfaces.agents.inside import Inside, inside, start_worker
from stateward.runtime.surfaces.agents.langgraph import recorded, stop_node, worker_tools
from stateward.runtime.surfaces.agents.tools import NAMES, Recorder

SCRIPT: tuple[tuple[str, dict[str, str]] | str, ...] = (
    ("request_flow_transition", {"reason": "All tests pass, trust me."}),
    "I am done.",
    ("run_tests", {}),
    ("request_flow_transition", {"reason": "The tests pass; the last run shows it."}),
    ("review", {}),
    ("request_flow_transition", {"reason": "The review found nothing."}),
    ("commit", {}),
    ("request_flow_transition", {"reason": "The change is committed."}),
    "Done.",
)
"""What the model says, one step after the other: first a claim, then it would stop, then the work."""


def run_tests() -> str:
    """Run the tests."""
    return "4 passed, exit status 0"


def review() -> str:
    """Read the change as somebody who did not write it."""
    return "no findings"


def commit() -> str:
    """Commit the change."""
    return "1 file changed"


def scripted(state: MessagesState) -> dict[str, Any]:
    """Say the next thing."""
    said = sum(isinstance(each, AIMessage) for each in state["messages"])
    step = SCRIPT[said]
    if isinstance(step, str):
        return {"messages": [AIMessage(step)]}
    name, arguments = step
    return {"messages": [AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{said}"}])]}


def graph(opened: Inside) -> Any:
    """Make the graph of the agent."""
    recorder = recorded(Recorder(opened))

    def own_calls_recorded(request: Any, execute: Any) -> Any:
        return execute(request) if request.tool_call["name"] in NAMES else recorder(request, execute)

    tools = ToolNode([*worker_tools(opened.agent), run_tests, review, commit], wrap_tool_call=own_calls_recorded)
    builder = StateGraph(MessagesState)
    builder.add_node("agent", scripted)
    builder.add_node("tools", tools)
    builder.add_node("stop", stop_node(opened.agent), destinations=("agent", "__end__"))
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", tools_condition, {"tools": "tools", "__end__": "stop"})
    builder.add_edge("tools", "agent")
    return builder.compile()


def main(folder: Path) -> None:
    """Start a Worker and let the agent work in it."""
    worker = start_worker(FLOW, TICKET, folder=folder, profile=PROFILE)
    with inside(worker, session="conversation-1", folder=folder) as opened:
        result = graph(opened).invoke({"messages": [("user", TICKET)]})
        for message in result["messages"]:
            if isinstance(message, ToolMessage):
                print(f"{message.name}:\n{copied(str(message.content))}\n")
        standing = opened.agent.standing()
        print(standing.flow.status)


if __name__ == "__main__":
    with place() as work:
        main(work)
