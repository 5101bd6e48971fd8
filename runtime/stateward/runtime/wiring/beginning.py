"""Finding the Workspace of a folder, or beginning one there."""

import os
from contextlib import suppress
from pathlib import Path

from stateward.runtime.marker import NoWorkspace, drafted, find_workspace, work_folder
from stateward.runtime.wiring.places import STORE_FILES, Location, Place, keys_path, store_place
from stateward.runtime.wiring.system import SystemClock, TimeOrderedIds


def locate(folder: Path, chosen: Place | None = None, server: str | None = None) -> Location:
    """Find the Workspace of a folder; its flows are at the service `server`, if one is named. Raises NoWorkspace when there is none."""
    workspace = find_workspace(folder)
    if workspace is None:
        raise NoWorkspace(f"no Workspace at {folder} or above it", "begin one with `stateward run` or `stateward flow save`")
    return Location(workspace, store_place(workspace, chosen), server=server)


def is_new(folder: Path, chosen: Place | None = None) -> bool:
    """Tell whether writing for a folder would begin a Workspace, or the store of one."""
    workspace = find_workspace(folder)
    if workspace is None:
        return True
    place = store_place(workspace, chosen)
    return isinstance(place, Path) and not os.path.lexists(place)


def locate_or_begin(folder: Path, chosen: Place | None = None, server: str | None = None, *, sealing: bool = False) -> Location:
    """Find the Workspace of a folder, or begin one there: store and marker come into being together, or neither does.

    With `sealing`, for what appends entries, a key to seal them comes with them. Where a service holds the flows, the
    Workspace that is begun is the one that it holds. Raises what marker, store, keys and service raise.
    """
    found = find_workspace(folder)
    workspace = found or _begin(work_folder(folder), chosen, None if server is None else held_by(server), sealing=sealing)
    return Location(workspace, store_place(workspace, chosen), begun=found is None, server=server)


def held_by(server: str) -> str:
    """Give the id of the Workspace that a service holds. Raises RemoteUnusable, ServiceUnavailable and AccessRefused."""
    from stateward.runtime.wiring.reaching import client_of  # noqa: PLC0415 -- only what asks a service needs it

    with client_of(server, None) as client:
        return client.workspace


def _begin(folder: Path, chosen: Place | None, known: str | None, *, sealing: bool) -> str:
    """Make an empty store, then a marker, and give the id that the marker holds: of whoever was quicker, if somebody was.

    `known` is the id of a Workspace that is there already, elsewhere; the store of its Workers here may be there too, and is left.
    """
    fresh = known or TimeOrderedIds().new()
    place = store_place(fresh, chosen)
    held = ""
    try:
        with drafted(folder, fresh) as draft:
            _make_store(place)
            if sealing:
                _make_key()
            held = draft.publish()
    finally:
        if known is None and held != fresh and isinstance(place, Path) and place.parent.name == fresh:
            _remove_store(place.parent)  # nobody knows the id under which it lies
    return held


def _make_store(place: Place) -> None:
    from stateward.store.database import open_store  # noqa: PLC0415 -- as below

    open_store(place, write=True, create=True).close()


def _make_key() -> None:
    from stateward.store.key_command import CommandKeys  # noqa: PLC0415 -- as below
    from stateward.store.keys import Purpose  # noqa: PLC0415

    CommandKeys(keys_path(), SystemClock().now).current(Purpose.SEAL)


def _remove_store(folder: Path) -> None:
    with suppress(OSError):
        for name in STORE_FILES:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
