"""What saving and resolving a flow costs when its Workspace has kept many revisions, beside what bare SQLite costs in the same process.

Measured in turns, so that whatever else the machine does falls on all alike: a save of a flow that has few revisions, of one that has
many (compiling left out), and by hand the same rows, made beforehand, in one commit (WAL, synchronous FULL, nothing checked, no rules).
Then what is asked of both flows: the current revision with its definition, as a Runtime does, a page of the history, the listing, and the
last revision that has a content, which is looked for from the last one back. Figures are microseconds and ratios. Run
`python -m benchmarks.flows`; it prints JSON.
"""

import argparse
import json
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from benchmarks.store import Act, timed
from stateward.runtime.ports import Bringing, FlowHistory, NewRevision, Saved, Workspace
from stateward.runtime.session.chain import digest_of
from stateward.store.database import Store, open_store
from stateward.store.flow_codecs import revision_values
from stateward.store.revisions import revision_numbered

WORKSPACE: Final = Workspace("0198c0de-0000-7000-8000-00000000000a", "bench", datetime(2026, 3, 1, tzinfo=UTC))
SLUG: Final = "paper"
SOURCE_BYTES: Final = 2_000
DEFINITION_BYTES: Final = 3_000
REVISIONS: Final = 10_000
FEW: Final = 100
SAVES: Final = 600
READS: Final = 200


def new_revision(number: int) -> NewRevision:
    """Give a source and a definition that no other revision has."""
    content, definition = f"{number:08}".encode() * (SOURCE_BYTES // 8), f"{number:08}".encode() * (DEFINITION_BYTES // 8)
    return NewRevision(
        slug=SLUG,
        content=content,
        content_digest=digest_of(content),
        definition_digest=digest_of(definition),
        definition=definition,
        compiler="stateward 0",
        author="bench",
        note="",
        created=datetime.now(UTC),
    )


class Ours:
    """Our store: a save on the last revision."""

    def __init__(self, store: Store, revisions: int) -> None:
        self._flows = store.flows
        self._base = revisions
        self._next = new_revision(1)
        store.workspaces.ensure(WORKSPACE)
        history = FlowHistory(SLUG, tuple(new_revision(number) for number in range(1, revisions + 1)))
        begin = perf_counter()
        self._flows.bring(WORKSPACE.id, [history], Bringing("bench", "", WORKSPACE.created, "", ""))
        self.brought_us = (perf_counter() - begin) * 1e6 / revisions

    def prepare(self) -> None:
        """Make the next source and its definition."""
        self._next = new_revision(self._base + 1)

    def __call__(self) -> None:
        """Save the next revision."""
        answer = self._flows.save(WORKSPACE.id, self._next, self._base)
        assert isinstance(answer, Saved)  # noqa: S101 -- a benchmark that saved nothing measures nothing
        self._base = answer.revision.revision


class Bare:
    """SQLite, driven by hand: the same rows and the same guarantee."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self._number = 0
        self._next = self._row()
        columns = list(self._next[0])
        self._insert = f"INSERT INTO revisions VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 -- question marks
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            f"CREATE TABLE revisions ({', '.join(columns)}, PRIMARY KEY (workspace, flow_id, revision)) WITHOUT ROWID",
            "CREATE TABLE definitions (digest PRIMARY KEY, canonical) WITHOUT ROWID",
            "CREATE TABLE sources (slug PRIMARY KEY, revision) WITHOUT ROWID",
            "INSERT INTO sources VALUES ('paper', 0)",
        ):
            self._connection.execute(statement)

    def _row(self) -> tuple[dict[str, Any], bytes]:
        new = new_revision(self._number)
        revision = revision_numbered(self._number, WORKSPACE.id, new)
        return dict(revision_values(revision)) | {"created": revision.created.isoformat()}, new.definition

    def prepare(self) -> None:
        """Make the next row."""
        self._number += 1
        self._next = self._row()

    def __call__(self) -> None:
        """Insert the next revision and its definition, and say that it is the last one."""
        row, definition = self._next
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        execute(self._insert, list(row.values()))
        execute("INSERT INTO definitions VALUES (?, ?)", (row["definition_digest"], definition))
        execute("UPDATE sources SET revision = ? WHERE slug = ?", (row["revision"], SLUG))
        execute("COMMIT")


def in_turns(sides: Mapping[str, Ours | Bare], times: int) -> dict[str, list[float]]:
    """Let both make so many commits, one after the other, and give what each took, in microseconds."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(times):
        for name, side in sides.items():
            side.prepare()
            taken[name] += timed(side, 1)
    return taken


def reads(path: Path) -> dict[str, float]:
    """Measure what is asked of a flow as it is now, by a reader."""
    with open_store(path, write=False) as store:
        flows = store.flows
        oldest = new_revision(1).content_digest

        def resolve() -> None:
            current = flows.current(WORKSPACE.id, SLUG)
            assert current is not None  # noqa: S101 -- as above
            flows.definition(current.definition_digest)

        acts: dict[str, tuple[Act, int]] = {
            "resolve": (resolve, READS),
            "history_of_100": (lambda: _nothing(flows.history(WORKSPACE.id, SLUG, 100)), READS // 10),
            "list": (lambda: _nothing(flows.sources(WORKSPACE.id, 100)), READS),
            "holding_the_oldest": (lambda: _nothing(flows.holding(WORKSPACE.id, SLUG, oldest)), 3),
        }
        for act, _ in acts.values():
            act()
        return {name: round(median(timed(act, times)), 1) for name, (act, times) in acts.items()}


def _nothing(_: object) -> None:
    """Leave an answer out."""


def measure(folder: Path, revisions: int = REVISIONS) -> dict[str, object]:
    """Measure everything in a folder on the disk that is meant."""
    places = {"few": folder / "few.db", "many": folder / "many.db"}
    with (
        open_store(places["few"], write=True, create=True) as few,
        open_store(places["many"], write=True, create=True) as many,
    ):
        filled = Ours(many, revisions)
        sides: dict[str, Ours | Bare] = {"bare": Bare(folder), "few": Ours(few, FEW), "many": filled}
        in_turns(sides, SAVES // 10)
        cost = {name: median(each) for name, each in in_turns(sides, SAVES).items()}
    asked = {name: reads(path) for name, path in places.items()}
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "revisions": revisions,
        "bring_us_a_revision": round(filled.brought_us, 1),
        "save": {
            **{f"{name}_us": round(each, 1) for name, each in cost.items()},
            "few_over_bare": round(cost["few"] / cost["bare"], 2),
            "many_over_bare": round(cost["many"] / cost["bare"], 2),
            "many_over_few": round(cost["many"] / cost["few"], 2),
        },
        "read": {
            name: {"few_us": each, "many_us": asked["many"][name], "many_over_few": round(asked["many"][name] / each, 2)}
            for name, each in asked["few"].items()
        },
    }


def main() -> None:
    """Measure, and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=None, help="where to measure (default: a new folder beside this one)")
    parser.add_argument("--revisions", type=int, default=REVISIONS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder or Path.cwd()) as folder:
        json.dump(measure(Path(folder), given.revisions), sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
