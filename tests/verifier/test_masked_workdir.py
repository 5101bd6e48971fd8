"""A judge is shown no secret that lies in a file, and can cite the line all the same."""

from pathlib import Path

import pytest

from stateward.runtime.core.events import FileCitation
from stateward.runtime.session.evidence import EvidenceClass
from stateward.runtime.session.masking import Secrets
from stateward.runtime.verifier.ledger import Resolved
from stateward.runtime.verifier.masked import MaskedWorkdir
from stateward.runtime.verifier.rereading import still_shows
from stateward.runtime.verifier.toolbox import toolbox
from stateward.runtime.workdir.view import WorkdirView
from tests.verifier.logs import asked
from tests.verifier.test_tools import Hand, inside

VALUE = "hunter2hunter2"
MASKED = "token = «secret:api»"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.env").write_text(f"# settings\ntoken = {VALUE}\n")
    return tmp_path


def test_a_secret_gives_way_in_what_is_read_and_found_and_the_line_can_be_cited(root: Path) -> None:
    cited = FileCitation("a.env", 2, 2, MASKED)
    with WorkdirView(root) as view:
        masked = MaskedWorkdir(view, Secrets({"api": VALUE}))
        hand = Hand(asked(), masked)
        assert f"a.env\n1\t# settings\n2\t{MASKED}" == inside(hand("Read", path="a.env"))
        assert f"a.env:2\t{MASKED}" == inside(hand("Grep", pattern="token"))
        assert "a.env" == inside(hand("Glob", pattern="*"))
        assert Resolved(EvidenceClass.WORKDIR) == hand.ledger.resolve(cited)
        assert still_shows(masked, cited)
        assert not still_shows(view, cited)


def test_a_toolbox_shows_no_secret_of_the_workdir(root: Path) -> None:
    with toolbox(asked(), lambda _: WorkdirView(root), secrets=Secrets({"api": VALUE})) as box:
        assert MASKED in box.call("Read", {"path": "a.env"})


def test_what_is_refused_is_refused(root: Path) -> None:
    with WorkdirView(root) as view:
        hand = Hand(asked(), MaskedWorkdir(view, Secrets({"api": VALUE})))
        assert "not" in hand.refusal("Read", {"path": "none"})
        assert hand.refusal("Grep", {"pattern": "("})
