"""`stateward compile`: what it reads, what it says, what it writes, how it ends."""

import hashlib
import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stateward.compiler.pipeline import compile_source
from stateward.runtime.surfaces.cli import cli
from tests.compiler.flow.sources import GOOD, changed

BROKEN = changed(('target = "review"', 'target = "reveiw"'))
WARNED = changed(('"paper"', '"essay"'))


def run(*arguments: str | Path, stdin: bytes | str | None = None) -> Result:
    return CliRunner().invoke(cli, ["compile", *map(str, arguments)], input=stdin, prog_name="stateward")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.dcdl").write_text(text, "utf-8")


def test_a_clean_flow_is_one_line_and_status_0(here: Path) -> None:
    write(here, paper=GOOD)
    done = run("paper.dcdl")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "checked 1 flow: no problems\n", "")


def test_a_fault_is_shown_with_its_line_and_status_1(here: Path) -> None:
    write(here, paper=BROKEN)
    done = run("paper.dcdl")
    assert (done.exit_code, done.stderr) == (1, "")
    assert (
        done.stdout
        == """\
error[transition_target_not_found]: no state is named `reveiw`
   ┌─ paper.dcdl:7:45
   │
 7 │         transitions = { submit = { target = "reveiw"; condition = "It is written."; }; };
   │                                             ^^^^^^^^ not declared in flow `paper`
   │
   = note: flow `paper` declares `draft`, `review` and `done`
   = help: did you mean `review`?

1 can be mended with `--fix --unsafe-fixes`
checked 1 flow: 1 error
"""
    )


def test_warnings_do_not_block_unless_they_are_to(here: Path) -> None:
    write(here, paper=WARNED)
    done, strict = run("paper.dcdl"), run("paper.dcdl", "--strict")
    assert (done.exit_code, done.stdout.splitlines()[0], done.stdout.splitlines()[-1]) == (
        0,
        "warning[name_differs_from_slug]: flow `essay` is kept as `paper`",
        "checked 1 flow: 1 warning",
    )
    assert (strict.exit_code, strict.stdout.splitlines()[0], strict.stdout.splitlines()[-1]) == (
        1,
        "error[name_differs_from_slug]: flow `essay` is kept as `paper`",
        "checked 1 flow: 1 error",
    )


def test_several_sources_have_one_summary(here: Path) -> None:
    write(here, paper=WARNED, a=BROKEN, b=GOOD.replace('"paper"', '"b"'))
    done = run("paper.dcdl", "a.dcdl", "b.dcdl")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (1, "checked 3 flows: 1 error, 2 warnings")


def test_a_source_named_twice_is_checked_once(here: Path) -> None:
    write(here, paper=GOOD)
    assert run("paper.dcdl", ".", "paper.dcdl").stdout.splitlines()[-1] == "checked 1 flow: no problems"


def test_a_folder_gives_its_flows_and_counts_what_was_passed_over(here: Path) -> None:
    deep = here / "flows" / "deep"
    deep.mkdir(parents=True)
    write(here / "flows", paper=GOOD, library='{ done = { instructions = ""; terminal = true; }; }')
    write(deep, draft=BROKEN)
    (deep / "paper.test.dcdl").write_text('schema_version = 1; flow = "paper";')
    (deep / "notes.txt").write_text("schema_version")
    (here / "flows" / ".hidden").mkdir()
    write(here / "flows" / ".hidden", other=BROKEN)
    done = run("flows")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (
        1,
        "checked 2 flows: 1 error, 1 warning; passed over 2 files that are no flow",
    )
    assert "flows/deep/draft.dcdl:7:45" in done.stdout


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("{ states = {}; }", True),
        ("{ schema_version = 2; }", True),
        ("states.a.terminal = true;", True),
        ("{ broken = ", True),
        ("let x = 1; in { states = x; }", True),
        ("(base // { states = {}; })", True),
        ("let f = (x) => { states = x; }; in f(1)", True),
        ("match 1 { 1: { schema_version = 1; }; }", True),
        ("{ state = {}; }", False),
        ("{ x = { states = {}; }; }", False),
        ("let f = (x) => { other = x; }; in f(1)", False),
        ('"states"', False),
        ("[1, 2]", False),
    ],
)
def test_what_counts_as_a_flow_in_a_folder(here: Path, text: str, counts: bool) -> None:
    write(here, paper=GOOD, it=text)
    assert run(".").stdout.splitlines()[-1].startswith("checked 2 flows" if counts else "checked 1 flow:")


def test_a_file_that_is_named_is_always_compiled(here: Path) -> None:
    (here / "paper.test.dcdl").write_text("{ other = 1; }")
    done = run("paper.test.dcdl")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (1, "error[missing_field]: the object is not a Flow source")


def test_files_that_are_no_utf8_in_a_folder_are_reported(here: Path) -> None:
    write(here, paper=GOOD)
    (here / "latin.dcdl").write_bytes('name = "\xe9";'.encode("latin-1"))
    done = run(".")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (1, "error[source_not_utf8]: the source is not UTF-8")


def test_a_selector_names_a_built_in_flow() -> None:
    done = run("builtin:coder-review", "builtin:operator-run", "builtin:single-step")
    assert (done.exit_code, done.stdout) == (0, "checked 3 flows: no problems\n")


def test_a_selector_names_the_current_source_of_the_workspace(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATEWARD_STORE", str(here / "store.db"))
    write(here, paper=GOOD)
    saved = CliRunner().invoke(cli, ["flow", "save", "paper.dcdl"], prog_name="stateward")
    assert saved.exit_code == 0
    (here / "paper.dcdl").unlink()
    done = run("workspace:paper", "--format", "json")
    assert (done.exit_code, json.loads(done.stdout)["files"][0]["file"]) == (0, "flows/paper.dcdl")
    missing = run("workspace:papr")
    assert (missing.exit_code, missing.stderr) == (
        2,
        "error: the Workspace keeps no flow `workspace:papr`\n  = help: did you mean `workspace:paper`?\n",
    )
    assert run("workspace:coder-review").stderr.splitlines()[1] == "  = help: did you mean `builtin:coder-review`?"
    assert run("workspace:other").stderr.splitlines()[1] == "  = help: keep it with `stateward flow save`"


def test_standard_input_is_a_source(here: Path) -> None:
    write(here, paper=GOOD)
    done = run("-", stdin=BROKEN)
    assert (done.exit_code, done.stdout.splitlines()[1]) == (1, "   ┌─ <stdin>:7:45")
    named = run("-", "--stdin-filename", "flows/essay.dcdl", stdin=GOOD)
    assert named.stdout.splitlines()[:2] == [
        "warning[name_differs_from_slug]: flow `paper` is kept as `essay`",
        "   ┌─ flows/essay.dcdl:2:8",
    ]


def test_the_definition_is_written_as_canonical_json(here: Path) -> None:
    write(here, paper=GOOD)
    compilation = compile_source(GOOD.encode())
    done = run("paper.dcdl", "--output", "out.json")
    assert (done.exit_code, done.stdout) == (0, "checked 1 flow: no problems\n")
    data = (here / "out.json").read_bytes()
    assert "sha256:" + hashlib.sha256(data).hexdigest() == compilation.definition_digest
    to_stdout = run("paper.dcdl", "--output", "-")
    assert (to_stdout.exit_code, to_stdout.stdout_bytes, to_stdout.stderr) == (0, data, "checked 1 flow: no problems\n")


def test_no_definition_is_written_when_there_is_an_error(here: Path) -> None:
    write(here, paper=BROKEN, essay=WARNED.replace("essay", "paper"))
    (here / "out.json").write_text("as it was")
    assert run("paper.dcdl", "--output", "out.json").exit_code == 1
    assert run("essay.dcdl", "--strict", "--output", "out.json").exit_code == 1
    done = run("paper.dcdl", "--output", "-")
    assert (done.exit_code, done.stdout) == (1, "")
    assert (here / "out.json").read_text() == "as it was"


def test_a_definition_takes_the_place_of_an_older_one_and_leaves_nothing_beside_it(here: Path) -> None:
    write(here, paper=GOOD)
    out = here / "out.json"
    out.write_text("older")
    out.chmod(0o640)
    (here / "link.json").symlink_to("out.json")
    assert run("paper.dcdl", "--output", "link.json").exit_code == 0
    assert (here / "link.json").is_symlink()
    assert json.loads(out.read_text())["name"] == "paper"
    assert (stat.S_IMODE(out.stat().st_mode), sorted(path.name for path in here.iterdir())) == (
        0o640,
        ["link.json", "out.json", "paper.dcdl"],
    )


def test_people_are_shown_the_first_fifty_and_told_of_the_others(here: Path) -> None:
    ways = "".join(f't{at} = {{ target = "x{at}"; condition = "c{at}"; }}; ' for at in range(30))
    states = "".join(f's{at} = {{ instructions = "x"; transitions = {{ {ways} }}; }};\n' for at in range(2))
    write(here, many=f'schema_version = 1; name = "many"; initial = "s0"; states = {{ {states} }};')
    done = run("many.dcdl")
    assert (done.stdout.count("error["), [done.stdout.splitlines()[at] for at in (-3, -1)]) == (
        50,
        ["10 more were found; `--max 0` shows all", "checked 1 flow: 60 errors"],
    )
    assert run("many.dcdl", "--max", "3").stdout.count("error[") == 3
    assert run("many.dcdl", "--max", "0").stdout.count("error[") == 60
    assert len(json.loads(run("many.dcdl", "--format", "json").stdout)["files"][0]["diagnostics"]) == 60


def test_errors_are_shown_before_warnings_where_not_all_are(here: Path) -> None:
    write(here, warned=GOOD, wrong=GOOD.replace('target = "review"', 'target = "reveiw"'))
    shown = run(".", "--max", "1").stdout
    assert (1, 0) == (shown.count("error[transition_target_not_found]"), shown.count("warning["))


def test_the_report_for_programs(here: Path) -> None:
    write(here, paper=BROKEN, b=GOOD.replace('"paper"', '"b"'), other="{ x = 1; }")
    done = run(".", "nope.dcdl", "--format", "json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["version"], report["summary"]) == (
        2,
        1,
        {"checked": 2, "errors": 1, "warnings": 0, "passed_over": 1, "allowed": 0, "fixed": 0},
    )
    assert [(each["file"], each["flow"], len(each["diagnostics"])) for each in report["files"]] == [
        ("b.dcdl", "b", 0),
        ("paper.dcdl", None, 1),
    ]
    assert report["failures"] == [{"message": "`nope.dcdl` does not exist", "remedy": "check the path", "status": 2}]


BAD_INPUT = {
    "missing": (["nope.dcdl"], 2, "error: `nope.dcdl` does not exist\n  = help: check the path\n"),
    "nearly": (["papr.dcdl"], 2, "error: `papr.dcdl` does not exist\n  = help: did you mean `paper.dcdl`?\n"),
    "without its end": (["paper"], 2, "error: `paper` does not exist\n  = help: did you mean `paper.dcdl`?\n"),
    "a bare slug": (["single-step"], 2, "error: `single-step` does not exist\n  = help: did you mean `builtin:single-step`?\n"),
    "below a file": (["paper.dcdl/x"], 2, "error: `paper.dcdl/x` does not exist\n  = help: check the path\n"),
    "a folder without flows": (
        ["empty"],
        2,
        "error: no flow in `empty`\n  = help: a flow is a `*.dcdl` file with `states` or `schema_version`; name the file itself\n",
    ),
    "a folder with other files": (
        ["others"],
        2,
        (
            "error: no flow in `others` (1 other file passed over)\n"
            "  = help: a flow is a `*.dcdl` file with `states` or `schema_version`; name the file itself\n"
        ),
    ),
    "no such built-in": (
        ["builtin:coder-revew"],
        2,
        "error: no built-in flow is named `coder-revew`\n  = help: did you mean `builtin:coder-review`?\n",
    ),
    "another built-in": (
        ["builtin:../../x"],
        2,
        "error: no built-in flow is named `../../x`\n  = help: there are `coder-review`, `operator-run` and `single-step`\n",
    ),
    "no Workspace": (
        ["workspace:paper"],
        2,
        (
            "error: `workspace:paper` cannot be resolved: no Workspace at {here} or above it\n"
            "  = help: begin one with `stateward run` or `stateward flow save`\n"
        ),
    ),
    "a pipe": (["pipe"], 2, "error: `pipe` is neither a file nor a folder\n  = help: name `-` to read standard input\n"),
    "output into a missing folder": (
        ["paper.dcdl", "--output", "out/x.json"],
        2,
        "error: the folder of `out/x.json` does not exist\n  = help: make it first: mkdir -p {here}/out\n",
    ),
    "output over a folder": (["paper.dcdl", "--output", "empty"], 2, "error: `empty` is a folder\n  = help: name a file in it\n"),
    "output of two flows": (
        ["paper.dcdl", "builtin:single-step", "--output", "x.json"],
        2,
        "error: `--output` takes one flow, and 2 were named\n  = help: compile them one by one\n",
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_line_and_one_with_its_remedy(here: Path, case: str) -> None:
    arguments, status, line = BAD_INPUT[case]
    write(here, paper=GOOD)
    (here / "empty").mkdir()
    (here / "others").mkdir()
    write(here / "others", library="{ x = 1; }")
    os.mkfifo(here / "pipe")
    done = run(*arguments)
    assert (done.exit_code, done.stderr) == (status, line.replace("{here}", str(here)))
    assert sorted(path.name for path in here.iterdir()) == ["empty", "others", "paper.dcdl", "pipe"]


def test_the_other_sources_are_checked_all_the_same(here: Path) -> None:
    write(here, paper=BROKEN)
    done = run("nope.dcdl", "paper.dcdl")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (2, "checked 1 flow: 1 error")


class _Denied:
    """A stand-in for a file system that denies: tests may run as a user whom no mode keeps out."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        opened, listed = os.open, os.scandir

        def open_(path: str | Path, *arguments: int, **keywords: int) -> int:
            if Path(path).name in names:
                raise PermissionError(13, "Permission denied", str(path))
            return opened(path, *arguments, **keywords)

        def scandir(path: str) -> object:
            if Path(path).name in names:
                raise PermissionError(13, "Permission denied", path)
            return listed(path)

        monkeypatch.setattr(os, "open", open_)
        monkeypatch.setattr(os, "scandir", scandir)


def test_an_unreadable_file_is_status_3(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here, paper=GOOD, secret=GOOD)
    _Denied(monkeypatch, "secret.dcdl")
    done = run("secret.dcdl", "paper.dcdl")
    assert (done.exit_code, done.stdout, done.stderr) == (
        3,
        "checked 1 flow: no problems\n",
        "error: `secret.dcdl` cannot be read: permission denied\n  = help: make it readable, and the folders above it too (chmod)\n",
    )


def test_an_unreadable_folder_below_is_status_3_and_the_rest_is_checked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here, paper=GOOD)
    (here / "locked").mkdir()
    _Denied(monkeypatch, "locked")
    done = run(".")
    assert (done.exit_code, done.stdout) == (3, "checked 1 flow: no problems\n")
    assert done.stderr == (
        "error: `./locked` cannot be read: permission denied\n  = help: make it readable, and the folders above it too (chmod)\n"
    )


def test_output_that_cannot_be_written_is_status_3_and_leaves_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here, paper=GOOD)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    done = run("paper.dcdl", "--output", "out.json")
    assert (done.exit_code, done.stderr) == (
        3,
        "error: `out.json` cannot be written: no space left on device\n  = help: name a place that can be written\n",
    )
    assert [path.name for path in here.iterdir()] == ["paper.dcdl"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("flow.json", b'{ "schema_version": 1, "states": { "a": { "terminal": true } } }', "this is JSON"),
        ("README.md", b"# A flow\n\nThis is some *text* about it, with a [link](x) and `code`.\n\n- one\n- two\n", "this is Markdown"),
        ("notes.txt", b"Some *text*, with a [link](x) and `code`.\n\nMore; and (more\n", "the text is not a Flow source"),
        ("empty.dcdl", b"", "the source is empty"),
        ("blank.dcdl", b"\n# only a remark\n", "the source is empty"),
        ("image.dcdl", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", "the source is not UTF-8"),
        ("control.dcdl", bytes(range(32)) * 20, "this is binary data"),
    ],
)
def test_another_kind_of_file_is_one_error(here: Path, name: str, data: bytes, message: str) -> None:
    (here / name).write_bytes(data)
    done = run(name)
    assert (done.exit_code, done.stdout.count("error["), message in done.stdout) == (1, 1, True)
    assert "Traceback" not in done.output


def test_wrong_usage_is_status_2() -> None:
    assert [run().exit_code, run("-", "--format", "xml", stdin="").exit_code, run("-", "--max", "-1", stdin="").exit_code] == [2, 2, 2]


def test_a_file_without_end_is_not_read_without_end(here: Path) -> None:
    with (here / "huge.dcdl").open("wb") as file:
        file.truncate(8 * 1024**3)
    done = run("huge.dcdl")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (1, "error[source_too_large]: the source is larger than 262,144 bytes")


def test_names_that_are_no_text_are_shown_all_the_same(here: Path) -> None:
    name = os.fsdecode(b"caf\xe9.dcdl")
    (here / name).write_text(BROKEN)
    done = run(".")
    assert (done.exit_code, "caf\ufffd.dcdl:7:45" in done.stdout) == (1, True)


def test_a_built_in_flow_is_the_same_from_its_file_and_by_its_selector(here: Path) -> None:
    by_selector = run("builtin:coder-review", "--output", "-").stdout_bytes
    assert json.loads(by_selector)["name"] == "coder-review"
