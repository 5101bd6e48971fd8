"""Flows that somebody else saves between two statements of one look."""

from pathlib import Path

import pytest

from stateward.store import flow_rows
from stateward.store.database import open_store
from tests.contracts.flows import HERE, draft


@pytest.mark.parametrize("beside", ["_OF_A_MISSING_FLOW", "_NAMED"])
def test_a_flow_that_is_saved_while_it_is_looked_for_is_found_and_no_damage(
    place: Path | str, monkeypatch: pytest.MonkeyPatch, beside: str
) -> None:
    with open_store(place, write=True, create=True) as store, open_store(place, write=True) as other:
        store.workspaces.ensure(HERE)
        looked = getattr(flow_rows, beside)

        class Meanwhile:
            """The statement, before which another process commits the flow."""

            @staticmethod
            def first(connection: object, values: object) -> object:
                monkeypatch.undo()
                other.flows.save(HERE.id, draft(), None)
                return looked.first(connection, values)

        monkeypatch.setattr(flow_rows, beside, Meanwhile())
        found = store.flows.find(HERE.id, "paper")
        assert found is not None
        assert 1 == found.last.revision
