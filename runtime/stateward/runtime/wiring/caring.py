"""Looking after stores as a whole, whichever Workspaces are in them."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from stateward.runtime.wiring.beginning import locate
from stateward.runtime.wiring.places import STORE_VARIABLE, Place, store_place

if TYPE_CHECKING:
    from stateward.store.care import Checked, StoreState
    from stateward.store.migrations.outcome import Migrated


def chosen_store(folder: Path, chosen: Place | None = None) -> Place:
    """Say which store is meant: the one that was named, here or in the environment, else that of the folder's Workspace.

    Raises NoWorkspace.
    """
    if chosen is None and not os.environ.get(STORE_VARIABLE):
        return locate(folder).store
    return store_place("", chosen)


def look_at_store(place: Place) -> "StoreState":
    """Say which version a store has; nothing is written. Raises StoreUnavailable, StoreNewer and Damaged."""
    from stateward.store import care  # noqa: PLC0415 -- loads SQLModel, which what opens no store need not pay for

    return care.look(place)


def migrate_store(place: Place) -> "Migrated | None":
    """Bring a store to the present version; None when it is there already. Raises what opening a store for writing raises."""
    from stateward.store import care  # noqa: PLC0415 -- as above

    return care.migrate(place)


def check_store(place: Place) -> "Checked":
    """Check a store as a whole; nothing is written. Raises StoreUnavailable and StoreNewer."""
    from stateward.store import care  # noqa: PLC0415 -- as above

    return care.check(place)
