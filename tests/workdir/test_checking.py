"""Checks run as processes of this machine: what may be run, what it is given, how it ends, and what is kept of it."""

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest

from stateward.compiler.predicates.declarations import CheckDeclaration
from stateward.runtime.ports.checking import OUTPUT_BYTES_MAX, CheckRights, CheckRun
from stateward.runtime.session.checks import CheckEnd
from stateward.runtime.session.masking import Secrets
from stateward.runtime.workdir.checking import VARIABLES, WorkdirChecks
from stateward.runtime.workdir.limits import CHECK_MARGIN_BYTES
from stateward.runtime.workdir.stated import tree_facts
from tests.workdir.repositories import Repo
from tests.workdir.repositories import repo as new_repo
from tests.workdir.trees import Tree, children, open_handles

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LONG = 600
"""Longer than any of these checks takes."""
SECRET = "correct horse battery staple"  # noqa: S105 -- of nobody
ANY = CheckRights(((sys.executable,),))


def runner(secrets: Mapping[str, str] | None = None, **environment: str) -> WorkdirChecks:
    given = {"PATH": os.environ["PATH"], **environment}
    return WorkdirChecks(facts=tree_facts, now=lambda: NOON, environment=given, secrets=Secrets(secrets or {}))


def check(*command: str, seconds: int = LONG) -> CheckDeclaration:
    return CheckDeclaration("tests", command, seconds)


def python(code: str, *, seconds: int = LONG) -> CheckDeclaration:
    return check(sys.executable, "-I", "-S", "-c", code, seconds=seconds)


def run(root: Path, code: str, *, seconds: int = LONG, secrets: Mapping[str, str] | None = None) -> CheckRun:
    return runner(secrets).run(python(code, seconds=seconds), str(root), ANY)


def program(folder: Path, name: str = "tool", said: str = "yes") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / name
    made.write_text(f"#!/bin/sh\necho {said}\n", "utf-8")
    made.chmod(0o755)
    return made


# --- how it ends ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [0, 1, 2, 255])
def test_the_exit_status_of_a_check_is_told(place: Tree, status: int) -> None:
    ran = run(place.root, f"import sys; print('said'); sys.exit({status})")
    assert (CheckEnd.EXITED, status, "", "said\n", NOON) == (ran.ended, ran.status, ran.problem, ran.output, ran.started)
    assert ran.is_conclusive


def test_it_runs_in_the_folder_of_the_work_and_has_nothing_to_read(place: Tree) -> None:
    ran = run(place.root, "import os, sys; print(os.getcwd(), repr(sys.stdin.read()))")
    assert f"{place.root.resolve()} ''\n" == ran.output


def test_what_it_says_is_kept_in_the_order_in_which_it_said_it(place: Tree) -> None:
    ran = run(place.root, "import sys; [print(each, file=to, flush=True) for each, to in enumerate((sys.stderr, sys.stdout, sys.stderr))]")
    assert "0\n1\n2\n" == ran.output


def test_no_shell_reads_its_words(place: Tree) -> None:
    ran = runner().run(check(sys.executable, "-c", "import sys; print(sys.argv[1:])", "$HOME", "; exit 1", "| cat"), str(place.root), ANY)
    assert ("['$HOME', '; exit 1', '| cat']\n", 0, "") == (ran.output, ran.status, ran.problem)


def test_a_check_that_does_not_end_is_killed_at_its_limit_and_says_nothing_of_the_work(place: Tree) -> None:
    ran = run(place.root, "import signal; print('begun', flush=True); signal.pause()", seconds=1)
    assert (CheckEnd.TIMED_OUT, None, "it did not end in 1 second and was killed") == (ran.ended, ran.status, ran.problem)
    assert (False, "begun\n") == (ran.is_conclusive, ran.output)


def test_a_check_that_dies_of_a_signal_has_no_status(place: Tree) -> None:
    ran = run(place.root, f"import os; os.kill(os.getpid(), {int(signal.SIGTERM)})")
    assert (CheckEnd.KILLED, None, "it was killed by signal 15") == (ran.ended, ran.status, ran.problem)


@pytest.fixture
def halt() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for each in (reader, writer):
        os.close(each)


def test_a_check_that_is_stopped_is_killed(place: Tree, halt: tuple[int, int]) -> None:
    pipe = place.outside / "pipe"
    os.mkfifo(pipe)
    code = f"import signal; held = open({str(pipe)!r}, 'w'); held.write('here'); held.flush(); signal.pause()"
    came: list[CheckRun] = []
    running = Thread(target=lambda: came.append(runner().run(python(code), str(place.root), ANY, halt[0])))
    running.start()
    with pipe.open() as listening:  # which ends when the check is dead
        assert "here" == listening.read(4)
        os.write(halt[1], b"x")
        assert not listening.read()
    running.join()
    assert (CheckEnd.STOPPED, None, "it was stopped by whoever asked") == (came[0].ended, came[0].status, came[0].problem)


GRANDCHILD = """
import subprocess, sys
held = open({pipe!r}, "w")
child = "import signal, sys; sys.stdout.write('up'); sys.stdout.flush(); signal.pause()"
subprocess.Popen([sys.executable, "-I", "-S", "-c", child], stdout=held)
print("left")
{then}
"""
"""Starts a process that goes on, holds its own output open and a pipe by which its death is seen."""


@pytest.mark.parametrize(
    ("then", "ended"), [("", CheckEnd.EXITED), ("import signal; signal.pause()", CheckEnd.TIMED_OUT)], ids=["by itself", "at its limit"]
)
def test_what_a_check_started_is_dead_when_it_is_over(place: Tree, then: str, ended: CheckEnd) -> None:
    pipe = place.outside / "pipe"
    os.mkfifo(pipe)
    came: list[CheckRun] = []
    code = GRANDCHILD.format(pipe=str(pipe), then=then)
    running = Thread(target=lambda: came.append(run(place.root, code, seconds=2 if then else LONG)))
    running.start()
    with pipe.open() as listening:
        listening.read()  # ends when nobody holds the pipe any more
    running.join()
    assert ended is came[0].ended


def test_a_check_is_over_with_its_program_though_its_children_hold_its_output_open(place: Tree) -> None:
    code = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()']); print('done')"
    ran = run(place.root, code)
    assert (CheckEnd.EXITED, 0, "done\n") == (ran.ended, ran.status, ran.output)


def test_where_the_end_of_a_program_cannot_be_listened_for_it_is_waited_for(place: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert (3, "said\n") == ((ran := run(place.root, "import sys; print('said'); sys.exit(3)")).status, ran.output)
    assert CheckEnd.TIMED_OUT is run(place.root, "import signal; signal.pause()", seconds=1).ended
    assert CheckEnd.TIMED_OUT is run(place.root, "import os, signal; os.close(1); os.close(2); signal.pause()", seconds=1).ended


def test_checks_leave_no_process_and_no_handle(place: Tree) -> None:
    before = (children(), open_handles())
    for code in ("pass", "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import signal; signal.pause()'])"):
        run(place.root, code)
    run(place.root, "import signal; signal.pause()", seconds=1)
    assert before == (children(), open_handles())


# --- what is kept of its output -------------------------------------------------------------------------------------------------------


def test_output_up_to_the_bound_is_kept_whole(place: Tree) -> None:
    ran = run(place.root, f"print('x' * {OUTPUT_BYTES_MAX - 1})")
    assert ("x" * (OUTPUT_BYTES_MAX - 1) + "\n", "", 0) == (ran.output, ran.output_end, ran.left_out)


@pytest.mark.parametrize("lines", [OUTPUT_BYTES_MAX // 8 + 1, 40_000, 500_000])
def test_of_a_flood_the_beginning_and_the_end_are_kept(place: Tree, lines: int) -> None:
    ran = run(place.root, f"for each in range({lines}): print(f'{{each:07d}}')")
    assert (0, CheckEnd.EXITED) == (ran.status, ran.ended)
    assert ran.output.startswith("0000000\n0000001\n")
    assert ran.output_end.endswith(f"{lines - 1:07d}\n")
    assert len(ran.output) + len(ran.output_end) <= OUTPUT_BYTES_MAX
    assert 8 * lines == len(ran.output) + ran.left_out + len(ran.output_end)


def test_a_flood_that_does_not_end_is_killed_at_the_limit(place: Tree) -> None:
    ran = run(place.root, "while True: print('x' * 1000)", seconds=1)
    assert CheckEnd.TIMED_OUT is ran.ended
    assert len(ran.output) + len(ran.output_end) <= OUTPUT_BYTES_MAX


def test_output_that_is_no_text_is_kept_as_text(place: Tree) -> None:
    ran = run(place.root, "import sys; sys.stdout.buffer.write(b'a\\xffb')")
    assert "a\ufffdb" == ran.output


def test_a_secret_gives_way_to_its_name(place: Tree) -> None:
    ran = run(place.root, f"print({SECRET!r}[:9], end='', flush=True); print({SECRET!r}[9:])", secrets={"KEY": SECRET})
    assert "«secret:KEY»\n" == ran.output


@pytest.mark.parametrize("shift", [0, 1, len(SECRET) // 2, len(SECRET) - 1, len(SECRET)])
@pytest.mark.parametrize("edge", ["beginning", "end"])
def test_no_half_of_a_secret_is_kept_where_the_output_is_cut(place: Tree, edge: str, shift: int) -> None:
    half = OUTPUT_BYTES_MAX // 2
    flood = 2 * (half + CHECK_MARGIN_BYTES)
    before, after = (half - shift, flood) if edge == "beginning" else (flood, half - shift)
    ran = run(place.root, f"print('x' * {before} + {SECRET!r} + 'y' * {after})", secrets={"KEY": SECRET})
    kept = ran.output + ran.output_end
    assert not any(SECRET[at : at + 6] in kept for at in range(len(SECRET) - 5))
    assert ran.left_out > 0


# --- what it is given -----------------------------------------------------------------------------------------------------------------


def test_it_sees_the_variables_that_are_listed_and_no_other(place: Tree) -> None:
    listed = {name: f"the {name}" for name in VARIABLES if name != "PATH"}
    code = "import os; print(*sorted(set(os.environ)))"
    ran = runner(**listed, OF_THE_CALLER="x", LD_PRELOAD="x").run(python(code), str(place.root), ANY)
    assert " ".join(sorted(VARIABLES)) == ran.output.strip()


def test_the_page_of_checks_lists_the_variables() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "checks.md").read_text("utf-8")
    assert all(f"`{each}`" in page for each in VARIABLES)


# --- what may be run ------------------------------------------------------------------------------------------------------------------


def refused(ran: CheckRun) -> str:
    assert (CheckEnd.NOT_RUN, None, False) == (ran.ended, ran.status, ran.is_conclusive)
    return ran.problem


def test_nothing_may_be_run_by_default(place: Tree) -> None:
    marker = place.root / "marker"
    ran = runner().run(check("touch", str(marker)), str(place.root), CheckRights())
    assert f"no profile lets `touch {marker}` be run" == refused(ran)
    assert (f'an operator allows it in a profile: `checks.allow = [["touch", "{marker}"]];`',) == ran.allowed
    assert not marker.exists()


@pytest.mark.parametrize("command", [("make", '"'), ("make", "x" * 300), ("make", "a\nb")])
def test_of_a_command_that_is_long_or_odd_the_beginning_is_offered(place: Tree, command: tuple[str, ...]) -> None:
    ran = runner().run(check(*command), str(place.root), CheckRights())
    assert ('an operator allows it in a profile: `checks.allow = [["make", …]];`',) == ran.allowed


@pytest.mark.parametrize(
    ("allow", "command", "may"),
    [
        ((("echo",),), ("echo", "-n", "x"), True),
        ((("echo", "-n"),), ("echo", "-n", "x"), True),
        ((("echo", "-n"),), ("echo", "x", "-n"), False),
        ((("echo", "-n"),), ("echo",), False),
        ((("ech",),), ("echo",), False),
        ((("echo -n",),), ("echo", "-n"), False),
        ((("printf",), ("echo",)), ("echo",), True),
        ((("echo",),), ("/bin/echo",), False),
    ],
)
def test_a_command_may_be_run_that_begins_with_the_words_that_are_allowed(
    place: Tree, allow: tuple[tuple[str, ...], ...], command: tuple[str, ...], *, may: bool
) -> None:
    ran = runner().run(check(*command), str(place.root), CheckRights(allow))
    assert may is (ran.ended is CheckEnd.EXITED)


def test_a_program_that_is_not_there_is_named(place: Tree) -> None:
    ran = runner().run(check("no-such-tool"), str(place.root), CheckRights((("no-such-tool",),)))
    assert "there is no program `no-such-tool` where programs are looked for" == refused(ran)


def test_a_file_that_is_no_program_is_told_so(place: Tree) -> None:
    tool = place.outside / "tool"
    tool.write_text("no program\n", "utf-8")
    tool.chmod(0o755)
    ran = runner().run(check(str(tool)), str(place.root), CheckRights(((str(tool),),)))
    assert refused(ran).endswith("cannot be run: exec format error")


def test_a_folder_of_work_that_is_gone_is_told_so(place: Tree) -> None:
    ran = runner().run(python("pass"), str(place.root / "gone"), ANY)
    assert "cannot be used: no such file or directory" in refused(ran)


HOW = (
    "by its path",
    "by a path that begins with a dot",
    "by its whole path",
    "by a link from outside",
    "by a link that leads out",
    "by way of a folder outside",
    "by a path that leads round",
)


def in_the_workdir(place: Tree) -> dict[str, str]:
    """Give programs that lie in the folder of the work, each by the word that names it."""
    tool = program(place.root / "bin")
    (place.outside / "link").symlink_to(tool)
    (place.root / "out").symlink_to(program(place.outside / "bin", "other"))
    (place.outside / "here").symlink_to(place.root / "bin")
    words = (
        "bin/tool",
        "./bin/tool",
        str(tool),
        str(place.outside / "link"),
        "./out",
        str(place.outside / "here" / "tool"),
        f"../{place.root.name}/bin/tool",
    )
    return dict(zip(HOW, words, strict=True))


@pytest.mark.parametrize("how", HOW)
def test_a_program_in_the_folder_of_the_work_is_run_only_where_the_policy_says_so(place: Tree, how: str) -> None:
    word, checks = in_the_workdir(place)[how], runner()
    strict = checks.run(check(word), str(place.root), CheckRights(((word,),)))
    assert "lies in the folder of the work, where the worker can write it" in refused(strict)
    assert "checks.workdir_programs = true;" in strict.allowed[0]
    assert "yes\n" == checks.run(check(word), str(place.root), CheckRights(((word,),), workdir_programs=True)).output


@pytest.mark.parametrize("entry", ["{root}/bin", "{outside}/here", "bin", ".", ""])
def test_where_programs_are_looked_for_is_never_in_the_folder_of_the_work(place: Tree, entry: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program(place.root / "bin", "printf", "wrong")
    program(place.root, "printf", "wrong")
    (place.outside / "here").symlink_to(place.root / "bin")
    monkeypatch.chdir(place.root)
    path = os.pathsep.join((entry.format(root=place.root, outside=place.outside), os.environ["PATH"]))
    ran = runner(PATH=path).run(check("printf", "right"), str(place.root), CheckRights((("printf",),)))
    assert "right" == ran.output


def test_what_a_check_starts_is_not_looked_for_there_either(place: Tree) -> None:
    program(place.root / "bin", "printf", "wrong")
    path = os.pathsep.join((str(place.root / "bin"), os.environ["PATH"]))
    ran = runner(PATH=path).run(check("env", "printf", "right"), str(place.root), CheckRights((("env",),)))
    assert "right" == ran.output


def test_a_word_that_no_argument_can_be_is_refused(place: Tree) -> None:
    ran = runner().run(check(sys.executable, "a\0b"), str(place.root), ANY)
    assert "its command holds a character that no argument of a program can hold" == refused(ran)


# --- what its status is worth ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["false | cat", "false || true", "false; echo ok"])
def test_a_status_that_a_shell_may_mask_does_not_count(place: Tree, line: str) -> None:
    ran = runner().run(check("sh", "-c", line), str(place.root), CheckRights((("sh", "-c"),)))
    assert (0, False) == (ran.status, ran.is_conclusive)
    assert ran.problem.startswith("its exit status may be masked: ")


def test_a_failure_counts_though_another_might_be_masked(place: Tree) -> None:
    ran = runner().run(check("sh", "-c", "true | false"), str(place.root), CheckRights((("sh", "-c"),)))
    assert (1, True) == (ran.status, ran.is_conclusive)


# --- the tree that it ran on ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return new_repo(tmp_path)


def test_the_tree_it_ran_on_is_told(repo: Repo) -> None:
    repo.commit()
    facts = tree_facts(str(repo.root))
    assert facts is not None
    ran = run(repo.root, "pass")
    assert facts.digest == ran.tree == ran.tree_after != ""
    assert ran.is_conclusive


def test_a_check_that_changes_the_tree_is_told_with_what_it_changed(repo: Repo) -> None:
    repo.commit()
    ran = run(repo.root, "[open(each, 'w').close() for each in ('d', 'b', 'c', 'e')]")
    assert ("the Workdir changed while it ran: `b`, `c`, `d` and 1 more", 0, False) == (ran.problem, ran.status, ran.is_conclusive)
    assert ran.tree != ran.tree_after
    assert ran.allowed


def test_what_git_ignores_is_no_change(repo: Repo) -> None:
    repo.commit(".gitignore", "cache/\n")
    ran = run(repo.root, "import os; os.mkdir('cache'); open('cache/a', 'w').close()")
    assert ran.is_conclusive


def test_a_folder_that_is_no_work_tree_has_no_tree(place: Tree) -> None:
    ran = run(place.root, "open('new', 'w').close()")
    assert ("", "", True) == (ran.tree, ran.tree_after, ran.is_conclusive)
