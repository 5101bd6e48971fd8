"""What programs are told of flows is the form that the reference describes: these fields, no others."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stateward.runtime.engine.folders import SyncKind, SyncResult
from tests.cli.flows import lines, saved, source, write
from tests.cli.guarded import REFINE
from tests.cli.program import Place, place

REFERENCE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "flow-commands.md").read_text("utf-8").partition("## JSON")[2]
REVISION = {
    *("selector", "slug", "workspace", "flow_id", "revision", "content_digest", "definition_digest", "closure_digest"),
    *("compiler", "author", "note", "created"),
}
ACT = {"number", "kind", "revision", "first", "author", "note", "created", "bundle", "origin"}
DIFFERENCE = {"old", "new", "text", "cut"}
CONFLICT = {"named", "base", "current", "removed", "difference"}
SYNC = {"slug", "file", "kind", "result", "content_digest", "revision", "base", "difference", "problem", "message", "help"}
READING = {"state", "transition", "name", "is_input", "default", "given", "writers", "certainty"}
SAVE = {"file", "slug", "dry_run", "result"}


@pytest.fixture
def here(tmp_path: Path) -> Place:
    """`paper` with two revisions, `review` that was removed, and a file of neither."""
    made = place(tmp_path)
    saved(made, "paper", "first", "second")
    saved(made, "review")
    made.done("flow", "remove", "review", "--base", "1")
    (made.work / "broken.dcdl").write_text("schema_version = 1;", "utf-8")
    (made.folder / "refine.dcdl").write_text(REFINE, "utf-8")
    write(made, "other").write_text(source("another"), "utf-8")
    made.call("flow", "export", "paper", "-o", "bundle.jsonl")
    return made


COMMANDS: list[tuple[str, list[set[str]]]] = [
    ("list --removed", [REVISION | {"removed"}] * 2),
    ("show paper", [REVISION | {"removed", "modules"}]),
    ("history review", [ACT, REVISION | {"kind"}]),
    ("diff paper", [DIFFERENCE | {"slug", "same"}]),
    ("resolve workspace:paper", [{"selector", "workspace", "flow_id", "revision", "content_digest", "definition_digest"}]),
    ("save paper.dcdl", [SAVE | {"revision"}]),
    ("save paper.dcdl --base 7 --slug review", [SAVE | {"refusal", "message", "help"}]),
    ("save broken.dcdl", [SAVE | {"diagnostics", "message", "help"}]),
    ("save review.dcdl", [SAVE | {"conflict", "message", "help"}]),
    ("save nowhere.dcdl", [SAVE | {"message", "help"}]),
    ("restore paper 1 --base 2", [{"slug", "dry_run", "result", "restored", "revision"}]),
    ("restore paper 1 --base 1", [{"slug", "dry_run", "result", "conflict", "message", "help"}]),
    ("remove paper --base 2", [{"slug", "dry_run", "result", "act"}]),
    ("remove paper --base 1", [{"slug", "dry_run", "result", "conflict", "message", "help"}]),
    ("provenance ../refine.dcdl", [READING] * 7),
    ("import bundle.jsonl", [{"dry_run", "result", "bundle", "origin", "flows"}]),
    ("import bundle.jsonl --expect x", [{"dry_run", "result", "refusal", "message", "help"}]),
    ("sync .", [SYNC] * 4),
]


@pytest.mark.parametrize(("command", "fields"), COMMANDS)
def test_every_line_has_the_fields_that_are_described(here: Place, command: str, fields: list[set[str]]) -> None:
    ended = here.call("flow", *command.split(), "--json")
    told = lines(ended)
    assert ("", [each | {"version"} for each in fields]) == (ended.err, [{*each} for each in told])
    assert {1} == {each["version"] for each in told}
    assert set() == {key for each in told for key in _keys(each) if f"`{key}`" not in REFERENCE}


def test_what_is_inside_of_a_line_has_them_too(here: Place) -> None:
    (conflict,) = lines(here.call("flow", "save", "review.dcdl", "--json"))
    assert CONFLICT == {*conflict["conflict"]}
    assert (REVISION, ACT) == ({*conflict["conflict"]["current"]}, {*conflict["conflict"]["removed"]})
    write(here, "paper", "third")
    (conflict,) = lines(here.call("flow", "save", "paper.dcdl", "--base", "1", "--json"))
    assert (REVISION, DIFFERENCE) == ({*conflict["conflict"]["base"]}, {*conflict["conflict"]["difference"]})
    (removed,) = lines(here.done("flow", "remove", "paper", "--base", "2", "--json"))
    assert ACT == {*removed["act"]}


def _keys(value: Any) -> Iterator[str]:
    """Give the names of all members, those of diagnostics left out, which have a page of their own."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            if name != "diagnostics":
                yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def test_the_reference_names_every_kind_and_result_of_a_sync() -> None:
    assert set() == {str(each) for each in (*SyncKind, *SyncResult) if not re.search(rf"`{each}`", REFERENCE)}
