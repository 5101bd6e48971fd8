"""What a compile costs for each state, and what the whole command costs from a cold start.

Flows with 560 bytes of text a state, at 100 and at 10,000 states (limits lifted): the figure is microseconds a state, and the ratio of the
two tells whether the cost grows with the size alone. The command is run as a process of its own, in turns with the bare import of the
libraries that it stands on; the ratio is what counts. All times are those of the processor, since other work on the machine delays a
process more than it makes it work. Compiled modules are kept between runs, as they are where the program is installed. Run
`python -m benchmarks.compile`; it prints JSON.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from time import process_time

from stateward.compiler.flow.canonical import canonical_of, digest
from stateward.compiler.flow.checks import check
from stateward.compiler.flow.graph import check_graph
from stateward.compiler.flow.lower import lower
from stateward.compiler.flow.read import read_flow
from stateward.compiler.language.inspect import inspect
from stateward.compiler.limits import FlowLimits, Limits
from stateward.compiler.pipeline import compile_source
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse

TEXT = "Read what the state asks for, do it, and say what was done and what was left. " * 7
"""560 bytes."""
LIFTED = 10**9
LIMITS = FlowLimits(
    source_bytes=LIFTED,
    states=LIFTED,
    language=Limits(steps=LIFTED, items=LIFTED, nodes=LIFTED, module_bytes=LIFTED),
)
SIZES = (100, 10_000)
LIBRARIES = "import lark, pydantic, click, networkx"
COMMAND = "from stateward.runtime.surfaces.cli import main; main(['compile', 'builtin:coder-review'])"


def flow(states: int) -> str:
    """Write a flow in which each state leads on and back."""
    body = "".join(
        f'    s{at} = {{\n        instructions = "{TEXT}";\n        transitions = {{\n'
        f'            on = {{ target = "s{at + 1}"; condition = "Step {at} is done, and its result can be seen."; }};\n'
        f'            back = {{ target = "s{max(at - 1, 0)}"; condition = "Step {at} has to be done again."; }};\n        }};\n    }};\n'
        for at in range(states - 1)
    )
    end = f'    s{states - 1} = {{ instructions = ""; terminal = true; }};\n'
    return f'schema_version = 1;\nname = "long";\ninitial = "s0";\nstates = {{\n{body}{end}}};\n'


def seconds(work: Callable[[], object]) -> float:
    """Time one run."""
    begin = process_time()
    work()
    return process_time() - begin


def microseconds_a_state(states: int, rounds: int) -> float:
    """Time whole compiles; the best of several, since everything else on the machine only adds."""
    data = flow(states).encode()
    assert compile_source(data, limits=LIMITS).definition is not None  # noqa: S101 - a benchmark of something else would be worthless
    return round(min(seconds(lambda: compile_source(data, limits=LIMITS)) for _ in range(rounds)) * 1e6 / states, 1)


def phases(states: int, rounds: int) -> dict[str, float]:
    """Time the phases one by one, in microseconds a state."""
    source = Source.from_text("long.dcdl", flow(states))
    module = parse(source).module
    read = read_flow(source, module, (), LIMITS.language).flow
    assert read is not None  # noqa: S101 - the same
    definition = lower(read)
    works: dict[str, Callable[[], object]] = {
        "parse": lambda: parse(source, LIMITS.language),
        "evaluate and bind": lambda: read_flow(source, module, (), LIMITS.language),
        "check": lambda: check(read, limits=LIMITS),
        "graph": lambda: check_graph(read),
        "inspect": lambda: inspect(source, module),
        "lower": lambda: lower(read),
        "digest": lambda: digest(canonical_of(definition)),
    }
    return {name: round(min(seconds(work) for _ in range(rounds)) * 1e6 / states, 1) for name, work in works.items()}


def process_seconds(code: str) -> float:
    """Time a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cold_start(rounds: int) -> dict[str, float]:
    """Time the command and the bare imports in turns."""
    turns = [(process_seconds("pass"), process_seconds(LIBRARIES), process_seconds(COMMAND)) for _ in range(rounds)]
    bare, libraries, command = (median(each) for each in zip(*turns, strict=True))
    return {
        "python_ms": round(bare * 1e3, 1),
        "libraries_ms": round(libraries * 1e3, 1),
        "command_ms": round(command * 1e3, 1),
        "command_over_libraries": round(median(mine / theirs for _, theirs, mine in turns), 2),
    }


def main() -> None:
    """Measure, and print the figures."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=15)
    rounds: int = arguments.parse_args().rounds
    costs = {states: microseconds_a_state(states, rounds if states < 1_000 else max(rounds // 5, 2)) for states in SIZES}
    small, large = costs.values()
    report = {
        "python": platform.python_version(),
        "microseconds_a_state": costs,
        "large_over_small": round(large / small, 2),
        "phases_at_100_states": phases(100, rounds),
        "cold_start": cold_start(rounds),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
