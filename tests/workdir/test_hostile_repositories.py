"""A repository that was made to hurt: nothing it names is started, nothing outside is read, and every taking of facts ends."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stateward.runtime.workdir.beneath import portable_open
from stateward.runtime.workdir.facts import Caveat, FactsUnknown, NoWorkTree, WorkdirFacts
from stateward.runtime.workdir.git import GIT_PLACES
from stateward.runtime.workdir.limits import FactsBounds
from stateward.runtime.workdir.taking import facts
from tests.workdir.repositories import Repo, tracked_repo

GIB = 1024**3


@pytest.fixture
def work(tmp_path: Path) -> Repo:
    return tracked_repo(tmp_path)


def hooks(work: Repo) -> None:
    for name in ("post-index-change", "post-checkout", "pre-commit", "reference-transaction", "fsmonitor-watchman", "query-watchman"):
        shutil.copy(work.trap(), work.root / ".git" / "hooks" / name)


def filters(work: Repo) -> None:
    work.write(".gitattributes", "* filter=trap diff=trap merge=trap\n")
    work.write(".git/info/attributes", "* filter=trap\n")
    for name in ("clean", "smudge", "process"):
        work.git("config", f"filter.trap.{name}", str(work.trap()))
    work.git("config", "filter.trap.required", "true")
    work.git("config", "filter.a=b.clean", str(work.trap()))


def differs(work: Repo) -> None:
    work.write(".gitattributes", "* diff=trap\n")
    for name in ("diff.external", "diff.trap.command", "diff.trap.textconv", "core.pager", "pager.status", "core.editor", "core.askPass"):
        work.git("config", name, str(work.trap()))


def promisor(work: Repo) -> None:
    """Name a remote that a program fetches from, and take away an object that it has promised."""
    work.git("config", "extensions.partialClone", "origin")
    work.git("config", "remote.origin.promisor", "true")
    work.git("config", "remote.origin.url", f"ext::{work.trap()} %S")
    work.git("config", "protocol.ext.allow", "always")
    tree = work.git("rev-parse", "HEAD^{tree}")
    (work.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()


def includes(work: Repo) -> None:
    place = work.write("../more", f"[core]\nfsmonitor = {work.trap()}\n")
    work.git("config", "include.path", str(place))
    work.git("config", f"includeIf.gitdir:{work.root}/.path", str(place))


def settings(work: Repo) -> None:
    program = str(work.trap())
    for name in (
        "core.sshCommand",
        "core.gitProxy",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
    ):
        work.git("config", name, program)
    for name in ("alias.status", "alias.config", "alias.ls-files", "alias.read-tree"):
        work.git("config", name, f"!{program}")
    work.git("config", "status.submoduleSummary", "true")
    work.git("config", "diff.orderFile", str(work.root.parent / "none"))


def own_settings(work: Repo) -> None:
    """Say it in the configuration of the work tree alone."""
    work.git("config", "extensions.worktreeConfig", "true")
    work.git("config", "--worktree", "core.fsmonitor", str(work.trap()))


TRAPS: dict[str, Callable[[Repo], None]] = {
    "a file system monitor": lambda work: work.git("config", "core.fsmonitor", str(work.trap())) and None,
    "hooks": hooks,
    "a folder of hooks": lambda work: (hooks(work), work.git("config", "core.hooksPath", str(work.root / ".git" / "hooks")), None)[2],
    "filters": filters,
    "programs that show differences": differs,
    "a remote that promised objects": promisor,
    "an included configuration": includes,
    "settings that name programs": settings,
    "a configuration of the work tree": own_settings,
}


@pytest.mark.parametrize("kind", sorted(TRAPS))
def test_nothing_that_a_repository_names_is_started(work: Repo, kind: str) -> None:
    TRAPS[kind](work)
    work.write("b.txt", "new\n")
    work.mark.unlink(missing_ok=True)
    os.utime(work.root / "a.txt", ns=(10**18, 10**18))
    found = facts(work.root)
    assert not work.is_sprung(), work.mark.read_text("utf-8")
    assert isinstance(found, FactsUnknown if kind == "a remote that promised objects" else WorkdirFacts)


@pytest.mark.parametrize("kind", ["a file system monitor", "filters", "an included configuration"])
def test_the_traps_would_spring(work: Repo, kind: str) -> None:
    TRAPS[kind](work)
    os.utime(work.root / "a.txt", ns=(10**18, 10**18))
    subprocess.run(["git", "status"], cwd=work.root, env={"PATH": os.environ["PATH"]}, capture_output=True, check=False)
    assert work.is_sprung()


def test_nothing_that_a_submodule_or_a_repository_inside_names_is_started(work: Repo, tmp_path: Path) -> None:
    other = tracked_repo(tmp_path / "other")
    work.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    shutil.copytree(other.root, work.root / "inner")
    for folder in ("sub", "inner"):
        inside = Repo(work.root / folder, work.mark)
        TRAPS["a file system monitor"](inside)
        TRAPS["filters"](inside) if folder == "inner" else inside.write("b.txt", "new\n")
    work.mark.unlink(missing_ok=True)
    found = facts(work.root)
    assert isinstance(found, WorkdirFacts)
    assert not work.is_sprung()
    assert Caveat.NESTED_REPOSITORIES in found.caveats


def test_what_the_caller_was_told_by_its_environment_is_not_told_to_git(
    work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tracked_repo(tmp_path / "other")
    trap = str(work.trap())
    clean = facts(work.root)
    said = {
        "GIT_DIR": str(other.root / ".git"),
        "GIT_INDEX_FILE": str(other.root / ".git" / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.root / ".git" / "objects"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": trap,
        "GIT_CONFIG_GLOBAL": str(work.write("../global", f"[core]\nfsmonitor = {trap}\n")),
        "GIT_EXTERNAL_DIFF": trap,
        "GIT_SSH_COMMAND": trap,
        "GIT_TRACE": str(work.mark),
        "HOME": str(tmp_path),
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
    }
    shutil.copy(trap, tmp_path / "git")
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    assert clean == facts(work.root)
    assert not work.is_sprung()


def pointing(place: str) -> Callable[[Repo], None]:
    """Replace something in the git directory by a link to a place outside."""

    def prepare(work: Repo) -> None:
        path = work.root / ".git" / place
        outside = work.root.parent / "outside"
        path.rename(outside)
        path.symlink_to(outside)

    return prepare


def piped(place: str) -> Callable[[Repo], None]:
    def prepare(work: Repo) -> None:
        path = work.root / ".git" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    return prepare


def written(place: str, data: str) -> Callable[[Repo], None]:
    return lambda work: work.write(f".git/{place}", data) and None


def object_link(work: Repo) -> None:
    blob = work.git("rev-parse", "HEAD:a.txt")
    pointing(f"objects/{blob[:2]}/{blob[2:]}")(work)


def git_link(work: Repo) -> None:
    (work.root / ".git").rename(work.root.parent / "outside")
    (work.root / ".git").symlink_to(work.root.parent / "outside")


def other_repository(work: Repo) -> None:
    other = tracked_repo(work.root.parent / "other")
    shutil.rmtree(work.root / ".git")
    work.write(".git", f"gitdir: {other.root / '.git'}\n")


def foreign_link_back(work: Repo) -> None:
    """Name the git directory of a work tree that is linked elsewhere."""
    other = tracked_repo(work.root.parent / "other")
    other.git("worktree", "add", "--quiet", "-b", "topic", str(work.root.parent / "linked"))
    shutil.rmtree(work.root / ".git")
    work.write(".git", f"gitdir: {other.root / '.git' / 'worktrees' / 'linked'}\n")


UNREADABLE: dict[str, Callable[[Repo], None]] = {
    "a git directory that is a link": git_link,
    "the git directory of another repository": other_repository,
    "the git directory of another linked work tree": foreign_link_back,
    "objects that are a link": pointing("objects"),
    "a folder of packs that is a link": pointing("objects/pack"),
    "an object that is a link": object_link,
    "a head that is a link": pointing("HEAD"),
    "a configuration that is a link": pointing("config"),
    "an index that is a link": pointing("index"),
    "refs that are a link": pointing("refs"),
    "a head that is a pipe": piped("HEAD"),
    "a configuration that is a pipe": piped("config"),
    "excludes that are a pipe": piped("info/exclude"),
    "packed refs that are a pipe": piped("packed-refs"),
    "an object that is a pipe": piped("objects/aa/" + "a" * 38),
    "objects of another repository": written("objects/info/alternates", "../../other/objects\n"),
    "a head that is none": written("HEAD", "no commit\n"),
    "a head that names a file": written("HEAD", "ref: ../../outside\n"),
    "a head that names a file by a ref": written("HEAD", "ref: refs/heads/../../../../outside\n"),
    "a head without an end": written("HEAD", "x" * 1_000_000),
    "refs that go round": written("refs/heads/main", "ref: refs/heads/main\n"),
    "a ref that is none": written("refs/heads/main", "one\n"),
    "a commit that is not there": written("refs/heads/main", "a" * 40 + "\n"),
    "a configuration that is none": written("config", "[[[\n"),
    "a configuration without an end": written("config", "[a]\n" * 300_000),
    "objects named in an unknown way": written("config", "[extensions]\nobjectFormat = md5\n"),
    "refs kept in an unknown way": written("config", "[extensions]\nrefStorage = reftable\n"),
    "a shared folder that is none": written("commondir", "../none\n"),
}


@pytest.mark.parametrize("kind", sorted(UNREADABLE))
def test_a_repository_that_is_none_or_leads_out_has_no_facts(work: Repo, kind: str) -> None:
    UNREADABLE[kind](work)
    found = facts(work.root)
    assert isinstance(found, FactsUnknown), found
    assert found.reason
    assert "\n" not in found.reason


def test_a_folder_that_is_swapped_meanwhile_has_no_facts(work: Repo, tmp_path: Path) -> None:
    other = tracked_repo(tmp_path / "other")

    def swapping(folder: int, name: str, flags: int) -> int:
        if name == "b.txt":
            work.root.rename(tmp_path / "moved")
            work.root.symlink_to(other.root)
        return portable_open(folder, name, flags)

    work.write("b.txt", "new\n")
    assert FactsUnknown("the folder was replaced while its facts were taken") == facts(work.root, opener=swapping)


@pytest.mark.parametrize("content", ["", "gitdir: ", "gitdir: none\n", "gitdir: .\n", "x" * 2_000_000, "gitdir: a\0b"])
def test_a_file_in_the_place_of_a_git_directory_names_one_or_the_facts_are_unknown(work: Repo, content: str) -> None:
    shutil.rmtree(work.root / ".git")
    work.write(".git", content)
    assert isinstance(facts(work.root), FactsUnknown)


def test_a_pipe_in_the_place_of_a_git_directory_is_not_waited_for(work: Repo) -> None:
    shutil.rmtree(work.root / ".git")
    os.mkfifo(work.root / ".git")
    assert FactsUnknown("`.git` is neither a folder nor a file") == facts(work.root)


def test_a_link_in_the_place_of_a_git_directory_is_named(work: Repo) -> None:
    git_link(work)
    assert FactsUnknown("`.git` is a link") == facts(work.root)


def test_a_git_directory_that_lies_open_in_the_folder_is_none(work: Repo) -> None:
    (work.root / ".git").rename(work.root / "moved")
    assert isinstance(facts(work.root), NoWorkTree)


def test_a_work_tree_of_the_configuration_is_not_followed(work: Repo, tmp_path: Path) -> None:
    other = tracked_repo(tmp_path / "other")
    work.git("config", "core.worktree", str(other.root))
    work.write("a.txt", "changed\n")
    found = facts(work.root)
    assert isinstance(found, WorkdirFacts)
    assert (False, ["a.txt"]) == (found.clean, [each.path for each in found.changed])


def test_what_git_says_of_what_it_read_is_not_passed_on(work: Repo) -> None:
    work.write(".git/config", "what must not be told\n")
    found = facts(work.root)
    assert isinstance(found, FactsUnknown)
    assert "told" not in found.reason


def test_traps_among_the_files_are_told_and_not_opened(work: Repo) -> None:
    (work.root.parent / "outside").mkdir()
    (work.root.parent / "outside" / "a.txt").write_text("outside\n", "utf-8")
    work.commit("folder/a.txt", "outside\n")
    clean = facts(work.root)
    assert isinstance(clean, WorkdirFacts)
    shutil.rmtree(work.root / "folder")
    (work.root / "folder").symlink_to("../outside")
    (work.root / "link").symlink_to("../outside/a.txt")
    (work.root / "a.txt").unlink()
    os.mkfifo(work.root / "a.txt")
    os.mkfifo(work.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fsencode(work.root / "socket"))
        found = facts(work.root)
    assert isinstance(found, WorkdirFacts)
    kinds = {each.path: each.kind.value for each in found.changed}
    # Git passes over pipes and sockets that it does not know, as nobody could commit them.
    assert {"a.txt": "modified", "folder": "untracked", "folder/a.txt": "deleted", "link": "untracked"} == kinds
    (work.root.parent / "outside" / "a.txt").write_text("changed\n", "utf-8")
    again = facts(work.root)
    assert isinstance(again, WorkdirFacts)
    assert found.dirty_digest == again.dirty_digest


def test_a_file_of_5_gb_enters_by_its_size(work: Repo) -> None:
    with (work.root / "huge").open("wb") as file:
        file.truncate(5 * GIB)
    found = facts(work.root)
    assert isinstance(found, WorkdirFacts)
    assert (False, (Caveat.PARTIAL_DIGEST,)) == (found.clean, found.caveats)


def test_more_files_than_are_looked_at_end_in_unknown_facts(work: Repo) -> None:
    (work.root / "many").mkdir()
    for number in range(3000):
        (work.root / "many" / str(number)).touch()
    assert FactsUnknown("more than 2000 files are changed") == facts(work.root, replace(FactsBounds(), changes=2000))


def test_a_file_whose_reading_takes_too_long_ends_in_unknown_facts(work: Repo) -> None:
    with (work.root / "a.txt").open("wb") as file:
        file.truncate(200 * GIB)
    assert FactsUnknown("git took longer than it may") == facts(work.root, replace(FactsBounds(), seconds=1.5))


def test_names_that_are_no_text_and_names_that_look_like_options_are_told(work: Repo) -> None:
    for name in (b"\xff.txt", b"--help", b"a\nb", b"-z", b":(top)x", b'"quoted"'):
        (work.root / os.fsdecode(name)).write_bytes(b"x")
    found = facts(work.root)
    assert isinstance(found, WorkdirFacts)
    assert sorted(['"quoted"', "--help", "-z", ":(top)x", "a\nb", "\udcff.txt"]) == sorted(each.path for each in found.changed)


TOUR = """
import sys
from pathlib import Path
from stateward.runtime.workdir.taking import facts
print("begin", flush=True)
print(facts(Path(sys.argv[1])))
"""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_system_sees_no_program_but_git_and_no_opening_of_what_lies_elsewhere(work: Repo, tmp_path: Path) -> None:
    for kind in ("hooks", "filters", "programs that show differences", "an included configuration", "settings that name programs"):
        TRAPS[kind](work)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("elsewhere\n", "utf-8")
    (work.root / "link").symlink_to("../outside/secret.txt")
    (work.root / "folder").symlink_to("../outside")
    shutil.copytree(tracked_repo(tmp_path / "other").root, work.root / "inner")
    work.mark.unlink(missing_ok=True)
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-y", "-e", "trace=open,openat,openat2,execve,connect", "-o", str(trace)]
    done = subprocess.run([*command, sys.executable, "-I", "-c", TOUR, str(work.root)], check=True, capture_output=True, text=True)
    assert "WorkdirFacts(head=" in done.stdout
    lines = trace.read_text("utf-8", "replace").splitlines()
    started = [line for line in lines if "execve(" in line and "= 0" in line]
    assert 7 == len(started)
    assert [] == [line for line in started[1:] if not any(f'execve("{place}"' in line for place in GIT_PLACES)]
    opened = [line for line in lines if "open" in line and "= -1" not in line]
    assert [] == [line for line in opened if f"<{outside}" in line or f"<{tmp_path}/more" in line or f"<{tmp_path}/trap" in line]
    assert [] == [line for line in lines if "connect(" in line]
    assert not work.is_sprung()
