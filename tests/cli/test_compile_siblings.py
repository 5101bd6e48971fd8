"""`stateward fmt`, `eval` and `graph`, and the compiler run as a module by itself."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stateward.runtime.surfaces.cli import cli
from tests.compiler.flow.sources import GOOD, changed

CANONICAL = 'name = "x";\nparts = [1, 2];\n'
LOOSE = 'name="x"; parts=[ 1,2 ]'
BROKEN = 'name = "x'


def run(*arguments: str | Path, stdin: bytes | str | None = None) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)], input=stdin, prog_name="stateward")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_is_put_into_canonical_form_once(here: Path) -> None:
    path = here / "a.dcdl"
    path.write_text(LOOSE)
    path.chmod(0o600)
    first, second = run("fmt", "a.dcdl"), run("fmt", "a.dcdl")
    assert (first.exit_code, first.stdout) == (0, "formatted a.dcdl\n1 file: 1 changed\n")
    assert (second.exit_code, second.stdout) == (0, "1 file: 1 already in canonical form\n")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (CANONICAL, 0o600)


def test_check_changes_nothing_and_says_what_would_change(here: Path) -> None:
    (here / "a.dcdl").write_text(LOOSE)
    (here / "b.dcdl").write_text(CANONICAL)
    done = run("fmt", "--check", ".")
    assert (done.exit_code, done.stdout) == (
        1,
        "a.dcdl is not in canonical form\n2 files: 1 would be changed, 1 already in canonical form\n",
    )
    assert (here / "a.dcdl").read_text() == LOOSE
    assert run("fmt", "--check", "b.dcdl").exit_code == 0


def test_diff_changes_nothing_and_shows_what_would_change(here: Path) -> None:
    (here / "a.dcdl").write_text(LOOSE)
    done = run("fmt", "--diff", "a.dcdl")
    assert (done.exit_code, done.stderr) == (1, "1 file: 1 would be changed\n")
    assert done.stdout == (
        "--- a.dcdl\n+++ a.dcdl (formatted)\n@@ -1 +1,2 @@\n"
        '-name="x"; parts=[ 1,2 ]\n\\ no newline at the end of the file\n+name = "x";\n+parts = [1, 2];\n'
    )
    assert (here / "a.dcdl").read_text() == LOOSE


def test_a_diff_has_the_lines_of_the_language_and_no_others(here: Path) -> None:
    (here / "a.dcdl").write_text('a = "one\u2028two\u2029three";\nb=1\n', "utf-8")
    done = run("fmt", "--diff", "a.dcdl")
    assert done.stdout.split("\n")[2:] == ["@@ -1,2 +1,2 @@", ' a = "one\u2028two\u2029three";', "-b=1", "+b = 1;", ""]


def test_a_folder_without_a_file_to_format_is_told(here: Path) -> None:
    (here / "empty").mkdir()
    done = run("fmt", "empty")
    assert (done.exit_code, done.output) == (
        2,
        "error: no `*.dcdl` file in `empty`\n  = help: name the file itself, or another folder\n",
    )


def test_a_broken_file_is_left_alone_and_the_others_are_formatted(here: Path) -> None:
    (here / "a.dcdl").write_text(BROKEN)
    (here / "b.dcdl").write_text(LOOSE)
    done = run("fmt", ".")
    assert (done.exit_code, done.stdout) == (1, "formatted b.dcdl\n2 files: 1 changed, 1 left alone\n")
    assert done.stderr.startswith("error[dcdl_syntax]: ")
    assert ((here / "a.dcdl").read_text(), (here / "b.dcdl").read_text()) == (BROKEN, CANONICAL)


def test_standard_input_is_formatted_to_standard_output() -> None:
    done = run("fmt", "-", stdin=LOOSE)
    assert (done.exit_code, done.stdout, done.stderr) == (0, CANONICAL, "")
    broken = run("fmt", "-", "--stdin-filename", "a.dcdl", stdin=BROKEN)
    assert (broken.exit_code, broken.stdout, "a.dcdl:1:8" in broken.stderr) == (1, "", True)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"# x\n" * 300_000], ids=["no UTF-8", "too large"])
def test_what_is_no_text_or_too_large_is_left_alone(here: Path, data: bytes) -> None:
    (here / "a.dcdl").write_bytes(data)
    done = run("fmt", "a.dcdl")
    assert (done.exit_code, done.stderr.count("error[source_")) == (1, 1)
    assert (here / "a.dcdl").read_bytes() == data


def test_a_mark_and_carriage_returns_go_and_the_value_stays(here: Path) -> None:
    (here / "a.dcdl").write_bytes(b"\xef\xbb\xbf" + b'a = 1;\r\nb = "x";\r\n')
    assert run("fmt", "a.dcdl").exit_code == 0
    assert (here / "a.dcdl").read_bytes() == b'a = 1;\nb = "x";\n'


def test_a_file_that_cannot_be_written_is_status_3_and_stays(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "a.dcdl").write_text(LOOSE)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = run("fmt", "a.dcdl")
    assert (done.exit_code, done.stderr) == (
        3,
        "error: `a.dcdl` cannot be written: no space left on device\n  = help: name a place that can be written\n",
    )
    assert [(path.name, path.read_text()) for path in here.iterdir()] == [("a.dcdl", LOOSE)]


@pytest.mark.parametrize("command", ["fmt", "eval", "graph"])
def test_a_missing_file_is_one_line_and_status_2(here: Path, command: str) -> None:
    done = run(command, "nope.dcdl")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "error: `nope.dcdl` does not exist\n  = help: check the path\n")


@pytest.mark.parametrize("command", ["eval", "graph"])
def test_a_folder_where_a_file_is_wanted_is_one_line_and_status_2(here: Path, command: str) -> None:
    done = run(command, ".")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "error: `.` is a folder\n  = help: name a file in it\n")


def test_a_value_is_printed_in_the_language_or_as_json(here: Path) -> None:
    (here / "a.dcdl").write_text('let x = 1 + 1; in { b = x; c = "é"; d = [true, 1.5]; }')
    as_language, as_json = run("eval", "a.dcdl"), run("eval", "--json", "a.dcdl")
    assert (as_language.exit_code, as_language.stdout) == (0, '{\n    b = 2;\n    c = "é";\n    d = [true, 1.5];\n}\n')
    assert (as_json.exit_code, as_json.stdout) == (0, '{"b": 2, "c": "é", "d": [true, 1.5]}\n')


def test_json_is_json_in_any_encoding(here: Path) -> None:
    (here / "a.dcdl").write_text('["é"]')
    (here / "b.dcdl").write_text("é")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for arguments in (["eval", "--json", "a.dcdl"], ["compile", "--format", "json", "b.dcdl"]):
        command = [sys.executable, "-c", f"from stateward.runtime.surfaces.cli import main; main({arguments!r})"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.stdout.isascii()
        json.loads(done.stdout)


def test_a_constraint_is_printed_as_it_would_be_written_and_is_no_json(here: Path) -> None:
    (here / "a.dcdl").write_text("Int & >= 0")
    assert (run("eval", "a.dcdl").exit_code, run("eval", "a.dcdl").stdout) == (0, "Int & >= 0\n")
    done = run("eval", "--json", "a.dcdl")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["version"], [each["kind"] for each in report["diagnostics"]]) == (1, 1, ["materialize"])


def test_an_expression_without_a_value_is_told(here: Path) -> None:
    done = run("eval", "-", stdin="1 + nope")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error[dcdl_evaluation]: `nope` is not defined\n   ┌─ <stdin>:1:5\n")


def test_a_warning_is_told_beside_the_value(here: Path) -> None:
    (here / "a.dcdl").write_text(r'let unused = 1; in "\d"')
    for arguments, value in ((["eval", "a.dcdl"], '"d"\n'), (["eval", "--json", "a.dcdl"], '"d"\n')):
        done = run(*arguments)
        assert (done.exit_code, done.stdout) == (0, value)
        assert [line for line in done.stderr.splitlines() if line.startswith("warning")] == [
            "warning[unused_binding]: `unused` is never used",
            r"warning[unknown_escape]: `\d` is no escape and stands for `d`",
        ]


def test_broken_text_is_told_in_both_forms(here: Path) -> None:
    (here / "a.dcdl").write_text("{ a = ; }")
    assert run("eval", "a.dcdl").exit_code == 1
    report = json.loads(run("eval", "--json", "a.dcdl").stdout)
    assert [each["kind"] for each in report["diagnostics"]] == ["syntax"]


def test_a_value_that_is_endless_to_print_is_a_limit_in_both_forms(here: Path) -> None:
    (here / "a.dcdl").write_text(f'let s = "{"s" * 100_000}"; a = [{"s, " * 100}]; in [{"a, " * 100}]')
    assert "takes more than 8,388,608 characters to print" in run("eval", "a.dcdl").stderr
    report = json.loads(run("eval", "--json", "a.dcdl").stdout)
    assert [each["kind"] for each in report["diagnostics"]] == ["limit"]


def test_imports_reach_the_folder_of_the_file_and_no_further(here: Path) -> None:
    folder = here / "inner"
    folder.mkdir()
    (here / "outer.dcdl").write_text("1")
    (folder / "part.dcdl").write_text("2")
    (folder / "good.dcdl").write_text('import "./part.dcdl" + 1')
    (folder / "bad.dcdl").write_text('import "../outer.dcdl"')
    (folder / "link.dcdl").symlink_to("../outer.dcdl")
    (folder / "linked.dcdl").write_text('import "link.dcdl"')
    assert run("eval", "inner/good.dcdl").stdout == "3\n"
    for name in ("bad", "linked"):
        done = run("eval", f"inner/{name}.dcdl")
        assert (done.exit_code, done.stderr.splitlines()[0].startswith("error[dcdl_import]")) == (1, True)
    assert run("eval", "-", stdin='import "inner/part.dcdl"').exit_code == 1


def test_faults_of_an_imported_module_name_its_file(here: Path) -> None:
    (here / "sub").mkdir()
    (here / "sub" / "main.dcdl").write_text('import "part.dcdl"')
    (here / "sub" / "part.dcdl").write_text("nope")
    done = run("eval", "sub/main.dcdl")
    assert (done.exit_code, "┌─ sub/part.dcdl:1:1" in done.stderr, "┌─ sub/main.dcdl:1:1" in done.stderr) == (1, True, True)


def test_the_graph_is_drawn_for_a_flow_that_compiles() -> None:
    done = run("graph", "builtin:coder-review")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "coder-review: 5 states, begins in implement")


def test_a_flow_with_errors_is_not_drawn(here: Path) -> None:
    (here / "paper.dcdl").write_text(changed(('target = "review"', 'target = "reveiw"')))
    done = run("graph", "paper.dcdl")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error[transition_target_not_found]")


def _module(*arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "stateward.compiler.cli", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


def test_the_compiler_by_itself_reads_standard_input_and_nothing_else(here: Path) -> None:
    (here / "paper.dcdl").write_text(GOOD)
    piped, named = _module("compile", "-", stdin=GOOD), _module("compile", "paper.dcdl")
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, "checked 1 flow: no problems\n", "")
    assert (named.returncode, named.stdout, named.stderr) == (
        2,
        "",
        (
            "error: `paper.dcdl` cannot be read: this command reads standard input only\n"
            "  = help: name `-`, or use `stateward compile paper.dcdl`\n"
        ),
    )
    assert _module("compile", "-", "--output", "x.json", stdin=GOOD).returncode == 2
    assert [path.name for path in here.iterdir()] == ["paper.dcdl"]


def test_the_compiler_by_itself_formats_draws_and_evaluates() -> None:
    assert _module("fmt", "-", stdin=LOOSE).stdout == CANONICAL
    assert _module("eval", "-", stdin="1 + 1").stdout == "2\n"
    assert _module("graph", "-", stdin=GOOD).stdout.startswith("paper: 3 states, begins in draft\n")
    assert "--stdin-filename" in _module("compile", "--help").stdout


NEVER = {"sqlmodel", "sqlalchemy", "pydantic_ai", "rich", "lark", "re2", "cryptography", "alembic", "fastapi", "mcp", "asyncio"}


def _loaded(tmp_path: Path, *arguments: str) -> set[str]:
    """Run the console command in a process of its own and give what it has loaded in the end."""
    out = tmp_path / "modules"
    script = (
        "import atexit, sys, pathlib\n"
        f"atexit.register(lambda: pathlib.Path({str(out)!r}).write_text(' '.join(sys.modules)))\n"
        "from stateward.runtime.surfaces.cli import main\n"
        f"main({list(arguments)!r})\n"
    )
    subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    return set(out.read_text().split())


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["compile", "builtin:coder-review"],
            {"diagnostics", "flow", "language", "syntax", "pipeline", "cli", "limits", "predicates", "source"},
        ),
        (
            ["graph", "builtin:coder-review"],
            {"diagnostics", "drawing", "flow", "language", "syntax", "pipeline", "cli", "limits", "predicates", "source"},
        ),
        (["compile", "--help"], {"diagnostics", "cli", "limits", "source"}),
    ],
    ids=["compile", "graph", "help"],
)
def test_each_command_loads_what_it_needs_and_no_database_no_model(tmp_path: Path, arguments: list[str], parts: set[str]) -> None:
    loaded = _loaded(tmp_path, *arguments)
    ours = {name.split(".")[2] for name in loaded if name.startswith("stateward.compiler.")}
    assert ours == parts
    assert loaded & NEVER == set()
    assert {name for name in loaded if name.startswith(("stateward.store", "stateward.runtime."))} <= {
        "stateward.runtime.surfaces",
        "stateward.runtime.surfaces.cli",
        "stateward.runtime.surfaces.cli.reading",
        "stateward.runtime.surfaces.cli.writing",
    }
