"""Where the bindings of a Workspace's sessions lie: in its folder among the user's state, wherever its store is."""

from typing import Final

from stateward.runtime.ports.bindings import Bindings
from stateward.runtime.wiring.places import user_folder
from stateward.store.bindings import FileBindings

FOLDER: Final = "sessions"


def bindings_of(workspace: str) -> Bindings:
    """Give the bindings of a Workspace. Raises NoHome."""
    return FileBindings(user_folder("XDG_STATE_HOME", ".local/state") / workspace / FOLDER)
