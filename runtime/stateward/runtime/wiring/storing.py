"""Opening the store of a Workspace with what guards it: the keys that seal, the witness of heads, the secrets that are kept out."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from stateward.runtime.ports.workspaces import Workspace
from stateward.runtime.session.masking import Secrets
from stateward.runtime.wiring.places import WITNESS_FOLDER, Location, keys_path, user_secrets
from stateward.runtime.wiring.system import SystemClock

if TYPE_CHECKING:
    from stateward.runtime.ports import Clock, Sealer, Witness
    from stateward.store.database import Store


class Kept(NamedTuple):
    """An open store and what goes with it."""

    store: "Store"
    clock: "Clock"
    sealer: "Sealer"
    witness: "Witness"
    secrets: Secrets


@contextmanager
def opened_store(location: Location, *, write: bool) -> Iterator[Kept]:
    """Open the store of a Workspace; for writing, it is made where it is missing. Raises what opening a store raises."""
    from stateward.store.database import open_store  # noqa: PLC0415 -- what never opens a store need not pay for it
    from stateward.store.key_command import CommandKeys  # noqa: PLC0415 -- the same
    from stateward.store.seal import HmacSealer  # noqa: PLC0415
    from stateward.store.witness import FileWitness  # noqa: PLC0415

    clock, secrets = SystemClock(), user_secrets()
    sealer = HmacSealer(CommandKeys(keys_path(), clock.now))
    witness = FileWitness(keys_path() / WITNESS_FOLDER, warn)
    with open_store(location.store, write=write, create=write, sealer=sealer, witness=witness) as store:
        if done := store.migrated:
            print(f"note: {store.place} was brought from store version {done.start} to {done.end}; it was copied first", file=sys.stderr)
            print(f"  = note: what it was is in {done.backup}", file=sys.stderr)
        if write:
            store.workspaces.ensure(Workspace(location.workspace, "", clock.now()))
        yield Kept(store, clock, sealer, witness, secrets)


def warn(text: str) -> None:
    """Say what ends nothing and should be known."""
    print(f"warning: {text}", file=sys.stderr)
