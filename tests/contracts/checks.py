"""What requests of a flow with checks do, through every way for an agent to reach its Worker (the port `WorkerChannel`).

A test module for an adapter imports everything here and offers the fixture `checked`: what `checked_desk` gives, reached through it.
"""

from dataclasses import dataclass, replace

from stateward.runtime.core.events import Verdict
from stateward.runtime.engine.halting import Halt
from stateward.runtime.ports import InProgress
from tests.contracts.work import LONG, PROGRAM, Bench, page, told
from tests.runtime.checks import ALLOWED, BOTH, Checks, desk
from tests.runtime.engines import AGENT, Desk
from tests.runtime.workdirs import TextsWorkdir


@dataclass
class Checked:
    """A Worker, and what runs its checks."""

    bench: Bench
    checks: Checks

    def runs(self) -> list[str]:
        """Give the entries of checks, by how they ended."""
        return [each.payload for each in page(self.bench.channel.log()) if '"check.run.v1"' in each.payload]


def checked_desk() -> tuple[Desk, Checks]:
    """Start a Worker on the flow `both`, judged by a program."""
    checks = Checks(TextsWorkdir(a="text"))
    return desk(BOTH, checks, replace(PROGRAM, checks=ALLOWED), actor=AGENT), checks


def test_a_judge_is_asked_after_the_checks_and_of_what_they_leave(checked: Checked) -> None:
    checked.checks.statuses["lint"] = 1
    answer = told(checked.bench.asked("It is done."))
    (asked,) = checked.bench.judge.asked
    assert (["pytest", "lint"], ["small", "$cancel"]) == (checked.checks.ran, [each.transition for each in asked.questions])
    results = {each.transition: each for each in answer.results}
    assert Verdict.NOT_MET is results["ready"].verdict
    assert ("check `lint`: `lint -q` ended with exit status 1\nlint said",) == results["ready"].missing


def test_where_checks_decide_nobody_is_asked(checked: Checked) -> None:
    told(checked.bench.asked("It is done.", ready=Verdict.MET))
    before = len(checked.bench.judge.asked)
    answer = told(checked.bench.asked("It is done there, too."))
    assert ("done", "ready", before) == (answer.state, answer.transition, len(checked.bench.judge.asked))


def test_a_way_out_shows_its_checks(checked: Checked) -> None:
    ways = {each.transition: (each.checks, each.otherwise) for each in checked.bench.flow.ways}
    assert {"ready": (("pytest", "lint"), False), "small": ((), False), "$cancel": ((), False)} == ways


def test_while_checks_are_run_the_attempt_is_told_to_be_verified(checked: Checked) -> None:
    checked.checks.held = Halt()
    going = checked.bench.channel.ask("It is done.", 0.0)
    assert isinstance(going, InProgress)
    again = checked.bench.channel.ask("It is done.", 0.0)
    assert isinstance(again, InProgress)
    assert going.attempt == again.attempt
    checked.checks.held.say()
    assert going.attempt == told(checked.bench.channel.ask("It is done.", LONG)).attempt
    assert ["pytest", "lint"] == checked.checks.ran


def test_checks_that_are_run_can_be_stopped_and_the_attempt_is_gone_on_with(checked: Checked) -> None:
    checked.checks.held = Halt()
    going = checked.bench.channel.ask("It is done.", 0.0)
    assert isinstance(going, InProgress)
    checked.checks.begun.wait()
    assert checked.bench.channel.cancel()
    assert ([], []) == (checked.runs(), checked.bench.judge.asked)
    opened = checked.bench.flow.open
    assert opened is not None
    assert going.attempt == opened.attempt
    checked.checks.held = None
    assert going.attempt == told(checked.bench.channel.ask("It is done.", LONG)).attempt
    assert 2 == len(checked.runs())
