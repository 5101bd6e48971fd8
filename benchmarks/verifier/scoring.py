"""Scoring runs: what was right, what was wrong in which way, and how much of it the runtime stopped by itself.

The one error that lets a worker through is a `met` where it is not right; it is counted apart, as the judge gave it and as it was left
after the runtime's check. Invariants: every verdict of every run is counted once; a run without verdicts counts as failed, never as right
or wrong.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import Final

from benchmarks.verifier.running import Ruled, Run

VERDICTS: Final = ("met", "not_met", "indeterminate")
NONE: Final = "none"
"""Where a run came to no verdicts."""


class Outcome(StrEnum):
    """What a run is worth, the worst that is true of it."""

    RIGHT = "right"
    HELD_BACK = "wrong, and harmless"
    """A verdict is weaker than it should be, so that at worst the worker has to ask again."""
    FAILED = "no verdicts"
    STOPPED = "wrong met, stopped"
    """The judge was wrong in the one way that lets a worker through, and the runtime did not believe it."""
    LET_THROUGH = "let through wrongly"
    """The same, and nothing stopped it; or the worker got a way that it should not."""


@dataclass(frozen=True, slots=True)
class Score:
    """What some runs come to."""

    runs: int
    right: int
    """Runs in which every verdict and the move are right."""
    verdicts: int
    not_met: int
    """Those of which `met` is not right."""
    wrong_met_given: int
    """Verdicts `met` of the judge where that is not right."""
    wrong_met_stopped: int
    """Those of them that the runtime did not believe."""
    wrong_moves: int
    """Runs in which the worker got a way that it should not."""
    held_back: int
    """Runs in which the worker did not get the way that it should."""
    failures: Mapping[str, int]
    """Runs without verdicts, by cause."""
    refused: int
    """Calls to finish that were turned down."""
    requests: int
    input_tokens: int
    output_tokens: int

    @property
    def wrong_met_left(self) -> int:
        """Wrong verdicts `met` that the runtime could not tell from right ones."""
        return self.wrong_met_given - self.wrong_met_stopped

    @property
    def failed(self) -> int:
        """Runs without verdicts."""
        return sum(self.failures.values())


def score(runs: Sequence[Run]) -> Score:
    """Score runs."""
    ruled = [each for run in runs for each in run.ruled]
    wrong = [each for each in ruled if _is_wrong_met(each)]
    return Score(
        runs=len(runs),
        right=sum(each.is_right for each in runs),
        verdicts=len(ruled),
        not_met=sum("met" not in each.right for each in ruled),
        wrong_met_given=len(wrong),
        wrong_met_stopped=sum(each.checked != "met" for each in wrong),
        wrong_moves=sum(bool(each.moved) and each.moved != each.moves for each in runs),
        held_back=sum(bool(each.moves) and not each.moved for each in runs),
        failures=dict(sorted(Counter(each.cause for each in runs if each.failed).items())),
        refused=sum(each.refused for each in runs),
        requests=sum(each.requests for each in runs),
        input_tokens=sum(each.input_tokens for each in runs),
        output_tokens=sum(each.output_tokens for each in runs),
    )


def _is_wrong_met(ruled: Ruled) -> bool:
    return ruled.given == "met" and "met" not in ruled.right


def outcome_of(run: Run) -> Outcome:
    """Say what a run is worth."""
    wrong = [each for each in run.ruled if _is_wrong_met(each)]
    if (run.moved and run.moved != run.moves) or any(each.checked == "met" for each in wrong):
        return Outcome.LET_THROUGH
    if wrong:
        return Outcome.STOPPED
    if run.failed:
        return Outcome.FAILED
    return Outcome.RIGHT if run.is_right else Outcome.HELD_BACK


def upper_bound(part: int, of: int) -> float:
    """Give the share up to which the true one lies with 95 per cent, as Wilson reckons it, for verdicts that do not hang together."""
    if not of:
        return 1.0
    share, square = part / of, _DEVIATIONS**2 / of
    return min(1.0, (share + square / 2 + _DEVIATIONS * sqrt(share * (1 - share) / of + square / (4 * of))) / (1 + square))


_DEVIATIONS: Final = 1.6449
"""Standard deviations above the mean that 95 per cent of a normal distribution lie below."""


def by_kind(runs: Iterable[Run]) -> dict[str, Score]:
    """Score runs kind by kind."""
    return {kind: score(found) for kind, found in sorted(_grouped(runs, lambda run: run.kind).items())}


def by_case(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Give the runs of each case, in the order in which they were made."""
    return _grouped(runs, lambda run: run.case)


def _grouped(runs: Iterable[Run], name: Callable[[Run], str]) -> dict[str, list[Run]]:
    grouped: dict[str, list[Run]] = {}
    for each in runs:
        grouped.setdefault(name(each), []).append(each)
    return grouped


def worst(runs: Iterable[Run]) -> Outcome:
    """Give the worst that any of some runs is worth."""
    order = list(Outcome)
    return order[max(order.index(outcome_of(each)) for each in runs)]


def confusion(runs: Iterable[Run], *, checked: bool) -> dict[str, dict[str, int]]:
    """Count verdicts: the best right one to what was said, as the judge gave it or after the check."""
    counted = Counter((each.right[0], (each.checked if checked else each.given) or NONE) for run in runs for each in run.ruled)
    return {right: {said: counted[right, said] for said in (*VERDICTS, NONE)} for right in VERDICTS}


@dataclass(frozen=True, slots=True)
class Stability:
    """How alike the repeats of cases are."""

    cases: int
    same: int
    """Cases of which every repeat came to the same verdicts and the same move."""
    agreement: float
    """The share of repeats that are like the most common one of their case, 0 to 1."""
    unlike: tuple[str, ...]
    """The cases that are not the same each time."""


def stability(runs: Sequence[Run]) -> Stability:
    """Compare the repeats of each case."""
    counted: dict[str, Counter[object]] = {}
    for each in runs:
        counted.setdefault(each.case, Counter())[(each.moved, tuple((way.way, way.checked) for way in each.ruled))] += 1
    unlike = tuple(case for case, found in counted.items() if len(found) > 1)
    alike = sum(max(found.values()) for found in counted.values())
    return Stability(len(counted), len(counted) - len(unlike), alike / len(runs) if runs else 1.0, unlike)


def mistakes(runs: Iterable[Run]) -> Iterator[tuple[Run, str]]:
    """Give the runs that are not right, each with what is wrong in it."""
    for run in runs:
        if not run.is_right:
            yield run, _mistake(run)


def _mistake(run: Run) -> str:
    if run.failed:
        return f"no verdicts: {run.cause}"
    wrong = (f"`{each.way}` is {each.right[0]}, given {each.given}{_made(each)}" for each in run.ruled if _is_wrong(each))
    told = "; ".join(wrong) or f"moved by `{run.moved}`, not `{run.moves}`"
    return f"{told}{f'; moved by `{run.moved}`' if run.moved and run.moved != run.moves else ''}"


def _is_wrong(ruled: Ruled) -> bool:
    return not {ruled.given, ruled.checked} <= {*ruled.right}


def _made(ruled: Ruled) -> str:
    return "" if ruled.given == ruled.checked else f", left {ruled.checked}"
