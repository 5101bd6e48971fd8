"""Which Worker a session works in, kept as small files: whole, private, bounded, and safe with several processes at once."""

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from stateward.runtime.ports.bindings import BINDING_TEXT_BYTES_MAX, Binding, BindingsUnusable
from stateward.store import bindings as module
from stateward.store.bindings import FileBindings

BOUND = Binding("claude", "s-1", "worker-1", "s-1", "/home/ada/shop", after=12, run=1)


@pytest.fixture
def kept(tmp_path: Path) -> FileBindings:
    return FileBindings(tmp_path / "state" / "sessions")


def test_a_binding_comes_back_as_it_was_kept(kept: FileBindings) -> None:
    full = replace(BOUND, ended="clear", following="s-2", blocks=2, seen=41, released=True)
    kept.keep(full)
    assert full == kept.find("claude", "s-1")
    assert (None, None) == (kept.find("codex", "s-1"), kept.find("claude", "s-2"))


def test_binding_gives_what_is_there_already(kept: FileBindings) -> None:
    assert BOUND == kept.bind(BOUND)
    assert BOUND == kept.bind(replace(BOUND, worker="worker-2"))
    kept.keep(replace(BOUND, worker="worker-3"))
    assert "worker-3" == kept.bind(BOUND).worker


def test_nobody_else_can_read_them(kept: FileBindings, tmp_path: Path) -> None:
    kept.keep(BOUND)
    folder = tmp_path / "state" / "sessions"
    assert 0o700 == folder.stat().st_mode & 0o777
    assert {0o600} == {each.stat().st_mode & 0o777 for each in folder.iterdir()}
    assert not any("s-1" in each.name for each in folder.iterdir())


def test_what_is_no_binding_counts_as_none_and_is_written_over(kept: FileBindings, tmp_path: Path) -> None:
    kept.keep(BOUND)
    (file,) = (tmp_path / "state" / "sessions").glob("*.json")
    for spoiled in (b"", b"{}", b"[1, 2", b'{"v": 9}', b"x" * (module.FILE_BYTES_MAX + 1)):
        file.write_bytes(spoiled)
        assert kept.find("claude", "s-1") is None
        assert BOUND == kept.bind(BOUND) == kept.find("claude", "s-1")


@pytest.mark.parametrize("spoil", ["link", "open", "fifo"])
def test_a_link_a_pipe_and_what_others_can_write_count_as_none(kept: FileBindings, tmp_path: Path, spoil: str) -> None:
    kept.keep(BOUND)
    (file,) = (tmp_path / "state" / "sessions").glob("*.json")
    if spoil == "open":
        file.chmod(0o666)
    elif spoil == "link":
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    else:
        file.unlink()
        os.mkfifo(file, 0o600)
    assert kept.find("claude", "s-1") is None
    kept.keep(BOUND)
    assert BOUND == kept.find("claude", "s-1")


def test_the_session_that_was_cleared_last_in_a_folder_is_found_before_one_that_goes_on(kept: FileBindings) -> None:
    assert kept.cleared("claude", BOUND.folder) is None
    kept.keep(replace(BOUND, session="s-1", ended="clear"))
    kept.keep(replace(BOUND, session="s-2"))
    kept.keep(replace(BOUND, session="s-3", folder="/elsewhere", ended="clear"))
    kept.keep(replace(BOUND, session="s-4", host="codex", ended="clear"))
    found = kept.cleared("claude", BOUND.folder)
    assert found is not None
    assert "s-1" == found.session
    kept.keep(replace(found, following="s-5"))
    found = kept.cleared("claude", BOUND.folder)
    assert found is not None
    assert "s-2" == found.session


def test_a_folder_holds_a_bounded_number_of_them(kept: FileBindings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BINDINGS_MAX", 3)
    for number in range(5):
        kept.keep(replace(BOUND, session=f"s-{number}"))
        os.utime(tmp_path / "state" / "sessions" / kept._name("claude", f"s-{number}"), ns=(number, number))
    assert [False, False, True, True, True] == [kept.find("claude", f"s-{number}") is not None for number in range(5)]


def test_which_workers_are_active_is_remembered_while_the_store_looks_the_same(kept: FileBindings, tmp_path: Path) -> None:
    assert kept.active("mark-1") is None
    kept.keep_active("mark-1", ("worker-1", "worker-2"))
    assert (("worker-1", "worker-2"), None) == (kept.active("mark-1"), kept.active("mark-2"))
    kept.keep_active("mark-2", ())
    assert (None, ()) == (kept.active("mark-1"), kept.active("mark-2"))
    kept.keep_active("mark-3", [str(number) for number in range(module.ACTIVE_KEPT_MAX + 1)])
    assert kept.active("mark-3") is None
    (tmp_path / "state" / "sessions" / "active").write_text('{"v": 1, "mark": "mark-2", "workers": 7}')
    assert kept.active("mark-2") is None


def test_a_text_over_its_limit_is_refused(kept: FileBindings) -> None:
    with pytest.raises(ValueError, match="over the limit"):
        kept.keep(replace(BOUND, folder="x" * (BINDING_TEXT_BYTES_MAX + 1)))


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BindingsUnusable, match="cannot be kept"):
        FileBindings(tmp_path / "file" / "sessions").keep(BOUND)


def _bind(folder: str, worker: str) -> str:
    return FileBindings(Path(folder)).bind(replace(BOUND, worker=worker)).worker


def test_of_several_processes_that_bind_at_once_all_get_one_binding(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        asked = [pool.submit(_bind, str(tmp_path / "sessions"), f"worker-{number}") for number in range(16)]
        assert 1 == len({each.result() for each in asked})
