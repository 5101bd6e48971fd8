"""Folders of flows on the disk, under the contract of every SourceFolder, and through any history of edits and syncs."""

import tempfile
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings

from stateward.runtime.engine.folders import FileProblem, SourceFolder
from stateward.runtime.surfaces.cli.flows import folder as folder_module
from stateward.runtime.surfaces.cli.flows.folder import FlowFolder, opened_folder
from tests.contracts.source_folders import *  # noqa: F403 -- a contract is all its tests
from tests.runtime.engine.test_folder_sync_histories import Folders


class Edited(MutableMapping[str, bytes | FileProblem]):
    """The files of a folder as an editor sees them."""

    def __init__(self, folder: FlowFolder) -> None:
        self._folder = folder

    def __getitem__(self, name: str) -> bytes | FileProblem:
        return self._folder.look()[name]

    def __setitem__(self, name: str, content: bytes | FileProblem) -> None:
        assert isinstance(content, bytes)
        (self._folder.path / f"{name}.dcdl").write_bytes(content)

    def __delitem__(self, name: str) -> None:
        (self._folder.path / f"{name}.dcdl").unlink()

    def __iter__(self) -> Iterator[str]:
        assert all(each.suffix == ".dcdl" for each in self._folder.path.iterdir()), "nothing is left lying about"
        return iter(self._folder.look())

    def __len__(self) -> int:
        return len(self._folder.look())


@pytest.fixture(params=["exchanging", "in steps"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlowFolder]:
    """A folder on a system that exchanges two names at once, and on one that does not."""
    if request.param == "in steps":
        monkeypatch.setattr(folder_module, "_renameat2", lambda: None)
    with opened_folder(tmp_path) as opened:
        yield opened


@pytest.fixture
def files(folder: FlowFolder) -> Edited:
    return Edited(folder)


class FoldersOnTheDisk(Folders):
    """The same histories with real files."""

    def __init__(self) -> None:
        self._opened = ExitStack()
        super().__init__()

    def new_folder(self, who: str) -> tuple[SourceFolder, MutableMapping[str, bytes | FileProblem]]:
        path = Path(self._opened.enter_context(tempfile.TemporaryDirectory(prefix="stateward-")))
        folder = self._opened.enter_context(opened_folder(path))
        return folder, Edited(folder)

    def teardown(self) -> None:
        self._opened.close()


TestFoldersOnTheDisk = FoldersOnTheDisk.TestCase
TestFoldersOnTheDisk.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
