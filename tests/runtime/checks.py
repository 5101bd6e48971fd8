"""Flows with checks, and what runs their checks in tests: answers by name, over a Workdir in memory."""

import select
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Event

from stateward.compiler.flow.definition import CompiledCheck, CompiledFlowDefinition
from stateward.compiler.predicates.declarations import CheckDeclaration
from stateward.runtime.engine.halting import Halt
from stateward.runtime.ports.checking import CheckRights, CheckRun
from stateward.runtime.profile import DEFAULT, DEMONSTRATION, Profile
from stateward.runtime.session.checks import CheckEnd
from tests.runtime.engines import NOON, Catalog, Desk
from tests.runtime.guarded import guarded, state, way
from tests.runtime.workdirs import ROOT, TextsWorkdir

TESTS, LINT = (CompiledCheck(name=each, command=(each, "-q"), timeout_seconds=600) for each in ("pytest", "lint"))
ALLOWED = CheckRights((("lint",), ("pytest",)))
SURE = replace(DEMONSTRATION, checks=ALLOWED)
JUDGED = replace(DEFAULT, checks=ALLOWED)

ALONE = guarded("alone", state("work", way("ready", "done", checks=("pytest",))), state("done"), checks=(TESTS, LINT))
"""A check decides."""
BOTH = guarded(
    "both",
    state(
        "work", way("ready", "next", checks=("pytest", "lint"), condition="It is reviewed."), way("small", "next", condition="It is small.")
    ),
    state("next", way("ready", "done", checks=("pytest",)), way("back", "work", otherwise=True)),
    state("done"),
    checks=(TESTS, LINT),
)
"""Checks and a judge; then a check, and a way out where it fails."""
ORDERED = guarded(
    "ordered",
    state(
        "work",
        way("ready", "done", checks=("pytest",)),
        way("tidy", "done", checks=("lint",)),
        way("as-is", "done", otherwise=True),
        select="first",
    ),
    state("done"),
    checks=(TESTS, LINT),
)
"""Two checks, the second of which matters where the first fails."""


class Checks:
    """The port `CheckRunner`: what a check comes to is set by its name, and may be changed; keeps what it was asked."""

    def __init__(self, workdir: TextsWorkdir, statuses: Mapping[str, int] | None = None) -> None:
        self.workdir = workdir
        self.statuses = dict(statuses or {})
        self.ran: list[str] = []
        self.rights: list[CheckRights] = []
        self.meanwhile: Callable[[], None] = lambda: None
        """What happens while a check is run."""
        self.held: Halt | None = None
        """What lets checks end, where they are not to end by themselves."""
        self.begun = Event()
        """That one was begun."""
        self.changed: Mapping[str, object] = {}
        """How the next runs differ from runs that end by themselves."""

    def run(self, check: CheckDeclaration, root: str, rights: CheckRights, halt: int | None = None) -> CheckRun:
        """Give what it comes to."""
        assert root == ROOT
        self.ran.append(check.name)
        self.rights.append(rights)
        before = self.tree
        self.begun.set()
        if self.held is not None and halt is not None and halt in select.select([halt, self.held.handle], [], [])[0]:
            return CheckRun(CheckEnd.STOPPED, NOON, problem="it was stopped")
        self.meanwhile()
        run = CheckRun(
            CheckEnd.EXITED, NOON, 5, self.statuses.get(check.name, 0), program=f"/usr/bin/{check.name}", output=f"{check.name} said\n"
        )
        return replace(run, **{"tree": before, "tree_after": self.tree, **self.changed})  # type: ignore[arg-type]

    @property
    def tree(self) -> str:
        """The digest of the Workdir now."""
        facts = self.workdir.facts(ROOT)
        return "" if facts is None else facts.digest


def desk(flow: CompiledFlowDefinition, checks: Checks | None, profile: Profile = SURE, **more: object) -> Desk:
    """Give a Worker of a flow, whose checks are run by `checks`."""
    workdirs = None if checks is None else checks.workdir
    return Desk(flow.name, profile, catalog=Catalog(flow), checks=checks, workdirs=workdirs, **more)  # type: ignore[arg-type]
