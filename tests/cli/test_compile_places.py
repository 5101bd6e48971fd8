"""The authors' commands where files and streams are not what one hopes for: links, pipes, devices, closed and full streams, odd names."""

import json
import os
import pty
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stateward.runtime.surfaces.cli import cli
from tests.cli.program import STATEWARD
from tests.compiler.flow.sources import GOOD, changed

BROKEN = changed(('target = "review"', 'target = "reveiw"'))
LOOSE = 'name="x"'


def run(*arguments: str | Path, stdin: bytes | str | None = None) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)], input=stdin, prog_name="stateward")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "paper.dcdl").write_text(GOOD)
    return tmp_path


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of shell; `sw` is the program."""
    return subprocess.run(
        ["sh", "-c", f'sw() {{ "{STATEWARD}" "$@"; }}; {script}'], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )  # fmt: skip


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- what is read -----------------------------------------------------------------------------------------------------------------------


def test_links_are_followed_to_files_and_not_to_folders_below(here: Path) -> None:
    (here / "flows").mkdir()
    (here / "flows" / "essay.dcdl").symlink_to("../paper.dcdl")
    (here / "flows" / "up").symlink_to("..")
    done = run("compile", "flows")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "checked 1 flow: 1 warning")
    assert "flows/essay.dcdl:2:8" in done.stdout


@pytest.mark.parametrize(
    ("target", "status", "told"),
    [
        ("nowhere.dcdl", 2, "error: `link.dcdl` is a link to nothing\n  = help: mend the link, or take it away\n"),
        (
            "link.dcdl",
            3,
            "error: `link.dcdl` cannot be read: too many levels of symbolic links\n  = help: see that it is there and readable\n",
        ),
    ],
    ids=["nothing", "itself"],
)
def test_a_link_that_leads_nowhere_is_told_as_one(here: Path, target: str, status: int, told: str) -> None:
    (here / "link.dcdl").symlink_to(target)
    for arguments in (["link.dcdl"], ["."]):
        done = run("compile", *arguments)
        assert (done.exit_code, done.stderr) == (status, told)


def test_what_begins_with_a_dot_in_a_folder_is_passed_over(here: Path) -> None:
    (here / ".#paper.dcdl").symlink_to("somebody@there.1234")
    (here / "._paper.dcdl").write_bytes(b"\x00\x05\x16\x07")
    assert run("compile", ".").output == "checked 1 flow: no problems\n"
    assert run("fmt", "--check", ".").stderr == ""


@pytest.mark.parametrize("command", ["compile", "fmt"])
def test_a_pipe_in_a_folder_is_not_waited_for(here: Path, command: str) -> None:
    os.mkfifo(here / "pipe.dcdl")
    done = run(command, ".")
    told = "error: `pipe.dcdl` is neither a file nor a folder\n  = help: name `-` to read standard input\n"
    assert (done.exit_code, done.stderr) == (2, told)


def test_an_empty_path_names_nothing(here: Path) -> None:
    done = run("compile", "")
    assert (done.exit_code, done.stderr) == (2, "error: an empty path names nothing\n  = help: name a file, a folder, a selector or `-`\n")
    written = run("compile", "paper.dcdl", "--output", "")
    assert (written.exit_code, written.stderr.splitlines()[0]) == (2, "error: an empty path names nothing")


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000], ids=["name", "path"])
def test_a_name_that_is_too_long_to_be_there_is_not_there(here: Path, name: str) -> None:
    done = run("compile", name)
    assert (done.exit_code, done.stderr.endswith("` does not exist\n  = help: check the path\n")) == (2, True)


@pytest.mark.parametrize(
    ("path", "help_"),
    [
        ("Builtin:coder-review", "did you mean `builtin:coder-review`?"),
        ("builtins:single-step", "did you mean `builtin:single-step`?"),
        ("Workspace:paper", "did you mean `workspace:paper`?"),
        (" ", "check the path"),
        ("z", "check the path"),
    ],
)
def test_help_for_what_is_not_there_names_what_is_near_and_nothing_else(here: Path, path: str, help_: str) -> None:
    assert run("compile", path).stderr.splitlines()[1] == f"  = help: {help_}"


def test_one_file_named_in_two_ways_is_checked_once(here: Path) -> None:
    (here / "flows").mkdir()
    done = run("compile", "paper.dcdl", "./paper.dcdl", here / "paper.dcdl")
    assert done.stdout == "checked 1 flow: no problems\n"


def test_two_sources_that_look_the_same_are_both_checked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATEWARD_STORE", str(here / "store.db"))
    assert run("flow", "save", "paper.dcdl").exit_code == 0
    (here / "flows").mkdir()
    (here / "flows" / "paper.dcdl").write_text(BROKEN)
    done = run("compile", "workspace:paper", "flows/paper.dcdl")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (1, "checked 2 flows: 1 error")
    for byte in (b"\xe9", b"\xea"):
        (here / os.fsdecode(byte + b".dcdl")).write_text(BROKEN)
    assert run("compile", ".").stdout.splitlines()[-1] == "checked 4 flows: 3 errors, 2 warnings"


def test_standard_input_is_read_once_however_often_it_is_named() -> None:
    assert run("compile", "-", "-", stdin=GOOD).stdout == "checked 1 flow: no problems\n"


# --- what is written --------------------------------------------------------------------------------------------------------------------


def test_only_files_are_formatted_and_a_file_of_the_same_name_is_not_touched(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STATEWARD_STORE", str(here / "store.db"))
    (here / "paper.dcdl").write_text(GOOD.replace(" = ", "="))
    assert run("flow", "save", "paper.dcdl").exit_code == 0
    (here / "flows").mkdir()
    (here / "flows" / "paper.dcdl").write_text(LOOSE)
    done = run("fmt", "workspace:paper", "builtin:single-step")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines()[:2] == [
        "error: `workspace:paper` is no file",
        "  = help: format the file that it is saved from",
    ]
    assert (here / "flows" / "paper.dcdl").read_text() == LOOSE


def test_a_file_whose_name_is_no_text_is_formatted_in_place(here: Path) -> None:
    (here / "paper.dcdl").unlink()
    path = here / os.fsdecode(b"caf\xe9.dcdl")
    path.write_text(LOOSE)
    done = run("fmt", ".")
    assert (done.exit_code, done.stdout) == (0, "formatted caf\ufffd.dcdl\n1 file: 1 changed\n")
    assert (path.read_text(), names(here)) == ('name = "x";\n', [path.name])


def test_the_source_is_not_written_over(here: Path) -> None:
    (here / "link").symlink_to("paper.dcdl")
    for output in ("paper.dcdl", "link"):
        done = run("compile", "paper.dcdl", "--output", output)
        assert (done.exit_code, done.stderr) == (2, f"error: `{output}` is the source itself\n  = help: name another file\n")
    assert (here / "paper.dcdl").read_text() == GOOD


def test_a_pipe_is_written_to_and_stays_one(here: Path) -> None:
    os.mkfifo(here / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((here / "pipe").read_bytes()))
    reader.start()
    assert run("compile", "paper.dcdl", "--output", "pipe").exit_code == 0
    reader.join()
    assert (json.loads(got[0])["name"], (here / "pipe").is_fifo()) == ("paper", True)


def test_a_device_is_written_to_and_stays_one(here: Path) -> None:
    master, slave = pty.openpty()
    try:
        done = run("compile", "paper.dcdl", "--output", os.ttyname(slave))
        assert (done.exit_code, os.read(master, 11)) == (0, b'{"initial":')
        assert Path(os.ttyname(slave)).is_char_device()
    finally:
        os.close(slave)
        os.close(master)


def test_a_stream_that_leads_to_a_file_does_not_lose_what_the_file_holds(here: Path) -> None:
    done = shell('(echo before; sw compile paper.dcdl --output /dev/stdout; echo "status $?") > out 2>&1', here)
    assert (done.returncode, (here / "out").read_text().splitlines()) == (
        0,
        [
            "before",
            "checked 1 flow: no problems",
            "error: `/dev/stdout` is no file",
            "  = help: name a file, or `-` for standard output",
            "status 2",
        ],
    )


@pytest.mark.parametrize(
    ("output", "status", "line"),
    [
        ("sub/", 2, "the folder of `sub/` does not exist"),
        ("loop", 3, "`loop` cannot be written: too many levels of symbolic links"),
        ("x" * 300, 3, f"`{'x' * 300}` cannot be written: file name too long"),
        ("paper.dcdl/x", 3, "`paper.dcdl/x` cannot be written: not a directory"),
    ],
    ids=["folder", "loop", "long", "below a file"],
)
def test_output_to_a_place_that_cannot_be_is_told(here: Path, output: str, status: int, line: str) -> None:
    (here / "loop").symlink_to("loop")
    before = names(here)
    done = run("compile", "paper.dcdl", "--output", output)
    assert (done.exit_code, done.stderr.splitlines()[0]) == (status, f"error: {line}")
    assert before == names(here)


def test_output_into_a_folder_that_denies_is_status_3(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Path.stat

    def stat(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.name == "out.json":
            raise PermissionError(13, "Permission denied", str(path))
        return looked(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", stat)
    done = run("compile", "paper.dcdl", "--output", "out.json")
    assert (done.exit_code, done.stderr.splitlines()[0]) == (3, "error: `out.json` cannot be written: permission denied")


def test_a_link_to_a_file_that_is_not_there_yet_is_written_through(here: Path) -> None:
    (here / "link").symlink_to("new.json")
    assert run("compile", "paper.dcdl", "--output", "link").exit_code == 0
    assert ((here / "link").is_symlink(), json.loads((here / "new.json").read_text())["name"]) == (True, "paper")


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file away")
def test_a_file_stays_with_its_owner(here: Path) -> None:
    (here / "paper.dcdl").write_text(GOOD.replace(" = ", "="))
    os.chown(here / "paper.dcdl", 65534, 65534)
    assert run("fmt", "paper.dcdl").stdout.startswith("formatted")
    found = (here / "paper.dcdl").stat()
    assert (found.st_uid, found.st_gid) == (65534, 65534)


# --- streams ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("sw compile broken.dcdl >&-", 1),
        ("sw compile paper.dcdl >&-", 0),
        ("sw compile broken.dcdl nope >&- 2>&-", 2),
        ("sw compile broken.dcdl --format json >&-", 1),
        ("sw graph broken.dcdl 2>&-", 1),
        ("sw graph paper.dcdl >&-", 0),
        ("sw fmt --check broken.dcdl >&-", 1),
        ("sw eval paper.dcdl >&-", 0),
    ],
)
def test_a_closed_stream_wants_no_text_and_changes_no_status(here: Path, script: str, status: int) -> None:
    (here / "broken.dcdl").write_text(BROKEN.replace(" = ", "="))
    done = shell(script, here)
    assert (done.returncode, "Traceback" in done.stderr) == (status, False)


@pytest.mark.parametrize("command", ["compile -", "fmt -", "graph -", "eval -"])
def test_a_closed_standard_input_is_status_3(here: Path, command: str) -> None:
    done = shell(f"sw {command} <&-", here)
    told = "error: standard input cannot be read: it is closed\n  = help: pipe the source into it\n"
    assert (done.returncode, done.stderr) == (3, told)


def test_a_definition_is_not_lost_in_a_closed_stream_without_a_word(here: Path) -> None:
    done = shell("sw compile paper.dcdl --output - >&-", here)
    assert (done.returncode, done.stderr) == (3, "error: standard output cannot be written: it is closed\n  = help: name a file\n")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize(
    "command",
    ["compile broken.dcdl", "compile broken.dcdl --format json", "compile paper.dcdl --output -", "graph paper.dcdl", "fmt - < paper.dcdl"],
)
def test_output_that_has_no_room_is_status_3(here: Path, command: str) -> None:
    (here / "broken.dcdl").write_text(BROKEN)
    done = shell(f"sw {command} > {FULL}", here)
    told = "error: standard output cannot be written: no space left on device\n  = help: send it elsewhere\n"
    assert (done.returncode, done.stderr) == (3, told)


def test_a_reader_who_leaves_ends_the_command_quietly(here: Path) -> None:
    (here / "broken.dcdl").write_text(BROKEN)
    done = shell("{ sw compile broken.dcdl; echo $? > status; } | true; cat status", here)
    assert (done.stderr, done.stdout in {"1\n", "141\n"}) == ("", True)


def test_a_document_for_programs_stays_one_on_standard_error(here: Path) -> None:
    done = run("compile", "paper.dcdl", "nope.dcdl", "--output", "-", "--format", "json")
    assert (done.exit_code, done.stdout, len(json.loads(done.stderr)["failures"])) == (2, "", 1)


@pytest.mark.parametrize("name", ["new\nline.dcdl", "esc\x1b[31m.dcdl", "turn\u202e.dcdl"])
@pytest.mark.parametrize("arguments", [["compile"], ["fmt", "--check"], ["fmt"], ["graph"], ["eval"]], ids=" ".join)
def test_a_name_cannot_act_on_a_terminal(here: Path, name: str, arguments: Sequence[str]) -> None:
    told = run(*arguments, name).output
    (here / name).write_text(LOOSE)
    told += run(*arguments, name).output
    assert not {"\x1b", "\u202e"} & set(told)
    assert all("line.dcdl" not in line or "new" in line for line in told.splitlines())


def test_the_current_folder_may_be_gone(here: Path) -> None:
    script = "mkdir gone; cd gone; rmdir ../gone; sw compile workspace:x; echo $?; sw compile paper.dcdl; echo $?; sw compile .; echo $?"
    done = shell(script, here)
    assert (done.stdout.split(), "Traceback" in done.stderr) == (["3", "2", "2"], False)
