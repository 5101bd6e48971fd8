"""An evaluation that is over leaves nothing for the collector of circles: counting references frees all of it."""

import gc
import weakref
from collections.abc import Iterator
from dataclasses import replace

import pytest

from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.loader import MemoryLoader
from stateward.compiler.limits import LIMITS
from stateward.compiler.pipeline import compile_source
from stateward.compiler.predicates.guards import ROOTS
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse

PROGRAMS = (
    "a = 1; b = { c = a; };",
    "let a = 1; b = [a, a]; in { c = b; }",
    "let f = (x: Int) => x + 1; in [f(1), f(2)]",
    "let sum = (n) => match n { 0: 0; _: n + sum(n - 1) }; in sum(20)",
    'a = { x = Int default 1; y = String; } & { y = "s"; }; b = a as { x = Int; y = /s/; };',
    "a = Int default b; b = a;",
    "a = Int default b; b = Int default a;",
    "a = [a, [a]]; b = { c = b; d = a; };",
    "a = b; b = a;",
    "let f = (x) => { y = x; z = () => x; }; in f(f(1)).y",
    'm = import "other"; n = m.a;',
    "a.b = 1; a.c = { d = a; }.d.b;",
    "a , = 1; b = nope;",
    "a = Int; b = [...Int]; c = (x) => x;",
    "{ a = { ...Int } & { ...Float }; }",
    "let f = (x) => f(x); in f(1)",
    "let f = (x) => [f(x), f(x)]; in f(1)",
)


@pytest.fixture(autouse=True)
def _without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("text", PROGRAMS)
def test_an_evaluation_is_freed_with_its_last_reference(text: str) -> None:
    source = Source.from_text("main.dcdl", text)
    files = MemoryLoader({"other": "let k = 3; in { a = k; }"})
    evaluation = Evaluation(source, parse(source).module, loader=files, limits=replace(LIMITS, steps=20_000, nodes=2_000))
    evaluation.data(evaluation.root)
    source_alive, machine_alive = weakref.ref(source), weakref.ref(evaluation.machine)
    del source, evaluation
    assert (None, None) == (source_alive(), machine_alive())


def test_guards_are_freed_with_their_evaluation() -> None:
    text = "let f = (n: Int) => n > m; m = vars.y; in match f(vars.x) { true: f(m); _: vars.z; }"
    source = Source.from_text("main.dcdl", text)
    evaluation = Evaluation(source, parse(source).module, roots=ROOTS)
    evaluation.residue(evaluation.root)
    source_alive, machine_alive = weakref.ref(source), weakref.ref(evaluation.machine)
    del source, evaluation
    assert (None, None) == (source_alive(), machine_alive())


def test_a_compile_is_freed_with_its_last_reference() -> None:
    text = """
        let first = "s"; in {
            schema_version = 1;
            name = "n";
            initial = first;
            states = {
                s = { instructions = "x"; transitions = { go = { target = "t"; condition = "c"; }; }; };
                t = { instructions = ""; terminal = true; };
            };
        }
    """
    compilation = compile_source(text.encode())
    assert () == compilation.diagnostics
    assert compilation.source is not None
    source_alive = weakref.ref(compilation.source)
    del compilation
    assert source_alive() is None
