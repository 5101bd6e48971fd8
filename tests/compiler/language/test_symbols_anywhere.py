"""Symbols in any expression: whatever is asked of it ends, in a value or in a fault that points into a text, and in the same each time."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.language.data import Hole
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.render import show
from stateward.compiler.limits import LIMITS
from stateward.compiler.predicates.forms import guard_data, read_guard, read_schema, schema_data
from stateward.compiler.predicates.guards import NODES_MAX, ROOTS, parts_of
from tests.compiler.language.evaluated import evaluation_of
from tests.compiler.language.guarded import TYPES

TIGHT = replace(LIMITS, steps=4_000, items=500, nodes=500, calls=50, forcing=100)

_READ = "vars.flag vars.count vars.text vars.record vars.any vars.nope input.flag visits.draft known.count vars spent spent.exceeded"
_KNOWN = 'true 1 2.5 "a" Int /a/ Email [] {} a b f'
_atoms = st.sampled_from([*_READ.split(), *_KNOWN.split(), "> 1", 'import "other"'])
_operators = st.sampled_from(["as", "default", "//", "&", "||", "&&", "==", "<", "++", "+", "/", "*"])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, _operators, inner).map(lambda row: f"({' '.join(row)})"),
        inner.map(lambda text: f"!{text}"),
        inner.map(lambda text: f"(-{text})"),
        inner.map(lambda text: f"{text}.name"),
        inner.map(lambda text: f"f({text})"),
        inner.map(lambda text: f"[...{text}]"),
        st.tuples(inner, inner).map(lambda row: f"((n: {row[0]}) => n)({row[1]})"),
        st.tuples(inner, inner).map(lambda row: f"{{ name = {row[0]}; b = {row[1]}; }}"),
        st.tuples(inner, inner, inner).map(lambda row: f"match {row[0]} {{ {row[1]}: {row[2]}; _: true; }}").map("({})".format),
        st.tuples(inner, inner, inner).map(lambda row: f"(match {row[0]} {{ true: {row[1]}; false: {row[2]}; }})"),
    )


_expressions = st.recursive(_atoms, _larger, max_leaves=7)
_programs = st.tuples(*[_expressions] * 3).map(lambda row: f"let a = {row[0]}; b = {row[1]}; f = (x) => {row[2]}; in f(a)")


def begun(text: str) -> Evaluation:
    return evaluation_of(text, {"other": "vars.count > 1"}, roots=ROOTS, limits=TIGHT)


def asked(text: str) -> tuple[object, ...]:
    """Ask everything of a program, each of an evaluation of its own."""
    guarded, declared, whole, printed = begun(text), begun(text), begun(text), begun(text)
    guard = guarded.guard(guarded.root, TYPES, ("when",))
    schema = declared.schema(declared.root, ("variables", "v"))
    data = whole.data(whole.root)
    shown = show(printed)
    for evaluation, failed in ((guarded, guard is None), (declared, isinstance(schema, Hole)), (whole, isinstance(data, Hole))):
        assert bool(evaluation.diagnostics) >= failed, "what fails is told"
        assert [] == [each for each in evaluation.diagnostics if not _lies_in_its_texts(each)]
    assert guard is None or (guard == read_guard(guard_data(guard)) and sum(1 for _ in parts_of(guard)) <= NODES_MAX)
    assert isinstance(schema, Hole) or schema[0] == read_schema(schema_data(schema[0]))
    return guard, None if isinstance(schema, Hole) else schema, shown, *(each.message for each in guarded.diagnostics)


def _lies_in_its_texts(diagnostic: Diagnostic) -> bool:
    places = [label.place for label in (diagnostic.primary, *diagnostic.secondary)]
    return all(place.span.end <= len(place.source.text) for place in places)


@given(_programs)
def test_whatever_is_done_with_symbols_ends_in_a_value_or_a_fault(text: str) -> None:
    assert asked(text) == asked(text)
