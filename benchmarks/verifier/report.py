"""The report of an evaluation: everything as JSON, what matters as Markdown.

Invariant: the same runs give the same bytes; no time of day and no path is in it. Version 1 of the JSON never loses a member.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from benchmarks.verifier.cases import Case
from benchmarks.verifier.running import Run
from benchmarks.verifier.scoring import (
    NONE,
    VERDICTS,
    Score,
    by_case,
    by_kind,
    confusion,
    mistakes,
    outcome_of,
    score,
    stability,
    upper_bound,
    worst,
)
from stateward.runtime.session.chain import digest_of

VERSION: Final = 1
MISTAKES_SHOWN_MAX: Final = 200
CHART: Final = "chart.svg"


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What one judge came to."""

    judge: str
    """The profile, or `scripted:` and the name of the script."""
    cases: tuple[Case, ...]
    repeats: int
    runs: tuple[Run, ...]

    @property
    def is_whole(self) -> bool:
        """Whether every case was run as often as it was to be."""
        return len(self.runs) == len(self.cases) * self.repeats

    @property
    def model(self) -> str:
        """The model as its provider names it; empty where none was reached."""
        return next((each.model for each in self.runs if each.model), "")

    @property
    def prompt(self) -> str:
        """The digest of the prompt."""
        return next((each.prompt for each in self.runs if each.prompt), "")


def set_digest(cases: Sequence[Case]) -> str:
    """Give the digest of a set of cases: reports can be compared where it is the same."""
    return digest_of(json.dumps([each.model_dump(mode="json") for each in cases], ensure_ascii=False, sort_keys=True).encode())


def as_data(given: Evaluated) -> dict[str, Any]:
    """Give the report as what JSON is made of."""
    return {
        "judge": given.judge,
        "model": given.model,
        "prompt_digest": given.prompt,
        "set": {"cases": len(given.cases), "moving": sum(bool(each.moves) for each in given.cases), "digest": set_digest(given.cases)},
        "repeats": given.repeats,
        "interrupted": not given.is_whole,
        "score": _score_data(score(given.runs)),
        "by_kind": {kind: _score_data(each) for kind, each in by_kind(given.runs).items()},
        "confusion": {"given": confusion(given.runs, checked=False), "checked": confusion(given.runs, checked=True)},
        "stability": asdict(stability(given.runs)),
        "runs": [{**asdict(each), "outcome": str(outcome_of(each))} for each in given.runs],
    }


def _score_data(given: Score) -> dict[str, Any]:
    return {**asdict(given), "wrong_met_left": given.wrong_met_left, "failed": given.failed}


def as_json(given: Sequence[Evaluated]) -> str:
    """Write the reports of judges as one JSON text."""
    return json.dumps({"version": VERSION, "reports": [as_data(each) for each in given]}, ensure_ascii=False, indent=2) + "\n"


# --- Markdown -----------------------------------------------------------------------------------------------------------------------


def as_markdown(given: Evaluated) -> str:
    """Write a report for people."""
    return "\n".join(_page(given)) + "\n"


def _page(given: Evaluated) -> Iterator[str]:
    total = score(given.runs)
    yield f"# Evaluation of `{given.judge}`"
    yield ""
    yield f"{len(given.cases)} cases, each {_times(given.repeats)}{'' if given.is_whole else ', interrupted'};"
    yield f"model `{given.model or 'none'}`, prompt `{given.prompt or 'none'}`,"
    yield f"set `{set_digest(given.cases)}`."
    yield ""
    yield f"![What each kind of case came to]({CHART})"
    yield ""
    yield from _table(("", "number"), _summary(total))
    yield ""
    for checked, title in ((False, "Verdicts as the judge gave them"), (True, "Verdicts as the runtime left them")):
        yield f"## {title}"
        yield ""
        yield from _confusion(confusion(given.runs, checked=checked))
        yield ""
    yield "## Kinds of cases"
    yield ""
    yield from _table(_KIND_HEADS, ((kind, *_figures(each)) for kind, each in by_kind(given.runs).items()))
    yield ""
    yield from _stable(given)
    yield from _wrong(given.runs)
    yield ""
    yield "## Cases"
    yield ""
    heads = ("case", "kind", "right", "at worst", "requests", "tokens")
    yield from _table(heads, (_case_row(found) for found in by_case(given.runs).values()))


def _summary(total: Score) -> Iterator[Sequence[str]]:
    yield "runs that are right in every verdict", _share(total.right, total.runs)
    yield "wrong `met` of the judge, where `met` is not right", _share(total.wrong_met_given, total.not_met)
    yield "of them stopped by the runtime", f"{total.wrong_met_stopped}"
    yield "**of them left**", f"**{total.wrong_met_left}**"
    yield "with 95 % no more are left than", f"{100 * upper_bound(total.wrong_met_left, total.not_met):.1f} % of what is not met"
    yield "runs in which the worker got a way that it should not", f"{total.wrong_moves}"
    yield "runs in which it did not get the way that it should", f"{total.held_back}"
    for cause, count in total.failures.items():
        yield f"runs without verdicts, `{cause}`", f"{count}"
    yield "calls to finish that were turned down", f"{total.refused}"
    runs = max(total.runs, 1)
    yield "requests for each run", f"{total.requests / runs:.1f}"
    yield "tokens for each run, in and out", f"{total.input_tokens / runs:,.0f} and {total.output_tokens / runs:,.0f}"


def _times(repeats: int) -> str:
    return "once" if repeats == 1 else f"{repeats} times"


def _share(part: int, of: int) -> str:
    return f"{part} of {of} ({100 * part / of:.0f} %)" if of else "0"


def _confusion(counted: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    heads = ("right \\ said", *VERDICTS, NONE)
    yield from _table(heads, ((right, *(str(row[said]) for said in heads[1:])) for right, row in counted.items()))


def _case_row(found: Sequence[Run]) -> Sequence[str]:
    total, first = score(found), found[0]
    tokens = (total.input_tokens + total.output_tokens) / total.runs
    return (
        first.case,
        first.kind,
        f"{total.right} of {total.runs}",
        str(worst(found)),
        f"{total.requests / total.runs:.1f}",
        f"{tokens:,.0f}",
    )


_KIND_HEADS: Final = ("kind", "runs", "right", "wrong met", "stopped", "left", "held back", "no verdicts", "requests", "tokens")


def _figures(each: Score) -> Sequence[str]:
    numbers = (each.runs, each.right, each.wrong_met_given, each.wrong_met_stopped, each.wrong_met_left, each.held_back, each.failed)
    return (*map(str, numbers), f"{each.requests / each.runs:.1f}", f"{(each.input_tokens + each.output_tokens) / each.runs:,.0f}")


def _stable(given: Evaluated) -> Iterator[str]:
    if given.repeats < 2:
        return
    found = stability(given.runs)
    yield "## Stability"
    yield ""
    yield f"{_share(found.same, found.cases)} of the cases came to the same each time; {100 * found.agreement:.0f} % of the runs are like"
    yield f"the most common one of their case. Not the same each time: {', '.join(found.unlike) or 'none'}."
    yield ""


def _wrong(runs: Sequence[Run]) -> Iterator[str]:
    found = list(mistakes(runs))
    yield "## Runs that are not right"
    yield ""
    if not found:
        yield "None."
        return
    rows = ((run.case, run.kind, str(run.repeat + 1), str(outcome_of(run)), text) for run, text in found[:MISTAKES_SHOWN_MAX])
    yield from _table(("case", "kind", "run", "what it is worth", "what is wrong"), rows)
    if len(found) > MISTAKES_SHOWN_MAX:
        yield ""
        yield f"{len(found) - MISTAKES_SHOWN_MAX} more are in the JSON."


def _table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    yield _row(heads)
    yield _row(["---"] * len(heads))
    yield from map(_row, rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |"
