"""The runtime over a store of any kind, put together as the program does it, with a clock and a catalog of our choice."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.bounds import Bounds
from stateward.runtime.engine.worker import Engine
from stateward.runtime.marker import drafted
from stateward.runtime.ports import Clock, NewRevision, Workspace
from stateward.runtime.profile import DEMONSTRATION, Profile
from stateward.runtime.session.chain import digest_of
from stateward.runtime.wiring import SystemClock, ThreadHeartbeat, TimeOrderedIds
from stateward.store.database import Store, open_store
from stateward.store.keys import KeyFolder
from stateward.store.seal import HmacSealer
from stateward.store.witness import FileWitness
from tests.cases.stored import StoredPlace
from tests.runtime.engines import WORKSPACE, Catalog
from tests.runtime.flows import FORK, REVIEW, flow

ROUND = flow("round", here={"go": "there", "end": "done"}, there={"back": "here"}, done={})
"""To and fro, for ever."""
FLOWS = (FORK, REVIEW, ROUND)
PATIENT = replace(
    DEMONSTRATION, lease_seconds=15.0, bounds=Bounds(hold_after=64, visit_verifications_max=10**9, instance_verifications_max=10**9)
)
"""Holds nothing back, whatever it costs."""


class Unwitnessed(Exception):
    """The witness has something to say: nothing of that kind is expected here."""


@dataclass(frozen=True)
class Opened:
    """An engine over an open store."""

    store: Store
    engine: Engine


@contextmanager
def opened(here: StoredPlace, profile: Profile = PATIENT, clock: Clock | None = None, holder: str = "engine") -> Iterator[Opened]:
    """Open the store of a place, made where it is missing: sealed and witnessed as the program's is."""
    present = clock or SystemClock()
    sealer = HmacSealer(KeyFolder(here.keys, present.now))
    with open_store(here.url or here.store, write=True, create=True, sealer=sealer, witness=FileWitness(here.witness, _complain)) as store:
        catalog = Catalog(*FLOWS)
        heartbeat = ThreadHeartbeat()
        engine = Engine(
            store.sessions, catalog, present, TimeOrderedIds(), profile, leases=store.leases, holder=holder, heartbeat=heartbeat
        )
        yield Opened(store, engine)


def begin(here: StoredPlace) -> None:
    """Begin the Workspace of the tests at a place, with its store and a key."""
    with drafted(here.work, WORKSPACE) as draft:
        draft.publish()
    here.keys.parent.mkdir(parents=True, exist_ok=True)
    with opened(here) as desk:
        now = SystemClock().now()
        desk.store.workspaces.ensure(Workspace(WORKSPACE, "", now))
        for each in FLOWS:
            desk.store.flows.save(WORKSPACE, kept(each, now), None)


def kept(definition: CompiledFlowDefinition, created: datetime) -> NewRevision:
    """Give a definition of these tests as a revision of its flow, so that the program knows what became of it."""
    canonical = canonical_bytes(definition)
    content = definition.name.encode()
    return NewRevision(
        slug=definition.name,
        content=content,
        content_digest=digest_of(content),
        definition_digest=digest_of(canonical),
        definition=canonical,
        compiler="tests",
        author="tests",
        note="",
        created=created,
    )


def _complain(text: str) -> None:
    raise Unwitnessed(text)
