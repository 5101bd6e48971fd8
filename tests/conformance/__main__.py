"""`python -m tests.conformance PATH…`: run data files, one line for each case that fails.

Exit status: 0 when all pass, 1 when a case fails, 2 when a file is missing, empty or of no known form.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from tests.conformance.cases import BadDataError, Case, Mismatch, read_cases
from tests.conformance.suite import judge


def main(paths: list[str], judging: Callable[[Case], Mismatch | None] = judge) -> int:
    """Run all cases of the files and say how many passed."""
    if not paths:
        print("usage: python -m tests.conformance PATH…", file=sys.stderr)
        return 2
    passed = failed = 0
    try:
        for path in paths:
            for case in read_cases(Path(path)):
                mismatch = _judged(case, judging)
                if mismatch is None:
                    passed += 1
                else:
                    failed += 1
                    print(f"{_line(case.id)}: expected {_line(mismatch.expected)}, got {_line(mismatch.got)}")
    except BadDataError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _judged(case: Case, judging: Callable[[Case], Mismatch | None]) -> Mismatch | None:
    try:
        return judging(case)
    except Exception as error:  # noqa: BLE001  # a crash of what is judged is a case that fails, and the others are still to be judged
        return Mismatch("an answer", f"{type(error).__name__}: {error}")


def _line(text: str) -> str:
    return text.replace("\r", "\\r").replace("\n", "\\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
