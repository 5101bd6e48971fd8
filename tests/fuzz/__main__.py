"""Coverage-guided fuzzing: `python -m tests.fuzz syntax --seconds 600` runs `one_input` of syntax_fuzz.py on inputs that reach new code.

It needs atheris, which is not among the dependencies of the tests. The inputs that were found to be of use are kept in build/fuzz and
are begun with the next time. A crash, a hang or an assertion that fails ends the run with an error; its input is written beside them.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Protocol

import atheris

HERE: Final = Path(__file__).resolve().parent
KEPT: Final = HERE.parents[1] / "build" / "fuzz"
INPUT_BYTES_MAX: Final = 4_096
SECONDS_PER_INPUT_MAX: Final = 10
MEMORY_MB_MAX: Final = 1_024


class Target(Protocol):
    """A module that is fuzzed; it may also have `seeds`, which gives inputs to begin with."""

    one_input: Callable[[bytes], None]


def main() -> None:
    """Fuzz what the command line names."""
    names = sorted(path.stem.removesuffix("_fuzz") for path in HERE.glob("*_fuzz.py"))
    arguments = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.split("\n")[0])
    arguments.add_argument("target", choices=names)
    arguments.add_argument("--seconds", type=int, default=60, help="how long to go on (default: %(default)s)")
    arguments.add_argument("inputs", nargs="*", type=Path, help="run these inputs once instead, as a crash wrote them")
    chosen = arguments.parse_args()
    with atheris.instrument_imports(include=["stateward.compiler"]):
        target: Target = importlib.import_module(f"tests.fuzz.{chosen.target}_fuzz")
    if chosen.inputs:
        for path in chosen.inputs:
            target.one_input(path.read_bytes())
        return
    corpus = KEPT / chosen.target
    corpus.mkdir(parents=True, exist_ok=True)
    plant(corpus, vars(target).get("seeds", tuple)())
    options = {
        "max_total_time": chosen.seconds,
        "max_len": INPUT_BYTES_MAX,
        "timeout": SECONDS_PER_INPUT_MAX,
        "rss_limit_mb": MEMORY_MB_MAX,
        "artifact_prefix": f"{KEPT}/{chosen.target}-",
        "print_final_stats": 1,
    }
    atheris.Setup([sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(corpus)], target.one_input)
    atheris.Fuzz()


def plant(corpus: Path, seeds: Iterable[bytes]) -> None:
    """Put inputs into an empty folder."""
    if any(corpus.iterdir()):
        return
    for number, seed in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(seed)


if __name__ == "__main__":
    main()
