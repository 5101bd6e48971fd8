"""`stateward graph`: its forms, where it writes to, and the run of a Worker."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from stateward.compiler.cli.graphing import graph_command
from tests.cli.program import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


FLOW = """schema_version = 1;
name = "mine";
initial = "one";
states = {
    one = { instructions = "Do it."; transitions = { go = { target = "two"; condition = "Done."; }; }; };
    two = {
        instructions = "Check it.";
        transitions = {
            again = { target = "one"; condition = "Not right."; };
            end = { target = "three"; condition = "Right."; };
        };
    };
    three = { instructions = ""; terminal = true; };
};
"""


def run(here: Place, *requests: object) -> None:
    """Run a flow as far as scripted requests lead."""
    (here.work / "mine.dcdl").write_text(FLOW, "utf-8")
    if not (here.work / ".stateward").exists():
        here.done("flow", "save", "mine.dcdl")
    path = here.folder / "answers.json"
    path.write_text(json.dumps({"requests": requests}), "utf-8")
    here.call("run", "workspace:mine", "--answers", str(path), "--max-requests", str(len(requests)))


def met(transition: str) -> object:
    return {"reason": f"on by {transition}", "verdicts": {transition: "met"}}


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("text", "coder-review: 5 states, begins in implement"),
        ("mermaid", "flowchart TD"),
        ("dot", 'digraph "coder-review" {'),
        ("svg", '<svg xmlns="http://www.w3.org/2000/svg" class="stateward-auto"'),
    ],
)
def test_each_form_goes_to_standard_output_and_to_a_file(here: Place, form: str, first: str) -> None:
    shown = here.done("graph", "builtin:coder-review", "--format", form)
    assert shown.startswith(first)
    assert shown == here.done("graph", "builtin:coder-review", "--format", form, "--output", "-")
    assert "" == here.done("graph", "builtin:coder-review", "--format", form, "--output", "picture")
    assert shown == (here.work / "picture").read_text("utf-8")


@pytest.mark.parametrize(
    ("file", "first"),
    [("flow.svg", "<svg "), ("flow.SVG", "<svg "), ("flow.dot", "digraph "), ("flow.gv", "digraph "), ("flow.mmd", "flowchart ")],
)
def test_the_ending_of_a_file_says_what_is_written(here: Place, file: str, first: str) -> None:
    here.done("graph", "builtin:single-step", "--output", file)
    assert (here.work / file).read_text("utf-8").startswith(first)
    here.done("graph", "builtin:single-step", "--output", file, "--format", "text")
    assert (here.work / file).read_text("utf-8").startswith("single-step: ")


def test_a_picture_is_utf_8_whatever_the_terminal_shows(here: Place) -> None:
    run(here, met("go"))
    drawn = here.done("graph", "--worker", "--format", "dot", encoding="latin-1")
    assert 's0 [label="one  ×1"' in drawn.encode("latin-1").decode("utf-8")


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_a_theme_chooses_the_colours(here: Place, theme: str) -> None:
    drawn = here.done("graph", "builtin:single-step", "--format", "svg", "--theme", theme)
    assert f'class="stateward-{theme}"' in drawn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a flow by its PATH, or a Worker by --worker"),
        (["builtin:single-step", "--worker", "0123"], "name a flow by its PATH, or a Worker by --worker"),
        (["builtin:single-step", "--theme", "dark"], "--theme goes with --format svg"),
    ],
)
def test_what_does_not_go_together_is_said(here: Place, arguments: list[str], message: str) -> None:
    ended = here.call("graph", *arguments)
    assert (2, "", f"error: {message}\n  = help: see `stateward graph --help`\n") == (ended.status, ended.out, ended.err)


def test_a_source_is_not_written_over(here: Place) -> None:
    (here.work / "mine.dcdl").write_text(FLOW, "utf-8")
    ended = here.call("graph", "mine.dcdl", "--format", "svg", "--output", "mine.dcdl")
    assert (2, "") == (ended.status, ended.out)
    assert FLOW == (here.work / "mine.dcdl").read_text("utf-8")


def test_a_place_that_takes_no_file_is_said(here: Place) -> None:
    ended = here.call("graph", "builtin:single-step", "--output", "nowhere/picture.txt")
    assert (2, "") == (ended.status, ended.out)
    assert ended.err.startswith("error: the folder of `nowhere/picture.txt` does not exist")


def test_the_synthetic_end_is_shown_when_it_is_asked_for(here: Place) -> None:
    for form in ("text", "mermaid", "dot", "svg"):
        with_end, without = (here.done("graph", "builtin:coder-review", "--format", form, *more) for more in (["--cancelled"], []))
        assert with_end != without


def test_the_run_of_a_worker_is_marked_in_every_form(here: Place) -> None:
    run(here, met("go"), met("again"), met("go"), {"reason": "right?", "verdicts": {"end": "not_met", "again": "indeterminate"}})
    worker = here.status()["worker"]
    text = here.done("graph", "--worker", worker)
    assert "┏━ ▶ two  ×2" in text
    assert "┃ again ↩ one  ×1  [could not check]" in text
    assert "┃ end   → three  [not met]" in text
    assert "│ go → two  ×2" in text
    assert '|"again  ×1  #91;could not check#93;"|' in here.done("graph", "--worker", worker, "--format", "mermaid")
    assert 'label="again  ×1  [could not check]"' in here.done("graph", "--worker", worker, "--format", "dot")
    drawn = here.done("graph", "--worker", worker, "--format", "svg")
    assert "The work stands in two." in drawn
    assert {"2", "1"} == set(re.findall(r'class="count taken"[^>]*>×(\d)<', drawn))


def test_a_worker_is_named_by_a_part_of_its_id_or_not_at_all(here: Place) -> None:
    run(here, met("go"))
    worker = here.status()["worker"]
    assert here.done("graph", "--worker", worker) == here.done("graph", "--worker") == here.done("graph", "--worker", worker[-8:])


def test_a_worker_is_found_from_elsewhere(here: Place) -> None:
    run(here, met("go"))
    near = here.done("graph", "--worker")
    (here.work / "below").mkdir()
    assert near == here.done("graph", "--worker", "--workdir", "below", "--store", str(here.store))


def test_a_worker_that_is_not_there_is_said(here: Place) -> None:
    run(here, met("go"))
    ended = here.call("graph", "--worker", "nothing-like-it")
    assert (2, "") == (ended.status, ended.out)
    assert ended.err.startswith("error: no Worker of this Workspace fits `nothing-like-it`")


def test_a_place_with_a_password_is_not_told(here: Place) -> None:
    ended = here.call("graph", "--worker", "--store", "postgresql:secret@")
    assert 2 == ended.status
    assert "secret" not in ended.err


def test_a_worker_without_a_workspace_is_said(here: Place) -> None:
    ended = here.call("graph", "--worker")
    assert (2, "") == (ended.status, ended.out)


def test_drawing_a_worker_writes_nothing(here: Place) -> None:
    run(here, met("go"))
    before = here.log()
    here.done("graph", "--worker", "--format", "svg")
    assert before == here.log()


def test_a_run_that_was_cancelled_stands_at_the_synthetic_end(here: Place) -> None:
    run(here, met("go"), met("$cancel"))
    assert "▶ $cancelled  ×1" in here.done("graph", "--worker")
    drawn = here.done("graph", "--worker", "--format", "dot")
    assert [
        '  s1 -> s3 [label="$cancel  ×1"',
    ] == re.findall(r"  s\d -> s3 \[label=\"[^\"]*\"", drawn)


def test_only_the_last_answers_of_the_present_visit_are_marked(here: Place) -> None:
    run(here, {"reason": "is it?", "verdicts": {"go": "indeterminate"}}, {"reason": "it is"})
    assert "┃ go → two  [not met]" in here.done("graph", "--worker")
    run(here, {"reason": "is it?", "verdicts": {"go": "indeterminate"}}, met("go"))
    assert "[" not in here.done("graph", "--worker")


def test_the_compiler_by_itself_knows_no_worker() -> None:
    done = CliRunner().invoke(graph_command, ["--worker"])
    assert (2, "") == (done.exit_code, done.stdout)
    assert done.stderr.startswith("error: no Worker is known here: this command reads standard input only\n")


def test_the_compiler_by_itself_draws_what_comes_by_standard_input() -> None:
    done = CliRunner().invoke(graph_command, ["-", "--format", "dot"], input=FLOW)
    assert (0, 'digraph "mine" {') == (done.exit_code, done.stdout.splitlines()[0])
