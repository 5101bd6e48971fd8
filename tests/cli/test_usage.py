"""Wrong usage, and answers files that are none: one line that says what, one that says what to do."""

import sys
from pathlib import Path
from types import SimpleNamespace

import click
import pytest

from stateward.runtime.surfaces.cli import COMMANDS
from tests.cli.program import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("bogus", "error: no such command `bogus`\n  = help: see `stateward --help`\n"),
        ("run", "error: missing argument `SELECTOR`\n  = help: see `stateward run --help`\n"),
        ("run a b", "error: got unexpected extra argument (b)\n  = help: see `stateward run --help`\n"),
        ("status --nope", "error: no such option `--nope`\n  = help: did you mean `--store`?\n"),
        (
            "log show --after x",
            "error: invalid value for `--after`: `x` is not a valid integer range\n  = help: see `stateward log show --help`\n",
        ),
        ("operate pause", "error: missing argument `WORKER`\n  = help: see `stateward operate pause --help`\n"),
    ],
)
def test_wrong_usage_is_told_like_every_other_error(here: Place, arguments: str, said: str) -> None:
    ended = here.call(*arguments.split())
    assert (2, "", said) == (ended.status, ended.out, ended.err)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "its root: it should be an object"),
        ("{}", "`requests`: it is not there"),
        ('{"requests":{}}', "`requests`: it should be a list"),
        ('{"requests":[1]}', "`requests.0`: it should be an object"),
        ('{"requests":[{"reason":1}]}', "`requests.0.reason`: it should be a text"),
        ('{"requests":[{"reason":"a","x":1}]}', "`requests.0.x`: no such member is known"),
        (
            '{"requests":[{"reason":"a","verdicts":{"m":"maybe"}}]}',
            "`requests.0.verdicts.m.verdict`: it should be `met`, `not_met` or `indeterminate`",
        ),
    ],
)
def test_an_answers_file_is_told_in_the_words_of_its_format(here: Place, text: str, said: str) -> None:
    (here.work / "a.json").write_text(text)
    ended = here.call("run", "builtin:single-step", "--answers", "a.json")
    expected = f"error: answers file `a.json` is not usable at {said}\n  = help: mend that place in the file\n"
    assert (2, "", expected) == (ended.status, ended.out, ended.err)


@click.command()
def broken() -> None:
    raise LookupError("nobody thought\nof \x1b[2Jthis")


def test_a_fault_of_the_program_itself_is_one_line_that_says_where(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "broken", (__name__, "broken", "Fails."))
    monkeypatch.setitem(sys.modules, __name__, SimpleNamespace(broken=broken))
    ended = here.call("broken")
    line, remedy = ended.err.splitlines()
    assert 4 == ended.status
    assert line.startswith("error: a fault of stateward itself: LookupError at test_usage.py:")
    assert "\x1b" not in line
    assert remedy == "  = help: report it, with what STATEWARD_TRACEBACK=1 prints"
    with pytest.raises(LookupError):
        here.call("broken", STATEWARD_TRACEBACK="1")
