"""What the log states of a Workdir."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from stateward.runtime.ports import TreeFacts
from stateward.runtime.session.payloads import workdir_record
from stateward.runtime.workdir.facts import Caveat, FactsUnknown, NoWorkTree, Upstream, WorkdirFacts, decode_facts, line_of
from stateward.runtime.workdir.stated import stated, tree_facts
from stateward.runtime.workdir.taking import facts
from tests.workdir.repositories import tracked_repo


def test_facts_are_stated_with_the_digest_of_the_tree(tmp_path: Path) -> None:
    work = tracked_repo(tmp_path)
    taken = facts(work.root)
    assert isinstance(taken, WorkdirFacts)
    found = tree_facts(str(work.root))
    assert found is not None
    assert (taken.tree_digest, taken) == (found.digest, decode_facts(found.stated))
    assert json.loads(found.stated) == json.loads(workdir_record(found.stated).facts)
    work.write("b.txt", "new\n")
    assert found.digest != getattr(tree_facts(str(work.root)), "digest", None)


def test_an_upstream_is_no_evidence_and_not_stated(tmp_path: Path) -> None:
    taken = facts(tracked_repo(tmp_path).root)
    assert isinstance(taken, WorkdirFacts)
    assert stated(taken) == stated(replace(taken, upstream=Upstream("refs/remotes/origin/main", taken.head, 0, 0)))


def test_that_facts_are_unknown_is_stated_and_has_no_digest() -> None:
    assert TreeFacts("", b'{"v":1,"reason":"git took longer than it may"}') == stated(FactsUnknown("git took longer than it may"))


def test_of_a_folder_that_is_no_work_tree_nothing_is_stated(tmp_path: Path) -> None:
    assert None is tree_facts(str(tmp_path))
    assert None is stated(NoWorkTree("it is no git work tree"))


def test_facts_are_told_in_a_line(tmp_path: Path) -> None:
    clean = facts(tracked_repo(tmp_path).root)
    assert isinstance(clean, WorkdirFacts)
    assert clean.head is not None
    assert f"work tree at {clean.head[:12]} on main, clean" == line_of(clean)
    assert f"work tree at {clean.head[:12]} on main, 2 changed" == line_of(replace(clean, clean=False, changed_count=2))
    assert "work tree before the first commit on main, clean" == line_of(replace(clean, head=None))
    unsure = replace(clean, clean=None, caveats=(Caveat.EXCLUDES,), branch=None)
    assert f"work tree at {clean.head[:12]}, not known to be clean: excludes" == line_of(unsure)


@pytest.mark.parametrize("place", ["store.db", "deep/er/store.db"])
def test_a_store_among_the_changed_files_leaves_nothing_to_compare(tmp_path: Path, place: str) -> None:
    work = tracked_repo(tmp_path)
    store = work.write(place, "pages")
    found = tree_facts(str(work.root), store=store)
    assert found is not None
    assert ("", True) == (found.digest, b"the store lies in the folder of the work" in found.stated)


def test_a_store_elsewhere_or_out_of_the_digest_is_no_matter(tmp_path: Path) -> None:
    work = tracked_repo(tmp_path)
    work.write(".stateward/store.db", "pages")
    work.write("b.txt", "new\n")
    for store in (work.root / ".stateward" / "store.db", tmp_path / "store.db"):
        found = tree_facts(str(work.root), store=store)
        assert found is not None
        assert found == tree_facts(str(work.root))
        assert found.digest
