"""Constraints, values and guards for properties: any that a definition may hold."""

from hypothesis import strategies as st

from stateward.compiler.predicates.constraints import Anything, Bounded, ElementsOf, EntriesOf, Family, Matching, OfType
from stateward.compiler.predicates.guards import And, Compare, Compute, Fits, Guard, If, Lit, Not, Or, Ref
from stateward.compiler.predicates.schema import AllOf, Exactly, Member, Plain, RecordOf, Scalar, Schema, TupleOf

NAMES = st.sampled_from(["a", "b", "é", "x-y", ""])
INTS = st.integers(-(2**53) + 1, 2**53 - 1)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS: st.SearchStrategy[Scalar] = st.booleans() | INTS | FLOATS | st.text(max_size=5)
VALUES: st.SearchStrategy[Plain] = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3), max_leaves=8
)
WORDS = st.sampled_from([Family.INT, Family.FLOAT, Family.STRING, Family.BOOL]).map(OfType)
BOUNDS = st.builds(Bounded, st.sampled_from(["<", "<=", ">", ">="]), st.integers(-9, 9) | st.floats(-9, 9))
PATTERNS = st.sampled_from(["^[a-z]+$", "^(a|b|c)$", "/"]).map(Matching)


def _containers(below: "st.SearchStrategy[Schema]") -> "st.SearchStrategy[Schema]":
    members = st.lists(st.builds(Member, NAMES, below, st.none() | VALUES), max_size=3, unique_by=lambda each: each.name).map(tuple)
    return (
        below.map(lambda item: AllOf((ElementsOf(item),)))
        | below.map(lambda item: AllOf((EntriesOf(item),)))
        | st.lists(below, max_size=3).map(lambda items: TupleOf(tuple(items)))
        | st.builds(RecordOf, members, st.none() | below)
    )


SIMPLE: st.SearchStrategy[Schema] = SCALARS.map(Exactly) | st.lists(
    WORDS | BOUNDS | PATTERNS | st.just(Anything()), min_size=1, max_size=3
).map(lambda atoms: AllOf(tuple(atoms)))
SCHEMAS: st.SearchStrategy[Schema] = st.recursive(SIMPLE, _containers, max_leaves=6)
REFS = st.sampled_from(
    [("vars", "a"), ("vars", "b"), ("vars", "r", "f"), ("input", "i"), ("visits", "work"), ("known", "a"), ("spent", "exceeded")]
).map(Ref)


def _guards(below: "st.SearchStrategy[Guard]") -> "st.SearchStrategy[Guard]":
    several = st.lists(below, min_size=2, max_size=3).map(tuple)
    return (
        st.builds(Not, below)
        | st.builds(And, several)
        | st.builds(Or, several)
        | st.builds(Compare, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), below, below)
        | st.builds(Compute, st.sampled_from(["+", "-", "*"]), below, below)
        | st.builds(If, below, below, below)
    )


GUARDS: st.SearchStrategy[Guard] = st.recursive(SCALARS.map(Lit) | REFS | st.builds(Fits, REFS, SCHEMAS), _guards, max_leaves=8)
