"""Two ports of one store behind one name."""

from stateward.runtime.ports import FlowStore, Workspaces
from stateward.store.database import Store
from stateward.store.sessions import SqlSessionStore
from tests.contracts.stored import Logs


class Both:
    """The two ports of one store behind one name, as the contract wants them."""

    def __init__(self, flows: FlowStore, workspaces: Workspaces) -> None:
        self.ensure, self.get = workspaces.ensure, workspaces.get
        self.save, self.remove, self.bring = flows.save, flows.remove, flows.bring
        self.current, self.find, self.revision, self.holding = flows.current, flows.find, flows.revision, flows.holding
        self.sources, self.history, self.acts, self.definition = flows.sources, flows.history, flows.acts, flows.definition


def both_of_logs(store: Store) -> Logs:
    """Give the two ports of a store to its session logs, which are one object, as the contract wants them."""
    assert isinstance(store.sessions, SqlSessionStore)
    return store.sessions
