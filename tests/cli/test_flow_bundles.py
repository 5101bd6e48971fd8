"""`stateward flow export` and `import`: flows go from one Workspace to another with their whole history, or not at all."""

import json
from pathlib import Path

import pytest

from tests.cli.flows import lines, saved, source, write
from tests.cli.program import Place, place


@pytest.fixture
def here(tmp_path: Path) -> Place:
    made = place(tmp_path)
    saved(made, "paper", "first", "second")
    saved(made, "pamphlet")
    saved(made, "review")
    made.done("flow", "remove", "review", "--base", "1", "--note", "not used")
    return made


@pytest.fixture
def there(tmp_path: Path) -> Place:
    (tmp_path / "there").mkdir()
    return place(tmp_path / "there")


def exported(here: Place, *slugs: str) -> tuple[Path, str]:
    """Export to a file; give it and the digest that was told."""
    ended = here.call("flow", "export", *slugs, "-o", "bundle.jsonl")
    assert (0, "") == (ended.status, ended.out)
    return here.work / "bundle.jsonl", ended.err.removeprefix("bundle ").strip()


def steps(here: Place, slug: str) -> list[tuple[str, int, str, str]]:
    told = lines(here.done("flow", "history", slug, "--json"))
    return [(each["kind"], each["revision"], each["author"], each["note"]) for each in told]


def test_what_is_exported_is_imported_with_revisions_and_history(here: Place, there: Place) -> None:
    bundle, digest = exported(here)
    told = there.done("flow", "import", str(bundle), "--expect", digest, "--note", "for the team").splitlines()
    assert told[0].startswith("began Workspace ")
    assert [
        "imported workspace:pamphlet revision 1",
        "imported workspace:paper revisions 1 to 2",
        "imported workspace:review revision 1, and it is removed, as it is where the bundle comes from",
    ] == told[1:4]
    assert told[4].startswith(f"imported bundle {digest} of Workspace ")
    for slug in ("paper", "pamphlet", "review"):
        assert steps(here, slug) == [each for each in steps(there, slug) if each[0] != "imported"]
        assert "for the team" in [each[3] for each in steps(there, slug) if each[0] == "imported"]
    assert source(task="second") == there.done("flow", "show", "paper")
    assert ["pamphlet", "paper"] == [each["slug"] for each in lines(there.done("flow", "list", "--json"))]
    again = there.done("flow", "import", str(bundle)).splitlines()
    assert "nothing changed: workspace:paper revision 2" in again


def test_the_digest_is_of_everything_before_the_last_line(here: Place) -> None:
    bundle, digest = exported(here)
    assert digest == json.loads(bundle.read_bytes().splitlines()[-1])["bundle_digest"]
    ended = here.call("flow", "export", "-o", "-")
    assert f"bundle {json.loads(ended.out.splitlines()[-1])['bundle_digest']}\n" == ended.err


@pytest.mark.parametrize(
    ("named", "found"),
    [
        (["paper"], {"paper"}),
        (["pa*"], {"paper", "pamphlet"}),
        (["*"], {"paper", "pamphlet", "review"}),
        (["review", "p*r"], {"paper", "review"}),
    ],
)
def test_some_are_exported_by_name_or_pattern(here: Place, named: list[str], found: set[str]) -> None:
    bundle, _ = exported(here, *named)
    assert found == {each["slug"] for each in map(json.loads, bundle.read_bytes().splitlines()) if each.get("type") == "revision"}


def test_a_pattern_that_nothing_fits_and_a_place_that_cannot_be_written_leave_no_file(here: Place) -> None:
    ended = here.call("flow", "export", "x*", "-o", "bundle.jsonl")
    assert (2, "error: no flow fits `x*`\n  = help: see what there is with `stateward flow list --removed`\n") == (ended.status, ended.err)
    ended = here.call("flow", "export", "-o", "nowhere/bundle.jsonl")
    assert (2, True) == (ended.status, ended.err.startswith("error: the folder of `nowhere/bundle.jsonl` does not exist\n"))
    assert not (here.work / "bundle.jsonl").exists()


def test_a_changed_byte_anywhere_lets_nothing_in(here: Place, there: Place) -> None:
    bundle, _ = exported(here, "paper")
    whole = bundle.read_bytes()
    for at in range(0, len(whole), len(whole) // 24):
        bundle.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        ended = there.call("flow", "import", str(bundle))
        assert (1, "", 1, 1) == (ended.status, ended.out, ended.err.count("error: "), ended.err.count("  = help: "))
    assert [] == list(there.work.iterdir())


def test_another_bundle_than_the_expected_one_is_not_imported(here: Place, there: Place) -> None:
    bundle, digest = exported(here)
    ended = there.call("flow", "import", str(bundle), "--expect", f"sha256:{'0' * 64}")
    assert (1, True, True) == (ended.status, digest in ended.err, "  = help: " in ended.err)
    (told,) = lines(there.call("flow", "import", str(bundle), "--expect", "x", "--json"))
    assert ("refused", "bundle_unexpected") == (told["result"], told["refusal"]["code"])


def test_histories_that_part_let_nothing_in_and_are_both_shown(here: Place, there: Place) -> None:
    write(there, "paper", "otherwise")
    there.done("flow", "save", "paper.dcdl", "--note", "of our own")
    bundle, digest = exported(here)
    ended = there.call("flow", "import", str(bundle))
    assert (1, "") == (ended.status, ended.out)
    assert "  workspace:paper differs from revision 1 on\n" in ended.err
    assert ("of our own" in ended.err, "note 1" in ended.err) == (True, True)
    assert "error: nothing was imported: `paper` has another history here than in the bundle\n" in ended.err
    (told,) = lines(there.call("flow", "import", str(bundle), "--json"))
    assert ("conflict", digest, "paper", 1) == (told["result"], told["bundle"], told["flows"][0]["slug"], told["flows"][0]["revision"])
    assert ["paper"] == [each["slug"] for each in lines(there.done("flow", "list", "--removed", "--json"))]


def test_a_dry_run_says_what_would_be_imported_and_imports_nothing(here: Place, there: Place) -> None:
    bundle, digest = exported(here, "paper")
    told = there.done("flow", "import", str(bundle), "--dry-run")
    assert told.startswith(f"would import workspace:paper revisions 1 to 2\nwould import bundle {digest} of Workspace ")
    assert [] == list(there.work.iterdir())
    write(there)
    there.done("flow", "import", str(bundle))
    before = there.store.read_bytes()
    (answer,) = lines(there.done("flow", "import", str(bundle), "--dry-run", "--json"))
    assert (True, "imported", [{"slug": "paper", "first": 3, "last": 2, "new": 0, "removed": False, "was_removed": False}]) == (
        answer["dry_run"],
        answer["result"],
        answer["flows"],
    )
    assert before == there.store.read_bytes()


@pytest.mark.parametrize(
    ("file", "status", "said"),
    [("nowhere.jsonl", 2, "`nowhere.jsonl` does not exist"), (".", 2, "`.` is a folder"), ("empty", 1, ""), ("paper.dcdl", 1, "")],
)
def test_what_is_no_bundle_is_named(here: Place, file: str, status: int, said: str) -> None:
    (here.work / "empty").write_text("", "utf-8")
    ended = here.call("flow", "import", file)
    assert (status, "", True) == (ended.status, ended.out, ended.err.startswith(f"error: {said}"))
    assert "  = help: " in ended.err


def test_an_import_that_hides_a_flow_or_brings_one_back_says_so_before_and_after(here: Place, there: Place) -> None:
    bundle, _ = exported(here, "paper")
    there.done("flow", "import", str(bundle))
    here.done("flow", "restore", "paper", "1", "--base", "2")
    here.done("flow", "remove", "paper", "--base", "3", "--note", "gone")
    bundle, _ = exported(here, "paper")
    trial = there.done("flow", "import", str(bundle), "--dry-run")
    assert "revision 3, which would hide the flow: it was removed where the bundle comes from\n" in trial
    assert "revision 3, which hides the flow: " in there.done("flow", "import", str(bundle))
    again = there.done("flow", "import", str(bundle)).splitlines()
    assert "nothing changed: workspace:paper revision 3, which is removed" == again[0]
    assert again[1].startswith("nothing changed: all of bundle ")
    removed = there.call("flow", "resolve", "workspace:paper")
    assert 2 == removed.status
    assert "`workspace:paper` was removed by " in removed.err
    assert "`stateward flow restore paper 3 --base 3`" in removed.err
    here.done("flow", "restore", "paper", "2", "--base", "3")
    bundle, _ = exported(here, "paper")
    (answer,) = lines(there.done("flow", "import", str(bundle), "--dry-run", "--json"))
    assert [(False, True)] == [(each["removed"], each["was_removed"]) for each in answer["flows"]]
    assert "revision 4, which brings the flow back: it was removed here\n" in there.done("flow", "import", str(bundle))
    kinds = [(kind, revision) for kind, revision, _, _ in steps(there, "paper")]
    assert [
        *[("imported", 4), ("saved", 4), ("removed", 3), ("imported", 3), ("saved", 3)],
        *[("imported", 2), ("saved", 2), ("saved", 1)],
    ] == kinds


def test_an_empty_file_is_said_to_be_empty(there: Place) -> None:
    (there.work / "empty").write_bytes(b"")
    assert "the bundle is empty" in there.call("flow", "import", "empty").err


def test_times_for_programs_end_in_z_as_in_bundles(here: Place) -> None:
    bundle, _ = exported(here, "paper")
    inside = [json.loads(each) for each in bundle.read_text("utf-8").splitlines()]
    there = [each["created"] for each in inside if each.get("type") == "revision"]
    told = [each["created"] for each in lines(here.done("flow", "history", "paper", "--json"))]
    assert there == told[::-1]
