"""What evaluating a flow costs, beside what parsing it costs, in the same process and in turns.

Two documents with the same data: one written out, and one that uses the language (a schema held against each state by `as`, transitions
made by a function, defaults filled in). Figures are microseconds a node of the result and ratios to the parse of the same text; the
larger document shows whether the cost grows faster than the size. Beside them, what the short texts cost that would never end if nothing
were counted, each in a process of its own: seconds from the text to its `limit`, and the most memory of the process. Run
`python -m benchmarks.evaluate`; it prints JSON.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from time import perf_counter

from stateward.compiler.language.data import ArrayData, Data, ObjectData
from stateward.compiler.language.evaluation import Evaluation, ObjectShape
from stateward.compiler.limits import LIMITS
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse
from tests.compiler.language.explosions import EXPLOSIONS

TEXT = "Read what the state asks for, do it, and say what was done and what was left. " * 7
"""560 bytes."""
ROOMY = replace(LIMITS, steps=10**9, nodes=10**9, nesting=10**6)
SIZES = (100, 1_000)


def written_out(states: int) -> str:
    """Give a flow in which every state is written out."""
    body = "".join(
        f'    s{number} = {{\n        instructions = "{TEXT}";\n        transitions = {{\n'
        f'            on = {{ target = "s{number + 1}"; condition = "The work is done."; }};\n'
        f'            off = {{ target = "s{states}"; condition = "The work cannot be done."; }};\n        }};\n    }};\n'
        for number in range(states)
    )
    end = f'    s{states} = {{ instructions = ""; terminal = true; }};\n'
    return f'schema_version = 1;\nname = "long";\ninitial = "s0";\nstates = {{\n{body}{end}}};\n'


def computed(states: int) -> str:
    """Give the same flow with a schema, a function and defaults."""
    body = "".join(
        f'        s{number} = {{ instructions = "{TEXT}"; transitions = {{ on = to("s{number + 1}", "The work is done."); '
        f'off = to("s{states}", "The work cannot be done."); }}; }} as State;\n'
        for number in range(states)
    )
    end = f"        s{states} = {{ terminal = true; }} as State;\n"
    return (
        "let\n    Transition = { target = String; condition = String; };\n"
        '    State = { instructions = String default ""; terminal = Bool default false; transitions = {...Transition} default {}; };\n'
        "    to = (target, condition) => { target = target; condition = condition; };\nin\n"
        f'{{\n    schema_version = 1;\n    name = "long";\n    initial = "s0";\n    states = {{\n{body}{end}    }};\n}}\n'
    )


def nodes(data: Data) -> int:
    """Count the values of a result."""
    found = [data]
    for each in found:
        if isinstance(each, ArrayData):
            found += each.items
        elif isinstance(each, ObjectData):
            found += (field.value for field in each.fields.values())
    return len(found)


def seconds(work: Callable[[], object]) -> float:
    """Time one run."""
    begin = perf_counter()
    work()
    return perf_counter() - begin


def measured(text: str, rounds: int) -> dict[str, float]:
    """Measure one document."""
    source = Source.from_text("long.dcdl", text)
    module = parse(source, ROOMY).module

    def evaluation() -> Evaluation:
        return Evaluation(source, module, limits=ROOMY)

    def whole() -> Data:
        each = evaluation()
        return each.data(each.root)

    def by_level() -> None:
        each = evaluation()
        cells = [each.root]
        for cell in cells:
            shape = each.shape(cell)
            if isinstance(shape, ObjectShape):
                cells += (field.cell for field in shape.fields.values())

    count = nodes(whole())
    turns = [(seconds(lambda: parse(source, ROOMY)), seconds(whole), seconds(by_level)) for _ in range(rounds)]
    parsing, data, shapes = (median(each) for each in zip(*turns, strict=True))
    return {
        "bytes": len(text.encode()),
        "nodes": count,
        "parse_us_per_node": round(parsing / count * 1e6, 2),
        "data_us_per_node": round(data / count * 1e6, 2),
        "shapes_us_per_node": round(shapes / count * 1e6, 2),
        "data_x_parse": round(data / parsing, 2),
        "shapes_x_parse": round(shapes / parsing, 2),
    }


def explosion(name: str) -> dict[str, object]:
    """Measure one text that would never end, in this process."""
    source = Source.from_text("short.dcdl", EXPLOSIONS[name])
    begin = perf_counter()
    evaluation = Evaluation(source, parse(source).module)
    evaluation.data(evaluation.root)
    taken = perf_counter() - begin
    return {
        "seconds": round(taken, 2),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "kinds": [each.kind for each in evaluation.diagnostics],
    }


def in_its_own_process(name: str) -> object:
    """Measure one text that would never end, in a fresh process."""
    ran = subprocess.run([sys.executable, "-m", "benchmarks.evaluate", "--explosion", name], check=True, capture_output=True, text=True)
    return json.loads(ran.stdout)


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--explosion", choices=EXPLOSIONS, help="measure this text alone, in this process")
    chosen = arguments.parse_args()
    figures: object
    if chosen.explosion:
        figures = explosion(chosen.explosion)
    else:
        documents = {
            f"{make.__name__} {size} states": measured(make(size), chosen.rounds) for make in (written_out, computed) for size in SIZES
        }
        explosions = {name: in_its_own_process(name) for name in EXPLOSIONS}
        figures = {"python": platform.python_version(), "documents": documents, "explosions": explosions}
    json.dump(figures, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
