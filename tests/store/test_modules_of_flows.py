"""What a revision imports, in a file: written once, and what the disk lost or altered of it is seen."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stateward.runtime.ports import Damaged
from stateward.store.care import check
from stateward.store.database import open_store
from tests.contracts.flow_modules import MODULES, importing
from tests.contracts.flows import HERE, draft


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a flow whose two revisions import something."""
    place = tmp_path / "store.db"
    with open_store(place, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        store.flows.save(HERE.id, importing(*MODULES), None)
        store.flows.save(HERE.id, importing(*MODULES, content=b"again"), 1)
    return place


def by_hand(path: Path, *statements: str, guarded: bool = False) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (name,) in [] if guarded else connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        for each in statements:
            connection.execute(each)


COPY = (
    "INSERT {how} INTO flow_modules"
    " SELECT workspace, flow_id, {revision}, {number}, path, content, closure_digest FROM flow_modules LIMIT 1"
)


@pytest.mark.parametrize("how", ["", "OR REPLACE", "OR IGNORE"])
@pytest.mark.parametrize(("revision", "number"), [(2, 1), (2, 2), (2, 4), (1, 3), (1, 1), (3, 1)])
def test_a_module_follows_the_last_one_of_the_last_revision(path: Path, how: str, revision: int, number: int) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=r"^flow_modules_only_next: "):
        by_hand(path, COPY.format(how=how, revision=revision, number=number), guarded=True)


@pytest.mark.parametrize(
    ("rule", "statement"),
    [
        ("flow_modules_no_update", "UPDATE flow_modules SET content = content"),
        ("flow_modules_no_delete", "DELETE FROM flow_modules"),
    ],
)
def test_a_module_is_never_changed_or_deleted(path: Path, rule: str, statement: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=f"^{rule}: "):
        by_hand(path, statement, guarded=True)


@pytest.mark.parametrize(
    "altered",
    [
        "DELETE FROM flow_modules",
        "DELETE FROM flow_modules WHERE revision = 2",
        "DELETE FROM flow_modules WHERE revision = 2 AND number = 2",
        "UPDATE flow_modules SET content = x'00' WHERE revision = 2 AND number = 1",
        "UPDATE flow_modules SET path = 'b.md' WHERE revision = 2 AND number = 1",
        "UPDATE flow_modules SET closure_digest = 'x' WHERE revision = 2",
        "UPDATE flow_modules SET closure_digest = 'x' WHERE revision = 2 AND number = 2",
        COPY.format(how="", revision=2, number=3),
    ],
)
def test_what_was_altered_or_lost_is_damage(path: Path, altered: str) -> None:
    by_hand(path, altered)
    with open_store(path, write=False) as store, pytest.raises(Damaged):
        store.flows.current(HERE.id, "paper")
    assert [each for each in check(path).findings if each.startswith("revision 2 of the flow `paper`: ")]


def test_modules_beside_a_revision_that_imports_nothing_are_damage(tmp_path: Path) -> None:
    place = tmp_path / "store.db"
    with open_store(place, write=True, create=True) as store:
        store.workspaces.ensure(HERE)
        store.flows.save(HERE.id, draft(), None)
    there = "SELECT workspace, flow_id, 1, 1, 'a.md', x'00', 'x' FROM flow_sources"
    by_hand(place, f"INSERT INTO flow_modules {there}")
    with open_store(place, write=False) as store, pytest.raises(Damaged):
        store.flows.current(HERE.id, "paper")
