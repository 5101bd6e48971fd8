"""`stateward explain`: what a code means, at the terminal."""

import pytest
from click.testing import CliRunner, Result

from stateward.compiler.cli.explaining import explain_command
from stateward.compiler.diagnostics.codes import BESIDE, CODES
from stateward.compiler.diagnostics.text import Look
from stateward.runtime.surfaces.cli import cli
from tests.cli.hosts import TextHost


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["explain", *arguments], prog_name="stateward")


def test_a_code_is_explained_with_a_source_that_fails_and_one_that_passes() -> None:
    done = run("transition_target_not_found")
    assert (0, "") == (done.exit_code, done.stderr)
    assert (
        done.stdout
        == """\
error[transition_target_not_found]

A transition leads to a state that the flow does not declare. The note lists those that it declares.
What would only follow from this, such as a state that nothing reaches any more, is not said.

this fails:

    schema_version = 1;
    name = "paper";
    initial = "write";
    states = {
        write = {
            instructions = "Write the paper.";
            transitions = {
                finish = { target = "dnoe"; condition = "The paper is written."; };
            };
        };
        done = { instructions = ""; terminal = true; };
    };

error[transition_target_not_found]: no state is named `dnoe`
   ┌─ paper.dcdl:8:33
   │
 8 │             finish = { target = "dnoe"; condition = "The paper is written."; };
   │                                 ^^^^^^ not declared in flow `paper`
   │
   = note: flow `paper` declares `write` and `done`
   = help: did you mean `done`?

this passes:

    schema_version = 1;
    name = "paper";
    initial = "write";
    states = {
        write = {
            instructions = "Write the paper.";
            transitions = {
                finish = { target = "done"; condition = "The paper is written."; };
            };
        };
        done = { instructions = ""; terminal = true; };
    };

what to change:

Name a declared state, spelt exactly as its key, or declare the one that is meant. `stateward
compile --fix --unsafe-fixes` takes the near name that the help line offers.
"""
    )


@pytest.mark.parametrize("code", CODES)
def test_nothing_in_an_explanation_acts_on_a_terminal(code: str) -> None:
    done = run(code)
    assert 0 == done.exit_code
    assert all(char.isprintable() or char == "\n" for char in done.stdout)


def test_without_a_code_all_are_listed_with_what_they_mean() -> None:
    done = run()
    assert 0 == done.exit_code
    listed = [line.split(maxsplit=1) for line in done.stdout.splitlines() if line.startswith("  ")]
    assert [*([code.name, code.title] for code in CODES.values()), *([name] for name in BESIDE)] == listed
    assert done.stdout.startswith("errors:\n  source_too_large ")
    assert done.stdout.endswith("`stateward explain CODE` says more of one\n")


@pytest.mark.parametrize(
    ("code", "help_"),
    [
        ("wrong_tpye", "did you mean `wrong_type`?"),
        ("Wrong-Type", "did you mean `wrong_type`?"),
        ("unreachable_sate", "did you mean `unreachable_state`?"),
        ("E0308", "`stateward explain` lists the codes"),
        ("", "`stateward explain` lists the codes"),
    ],
)
def test_an_unknown_code_is_status_2_with_the_nearest_one(code: str, help_: str) -> None:
    done = run(code)
    assert (2, "") == (done.exit_code, done.stdout)
    assert f"error: no diagnostic has the code `{code or chr(34) * 2}`\n  = help: {help_}\n" == done.stderr


def test_prose_keeps_to_the_width_and_headings_stand_out_in_colours() -> None:
    host = TextHost({}, shown=Look(width=60, colour=True))
    done = CliRunner().invoke(explain_command, ["wrong_type"], obj=lambda: host, color=True)
    lines = done.stdout.splitlines()
    assert "\x1b[1merror[wrong_type]\x1b[0m" == lines[0]
    assert "\x1b[1mthis passes:\x1b[0m" in lines
    prose = lines[2 : lines.index("\x1b[1mthis fails:\x1b[0m")]
    assert max(map(len, prose)) <= 60
