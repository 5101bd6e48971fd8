"""Fuzzing of the evaluator: whatever a text holds, evaluating, printing and inspecting it end without an exception.

An input is either a text, or a row of numbers that choose words of the language, so that sound programs are found soon. What is found is
reduced and becomes a case in the tests.
"""

from dataclasses import replace
from typing import Final

from stateward.compiler.language.declared import Declared
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.inspect import inspect
from stateward.compiler.language.loader import MemoryLoader
from stateward.compiler.language.render import show
from stateward.compiler.limits import LIMITS
from stateward.compiler.predicates.constraints import Family, OfType
from stateward.compiler.predicates.guards import ROOTS
from stateward.compiler.predicates.schema import AllOf
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse
from tests.compiler.language.guarded import Declarations

LIMITS_FUZZED: Final = replace(LIMITS, steps=20_000, nodes=2_000, items=5_000)
"""Small budgets, so that an input takes little time; the depths are the documented ones."""
WORDS: Final = (
    "a", "b", "c", "{", "}", "[", "]", "(", ")", " = ", "; ", ", ", ".", ": ", "...", " => ", " // ", " & ", " as ", " default ", " + ",
    " - ", " * ", " / ", " ++ ", " == ", " != ", " < ", " <= ", " && ", " || ", "!", "-", "> ", ">= ", "1", "2", "0", "1.5", '"x"', '""',
    "/^x/", "true", "false", "Int", "String", "Float", "Bool", "Unknown", "Array", "Email", "let ", " in ", "match ", "_: ", "import a",
    'import "main"', 'import "b.md"', "let a = ", "(a) => ", "a(", "{ a = ", "{ a.b = ", "[...", "{...", "(a: Int) => ",
    "9223372036854775807", "vars.x", "visits.a", "vars",
)  # fmt: skip
A_TRUTH: Final = Declared(AllOf((OfType(Family.BOOL),)))
TYPES: Final = Declarations({"x": A_TRUTH}, states=("a",))
FILES: Final = {"a": "b = import main; c = 1;", "b.md": "# text"}
RAW: Final = 0


def text_of(data: bytes) -> str:
    """Read an input as a text, or as the words that it chooses."""
    if not data or data[0] % 2 == RAW:
        return data[1:].decode("utf-8", "replace")
    return "".join(WORDS[number % len(WORDS)] for number in data[1:])


def one_input(data: bytes) -> None:
    """Evaluate one input in every way there is."""
    text = text_of(data)
    source = Source.from_text("main", text)
    parsed = parse(source)
    loader = MemoryLoader({**FILES, "main": text})
    evaluation = Evaluation(source, parsed.module, loader=loader, limits=LIMITS_FUZZED)
    evaluation.shape(evaluation.root)
    evaluation.data(evaluation.root)
    guarded = Evaluation(source, parsed.module, loader=loader, limits=LIMITS_FUZZED, roots=ROOTS)
    guarded.guard(guarded.root, TYPES)
    guarded.schema(guarded.root)
    guarded.data(guarded.root)
    for each in (*evaluation.diagnostics, *guarded.diagnostics):
        for label in (each.primary, *each.secondary):
            assert label.place.span.end <= len(label.place.source.text), each
    show(Evaluation(source, parsed.module, loader=loader, limits=LIMITS_FUZZED))
    inspect(source, parsed.module)
