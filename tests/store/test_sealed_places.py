"""Sealed logs that are opened again, wherever the store lies: with the same keys, with others, and by somebody who seals nothing."""

from pathlib import Path

import pytest

from stateward.runtime.ports import Committed, SealMismatch
from stateward.runtime.session.entries import Head
from stateward.store.database import Store, open_store
from tests.contracts.sessions import WORKER, WORKSPACE, entry
from tests.store.sealing import Said, sealer


@pytest.fixture
def sealed(place: Path | str, tmp_path: Path) -> Path | str:
    with open_store(place, write=True, create=True, sealer=sealer(tmp_path / "keys")) as store:
        store.sessions.create(WORKER, WORKSPACE, (entry(b"one", "k-1"), entry(b"p" * 300_000, "k-2")), {})
    return place


def start_of(store: Store) -> Head:
    head = store.sessions.head(WORKER)
    assert head is not None
    return head


def keys(store: Store) -> list[str | None]:
    return [each.key for each in store.sessions.entries(WORKER)]


def test_with_the_same_keys_a_log_is_read_and_gone_on_with(sealed: Path | str, tmp_path: Path) -> None:
    with open_store(sealed, write=True, sealer=sealer(tmp_path / "keys")) as store:
        assert isinstance(store.sessions.append(WORKER, start_of(store), (entry(b"three", "k-3"),)), Committed)
        assert ["k-1", "k-2", "k-3"] == keys(store)


def test_without_the_key_a_log_is_only_read(sealed: Path | str, tmp_path: Path) -> None:
    others = sealer(tmp_path / "others")
    with open_store(sealed, write=False, sealer=others) as store:
        assert ["k-1", "k-2"] == keys(store)
    with open_store(sealed, write=True, sealer=others) as store:
        with pytest.raises(SealMismatch, match=f"entry E00000001 of Worker {WORKER} is not to be trusted: it is sealed under key"):
            keys(store)
        with pytest.raises(SealMismatch):
            store.sessions.find(WORKER, "k-2")


@pytest.mark.parametrize("write", [False, True])
def test_what_somebody_wrote_without_a_seal_after_sealed_entries_is_not_trusted(sealed: Path | str, tmp_path: Path, write: bool) -> None:
    with open_store(sealed, write=True) as store:
        store.sessions.append(WORKER, start_of(store), (entry(b"forged", "k-3"),))
    with open_store(sealed, write=write, sealer=sealer(tmp_path / "keys")) as store:
        read: list[str | None] = []
        with pytest.raises(SealMismatch, match=r"entry E00000003 .* its seal is missing"):
            read.extend(each.key for each in store.sessions.entries(WORKER))
        assert ["k-1", "k-2"] == read
        with pytest.raises(SealMismatch, match="its seal is missing"):
            store.sessions.find(WORKER, "k-3")


def test_a_witness_follows_a_log_from_one_opening_to_the_next(sealed: Path | str, tmp_path: Path) -> None:
    for number in range(3):
        said = Said()
        witness = said.witness(tmp_path / "witness")
        with open_store(sealed, write=True, sealer=sealer(tmp_path / "keys"), witness=witness) as store:
            answer = store.sessions.append(WORKER, start_of(store), (entry(str(number).encode()),))
        assert isinstance(answer, Committed)
        assert (answer.head, []) == (witness.last(WORKER), said)
