"""A bundle leads from any store into any other, and every revision arrives as it was."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from stateward.runtime.core.refusal import Refusal
from stateward.runtime.engine.flows import WorkspaceFlows
from stateward.runtime.ports import PAGE_MAX, Brought, Removed, Saved, TakenIn
from stateward.store.database import open_store
from stateward.store.memory import MemoryFlowStore
from tests.contracts.answers import bundle_of, source
from tests.store.authorities import HERE, THERE, authority_over

KINDS = ("memory", "sqlite", "postgresql")


class Stores:
    """Authorities on the Workspaces of stores of every kind."""

    def __init__(self, folder: Path, url: str, opened: ExitStack) -> None:
        self._places: dict[str, Path | str] = {"sqlite": folder / "store.db", "postgresql": url}
        self._opened = opened

    def authority(self, kind: str, author: str, *, there: bool = False) -> WorkspaceFlows:
        workspace = THERE if there else HERE
        if kind == "memory":
            memory = MemoryFlowStore()
            return authority_over(memory, memory, author, workspace)
        store = self._opened.enter_context(open_store(self._places[kind], write=True, create=True))
        return authority_over(store.flows, store.workspaces, author, workspace)


@pytest.fixture
def stores(tmp_path: Path, url: str) -> Iterator[Stores]:
    with ExitStack() as opened:
        yield Stores(tmp_path, url, opened)


@pytest.mark.parametrize("to", KINDS)
@pytest.mark.parametrize("start", KINDS)
def test_flows_arrive_as_they_were_and_go_on_from_there(stores: Stores, start: str, to: str) -> None:
    here, there = stores.authority(start, "ada"), stores.authority(to, "eve", there=True)
    for number in range(3):
        assert isinstance(here.save("paper", source(f"é {number}.\r\n"), base=number or None, note=f"{number} \U0001f600"), Saved)
    assert isinstance(here.save("gone", source(name="gone"), base=None), Saved)
    assert isinstance(here.remove("gone", base=1, note="why"), Removed)
    bundle = bundle_of(here)
    answer = there.take_in(bundle)
    assert isinstance(answer, TakenIn)
    assert (Brought("gone", 1, 1, removed=True), Brought("paper", 1, 3)) == answer.flows
    assert bundle.splitlines()[1:-1] == bundle_of(there).splitlines()[1:-1]
    assert isinstance(there.save("paper", source("more."), base=3), Saved)
    back = here.take_in(bundle_of(there, "paper"))
    assert not isinstance(back, Refusal)
    assert [source("more.")] == [each.content for each in [here.source("paper")] if each is not None]
    assert 4 == len(here.history("paper", PAGE_MAX))
