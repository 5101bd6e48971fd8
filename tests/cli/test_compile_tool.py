"""`stateward compile` as a tool: accepted warnings, formats, progress, watching."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stateward.compiler.cli.checking import PROGRESS_EVERY
from stateward.compiler.cli.compiling import compile_command
from stateward.compiler.cli.watching import INTERVAL_SECONDS, LOOKS_MAX
from stateward.compiler.diagnostics.text import Look
from stateward.runtime.surfaces.cli.reading import FileHost
from tests.cli.hosts import Happening, TextHost, texts
from tests.compiler.flow.sources import GOOD, changed

BROKEN = changed(('target = "review"', 'target = "reveiw"'))
WARNED = changed(('"paper"', '"essay"'), ('"Read it."', '"Read \\d it."'))


def run(host: TextHost, *arguments: str) -> Result:
    return CliRunner().invoke(compile_command, list(arguments), obj=lambda: host, prog_name="stateward compile")


# --- accepted warnings ------------------------------------------------------------------------------------------------------------------


def test_an_accepted_warning_is_counted_and_not_told() -> None:
    done = run(TextHost(texts(paper=WARNED)), "paper.dcdl", "--allow", "name_differs_from_slug")
    assert (0, "warning[unknown_escape]", "checked 1 flow: 1 warning; allowed 1 warning") == (
        done.exit_code,
        done.stdout.split(":")[0],
        done.stdout.splitlines()[-1],
    )


def test_an_accepted_warning_does_not_block_where_warnings_do() -> None:
    both = ("--allow", "name_differs_from_slug", "--allow", "unknown_escape")
    done = run(TextHost(texts(paper=WARNED)), "paper.dcdl", "--strict", *both)
    assert (0, "checked 1 flow: no problems; allowed 2 warnings\n") == (done.exit_code, done.stdout)
    assert 1 == run(TextHost(texts(paper=WARNED)), "paper.dcdl", "--strict", *both[:2]).exit_code


def test_programs_are_told_how_many_were_accepted() -> None:
    done = run(TextHost(texts(paper=WARNED)), "paper.dcdl", "--allow", "unknown_escape", "--format", "json")
    assert (1, 1) == (json.loads(done.stdout)["summary"]["allowed"], json.loads(done.stdout)["summary"]["warnings"])


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("wrong_type", "error: `wrong_type` is an error and cannot be allowed\n  = help: only warnings can be accepted\n"),
        ("unknown_escapes", "error: no diagnostic has the code `unknown_escapes`\n  = help: did you mean `unknown_escape`?\n"),
        ("E501", "error: no diagnostic has the code `E501`\n  = help: `stateward explain` lists the codes\n"),
    ],
)
def test_only_a_warning_that_there_is_can_be_accepted(code: str, told: str) -> None:
    done = run(TextHost(texts(paper=GOOD)), "paper.dcdl", "--allow", code)
    assert (2, "", told) == (done.exit_code, done.stdout, done.stderr)


# --- formats ----------------------------------------------------------------------------------------------------------------------------


def test_lines_are_all_that_is_printed() -> None:
    done = run(TextHost(texts(paper=BROKEN)), "paper.dcdl", "--format", "line")
    told = "paper.dcdl:7:45: error[transition_target_not_found] no state is named `reveiw`\n"
    assert (1, told, "") == (done.exit_code, done.stdout, done.stderr)
    assert "" == run(TextHost(texts(paper=GOOD)), "paper.dcdl", "--format", "line").stdout


def test_annotations_are_printed_for_failures_too() -> None:
    done = run(TextHost(texts(paper=BROKEN)), "paper.dcdl", "nope.dcdl", "--format", "github")
    assert (2, ["::error title=transition_target_not_found", "::error title=compile"]) == (
        done.exit_code,
        [line.split(",")[0].split("::`")[0] for line in done.stdout.splitlines()],
    )


def test_a_sarif_log_is_one_document() -> None:
    done = run(TextHost(texts(paper=BROKEN)), "paper.dcdl", "nope.dcdl", "--format", "sarif")
    (log,) = json.loads(done.stdout)["runs"]
    assert (2, False, 2, 1) == (
        done.exit_code,
        log["invocations"][0]["executionSuccessful"],
        log["invocations"][0]["exitCode"],
        len(log["results"]),
    )


@pytest.mark.parametrize("form", ["line", "json", "sarif", "github"])
def test_forms_for_programs_have_no_colours_and_hold_all(form: str) -> None:
    host = TextHost(texts(paper=BROKEN), shown=Look(colour=True))
    done = run(host, "paper.dcdl", "--format", form, "--max", "1")
    assert ("\x1b" in done.stdout, "transition_target_not_found" in done.stdout) == (False, True)


def test_the_surest_fixes_are_pointed_out_where_they_can_be_made() -> None:
    loose = changed(('"Read it.";\n', '"Read it."\n'), ('target = "review"', 'target = "reveiw"'))
    host = TextHost({**texts(paper=loose), "-": loose.encode()})
    assert "1 can be mended with `--fix`, 1 more with `--fix --unsafe-fixes`" == run(host, "paper.dcdl").stdout.splitlines()[-2]
    assert "mended" not in run(host, "-").stdout
    assert "mended" not in run(TextHost(texts(paper=GOOD)), "paper.dcdl").stdout


# --- progress ---------------------------------------------------------------------------------------------------------------------------


def many(number: int) -> dict[str, bytes]:
    return {f"flows/f{at:03}.dcdl": GOOD.replace('"paper"', f'"f{at:03}"').encode() for at in range(number)}


def test_a_person_who_waits_is_told_how_far_it_is_and_the_line_is_taken_away() -> None:
    done = run(TextHost(many(PROGRESS_EVERY * 2), shown=Look(live=True)), "flows/")
    told = f"\r\x1b[Klooked at {PROGRESS_EVERY} files\r\x1b[Klooked at {PROGRESS_EVERY * 2} files\r\x1b[K"
    assert (0, told, f"checked {PROGRESS_EVERY * 2} flows: no problems\n") == (done.exit_code, done.stderr, done.stdout)


def test_nobody_else_is_told_of_progress() -> None:
    assert "" == run(TextHost(many(PROGRESS_EVERY * 2)), "flows/").stderr
    assert "" == run(TextHost(many(PROGRESS_EVERY - 1), shown=Look(live=True)), "flows/").stderr


# --- watching ---------------------------------------------------------------------------------------------------------------------------


def put(name: str, text: str) -> Happening:
    return lambda files: files.update({f"{name}.dcdl": text.encode()})


def nothing(files: dict[str, bytes]) -> None:
    del files


def summaries(done: Result) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith("checked")]


def test_a_change_is_answered_by_another_check() -> None:
    host = TextHost(texts(paper=BROKEN), script=[nothing, put("paper", GOOD), nothing, nothing, put("paper", BROKEN), nothing])
    done = run(host, "paper.dcdl", "--watch")
    assert ["checked 1 flow: 1 error", "checked 1 flow: no problems", "checked 1 flow: 1 error"] == summaries(done)
    watching = "watching 1 file; Ctrl-C ends it\n"
    assert f"{watching}\n`paper.dcdl` changed\n\n" * 2 + watching == done.stderr
    assert (1, {INTERVAL_SECONDS}) == (done.exit_code, set(host.waits))


def test_files_that_come_and_go_in_a_folder_are_seen() -> None:
    files = {"flows/a.dcdl": GOOD.replace('"paper"', '"a"').encode()}
    come: list[Happening] = [put("flows/b", GOOD.replace('"paper"', '"b"')), nothing]
    go: list[Happening] = [lambda files: files.__delitem__("flows/a.dcdl"), nothing]
    done = run(TextHost(files, script=[*come, *go]), "flows/", "--watch")
    assert ["checked 1 flow: no problems", "checked 2 flows: no problems", "checked 1 flow: no problems"] == summaries(done)
    assert ["`flows/b.dcdl` changed", "`flows/a.dcdl` changed"] == [line for line in done.stderr.splitlines() if "changed" in line]


def test_a_file_that_is_still_being_written_is_not_checked_until_it_holds_still() -> None:
    pieces = [put("paper", GOOD[:end]) for end in (40, 80, 120)]
    done = run(TextHost(texts(paper=GOOD), script=[*pieces, put("paper", GOOD + "\n"), nothing]), "paper.dcdl", "--watch")
    assert ["checked 1 flow: no problems"] * 2 == summaries(done)


def test_files_that_never_hold_still_are_checked_all_the_same() -> None:
    script = [put("paper", f"{GOOD}# {at}\n") for at in range(LOOKS_MAX)]
    done = run(TextHost(texts(paper=BROKEN), script=script), "paper.dcdl", "--watch")
    assert ["checked 1 flow: 1 error", "checked 1 flow: no problems"] == summaries(done)


def test_what_changes_and_changes_back_between_two_looks_is_no_change() -> None:
    done = run(TextHost(texts(paper=GOOD), script=[put("paper", BROKEN), put("paper", GOOD), nothing]), "paper.dcdl", "--watch")
    assert ["checked 1 flow: no problems"] == summaries(done)


def test_a_file_that_is_not_there_yet_is_waited_for() -> None:
    done = run(TextHost({}, script=[put("paper", GOOD), nothing]), "paper.dcdl", "--watch")
    assert (0, ["checked 1 flow: no problems"]) == (done.exit_code, summaries(done))
    assert "error: `paper.dcdl` does not exist\n  = help: check the path\nwatching 0 files; Ctrl-C ends it" in done.stderr


def test_what_mending_writes_is_seen_and_comes_to_rest() -> None:
    done = run(TextHost(texts(paper=BROKEN), script=[nothing] * 5), "paper.dcdl", "--watch", "--fix", "--unsafe-fixes")
    assert ["checked 1 flow: no problems; made 1 change", "checked 1 flow: no problems"] == summaries(done)


@pytest.mark.parametrize("path", ["-", "builtin:single-step", "workspace:paper"])
def test_only_files_and_folders_are_watched(path: str) -> None:
    host = TextHost(texts(paper=GOOD))
    done = run(host, "paper.dcdl", path, "--watch")
    told = f"error: `{path}` cannot be watched\n  = help: `--watch` follows files and folders\n"
    assert (2, told, []) == (done.exit_code, done.stderr, host.waits)


def test_an_interruption_ends_watching() -> None:
    def interrupt(files: dict[str, bytes]) -> None:
        raise KeyboardInterrupt

    script: list[Callable[[dict[str, bytes]], None]] = [interrupt]
    done = run(TextHost(texts(paper=GOOD), script=script), "paper.dcdl", "--watch")
    assert (["checked 1 flow: no problems"], True) == (summaries(done), done.exit_code != 0)


# --- the files of the system ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_that_changes_has_another_stamp_and_others_keep_theirs(here: Path) -> None:
    for name in ("a.dcdl", "sub/b.dcdl", ".hidden/c.dcdl", "notes.txt"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("x")
    host = FileHost()
    before = host.stamps(".")
    assert ["a.dcdl", "sub/b.dcdl"] == sorted(before)
    os.utime(here / "a.dcdl", ns=(0, 0))
    (here / "sub" / "d.dcdl").write_text("x")
    after = host.stamps(".")
    assert {"a.dcdl", "sub/d.dcdl"} == {name for name in {*before, *after} if before.get(name) != after.get(name)}


def test_what_is_no_file_has_no_stamp(here: Path) -> None:
    (here / "link.dcdl").symlink_to("nowhere")
    (here / "paper.dcdl").write_text(GOOD)
    host = FileHost()
    assert [{}, {}, {}, {}] == [host.stamps(each) for each in ("nope.dcdl", "link.dcdl", "", "builtin:single-step")]


def test_a_file_that_another_takes_the_place_of_has_another_stamp(here: Path) -> None:
    (here / "a.dcdl").write_text("x")
    (here / "b").write_text("y")
    times = (here / "a.dcdl").stat()
    os.utime(here / "b", ns=(times.st_atime_ns, times.st_mtime_ns))
    before = FileHost().stamps("a.dcdl")
    (here / "b").replace(here / "a.dcdl")
    assert before != FileHost().stamps("a.dcdl")


def test_files_are_watched_as_they_change_on_the_disk(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "paper.dcdl").write_text(BROKEN)
    steps = iter([lambda: (here / "paper.dcdl").write_text(f"{GOOD}\n"), lambda: 0])

    def wait(_host: FileHost, _seconds: float) -> bool:
        step = next(steps, None)
        return step is not None and step() >= 0

    monkeypatch.setattr(FileHost, "wait", wait)
    done = CliRunner().invoke(compile_command, [".", "--watch"], obj=FileHost)
    assert (0, ["checked 1 flow: 1 error", "checked 1 flow: no problems"]) == (done.exit_code, summaries(done))


def test_waiting_takes_the_time_that_it_is_given() -> None:
    assert FileHost().wait(0.0)
