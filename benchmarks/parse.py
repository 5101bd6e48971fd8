"""What reading a document of 1 MB costs: MB a second and the most memory, beside peers that read the same data in the same process.

The document is a flow of states with 560 bytes of text each. The peers: Lark with a transformer as it comes, on a grammar of the part
of the language that the document uses (with its own lexer), and `tomllib` on the same data as TOML. Each reads in turn; figures are
medians, and the ratios say how many times as fast we are. Memory is what the result and the way to it take at most, in a process of
their own. Beside them, dense documents of 1 MB: broken ones, and ones that are nothing but tokens. Run `python -m benchmarks.parse`; it
prints JSON.
"""

import argparse
import json
import platform
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from lark import Lark, Transformer, v_args

from stateward.compiler.limits import Limits
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse

TEXT = "Read what the state asks for, do it, and say what was done and what was left. " * 7
"""560 bytes."""
ROOMY = Limits(module_bytes=1 << 30)
STATES = 1_280
"""So many make 1 MB."""

SUBSET = r"""
    ?start: fields
    fields: field*
    field: path "=" value ";"
    path: key ("." key)*
    key: NAME -> name | STRING -> string
    ?value: STRING -> string | INT -> integer | "true" -> true | "false" -> false | object
    object: "{" fields "}"
    NAME: /[A-Za-z][A-Za-z0-9_]*/
    STRING: /"(?:[^"\\]|\\.)*"/s
    INT: /[0-9]+/
    COMMENT: /#[^\n]*/
    %ignore /[ \t\r\n]+/
    %ignore COMMENT
"""


@v_args(inline=True)
class Values(Transformer[Any, Any]):
    """Makes values of the subset, as the simplest use of Lark would."""

    name = str
    integer = int

    def string(self, token: str) -> str:
        """Take the quotes off."""
        return token[1:-1]

    def true(self) -> bool:
        """Make `true`."""
        return True

    def false(self) -> bool:
        """Make `false`."""
        return False

    def path(self, *keys: str) -> tuple[str, ...]:
        """Make a path."""
        return keys

    def field(self, path: tuple[str, ...], value: object) -> tuple[tuple[str, ...], object]:
        """Make a field."""
        return path, value

    def fields(self, *fields: tuple[tuple[str, ...], object]) -> dict[tuple[str, ...], object]:
        """Make an object."""
        return dict(fields)

    def object(self, fields: dict[tuple[str, ...], object]) -> dict[tuple[str, ...], object]:
        """Give an object."""
        return fields


def as_dcdl() -> str:
    """Write the document."""
    states = "".join(
        f'    # State {number}.\n    s{number} = {{\n        instructions = "{TEXT}";\n        transitions = {{\n'
        f'            on = {{ target = "s{number + 1}"; condition = "The work is done."; }};\n'
        f'            "off-{number}" = {{ target = "s0"; condition = "The work cannot be done."; }};\n        }};\n    }};\n'
        for number in range(STATES)
    )
    return f'version = 1;\nname = "long";\ninitial = "s0";\nstates = {{\n{states}}};\n'


def as_toml() -> str:
    """Write the same data as TOML."""
    states = "".join(
        f'# State {number}.\n[states.s{number}]\ninstructions = "{TEXT}"\n[states.s{number}.transitions]\n'
        f'on = {{ target = "s{number + 1}", condition = "The work is done." }}\n'
        f'"off-{number}" = {{ target = "s0", condition = "The work cannot be done." }}\n'
        for number in range(STATES)
    )
    return f'version = 1\nname = "long"\ninitial = "s0"\n{states}'


DENSE = {
    "broken fields": "a = ; ",
    "missing semicolons": "a = { b = 1 c = 2 };\n",
    "closers": "}",
    "open braces": "{",
    "words": "word ",
    "marks": "{[(=;,.:+-*/<>!&|",
    "NUL": "\0",
    "sums (sound)": "1 + ",
}
"""Pieces that a document of 1 MB repeats."""


def dense(name: str) -> str:
    """Write such a document."""
    piece = DENSE[name]
    return piece * (1_000_000 // len(piece)) + ("1" if "sound" in name else "")


def reader(name: str) -> tuple[str, Callable[[str], object]]:
    """Give what a contestant reads, and with what."""
    if name == "stateward":
        return as_dcdl(), lambda text: parse(Source.from_text("long.dcdl", text), ROOMY)
    if name == "tomllib":
        return as_toml(), tomllib.loads
    if name == "lark":
        return as_dcdl(), Lark(SUBSET, parser="lalr", transformer=Values()).parse
    return dense(name), lambda text: parse(Source.from_text("long.dcdl", text), ROOMY)


def seconds(read: Callable[[str], object], text: str) -> float:
    """Time one reading; what was read is let go outside of the time."""
    begin = perf_counter()
    kept = read(text)
    taken = perf_counter() - begin
    del kept
    return taken


def alone(name: str) -> dict[str, float]:
    """Read once in this process, which is to be fresh: seconds, and how much the memory grew at most."""
    text, read = reader(name)
    before = memory_mb("VmRSS")
    taken = seconds(read, text)
    peak = memory_mb("VmHWM")
    return {"seconds": round(taken, 2), "peak_mb": round(peak, 1), "grown_mb": round(peak - before, 1)}


def memory_mb(name: str) -> float:
    """Read a figure that the kernel keeps of this process."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def in_its_own_process(name: str) -> dict[str, float]:
    """Read once in a fresh process."""
    ran = subprocess.run([sys.executable, "-m", "benchmarks.parse", "--alone", name], check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(ran.stdout)
    return figures


def start_up() -> float:
    """Give how many milliseconds of a fresh process go into the tables."""
    code = (
        "import time, stateward.compiler.syntax.parser as parser; begin = time.perf_counter(); parser._tables(); "
        "print(time.perf_counter() - begin)"
    )
    return round(median(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)) * 1e3, 2)


def compared(rounds: int) -> dict[str, object]:
    """Let the contestants read in turns."""
    names = ("stateward", "lark", "tomllib")
    readers = {name: reader(name) for name in names}
    turns = [{name: seconds(read, text) for name, (text, read) in readers.items()} for _ in range(rounds)]
    speeds = {name: len(readers[name][0].encode()) / 1e6 / median(turn[name] for turn in turns) for name in names}
    return {
        "bytes": len(readers["stateward"][0].encode()),
        "mb_per_second": {name: round(speed, 2) for name, speed in speeds.items()},
        "speed_relative_to": {name: round(speeds["stateward"] / speeds[name], 2) for name in names[1:]},
        "memory": {name: in_its_own_process(name) for name in names},
    }


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--alone", choices=["stateward", "lark", "tomllib", *DENSE], help="read this once, in this process")
    chosen = arguments.parse_args()
    figures: object
    if chosen.alone:
        figures = alone(chosen.alone)
    else:
        figures = {
            "python": platform.python_version(),
            "document": compared(chosen.rounds),
            "tables_ms": start_up(),
            "dense documents": {name: in_its_own_process(name) for name in DENSE},
        }
    json.dump(figures, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
