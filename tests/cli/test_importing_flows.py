"""Flows that import, at the command line: files beside them are reached, from everywhere else nothing is."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner, Result

from stateward.compiler.cli.comparing import diff_command, paths_command
from stateward.compiler.cli.compiling import compile_command
from stateward.compiler.cli.formatting import fmt_command
from stateward.compiler.cli.graphing import graph_command
from stateward.runtime.surfaces.cli import testing
from stateward.runtime.surfaces.cli.reading import FileHost
from tests.cli.hosts import TextHost
from tests.cli.program import STATEWARD, place

FLOW = """\
schema_version = 2;
name = "paper";
initial = "draft";
states = {
    draft = {
        instructions = (import "./draft.md").content;
        transitions = { submit = { target = "done"; condition = (import "./texts.dcdl").finished; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""
FILES = {"paper.dcdl": FLOW, "draft.md": "Write the paper.\n", "texts.dcdl": 'finished = "The paper is written.";\n'}
TESTS = 'schema_version = 1; tests = { straight = { steps = [{ met = "submit"; enters = "done"; }]; }; };\n'


def put(folder: Path, **files: str) -> None:
    for name, text in {**FILES, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def run(command: Command, *arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(command, list(arguments), obj=FileHost, input=given)


def test_a_flow_is_compiled_with_the_files_beside_it_from_wherever_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "flows")
    monkeypatch.chdir(tmp_path)
    told = [run(compile_command, each) for each in ("flows/paper.dcdl", str(tmp_path / "flows" / "paper.dcdl"), "flows")]
    assert [(0, "checked 1 flow: no problems\n")] * 2 == [(each.exit_code, each.stdout) for each in told[:2]]
    assert (0, "checked 1 flow: no problems; passed over 1 file that is no flow\n") == (told[2].exit_code, told[2].stdout)


def test_the_report_for_programs_names_what_is_imported(tmp_path: Path) -> None:
    put(tmp_path)
    (file,) = json.loads(run(compile_command, "--format", "json", str(tmp_path / "paper.dcdl")).stdout)["files"]
    assert (["draft.md", "texts.dcdl"], "sha256:") == ([each["path"] for each in file["modules"]], file["closure_digest"][:7])


def test_the_definition_that_is_written_holds_the_texts(tmp_path: Path) -> None:
    put(tmp_path)
    state = json.loads(run(compile_command, "--output", "-", str(tmp_path / "paper.dcdl")).stdout)["states"][0]
    assert ("Write the paper.\n", "The paper is written.") == (state["instructions"], state["transitions"][0]["condition"])


def test_a_fault_in_an_imported_file_is_told_with_the_path_of_that_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "flows", **{"flows/texts.dcdl": ""})
    (tmp_path / "flows" / "texts.dcdl").write_text("finished = nowhere;\n")
    monkeypatch.chdir(tmp_path)
    line = run(compile_command, "--format", "line", "flows/paper.dcdl").stdout
    assert "flows/texts.dcdl:1:12: error[dcdl_evaluation] `nowhere` is not defined\n" == line
    annotation = run(compile_command, "--format", "github", "flows/paper.dcdl").stdout
    assert "file=flows/texts.dcdl,line=1" in annotation
    log = json.loads(run(compile_command, "--format", "sarif", "flows/paper.dcdl").stdout)
    (found,) = log["runs"][0]["results"]
    assert "flows/texts.dcdl" == found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    people = run(compile_command, "flows/paper.dcdl").stdout
    assert all(f"┌─ flows/{name}:" in people for name in ("texts.dcdl", "paper.dcdl"))


def test_no_imported_file_is_mended(tmp_path: Path) -> None:
    put(tmp_path)
    texts = tmp_path / "texts.dcdl"
    texts.write_text('finished: "It is written.";\n')
    run(compile_command, "--fix", "--unsafe-fixes", str(tmp_path / "paper.dcdl"))
    assert ('finished: "It is written.";\n', FLOW) == (texts.read_text(), (tmp_path / "paper.dcdl").read_text())


def test_standard_input_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = run(compile_command, "-", "--stdin-filename", "paper.dcdl", given=FLOW)
    assert (1, 2) == (done.exit_code, done.stdout.count("error[dcdl_import]: a flow that is read from here cannot import"))


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "flows")
    (tmp_path / "secret.md").write_text("Nobody reads this.")
    (tmp_path / "flows" / "draft.md").unlink()
    (tmp_path / "flows" / "draft.md").symlink_to("../secret.md")
    done = run(compile_command, str(tmp_path / "flows" / "paper.dcdl"))
    assert (1, True) == (done.exit_code, "`draft.md` leads out of the folder" in done.stdout)
    assert "Nobody" not in done.output


@pytest.mark.parametrize("command", [graph_command, paths_command])
def test_a_flow_is_drawn_and_walked_with_what_it_imports(command: Command, tmp_path: Path) -> None:
    put(tmp_path)
    done = run(command, str(tmp_path / "paper.dcdl"))
    assert (0, True) == (done.exit_code, "submit" in done.stdout)


def test_flows_that_differ_in_what_they_import_differ(tmp_path: Path) -> None:
    put(tmp_path / "old")
    put(tmp_path / "new", **{"draft.md": "Write a book.\n"})
    done = run(diff_command, str(tmp_path / "old" / "paper.dcdl"), str(tmp_path / "new" / "paper.dcdl"))
    assert (1, True) == (done.exit_code, "+Write a book." in done.stdout)


def test_a_flow_is_tried_with_what_it_imports(tmp_path: Path) -> None:
    put(tmp_path, **{"paper.test.dcdl": TESTS})
    done = run(testing.test_command, str(tmp_path))
    assert 0 == done.exit_code, done.output


def test_a_flow_is_laid_out_without_a_look_at_what_it_imports(tmp_path: Path) -> None:
    (tmp_path / "paper.dcdl").write_text(FLOW)
    assert 0 == run(fmt_command, str(tmp_path / "paper.dcdl")).exit_code
    assert 'import "./draft.md"' in (tmp_path / "paper.dcdl").read_text()


# --- watching ---------------------------------------------------------------------------------------------------------------------------


def changes(name: str, text: str) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.update({name: text.encode()})


def still(files: dict[str, bytes]) -> None:
    del files


def test_a_change_of_an_imported_file_is_answered_also_where_it_was_not_there() -> None:
    files = {f"flows/{name}": text.encode() for name, text in FILES.items() if name != "draft.md"}
    script = [
        *(changes("flows/draft.md", "Write.\n"), still),
        *(changes("flows/texts.dcdl", "finished = 1;\n"), still),
        *(changes("flows/other.md", "Nobody imports this.\n"), still),
    ]
    done = CliRunner().invoke(compile_command, ["--watch", "flows/paper.dcdl"], obj=lambda: TextHost(files, script=script))
    assert [
        "watching 2 files; Ctrl-C ends it",
        "`flows/draft.md` changed",
        "watching 3 files; Ctrl-C ends it",
        "`flows/texts.dcdl` changed",
        "watching 3 files; Ctrl-C ends it",
    ] == [line for line in done.stderr.splitlines() if line]
    assert ["there is no module `draft.md`", "`condition` must be a String, not an Int"] == [
        line.partition("]: ")[2] for line in done.stdout.splitlines() if line.startswith("error[")
    ]


# --- the installed program ----------------------------------------------------------------------------------------------------------------


def test_the_program_compiles_a_flow_with_instructions_in_a_markdown_file(tmp_path: Path) -> None:
    put(tmp_path)
    done = subprocess.run([STATEWARD, "compile", "paper.dcdl", "--format", "json"], cwd=tmp_path, capture_output=True, check=True)
    (file,) = json.loads(done.stdout)["files"]
    assert ("paper", ["draft.md", "texts.dcdl"]) == (file["flow"], [each["path"] for each in file["modules"]])


# --- kept in a Workspace --------------------------------------------------------------------------------------------------------------


def test_a_flow_is_kept_shown_compared_and_run_with_what_it_imports(tmp_path: Path) -> None:
    here = place(tmp_path)
    put(here.work)
    here.done("flow", "save", "paper.dcdl")
    (here.work / "draft.md").write_text("Write it well.\n")
    assert "saved workspace:paper revision 2\n" in here.done("flow", "save", "paper.dcdl")
    assert "nothing changed: workspace:paper revision 2\n" == here.done("flow", "save", "paper.dcdl")
    (here.work / "draft.md").unlink()
    assert "Write it well.\n" == here.done("flow", "show", "paper", "--module", "draft.md")
    assert "Write the paper.\n" == here.done("flow", "show", "paper", "--revision", "1", "--module", "draft.md")
    assert "-Write the paper.\n+Write it well.\n" in here.done("flow", "diff", "paper")
    shown = json.loads(here.done("flow", "show", "paper", "--json"))
    assert ["draft.md", "texts.dcdl"] == [each["path"] for each in shown["modules"]]
    assert "Write it well." in here.done("start", "workspace:paper")
    assert "submit" in here.done("graph", "workspace:paper")


def test_a_module_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    here = place(tmp_path)
    put(here.work)
    here.done("flow", "save", "paper.dcdl")
    ended = here.call("flow", "show", "paper", "--module", "other.md")
    assert (2, "") == (ended.status, ended.out)
    assert "error: `paper` revision 1 imports no `other.md`\n  = help: name one of `draft.md` or `texts.dcdl`\n" == ended.err


def test_what_is_wrong_with_an_imported_file_is_told_and_nothing_is_kept(tmp_path: Path) -> None:
    here = place(tmp_path)
    put(here.work, **{"texts.dcdl": "finished = nowhere;\n"})
    ended = here.call("flow", "save", "paper.dcdl")
    assert (1, "") == (ended.status, ended.out)
    assert "error[dcdl_evaluation]: `nowhere` is not defined\n" in ended.err
    assert "texts.dcdl:1:12" in ended.err


def test_a_folder_is_kept_in_step_without_the_flows_that_import(tmp_path: Path) -> None:
    here = place(tmp_path)
    put(here.work)
    here.done("flow", "save", "paper.dcdl")
    told = [json.loads(line) for line in here.call("flow", "sync", ".", "--json").out.splitlines()]
    assert [("paper", "skipped", "left")] == [(each["slug"], each["kind"], each["result"]) for each in told]
    assert FLOW == (here.work / "paper.dcdl").read_text()


def test_a_bundle_is_taken_in_elsewhere_with_what_is_imported(tmp_path: Path) -> None:
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    here, there = place(tmp_path / "here"), place(tmp_path / "there")
    put(here.work)
    here.done("flow", "save", "paper.dcdl")
    assert 0 == here.call("flow", "export", "--output", str(tmp_path / "all.jsonl")).status
    assert 0 == there.call("flow", "import", str(tmp_path / "all.jsonl")).status
    assert "Write the paper.\n" == there.done("flow", "show", "paper", "--module", "draft.md")


@pytest.mark.parametrize(("file", "imports"), [("draft", "other"), ("other", "draft"), ("draft", "draft"), ("other", "other")])
def test_a_flow_is_saved_under_another_name_than_its_file_with_what_it_compiled_with(tmp_path: Path, file: str, imports: str) -> None:
    here = place(tmp_path)
    (here.work / f"{imports}.dcdl").write_text('text = "Write it.";\n', "utf-8")
    source = f'schema_version = 2; name = "other"; initial = "a"; states = {{ a = {{ instructions = (import "./{imports}.dcdl").%s; '
    source += 'transitions.out = { target = "b"; condition = "It is written."; }; }; b = { instructions = ""; terminal = true; }; };'
    (here.work / f"{file}.dcdl").write_text(source % ("name" if file == imports else "text"), "utf-8")
    compiled = json.loads(here.call("compile", "--format", "json", f"{file}.dcdl").out)
    saved = here.call("flow", "save", f"{file}.dcdl", "--slug", "other")
    assert 0 == saved.status, saved.out + saved.err
    kept = json.loads(here.call("flow", "show", "other", "--json").out)
    (report,) = compiled["files"]
    assert (report["definition_digest"], report["closure_digest"]) == (kept["definition_digest"], kept["closure_digest"])
