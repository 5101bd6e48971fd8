"""Wrong usage, and answers files that are none: one line that says what, one that says what to do."""

from pathlib import Path

import pytest

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
