"""What the runtime finds out of a git work tree, and which words it finds for what it cannot tell."""

import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.session.strict import Malformed, Newer
from stateward.runtime.workdir.facts import (
    MAY_HIDE,
    MAY_INVENT,
    Caveat,
    Change,
    ChangeKind,
    FactsUnknown,
    NoWorkTree,
    Upstream,
    WorkdirFacts,
    clean_of,
    decode_facts,
    encode_facts,
)
from stateward.runtime.workdir.limits import NAMED_BYTES_MAX, FactsBounds
from stateward.runtime.workdir.repository import find_repository
from stateward.runtime.workdir.taking import facts
from tests.workdir.repositories import Repo, contents, repo, tracked_repo

NOTHING = f"sha256:{hashlib.sha256().hexdigest()}"


@pytest.fixture
def work(tmp_path: Path) -> Repo:
    return tracked_repo(tmp_path)


def taken(work: Repo, **bounds: float) -> WorkdirFacts:
    found = facts(work.root, replace(FactsBounds(), **bounds))
    assert isinstance(found, WorkdirFacts), found
    return found


def unknown(path: Path, **bounds: float) -> str:
    found = facts(path, replace(FactsBounds(), **bounds))
    assert isinstance(found, FactsUnknown), found
    return found.reason


def told(work: Repo) -> tuple[bool | None, dict[str, str], tuple[Caveat, ...]]:
    found = taken(work)
    return found.clean, {each.path: each.kind.value for each in found.changed}, found.caveats


def test_a_tree_in_which_all_is_committed_is_clean(work: Repo) -> None:
    head = work.git("rev-parse", "HEAD")
    assert WorkdirFacts(head, "main", True, (), 0, NOTHING, (), None, ()) == taken(work)


def test_each_change_is_named_by_its_kind(work: Repo) -> None:
    for name in ("deleted", "modified", "staged", "type", "mode", "untouched", "removed"):
        work.commit(name, f"{name}\n")
    (work.root / "deleted").unlink()
    work.write("modified", "MODIFIED\n")
    work.write("staged", "other\n")
    work.git("add", "staged")
    work.write("staged", "staged\n")
    (work.root / "type").unlink()
    (work.root / "type").symlink_to("mode")
    (work.root / "mode").chmod(0o755)
    work.git("rm", "--quiet", "--cached", "removed")
    work.write("new", "new\n")
    work.write("folder/added", "added\n")
    work.git("add", "folder/added")
    expected = {
        "deleted": "deleted",
        "folder/added": "added",
        "mode": "modified",
        "modified": "modified",
        "new": "untracked",
        "removed": "staged",
        "staged": "staged",
        "type": "modified",
    }
    assert (False, expected, ()) == told(work)


def test_a_change_that_git_itself_does_not_see_is_seen(work: Repo) -> None:
    file = work.root / "a.txt"
    work.git("config", "core.trustctime", "false")
    work.git("config", "core.checkStat", "minimal")
    os.utime(file, ns=(10**18, 10**18))
    work.git("update-index", "--refresh")
    work.write("a.txt", "ONE\n")
    os.utime(file, ns=(10**18, 10**18))
    assert "" == work.git("status", "--porcelain")
    assert (False, {"a.txt": "modified"}, ()) == told(work)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_is_told_to_pass_over_leave_it_open_whether_all_is_clean(work: Repo, flag: str) -> None:
    work.git("update-index", flag, "a.txt")
    assert (None, {}, (Caveat.INDEX_FLAGS,)) == told(work)
    work.write("a.txt", "other\n")
    assert "" == work.git("status", "--porcelain")
    assert (None, {"a.txt": "modified"}, (Caveat.INDEX_FLAGS,)) == told(work)


def test_what_committed_patterns_hide_is_no_change(work: Repo) -> None:
    work.commit(".gitignore", "*.o\nbuild/\n")
    work.write("a.o", "x")
    work.write("build/deep/x", "x")
    work.write("build/.gitignore", "*\n")
    assert (True, {}, ()) == told(work)


def test_what_the_repositorys_own_excludes_hide_is_named(work: Repo) -> None:
    work.write(".git/info/exclude", "hidden*\n")
    assert (True, {}, ()) == told(work)
    work.write("hidden.py", "x")
    work.write("hidden/x", "x")
    assert (None, {}, (Caveat.EXCLUDES,)) == told(work)
    assert ("hidden.py", "hidden/") == taken(work).hidden


def test_a_folder_that_hides_itself_is_named(work: Repo) -> None:
    work.write("own/.gitignore", "*\n")
    work.write("own/code.py", "x")
    assert "" == work.git("status", "--porcelain")
    assert (None, {}, (Caveat.EXCLUDES,)) == told(work)
    assert ("own/.gitignore", "own/code.py") == taken(work).hidden


def test_excludes_of_the_configuration_hide_nothing(work: Repo) -> None:
    work.write("../patterns", "*.py\n")
    work.git("config", "core.excludesFile", str(work.root.parent / "patterns"))
    work.write("code.py", "x")
    assert "" == work.git("status", "--porcelain")
    assert (False, {"code.py": "untracked"}, ()) == told(work)


def test_our_own_folder_is_outside(work: Repo) -> None:
    work.write(".stateward/.gitignore", "*\n")
    work.write(".stateward/workspace", "x")
    work.write("sub/.stateward/x", "x")
    assert (True, {}, ()) == told(work)


def test_a_file_with_a_filter_may_differ_by_it_alone(work: Repo) -> None:
    work.commit(".gitattributes", "*.big filter=big\n")
    work.commit("a.big", "pointer\n")
    assert (True, {}, ()) == told(work)
    work.write("a.big", "contents\n")
    assert (None, {"a.big": "modified"}, (Caveat.FILTERS,)) == told(work)


def test_attributes_that_are_not_committed_are_told_of_and_not_applied(work: Repo) -> None:
    work.commit("crlf.txt", b"one\ntwo\n")
    work.write(".git/info/attributes", "*.txt text\n")
    assert (True, {}, (Caveat.ATTRIBUTES,)) == told(work)
    work.write("crlf.txt", b"one\r\ntwo\r\n")
    assert "" == work.git("diff", "HEAD")
    assert (None, {"crlf.txt": "modified"}, (Caveat.ATTRIBUTES,)) == told(work)


def test_settings_under_which_git_overlooks_things_leave_it_open(work: Repo) -> None:
    work.git("config", "core.fileMode", "false")
    work.git("config", "core.autocrlf", "input")
    (work.root / "a.txt").chmod(0o755)
    work.write("a.txt", "one\r\n")
    assert (None, {}, (Caveat.CONVERSIONS, Caveat.FILE_MODES)) == told(work)


@pytest.mark.parametrize("packed", [False, True])
def test_objects_that_are_replaced_are_told_of_and_the_true_ones_are_compared(work: Repo, packed: bool) -> None:
    blob = work.git("rev-parse", "HEAD:a.txt")
    other = work.git("hash-object", "-w", "--stdin", given="other\n")
    work.git("replace", blob, other)
    if packed:
        work.git("pack-refs", "--all")
    work.write("a.txt", "other\n")
    work.git("add", "a.txt")
    work.git("reset", "--quiet", "--mixed")
    assert (False, {"a.txt": "modified"}, (Caveat.REPLACE_REFS,)) == told(work)


def test_an_index_that_is_missing_or_broken_leaves_it_open(work: Repo) -> None:
    work.write(".git/index", "no index")
    assert (None, {}, (Caveat.INDEX_UNREAD,)) == told(work)
    (work.root / ".git" / "index").unlink()
    assert (None, {}, (Caveat.INDEX_UNREAD,)) == told(work)


def test_a_submodule_is_told_of_and_not_entered(work: Repo, tmp_path: Path) -> None:
    other = tracked_repo(tmp_path / "other")
    work.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "sub")
    work.git("commit", "--quiet", "--message", "Add it")
    assert (None, {}, (Caveat.SUBMODULES,)) == told(work)
    work.write("sub/a.txt", "other\n")
    assert (None, {}, (Caveat.SUBMODULES,)) == told(work)
    inside = facts(work.root / "sub")
    assert isinstance(inside, WorkdirFacts)
    assert (False, (Change("a.txt", ChangeKind.MODIFIED),)) == (inside.clean, inside.changed)


def test_a_repository_inside_is_told_of_and_not_entered(work: Repo, tmp_path: Path) -> None:
    shutil.copytree(tracked_repo(tmp_path / "other").root, work.root / "inner")
    assert (False, {"inner/": "untracked"}, (Caveat.NESTED_REPOSITORIES,)) == told(work)


def test_a_branch_without_a_commit_has_no_head(tmp_path: Path) -> None:
    work = repo(tmp_path)
    assert WorkdirFacts(None, "main", True, (), 0, NOTHING, (), None, ()) == taken(work)
    work.write("a.txt", "one\n")
    work.write("b.txt", "two\n")
    work.git("add", "b.txt")
    assert (False, {"a.txt": "untracked", "b.txt": "added"}, ()) == told(work)


def test_a_checkout_without_a_branch_has_none(work: Repo) -> None:
    head = work.git("rev-parse", "HEAD")
    work.git("checkout", "--quiet", "--detach")
    assert (head, None, True) == ((found := taken(work)).head, found.branch, found.clean)


def test_packed_refs_are_read(work: Repo) -> None:
    work.git("checkout", "--quiet", "-b", "topic/one")
    work.git("pack-refs", "--all")
    work.git("gc", "--quiet")
    assert (work.git("rev-parse", "HEAD"), "topic/one", True) == ((found := taken(work)).head, found.branch, found.clean)


def test_longer_names_of_objects_are_read(tmp_path: Path) -> None:
    work = repo(tmp_path, "--object-format=sha256")
    head = work.commit()
    assert (64, head, True) == (len(head), (found := taken(work)).head, found.clean)


def test_a_linked_work_tree_is_one(work: Repo, tmp_path: Path) -> None:
    work.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked", tmp_path / "mark")
    assert (work.git("rev-parse", "HEAD"), "topic", True) == ((found := taken(linked)).head, found.branch, found.clean)
    linked.write("a.txt", "other\n")
    assert (False, True) == (taken(linked).clean, taken(work).clean)


def test_the_upstream_is_told_as_the_local_ref_has_it(work: Repo, tmp_path: Path) -> None:
    work.git("clone", "--quiet", str(work.root), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", tmp_path / "mark")
    head = clone.git("rev-parse", "HEAD")
    assert Upstream("refs/remotes/origin/main", head, 0, 0) == taken(clone).upstream
    clone.commit("b.txt")
    assert Upstream("refs/remotes/origin/main", head, 1, 0) == taken(clone).upstream
    clone.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert Upstream("refs/remotes/origin/main", clone.git("rev-parse", "HEAD"), 0, 0) == taken(clone).upstream
    clone.git("update-ref", "-d", "refs/remotes/origin/main")
    assert Upstream("refs/remotes/origin/main", None, None, None) == taken(clone).upstream
    clone.git("checkout", "--quiet", "-b", "topic", "--track", "main")
    assert Upstream("refs/heads/main", clone.git("rev-parse", "HEAD"), 0, 0) == taken(clone).upstream


def test_a_history_that_was_cut_off_is_read(work: Repo, tmp_path: Path) -> None:
    work.commit("b.txt")
    work.git("clone", "--quiet", "--depth", "1", f"file://{work.root}", str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", tmp_path / "mark")
    assert (True, Upstream("refs/remotes/origin/main", clone.git("rev-parse", "HEAD"), 0, 0)) == (
        (found := taken(clone)).clean,
        found.upstream,
    )


def test_the_digest_is_that_of_what_differs(work: Repo) -> None:
    seen = {(clean := taken(work)).tree_digest}
    for path, data in (("a.txt", "two\n"), ("a.txt", "six\n"), ("b.txt", "new\n"), ("b.txt", "NEW\n"), ("b.txt", "")):
        work.write(path, data)
        seen.add(taken(work).tree_digest)
    (work.root / "b.txt").chmod(0o755)
    seen.add(taken(work).tree_digest)
    work.git("add", "b.txt")
    seen.add(taken(work).tree_digest)
    (work.root / "a.txt").unlink()
    seen.add(taken(work).tree_digest)
    assert 9 == len(seen)
    work.git("reset", "--quiet", "--hard")
    work.git("branch", "--move", "other")
    assert (clean.tree_digest, False) == ((again := taken(work)).tree_digest, clean.digest == again.digest)


def test_taking_facts_writes_nothing(work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    work.write("b.txt", "new\n")
    os.utime(work.root / "a.txt", ns=(10**18, 10**18))
    before = contents(work.root)
    taken(work)
    assert before == contents(work.root)
    assert {} == contents(tmp_path / "temporary")


def test_objects_may_be_packed_meanwhile(work: Repo) -> None:
    blob = work.git("rev-parse", "HEAD:a.txt")
    with find_repository(work.root) as repository:
        opening = repository._shared.opener

        def packing(folder: int, name: str, flags: int) -> int:
            if name == blob[:2]:
                work.git("gc", "--quiet", "--prune=now")
            return opening(folder, name, flags)

        repository._shared.opener = packing
        repository.vet_objects()
    assert not (work.root / ".git" / "objects" / blob[:2]).exists()
    assert taken(work).clean


def test_a_folder_that_is_no_work_tree_is_told(tmp_path: Path) -> None:
    assert NoWorkTree("it is no git work tree") == facts(tmp_path)


def test_a_folder_below_the_top_is_told(work: Repo) -> None:
    work.commit("folder/b.txt")
    assert NoWorkTree("it lies in a git work tree and is not the top of it") == facts(work.root / "folder")


def test_a_bare_repository_is_told(work: Repo) -> None:
    work.git("config", "core.bare", "true")
    assert NoWorkTree("it is a bare repository") == facts(work.root)


def test_without_git_the_facts_are_unknown(work: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert FactsUnknown("git cannot be started: no such file or directory") == facts(work.root, git="/none/git")
    monkeypatch.setattr("stateward.runtime.workdir.git.GIT_PLACES", ("/none/git",))
    assert FactsUnknown("git is not installed in a usual place") == facts(work.root)


def test_a_folder_that_is_gone_is_no_failure(tmp_path: Path) -> None:
    assert isinstance(facts(tmp_path / "none"), NoWorkTree)


def test_the_bound_on_changes_accepts_its_exact_value(work: Repo) -> None:
    for number in range(3):
        work.write(f"{number}.txt", "x")
    found = taken(work, changes=3, changes_listed=2)
    assert (3, ["0.txt", "1.txt"]) == (found.changed_count, [each.path for each in found.changed])
    assert "more than 2 files are changed" == unknown(work.root, changes=2)


def test_names_take_no_more_room_than_they_may(work: Repo) -> None:
    folder = "/".join("d" * 200 for _ in range(10))
    for number in range(20):
        work.write(f"{folder}/{number}", "x")
    found = taken(work)
    assert (20, NAMED_BYTES_MAX // len(f"{folder}/10")) == (found.changed_count, len(found.changed))


@pytest.mark.parametrize("ref", ["x" * 2000, "../../x", "", "heads/main"])
def test_an_upstream_that_names_no_ref_is_none(work: Repo, ref: str) -> None:
    work.git("config", "branch.main.remote", ".")
    work.git("config", "branch.main.merge", f"refs/{ref}" if ref.startswith("x") else ref)
    assert (None, True) == ((found := taken(work)).upstream, found.clean)


def test_an_upstream_whose_ref_is_broken_has_no_commit(work: Repo) -> None:
    work.git("config", "branch.main.remote", ".")
    work.git("config", "branch.main.merge", "refs/heads/broken")
    work.write(".git/refs/heads/broken", "no commit\n")
    assert (Upstream("refs/heads/broken", None, None, None), True) == ((found := taken(work)).upstream, found.clean)


def test_a_file_too_large_for_the_digest_enters_it_by_size_and_times(work: Repo) -> None:
    work.write("big", "12345678")
    assert () == taken(work, digest_bytes=8).caveats
    first = taken(work, digest_bytes=7)
    assert (Caveat.PARTIAL_DIGEST,) == first.caveats
    assert first == taken(work, digest_bytes=7)
    work.write("big", "87654321")
    assert first.dirty_digest != taken(work, digest_bytes=7).dirty_digest


def test_time_and_output_of_git_are_bounded(work: Repo) -> None:
    assert "git took longer than it may" == unknown(work.root, seconds=0.0)
    assert "git said more than 10 bytes" == unknown(work.root, output_bytes=10)


def test_clean_is_told_only_when_nothing_could_make_it_wrong() -> None:
    assert (True, False) == (clean_of(0, frozenset()), clean_of(1, frozenset()))
    for caveat in Caveat:
        held = frozenset({caveat})
        assert (None if caveat in MAY_HIDE else True) == clean_of(0, held)
        assert (None if caveat in MAY_INVENT else False) == clean_of(1, held)


TEXTS = st.text(max_size=8)
COUNTS = st.integers(0, 9)
UPSTREAMS = st.builds(Upstream, TEXTS, st.none() | TEXTS, st.none() | COUNTS, st.none() | COUNTS)
FACTS = st.builds(
    WorkdirFacts,
    head=st.none() | TEXTS,
    branch=st.none() | TEXTS,
    clean=st.sampled_from([True, False, None]),
    changed=st.lists(st.builds(Change, TEXTS, st.sampled_from(ChangeKind)), max_size=3).map(tuple),
    changed_count=COUNTS,
    dirty_digest=TEXTS,
    hidden=st.lists(TEXTS, max_size=3).map(tuple),
    upstream=st.none() | UPSTREAMS,
    caveats=st.lists(st.sampled_from(Caveat), max_size=3).map(tuple),
)


@given(FACTS)
def test_facts_come_back_as_they_were_written(found: WorkdirFacts) -> None:
    assert found == decode_facts(encode_facts(found))


@pytest.mark.parametrize(("data", "fault"), [(b"{}", Malformed), (b'{"v":2}', Newer), (b'{"v":1}', Malformed), (b"no", Malformed)])
def test_what_are_no_facts_is_refused(data: bytes, fault: type[Exception]) -> None:
    with pytest.raises(fault):
        decode_facts(data)
