"""Measure judges: the model of a profile with `--profile NAME`, or a script with `--scripted NAME`.

Without a judge every script is measured, one after the other. Written are, below the folder of the report and for each judge, `report.md`
and `chart.svg`, and the JSON of all. Exit status 0 when everything was measured, whatever came of it, and 2 when it could not be.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Final

from benchmarks.verifier.cases import BadCaseError, Case, shipped_cases
from benchmarks.verifier.chart import chart
from benchmarks.verifier.report import CHART, Evaluated, as_json, as_markdown
from benchmarks.verifier.running import SCRIPTED, MakeJudge, Run, model_judge, run_case, scripted_judge
from benchmarks.verifier.scoring import outcome_of, score
from benchmarks.verifier.scripted import SCRIPTS
from benchmarks.verifier.staging import CaseNotLaidOutError, Stores
from stateward.runtime.ports import Fault
from stateward.runtime.profile import Profile, VerifierKind
from stateward.runtime.surfaces.cli.errors import Stop
from stateward.runtime.surfaces.cli.profile import profile_named
from stateward.runtime.verifier.model_judge import model_caller
from stateward.store.database import open_store

REPORTS: Final = Path(__file__).resolve().parents[2] / "build" / "evaluation"
REPEATS_MAX: Final = 50


class NotMeasuredError(Exception):
    """Nothing can be measured; the text says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what was asked for; give the exit status."""
    given = _parser().parse_args(arguments)
    try:
        cases = chosen(shipped_cases(), given.case)
        if given.profile is not None:
            profile = profile_of(given.profile)
            found = [evaluated(given.profile, cases, given.repeat, profile, model_judge(profile), told=_told)]
        else:
            found = [scripted(name, cases, given.repeat) for name in ([given.scripted] if given.scripted else SCRIPTS)]
    except (NotMeasuredError, BadCaseError, CaseNotLaidOutError) as problem:
        return _not_measured(str(problem))
    except (Fault, Stop) as problem:
        return _not_measured(problem.message, problem.remedy)
    write(found, given.report, given.json)
    for each in found:
        print(line_of(each))
    print(f"written to {given.report}")
    return 0


def _not_measured(message: str, remedy: str = "") -> int:
    print(f"error: {message}", file=sys.stderr)
    if remedy:
        print(f"  = help: {remedy}", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.verifier", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    judge = parser.add_mutually_exclusive_group()
    judge.add_argument("--profile", metavar="NAME", help="a profile whose verifier is a model")
    judge.add_argument("--scripted", choices=sorted(SCRIPTS), help="one script in place of a model")
    parser.add_argument("--repeat", type=_repeats, default=1, metavar="N", help=f"how often each case is run, 1 to {REPEATS_MAX}")
    parser.add_argument("--case", action="append", default=[], metavar="ID", help="only this case; may be given several times")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the JSON goes; by default beside the reports")
    parser.add_argument("--report", type=Path, default=REPORTS, metavar="DIR", help="the folder of the reports")
    return parser


def _repeats(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= REPEATS_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 1 and {REPEATS_MAX}")
    return number


def chosen(cases: Sequence[Case], names: Sequence[str]) -> tuple[Case, ...]:
    """Give the cases of these names, in the order of the set; all where none is named. Raises NotMeasuredError."""
    unknown = next((each for each in names if each not in {case.id for case in cases}), None)
    if unknown is not None:
        raise NotMeasuredError(f"there is no case `{unknown}`")
    return tuple(each for each in cases if not names or each.id in names)


def profile_of(name: str) -> Profile:
    """Give a profile whose verifier is a model that can be asked. Raises NotMeasuredError, Fault and Stop."""
    profile = profile_named(name, Path.cwd())
    if profile.verifier is not VerifierKind.MODEL or profile.model is None:
        raise NotMeasuredError(f"profile `{name}` is judged by a `{profile.verifier}`, and a model is measured here")
    model_caller(profile.model, Path.home())  # a key that is not there is told before the first case
    return profile


def scripted(name: str, cases: Sequence[Case], repeats: int) -> Evaluated:
    """Measure a script."""
    places = {each.id: at for at, each in enumerate(cases)}
    return evaluated(f"scripted:{name}", cases, repeats, SCRIPTED, scripted_judge(name, places))


def _silent(_: Run) -> None:
    """Tell nothing."""


def _told(run: Run) -> None:
    """Say what a run came to, as soon as it is known: a model takes its time."""
    print(f"{run.case}, run {run.repeat + 1}: {outcome_of(run)}", file=sys.stderr, flush=True)


@contextmanager
def _on_disk(folder: Path) -> Iterator[Stores]:
    """Open a store as Workers have it."""
    with open_store(folder / "store.db", write=True, create=True) as store:
        yield store


def evaluated(
    judge: str,
    cases: Sequence[Case],
    repeats: int,
    profile: Profile,
    make: MakeJudge,
    *,
    told: Callable[[Run], None] = _silent,
    stores: Callable[[Path], AbstractContextManager[Stores]] = _on_disk,
) -> Evaluated:
    """Run every case so many times, in a store and folders of their own. Interrupted, give what was measured so far."""
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="evaluation-") as place, suppress(KeyboardInterrupt):
        folder = Path(place).resolve()
        with stores(folder) as store:
            for repeat, case in product(range(repeats), cases):
                runs.append(run_case(case, store, folder / str(repeat) / case.id, profile, make, repeat=repeat))
                told(runs[-1])
    return Evaluated(judge, tuple(cases), repeats, tuple(runs))


def write(found: Sequence[Evaluated], folder: Path, json_file: Path | None) -> None:
    """Write the reports."""
    for each in found:
        place = folder / each.judge.replace(":", "-")
        place.mkdir(parents=True, exist_ok=True)
        (place / "report.md").write_text(as_markdown(each), "utf-8")
        (place / CHART).write_text(chart(f"What each kind of case came to: {each.judge}", each.runs), "utf-8")
    (json_file or folder / "results.json").write_text(as_json(found), "utf-8")


def line_of(each: Evaluated) -> str:
    """Say in a line what a judge came to."""
    total = score(each.runs)
    return (
        f"{each.judge:<22} right {total.right:>4} of {total.runs:<4} wrong met {total.wrong_met_given:>4}, stopped"
        f" {total.wrong_met_stopped:>4}, left {total.wrong_met_left:>4}; no verdicts {total.failed:>3}"
    )


if __name__ == "__main__":
    sys.exit(main())
