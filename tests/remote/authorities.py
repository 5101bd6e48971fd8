"""The flows of a Workspace in process, for tests of what asks for them from elsewhere."""

from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.ports import FlowStore
from tests.runtime.engines import WORKSPACE, TickingClock

COMPILER = "stateward 0"
SOURCE = """schema_version = 1;
name = "paper";
initial = "write";
states = {
    write = {
        instructions = "Write: %s.";
        transitions = { ready = { target = "done"; condition = "It is written."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""


def source_of(what: str, slug: str = "paper") -> bytes:
    """Give a source that compiles."""
    return SOURCE.replace("%s", what).replace('"paper"', f'"{slug}"').encode()


class Known(WorkspaceFlows):
    """An authority that says who acts, as one that is asked over HTTP does."""

    author: str


def known(store: FlowStore, author: str, workspace: str = WORKSPACE) -> Known:
    flows = Known(store, workspace, author, COMPILER, TickingClock())
    flows.author = author
    return flows
