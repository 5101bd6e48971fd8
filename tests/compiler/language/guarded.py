"""Guards in tests: a small flow's declarations, guards typed by them, and what a guard comes to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from stateward.compiler.language.data import Hole
from stateward.compiler.language.declared import Declared
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.limits import LIMITS
from stateward.compiler.predicates.guards import ROOTS, Guard
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse
from tests.compiler.language.evaluated import evaluation_of

VARIABLES: Final = """
flag = Bool;
other = Bool;
count = Int;
few = Int & >= 0 & <= 2;
rate = Float;
number = > 3;
text = String;
size = String & /^(small|large)$/;
any = Unknown;
record = { name = String; parts = {...Int}; };
list = [...Int];
pair = [Int, Bool];
"""


@dataclass(frozen=True)
class Declarations:
    """What a flow declares, by hand."""

    variables: Mapping[str, Declared | None]
    inputs: Mapping[str, Declared | None] = field(default_factory=dict)
    states: tuple[str, ...] = ("draft", "review")
    lossy: tuple[str, ...] = ()


def declared(text: str) -> dict[str, Declared | None]:
    """Take down the declarations of a module without braces."""
    source = Source.from_text("declared.dcdl", text)
    evaluation = Evaluation(source, parse(source).module, limits=LIMITS)
    shape = evaluation.shape(evaluation.root)
    found: dict[str, Declared | None] = {}
    for name, each in shape.fields.items():  # type: ignore[union-attr]  # an object
        schema = evaluation.schema(each.cell)
        assert not isinstance(schema, Hole), evaluation.diagnostics
        found[name] = Declared(schema[0], each.key)
    return found


TYPES: Final = Declarations(declared(VARIABLES), declared("flag = Bool; limit = Int;"))


def typed(text: str, types: Declarations = TYPES) -> tuple[Guard | None, Evaluation]:
    """Type a guard that is a sound text, and give the evaluation with what was found."""
    evaluation = evaluation_of(text, roots=ROOTS)
    return evaluation.guard(evaluation.root, types), evaluation


def guard_of(text: str, types: Declarations = TYPES) -> Guard:
    """Give a sound guard."""
    guard, evaluation = typed(text, types)
    assert guard is not None, [each.message for each in evaluation.diagnostics]
    assert [] == evaluation.diagnostics
    return guard
