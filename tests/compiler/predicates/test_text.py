"""Guards and constraints as text: what the language reads back as the same expression."""

import pytest

from stateward.compiler.predicates.constraints import Anything, Bounded, ElementsOf, EntriesOf, Family, Matching, OfType
from stateward.compiler.predicates.guards import And, Compare, Compute, Fits, Guard, If, Lit, Not, Or, Ref
from stateward.compiler.predicates.schema import AllOf, Exactly, Member, RecordOf, Schema, TupleOf
from stateward.compiler.predicates.text import guard_text, schema_text, value_text

A, B, C = (Ref(("vars", each)) for each in "abc")


@pytest.mark.parametrize(
    ("guard", "expected"),
    [
        (And((Compare("<", A, Lit(3)), Not(B))), "vars.a < 3 && !vars.b"),
        (Not(And((A, B))), "!(vars.a && vars.b)"),
        (Or((And((A, B)), C)), "vars.a && vars.b || vars.c"),
        (And((Or((A, B)), C)), "(vars.a || vars.b) && vars.c"),
        (Compare("==", Compare("<", A, B), C), "(vars.a < vars.b) == vars.c"),
        (Compute("-", A, Compute("-", B, C)), "vars.a - (vars.b - vars.c)"),
        (Compute("*", Compute("+", A, B), C), "(vars.a + vars.b) * vars.c"),
        (Compute("+", Compute("*", A, B), C), "vars.a * vars.b + vars.c"),
        (Compute("*", A, Lit(-1)), "vars.a * -1"),
        (Fits(A, AllOf((OfType(Family.INT),))), "match vars.a { Int: true; _: false }"),
        (Not(If(A, B, C)), "!(match vars.a { true: vars.b; false: vars.c })"),
        (Compare(">=", Ref(("visits", "code-review")), Lit(2)), 'visits."code-review" >= 2'),
        (Compare("==", Ref(("vars", "plan", "größe")), Lit(2)), 'vars.plan."größe" == 2'),
        (Compare("==", Ref(("vars", "plan", 'a"b')), Lit(2)), 'vars.plan."a\\"b" == 2'),
        (Lit('say "no"\n'), '"say \\"no\\"\\n"'),
    ],
    ids=str,
)
def test_a_guard_is_written_as_it_is_read(guard: Guard, expected: str) -> None:
    assert expected == guard_text(guard)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (AllOf((OfType(Family.INT), Bounded(">=", 0))), "Int & >= 0"),
        (AllOf((Matching("^a/b$"),)), "/^a\\/b$/"),
        (AllOf((ElementsOf(RecordOf((Member("file", AllOf((OfType(Family.STRING),)), "x"),))),)), '[...{ file = String default "x" }]'),
        (AllOf((EntriesOf(AllOf((Anything(),))),)), "{...Unknown}"),
        (TupleOf((Exactly(1), Exactly("a"))), '[1, "a"]'),
        (RecordOf((), Exactly(value=True)), "{ ...true }"),
        (RecordOf(()), "{}"),
    ],
    ids=str,
)
def test_a_constraint_is_written_as_it_is_read(schema: Schema, expected: str) -> None:
    assert expected == schema_text(schema)


def test_a_value_is_written_as_the_language_writes_it() -> None:
    assert '[true, -1, 0.5, { a = "x"; "b-c" = {} }]' == value_text([True, -1, 0.5, {"a": "x", "b-c": {}}])
