"""What the tests of the Workdir begin with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stateward.runtime.workdir.beneath import Opener
from stateward.runtime.workdir.view import WorkdirView
from tests.workdir.trees import OPENERS, Tree, tree


@pytest.fixture
def place(tmp_path: Path) -> Tree:
    return tree(tmp_path)


@pytest.fixture(params=sorted(OPENERS))
def opener(request: pytest.FixtureRequest) -> Opener:
    return OPENERS[request.param]


@pytest.fixture
def view(place: Tree, opener: Opener) -> Iterator[WorkdirView]:
    with WorkdirView(place.root, opener=opener) as opened:
        yield opened
