"""Two ports of one store behind one name."""

from stateward.runtime.ports import FlowStore, Workspaces


class Both:
    """The two ports of one store behind one name, as the contract wants them."""

    def __init__(self, flows: FlowStore, workspaces: Workspaces) -> None:
        self.ensure, self.get = workspaces.ensure, workspaces.get
        self.save, self.current, self.revision = flows.save, flows.current, flows.revision
        self.sources, self.definition = flows.sources, flows.definition
