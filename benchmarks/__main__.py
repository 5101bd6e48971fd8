"""`make bench`: every benchmark, one after the other, each in a process of its own; all figures as one JSON file and a chart of bars.

The figures are ratios to something that is measured beside them in the same run; what they mean and what is aimed at stands in
README.md of this folder.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
RESULTS: Final = HERE.parent / "build" / "benchmarks"
BAR_COLUMNS: Final = 40
DEPTH_MAX: Final = 8


def main() -> None:
    """Run what is here and write the results."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    names = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    results = {name: measured(name) for name in names}
    (RESULTS / "results.json").write_text(json.dumps(results, indent=2) + "\n", "utf-8")
    chart = "\n".join(line for name, result in results.items() for line in bars(name, result))
    (RESULTS / "chart.txt").write_text(chart + "\n", "utf-8")
    print(chart)
    print(f"\nwritten to {RESULTS.relative_to(HERE.parent)}")


def measured(name: str) -> Any:
    """Run one benchmark and give what it prints."""
    print(f"== {name}", flush=True)
    done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def bars(name: str, result: Any) -> Iterator[str]:
    """Draw the ratios of a result: one bar each, of a length that can be compared within the benchmark."""
    found = [(label, value) for label, value in figures(result) if "ratio" in label or "relative" in label or "over" in label]
    if not found:
        return
    yield f"\n{name}"
    longest = max(value for _, value in found)
    for label, value in found:
        yield f"  {label[:56]:<56} {value:8.2f} {'█' * max(1, round(BAR_COLUMNS * value / longest))}"


def figures(result: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """Give every number of a result with the names that lead to it."""
    if isinstance(result, dict) and depth < DEPTH_MAX:
        for key, value in result.items():
            yield from figures(value, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(result, int | float) and not isinstance(result, bool):
        yield path, float(result)


if __name__ == "__main__":
    main()
