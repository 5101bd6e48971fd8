"""`new`, `test`, `paths`, `diff` and `simulate`, as an author runs them."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from stateward.runtime.profile.problems import OWN_CODES as PROFILE_CODES
from stateward.runtime.trial.problems import OWN_CODES as TRIAL_CODES
from tests.cli.guarded import REFINE
from tests.cli.program import Place, place


@pytest.fixture
def author(tmp_path: Path) -> Place:
    return place(tmp_path)


def test_a_first_flow_is_written_tested_and_walked(author: Place) -> None:
    assert (
        "wrote first.dcdl and first.test.dcdl\nnext: `stateward compile first.dcdl`, then `stateward simulate first.dcdl`\n"
        == author.done("new", "first")
    )
    assert "checked 1 flow: no problems\n" == author.done("compile", "--strict", "first.dcdl")
    assert "first.test.dcdl: 3 tests passed; 3 of 3 transitions taken (100 %)\n" == author.done("test", "first.dcdl")
    assert author.done("test", "first.dcdl") == author.done("test", ".")
    assert author.done("paths", "first.dcdl").startswith("path 1: 4 transitions\n  work\n  -- submit    -> review\n")
    assert "the two are the same flow\n" == author.done("diff", "first.dcdl", "first.dcdl")


def test_what_is_there_is_never_written_over_and_nothing_is_left_half_written(author: Place) -> None:
    (author.work / "mine.test.dcdl").write_text("keep", "utf-8")
    ended = author.call("new", "mine")
    assert "error: `mine.test.dcdl` is there already\n  = help: name another flow, or another folder with `--dir`\n" == ended.err
    assert 2 == ended.status
    assert ["mine.test.dcdl"] == [each.name for each in author.work.iterdir()]
    assert "keep" == (author.work / "mine.test.dcdl").read_text("utf-8")
    assert "error: a flow cannot be named `a b`: it holds a space\n" in author.call("new", "a b").err
    assert "error: there is no folder `nope`\n" in author.call("new", "x", "--dir", "nope").err


def test_failed_tests_end_with_status_1_and_say_what_is_not_taken(author: Place) -> None:
    author.done("new", "first")
    tests = author.work / "first.test.dcdl"
    tests.write_text('schema_version = 1; tests = { a = { steps = [{ met = "submit"; enters = "done"; }]; }; };', "utf-8")
    ended = author.call("test", "first.dcdl")
    assert 1 == ended.status
    assert "error[flow_test_failed]: test `a`: the flow entered `review` by `submit`" in ended.out
    assert "first.test.dcdl: 1 test of 1 failed; 1 of 3 transitions taken (33 %)\n" in ended.out
    assert "  not taken: `review.accept` and `review.send_back`\n" in ended.out
    told = json.loads(author.call("test", "first.dcdl", "--json").out)
    assert [{"name": "a", "passed": False}] == told["tests"]
    assert [{"state": "work", "transition": "submit"}] == told["coverage"]["taken"]


def test_a_coverage_that_is_asked_for_is_held_to(author: Place) -> None:
    author.done("new", "first")
    tests = author.work / "first.test.dcdl"
    tests.write_text('schema_version = 1; tests = { a = { steps = [{ met = "submit"; enters = "review"; }]; }; };', "utf-8")
    assert 0 == author.call("test", "first.dcdl", "--coverage", "33").status
    ended = author.call("test", "first.dcdl", "--coverage", "34")
    assert 1 == ended.status
    assert ended.out.endswith("  34 % were asked for\n")


def test_a_flow_elsewhere_is_named_and_one_that_is_missing_is_told(author: Place) -> None:
    (author.work / "x.test.dcdl").write_text(
        'schema_version = 1; tests = { a = { steps = [{ met = "finish"; enters = "done"; }]; }; };', "utf-8"
    )
    ended = author.call("test", "x.test.dcdl")
    assert (2, "error: the flow that `x.test.dcdl` tests: `x.dcdl` does not exist\n") == (ended.status, ended.err.split("  = help")[0])
    passed = author.done("test", "x.test.dcdl", "--flow", "builtin:single-step")
    assert "x.test.dcdl: 1 test passed; 1 of 1 transition taken (100 %)\n" == passed


def test_a_folder_without_tests_is_told(author: Place) -> None:
    (author.work / "empty").mkdir()
    ended = author.call("test", "empty")
    assert (2, "error: there are no tests in `empty`\n  = help: a file of tests ends in `.test.dcdl`\n") == (ended.status, ended.err)


def test_flows_that_differ_end_with_status_1(author: Place) -> None:
    author.done("new", "first")
    text = (author.work / "first.dcdl").read_text("utf-8")
    (author.work / "other.dcdl").write_text(text.replace('target = "work"', 'target = "review"'), "utf-8")
    ended = author.call("diff", "first.dcdl", "other.dcdl")
    assert "~ transition `send_back` of state `review`: leads to `review`, not to `work`\n" == ended.out
    assert 1 == ended.status
    (author.work / "renamed.dcdl").write_text(text.replace('"first"', '"second"'), "utf-8")
    ended = author.call("diff", "first.dcdl", "renamed.dcdl", "--json")
    assert (1, {"change": "renamed", "what": "flow", "old": "first", "new": "second"}) == (ended.status, json.loads(ended.out))


def walked(author: Place, typed: str, *asked: str) -> str:
    """Walk a flow with a terminal for both streams, and give what it showed."""
    ours, theirs = pty.openpty()
    environment = {**author.environment, "TERM": "dumb"}
    command = author.command("simulate", *(asked or ("builtin:single-step",)))
    process = subprocess.Popen(command, cwd=author.work, env=environment, stdin=theirs, stdout=theirs)
    os.close(theirs)
    shown = b""
    for line in typed.splitlines(keepends=True):
        while not shown.endswith(b"> "):
            shown += os.read(ours, 65_536)
        os.write(ours, line.encode())
        shown += b"\n"
    while True:
        try:
            chunk = os.read(ours, 65_536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    assert 0 == process.wait()
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_a_walk_shows_states_takes_verdicts_and_takes_steps_back(author: Place) -> None:
    shown = walked(author, "finihs\nfinish?\n\nfinish\npath\nundo\nundo\nquit\n")
    for told in (
        "state work\n",
        "`finihs` is no transition of this state; did you mean `finish`?\n",
        "stayed: no condition is met; could not check `finish`\n",
        "stayed: no condition is met\n",
        "by finish to done\n",
        "state done (completed)\n",
        "work -> done\n",
        "this is the beginning\n",
    ):
        assert told in shown
    assert [] == list(author.work.iterdir())


def test_a_walk_sets_variables_and_guards_lead_on(author: Place) -> None:
    (author.work / "refine.dcdl").write_text(REFINE, "utf-8")
    typed = "set attempts=many\nset bugs=true\nset title=My draft\n\nset bugs=false\nundo\nset bugs=true\n\npath\nquit\n"
    shown = walked(author, typed, "refine.dcdl", "--input", "topic=owls")
    for told in (
        "`many` is no JSON, and `attempts` holds no such text\n",
        "refused  variable_not_writable\n",
        "set title\n",
        "by checked to look\n",
        "  when !vars.bugs && vars.attempts < input.limit\n",
        "  may be set: bugs\n",
        "by again to work\n",
        "work -> look -> work\n",
    ):
        assert told in shown


def test_a_walk_begins_with_the_inputs_of_its_flow(author: Place) -> None:
    (author.work / "refine.dcdl").write_text(REFINE, "utf-8")
    process = author.command("simulate", "refine.dcdl")
    ours, theirs = pty.openpty()
    ended = subprocess.run(
        process, cwd=author.work, env=dict(author.environment), stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(theirs)
    os.close(ours)
    assert (2, "error: input_missing: flow `refine` is given no input `topic`\n  = help: give input `topic`\n") == (
        ended.returncode,
        ended.stderr,
    )


def test_a_walk_needs_a_terminal(author: Place) -> None:
    ended = author.call("simulate", "builtin:single-step")
    assert (2, "error: verdicts are typed, and standard input is no terminal\n") == (ended.status, ended.err.split("  = help")[0])


def test_two_revisions_of_a_flow_are_compared(author: Place) -> None:
    author.done("new", "first")
    author.done("flow", "save", "first.dcdl")
    source = author.work / "first.dcdl"
    source.write_text(source.read_text("utf-8").replace("Do what", "Carefully do what"), "utf-8")
    author.done("flow", "save", "first.dcdl")
    ended = author.call("diff", "workspace:first@1", "workspace:first")
    assert (1, "~ state `work`: other instructions\n") == (ended.status, ended.out.split("    -")[0])
    assert "the two are the same flow\n" == author.done("diff", "workspace:first@2", "first.dcdl")


@pytest.mark.parametrize(
    ("selector", "told"),
    [
        ("workspace:first@2", "error: `workspace:first` has no revision 2\n  = help: name one from 1 to 1\n"),
        ("workspace:first@0", "error: `workspace:first` has no revision 0\n  = help: name one from 1 to 1\n"),
        ("workspace:first@x", "error: `x` is no revision of `workspace:first`\n  = help: name one by its number: `@3`\n"),
        (
            "workspace:first@" + "9" * 30,
            f"error: `{'9' * 30}` is no revision of `workspace:first`\n  = help: name one by its number: `@3`\n",
        ),
        ("workspace:frist@1", "error: the Workspace keeps no flow `workspace:frist`\n  = help: did you mean `workspace:first`?\n"),
    ],
)
def test_a_revision_that_is_not_there_is_told(author: Place, selector: str, told: str) -> None:
    author.done("new", "first")
    author.done("flow", "save", "first.dcdl")
    ended = author.call("compile", selector)
    assert (2, told) == (ended.status, ended.err)


def test_of_tests_that_were_not_run_no_coverage_is_told(author: Place) -> None:
    author.done("new", "first")
    (author.work / "first.test.dcdl").write_text("tests = {};", "utf-8")
    ended = author.call("test", "first.dcdl", "--json")
    assert (1, None) == (ended.status, json.loads(ended.out)["coverage"])
    assert "first.test.dcdl: no test was run\n" in author.call("test", "first.dcdl").out


@pytest.mark.parametrize("code", [*TRIAL_CODES, *PROFILE_CODES])
def test_codes_of_files_beside_flows_are_explained(author: Place, code: str) -> None:
    assert author.done("explain", code).startswith(("A ", "The "))
    assert f"  {code}\n" in author.done("explain")
