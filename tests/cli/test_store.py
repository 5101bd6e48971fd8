"""`stateward store`: its version, its migration, its soundness, for people and for programs."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stateward.store.schema import SCHEMA_VERSION
from tests.cases.stored import StoredPlace, place_on
from tests.store.releases import VERSIONS, Release

LAST = Release(VERSIONS[-1])
BEFORE = SCHEMA_VERSION - 1
"""The version of that store."""


@pytest.fixture
def here(tmp_path: Path) -> StoredPlace:
    return LAST.put_place(place_on(None, tmp_path / "place"))


def test_info_says_what_a_migration_would_do(here: StoredPlace) -> None:
    backup = f"{here.store}.v{BEFORE}-backup"
    told = json.loads(here.done("store", "info", "--json"))
    assert [1, str(here.store), BEFORE, SCHEMA_VERSION, backup] == [
        told[name] for name in ("version", "place", "store_version", "program_version", "backup")
    ]
    assert 1 == len(told["steps"])
    shown = here.done("store", "info")
    for part in (str(here.store), f"{BEFORE}, this program writes {SCHEMA_VERSION}", *told["steps"], backup):
        assert part in shown


def test_a_dry_run_migrates_nothing_and_the_next_one_does(here: StoredPlace) -> None:
    tried = json.loads(here.done("store", "migrate", "--dry-run", "--json"))
    assert (BEFORE, None) == (json.loads(here.done("store", "info", "--json"))["store_version"], tried["migrated"])
    done = json.loads(here.done("store", "migrate", "--json"))
    assert {"from": BEFORE, "to": SCHEMA_VERSION, "backup": tried["backup"]} == done["migrated"]
    assert Path(tried["backup"]).is_file()
    again = here.done("store", "migrate")
    assert f"{here.store} has store version {SCHEMA_VERSION} already\n" == again
    assert (None, []) == tuple(json.loads(here.done("store", "info", "--json"))[name] for name in ("backup", "steps"))
    assert "there is nothing to do" in here.done("store", "info")


def test_checking_a_sound_store_ends_with_status_0_and_one_that_is_not_with_1(here: StoredPlace) -> None:
    here.done("store", "migrate")
    assert {"version": 1, "place": str(here.store), "store_version": SCHEMA_VERSION, "sound": True, "findings": []} == json.loads(
        here.done("store", "check", "--json")
    )
    here.change(("DELETE FROM workers", ()))
    with closing(sqlite3.connect(here.store)) as connection:
        connection.execute("DROP TABLE transcripts")
    unsound = here.call("store", "check", "--json")
    told = json.loads(unsound.out)
    assert (1, "", False) == (unsound.status, unsound.err, told["sound"])
    assert "the table `transcripts` is missing" in told["findings"]
    assert "a row of `heads` refers to none of `workers`" in told["findings"]
    shown = here.call("store", "check")
    assert 1 == shown.status
    assert all(each in shown.out for each in told["findings"])


def test_a_page_that_was_written_over_is_found(here: StoredPlace) -> None:
    with here.store.open("r+b") as file:
        file.seek(20 * 4096)
        file.write(b"\xff" * 4096)
    found = here.call("store", "check", "--json")
    assert (1, False) == (found.status, json.loads(found.out)["sound"])


def test_a_store_that_is_named_needs_no_workspace(here: StoredPlace, tmp_path: Path) -> None:
    elsewhere = StoredPlace(tmp_path)
    elsewhere.work.mkdir()
    told = elsewhere.call("store", "info", "--json", "--store", str(here.store))
    assert (0, BEFORE) == (told.status, json.loads(told.out)["store_version"])
    assert "there is no store at" in elsewhere.call("store", "info").err
    nowhere = elsewhere.call("store", "check", STATEWARD_STORE="")
    assert (2, "error: no Workspace at") == (nowhere.status, nowhere.err[:22])


def test_no_password_of_a_url_is_shown(here: StoredPlace) -> None:
    for command in ("info", "check", "migrate"):
        refused = here.call("store", command, "--store", "postgresql://ada:hunter2@127.0.0.1:1/x")
        assert 3 == refused.status
        assert "postgresql://ada@127.0.0.1:1/x cannot be used" in refused.err
        assert "hunter2" not in refused.err + refused.out
