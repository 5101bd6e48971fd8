"""`stateward compile --fix` and `--diff`: what is changed in files, what is left alone, and what is said of it."""

import errno
import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stateward.compiler.cli.compiling import compile_command
from stateward.compiler.diagnostics.report import Failure
from stateward.runtime.surfaces.cli.reading import FileHost
from tests.cli.hosts import TextHost
from tests.compiler.flow.sources import GOOD, changed

LOOSE = changed(('"Read it.";\n', '"Read it."\n'))
"""It lacks a semicolon, which can be put in with certainty."""
GUESSED = changed(('target = "review"', 'target = "reveiw"'))
"""It names a state that is not there, and a near one is."""
BOTH = changed(('"Read it.";\n', '"Read it."\n'), ('target = "review"', 'target = "reveiw"'))
HOPELESS = changed(('target = "done"', 'target = "elsewhere"'), ('target = "draft"', 'target = "nowhere"'))
"""Two of its names are of no state, so that nobody can tell which is which."""


def run(*arguments: str | Path, stdin: bytes | str | None = None) -> Result:
    return CliRunner().invoke(compile_command, [*map(str, arguments)], input=stdin, obj=FileHost, prog_name="stateward compile")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.dcdl").write_text(text, "utf-8")


def test_what_is_certain_is_mended_in_the_file_and_listed(here: Path) -> None:
    write(here, paper=LOOSE)
    done = run("paper.dcdl", "--fix")
    assert (0, "") == (done.exit_code, done.stderr)
    assert "fixed paper.dcdl\n  line 10: insert `;` (dcdl_syntax)\n\nchecked 1 flow: no problems; made 1 change\n" == done.stdout
    assert GOOD == (here / "paper.dcdl").read_text()


def test_what_was_probably_meant_is_mended_only_when_that_is_asked_for(here: Path) -> None:
    write(here, paper=BOTH)
    safe = run("paper.dcdl", "--fix")
    assert (1, GUESSED) == (safe.exit_code, (here / "paper.dcdl").read_text())
    assert ["1 can be mended with `--fix --unsafe-fixes`", "checked 1 flow: 1 error; made 1 change"] == safe.stdout.splitlines()[-2:]
    unsafe = run("paper.dcdl", "--fix", "--unsafe-fixes")
    assert (0, GOOD) == (unsafe.exit_code, (here / "paper.dcdl").read_text())
    assert "  line 7: name `review` (transition_target_not_found)" == unsafe.stdout.splitlines()[1]


def test_a_change_that_leaves_the_text_no_better_is_not_promised_and_is_told_when_it_is_asked_for(here: Path) -> None:
    write(here, paper=GOOD.replace('target = "review"', "target = nowhere"))
    assert "checked 1 flow: 1 error" == run("paper.dcdl").stdout.splitlines()[-1]
    assert "can be mended" not in run("paper.dcdl").stdout
    asked = run("paper.dcdl", "--fix", "--unsafe-fixes").stdout.splitlines()
    assert ["paper.dcdl: 1 change left out, as the text would be no better", "checked 1 flow: 1 error"] == asked[-2:]


def test_a_brace_too_many_is_taken_out_with_its_semicolon(here: Path) -> None:
    write(here, paper=f"{GOOD}}};\n")
    assert "1 can be mended with `--fix --unsafe-fixes`" == run("paper.dcdl").stdout.splitlines()[-2]
    assert 0 == run("paper.dcdl", "--fix", "--unsafe-fixes").exit_code
    assert f"{GOOD}\n" == (here / "paper.dcdl").read_text()


def test_a_file_with_nothing_to_mend_is_not_touched(here: Path) -> None:
    write(here, paper=GOOD, lost=HOPELESS.replace('"paper"', '"lost"'))
    before = {path.name: path.stat() for path in here.iterdir()}
    assert 1 == run(".", "--fix", "--unsafe-fixes").exit_code
    after = {path.name: path.stat() for path in here.iterdir()}
    assert {name: (each.st_ino, each.st_mtime_ns) for name, each in before.items()} == {
        name: (each.st_ino, each.st_mtime_ns) for name, each in after.items()
    }


def test_the_mode_stays_and_nothing_is_left_beside_the_file(here: Path) -> None:
    write(here, paper=LOOSE)
    (here / "paper.dcdl").chmod(0o640)
    assert 0 == run("paper.dcdl", "--fix").exit_code
    assert (0o640, ["paper.dcdl"]) == (stat.S_IMODE((here / "paper.dcdl").stat().st_mode), [each.name for each in here.iterdir()])


def test_the_mark_and_the_line_ends_stay(here: Path) -> None:
    (here / "paper.dcdl").write_bytes(b"\xef\xbb\xbf" + LOOSE.replace("\n", "\r\n").encode())
    assert 0 == run("paper.dcdl", "--fix").exit_code
    assert b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode() == (here / "paper.dcdl").read_bytes()


def test_a_link_is_left_as_it_is(here: Path) -> None:
    write(here, paper=LOOSE)
    (here / "link.dcdl").symlink_to("paper.dcdl")
    done = run("link.dcdl", "--fix")
    told = "error: `link.dcdl` is a link, and is left as it is\n  = help: name the file that it leads to\n"
    assert (2, told, LOOSE) == (done.exit_code, done.stderr, (here / "paper.dcdl").read_text())
    assert "dcdl_syntax" in done.stdout


def test_a_file_with_another_name_is_left_as_it_is(here: Path) -> None:
    write(here, paper=LOOSE)
    os.link(here / "paper.dcdl", here / "other")
    done = run("paper.dcdl", "--fix")
    told = "error: `paper.dcdl` has another name (a hard link), and is left as it is\n  = help: write a copy of it\n"
    assert (2, told, LOOSE) == (done.exit_code, done.stderr, (here / "other").read_text())


class _Changing(FileHost):
    """A host on whose files somebody else works too: at the last moment, another text is there."""

    def rewrite(self, path: str, data: bytes, *, expected: bytes) -> Failure | None:
        Path(path).write_text("# somebody else was here\n")
        return super().rewrite(path, data, expected=expected)


def test_a_file_that_was_changed_meanwhile_is_left_as_it_is(here: Path) -> None:
    write(here, paper=LOOSE)
    done = CliRunner().invoke(compile_command, ["paper.dcdl", "--fix"], obj=_Changing)
    told = "error: `paper.dcdl` was changed meanwhile, and is left as it is\n  = help: run it again\n"
    assert (3, told) == (done.exit_code, done.stderr)
    assert "# somebody else was here\n" == (here / "paper.dcdl").read_text()
    assert ["paper.dcdl"] == [each.name for each in here.iterdir()]


def test_a_file_that_changes_while_the_new_one_is_written_is_left_as_it_is(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here, paper=LOOSE)
    synced = os.fsync

    def fsync(handle: int) -> None:
        synced(handle)
        (here / "paper.dcdl").write_text("# somebody else was here\n")

    monkeypatch.setattr(os, "fsync", fsync)
    assert 3 == run("paper.dcdl", "--fix").exit_code
    assert ("# somebody else was here\n", 1) == ((here / "paper.dcdl").read_text(), len(list(here.iterdir())))


@pytest.mark.parametrize("call", ["replace", "chmod"])
def test_a_write_that_fails_leaves_the_file_whole(here: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    write(here, paper=LOOSE)

    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, call, fails)
    done = run("paper.dcdl", "--fix")
    assert (3, "error: `paper.dcdl` cannot be written: no space left on device") == (done.exit_code, done.stderr.splitlines()[0])
    assert (LOOSE, ["paper.dcdl"]) == ((here / "paper.dcdl").read_text(), [each.name for each in here.iterdir()])


def test_what_is_no_file_is_shown_with_diff_and_not_mended(here: Path) -> None:
    done = run("-", "--fix", stdin=LOOSE)
    told = "error: `<stdin>` is no file, and is left as it is\n  = help: `--diff` shows what would be changed\n"
    assert (2, told) == (done.exit_code, done.stderr)
    shown = run("-", "--diff", stdin=LOOSE)
    assert (1, "checked 1 flow: 1 file would be changed, no error would be left\n") == (shown.exit_code, shown.stderr)


def test_diff_shows_and_changes_nothing(here: Path) -> None:
    write(here, paper=BOTH)
    done = run("paper.dcdl", "--diff")
    assert (1, "checked 1 flow: 1 file would be changed, 1 error would be left\n") == (done.exit_code, done.stderr)
    assert (
        done.stdout
        == """\
--- paper.dcdl
+++ paper.dcdl (fixed)
@@ -7,7 +7,7 @@
         transitions = { submit = { target = "reveiw"; condition = "It is written."; }; };
     };
     review = {
-        instructions = "Read it."
+        instructions = "Read it.";
         transitions = {
             back = { target = "draft"; condition = "Something is to be mended."; };
             accept = { target = "done"; condition = "Nothing is to be mended."; };
"""
    )
    assert BOTH == (here / "paper.dcdl").read_text()
    both = run("paper.dcdl", "--diff", "--fix", "--unsafe-fixes")
    assert (1, '+        transitions = { submit = { target = "review"; condition = "It is written."; }; };') == (
        both.exit_code,
        next(line for line in both.stdout.splitlines() if line.startswith("+  ")),
    )
    assert BOTH == (here / "paper.dcdl").read_text()


def test_diff_of_what_is_clean_is_empty_and_status_0(here: Path) -> None:
    write(here, paper=GOOD)
    done = run("paper.dcdl", "--diff")
    assert (0, "", "checked 1 flow: 0 files would be changed, no error would be left\n") == (done.exit_code, done.stdout, done.stderr)


def test_many_files_are_mended_in_one_run(here: Path) -> None:
    write(here, a=LOOSE.replace('"paper"', '"a"'), b=BOTH.replace('"paper"', '"b"'), c=HOPELESS.replace('"paper"', '"c"'))
    done = run(".", "--fix", "--unsafe-fixes")
    assert (1, "checked 3 flows: 2 errors; made 3 changes") == (done.exit_code, done.stdout.splitlines()[-1])
    assert ["fixed a.dcdl", "fixed b.dcdl"] == [line for line in done.stdout.splitlines() if line.startswith("fixed")]


def test_the_definition_that_is_written_is_that_of_the_mended_source(here: Path) -> None:
    write(here, paper=LOOSE)
    assert 0 == run("paper.dcdl", "--fix", "--output", "out.json").exit_code
    assert "paper" == json.loads((here / "out.json").read_text())["name"]


def test_programs_are_told_what_was_changed(here: Path) -> None:
    write(here, paper=LOOSE)
    done = run("paper.dcdl", "--fix", "--format", "json")
    report = json.loads(done.stdout)
    fixed = {"code": "dcdl_syntax", "title": "insert `;`", "applicability": "safe", "line": 10, "column": 34}
    assert ([fixed], 1, []) == (report["files"][0]["fixed"], report["summary"]["fixed"], report["files"][0]["diagnostics"])
    assert "" == done.stderr


def test_the_other_forms_hold_what_is_left_and_the_changes_are_told_beside_them(here: Path) -> None:
    write(here, paper=BOTH)
    done = run("paper.dcdl", "--fix", "--format", "line")
    assert "paper.dcdl:7:45: error[transition_target_not_found] no state is named `reveiw`\n" == done.stdout
    assert "fixed paper.dcdl\n  line 10: insert `;` (dcdl_syntax)\n\n" == done.stderr


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--unsafe-fixes"], "`--unsafe-fixes` changes nothing by itself"),
        (["--diff", "--format", "json"], "`--diff` goes with no `--format json`"),
        (["--diff", "--output", "x.json"], "`--diff` goes with no `--output`"),
    ],
)
def test_options_that_go_with_nothing_are_told_before_anything_is_read(options: list[str], line: str) -> None:
    host = TextHost({"paper.dcdl": LOOSE.encode()})
    done = CliRunner().invoke(compile_command, ["paper.dcdl", *options], obj=lambda: host)
    assert (2, "", f"error: {line}") == (done.exit_code, done.stdout, done.stderr.splitlines()[0])
    assert LOOSE.encode() == host.files["paper.dcdl"]
