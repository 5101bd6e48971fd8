"""Histories that released versions recorded: today's program verifies them, folds them to the same state, and goes on from there."""

from pathlib import Path
from typing import get_args

import pytest

from stateward.runtime.core.events import Event
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.session.chain import check
from stateward.runtime.session.entries import GENESIS, Head
from stateward.runtime.session.event_codec import event_name
from stateward.runtime.session.payloads import Opaque, encode
from tests.histories.history import FOLDER, RecordedStore, read, state_of
from tests.histories.record import LIVES, history_of
from tests.runtime.engines import engine_on

FILES = sorted(FOLDER.glob("*.jsonl"))


def test_there_is_a_history_of_this_version() -> None:
    assert {f"{life}.jsonl" for life in LIVES} <= {path.name for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_chain_verifies_for_ever(path: Path) -> None:
    head = GENESIS
    for entry in read(path).entries:
        assert check(entry, head) is None
        head = Head(entry.seq, entry.digest)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_recorded_history_folds_to_the_same_state_for_ever(path: Path) -> None:
    history = read(path)
    engine = engine_on(RecordedStore(history))
    worker = history.entries[0].worker
    view = engine.view(worker)
    assert isinstance(view, WorkerView)
    names = [event_name(each.event) for each in engine.events(worker)]
    assert history.state == state_of(view, names)
    assert view.read_only == ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_was_recorded_is_written_the_same_today(path: Path) -> None:
    """As long as there is one version of payloads; a later one changes this test and adds its own history."""
    history = read(path)
    for logged in engine_on(RecordedStore(history)).log(history.entries[0].worker):
        if not isinstance(logged.payload, Opaque) and b"acme" not in logged.entry.payload:
            assert logged.entry.payload == encode(logged.payload)


def test_the_histories_of_this_version_hold_every_event() -> None:
    everything = {name for life in LIVES for name in read(FOLDER / f"{life}.jsonl").state["events"]}
    assert len(get_args(Event)) == len(everything)


@pytest.mark.parametrize("life", LIVES)
def test_the_recorder_still_lives_through_the_same_events(life: str) -> None:
    recorded = read(FOLDER / f"{life}.jsonl")
    assert recorded.state["events"] == list(history_of(LIVES[life]()).state["events"])
