"""What a source of version 2 comes to as a definition, and that whoever reads definitions reads the same."""

import json
from dataclasses import dataclass

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.flow.canonical import canonical_bytes, canonical_of
from stateward.compiler.flow.definition import CompiledFlowDefinition, CompiledState, CompiledTransition
from stateward.compiler.flow.lower import CANCEL_CONDITION, definition_of, lower
from stateward.compiler.flow.read import read_flow
from stateward.compiler.pipeline import compile_source
from stateward.compiler.predicates.constraints import Bounded, ElementsOf, Family, Matching, OfType
from stateward.compiler.predicates.declarations import CheckDeclaration, Declaration
from stateward.compiler.predicates.guards import Compare, Lit, Ref
from stateward.compiler.predicates.schema import AllOf, Exactly, Member, Plain, RecordOf, Schema
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse
from stateward.runtime.session.pinned import PinnedFlow, read_pinned
from tests.compiler.flow.sources import GOOD, GOOD_2

GOLDEN = (
    b'{"checks":[{"command":["codespell","paper.md"],"name":"spelling","timeout_seconds":90}],'
    b'"initial":"draft","inputs":[{"name":"topic","type":{"type":"String"}}],"name":"paper","schema_version":2,"states":['
    b'{"id":"draft","instructions":"Write it.","reads":["topic","attempts"],"terminal":false,"transitions":['
    b'{"checks":["spelling"],"condition":"It is written.","id":"submit","synthetic":false,"target":"review"},%(cancel)s],'
    b'"visits_max":5,"writes":["attempts"]},'
    b'{"id":"review","instructions":"Read it.","reads":["topic"],"select":"first","terminal":false,"transitions":['
    b'{"condition":"Something is to be mended.","id":"back","synthetic":false,"target":"draft",'
    b'"when":{"cmp":["<",{"ref":["vars","attempts"]},{"lit":{"int":"3"}}]}},'
    b'{"checks":["spelling"],"condition":"","id":"accept","synthetic":false,"target":"done"},%(cancel)s]},'
    b'{"id":"done","instructions":"","terminal":true,"transitions":[]},'
    b'{"id":"$cancelled","instructions":"","terminal":true,"transitions":[]}],'
    b'"variables":[{"name":"topic","type":{"type":"String"}},'
    b'{"default":{"int":"0"},"name":"attempts","type":{"all":[{"type":"Int"},{"bound":[">=",{"int":"0"}]}]}}]}'
) % {b"cancel": b'{"condition":"' + CANCEL_CONDITION.encode() + b'","id":"$cancel","synthetic":true,"target":"$cancelled"}'}


def test_the_canonical_form_of_version_2_is_frozen_to_the_byte() -> None:
    assert compile_source(GOOD_2.encode()).canonical == GOLDEN


def test_the_typed_definition_says_what_the_source_says() -> None:
    definition = compile_source(GOOD_2.encode()).definition
    assert definition is not None
    natural = AllOf((OfType(Family.INT), Bounded(">=", 0)))
    assert definition.declared_variables == (Declaration("topic", AllOf((OfType(Family.STRING),))), Declaration("attempts", natural, 0))
    assert definition.declared_checks == (CheckDeclaration("spelling", ("codespell", "paper.md"), 90),)
    back = definition.state("review").transition("back")
    assert back is not None
    assert back.guard == Compare("<", Ref(("vars", "attempts")), Lit(3))


def test_what_is_at_its_default_is_left_out() -> None:
    plain = GOOD.replace("schema_version = 1", "schema_version = 2")
    spelt_out = (
        plain.replace("states = {", "variables = {}; inputs = {}; checks = {}; states = {")
        .replace('instructions = "Read it.";', 'instructions = "Read it."; reads = []; writes = []; select = "exclusive"; limits = {};')
        .replace('target = "done";', 'target = "done"; checks = []; otherwise = false;')
    )
    assert compile_source(plain.encode()).canonical == compile_source(spelt_out.encode()).canonical
    first, second = (json.loads(compile_source(text.encode()).canonical or b"") for text in (GOOD, plain))
    assert {**first, "schema_version": 2} == second


def test_a_check_without_a_timeout_has_ten_minutes() -> None:
    definition = compile_source(GOOD_2.replace(' timeout = "90s";', "").encode()).definition
    assert definition is not None
    assert [each.timeout_seconds for each in definition.checks] == [600]


@pytest.mark.parametrize(
    ("constraint", "schema", "default"),
    [
        ("Int & >= 0 & <= 9 default 4", AllOf((OfType(Family.INT), Bounded(">=", 0), Bounded("<=", 9))), 4),
        ("/^(good|bad)$/", AllOf((Matching("^(good|bad)$"),)), None),
        ("Bool default false", AllOf((OfType(Family.BOOL),)), False),
        ('"fixed"', Exactly("fixed"), None),
        ("[...Float] default [1.5]", AllOf((ElementsOf(AllOf((OfType(Family.FLOAT),))),)), [1.5]),
        (
            "{ file = String; line = Int default 1; }",
            RecordOf((Member("file", AllOf((OfType(Family.STRING),))), Member("line", AllOf((OfType(Family.INT),)), 1))),
            None,
        ),
    ],
)
def test_what_a_variable_may_hold_is_kept_as_a_closed_constraint(constraint: str, schema: Schema, default: "Plain | None") -> None:
    source = GOOD_2.replace("attempts = Int & >= 0 default 0", f"attempts = Int default 0; more = {constraint}")
    done = compile_source(source.encode())
    assert done.definition is not None
    assert done.definition.declared_variables[-1] == Declaration("more", schema, default)


# --- generated sources --------------------------------------------------------------------------------------------------------------

VARIABLES = {"n": "Int & >= 0 default 0", "b": "Bool", "s": "/^(x|y)$/", "f": "Float default 0.5", "t": "[...String] default []"}
INPUTS = {"n": "Int & >= 2", "strict": "Bool default true"}
CHECKS = {"lint": ('["lint", "--all"]', "30s", 30), "tests": ('["tests"]', "2h", 7200)}
NUMBERS = st.recursive(
    st.sampled_from(["vars.n", "vars.f", "input.n", "visits.s0", "visits.end", "3", "0.25", "-2"]),
    lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner),
    max_leaves=3,
)
SIMPLE = st.one_of(
    st.sampled_from(["vars.b", "input.strict", "known.s", "spent.exceeded", 'vars.s == "x"', '"y" != vars.s', "vars.b == input.strict"]),
    st.builds("({} {} {})".format, NUMBERS, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), NUMBERS),
)
GUARDS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds("!({})".format, inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||"]), inner),
        st.builds('(match vars.s {{ "x": {}; _: {}; }})'.format, inner, inner),
        st.builds("(let it = {}; in it)".format, inner),
    ),
    max_leaves=4,
)


@dataclass(frozen=True)
class Way:
    """A transition of a generated source."""

    target: str
    guard: str | None
    condition: str
    checks: tuple[str, ...]
    otherwise: bool

    def text(self, id_: str) -> str:
        parts = [
            f'target = "{self.target}";',
            f"when = {self.guard};" if self.guard is not None else "",
            f'condition = "{self.condition}";' if self.condition else "",
            f"checks = {json.dumps(self.checks)};" if self.checks else "",
            "otherwise = true;" if self.otherwise else "",
        ]
        return f"{id_} = {{ {' '.join(parts)} }};"


@dataclass(frozen=True)
class Stand:
    """A state of a generated source."""

    ways: tuple[Way, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    in_order: bool
    visits_max: int | None

    def text(self, at: int) -> str:
        ways = " ".join(way.text(f"t{number}") for number, way in enumerate(self.ways))
        parts = [
            f'instructions = "Work on {at}.";',
            f"reads = {json.dumps(self.reads)};",
            f"writes = {json.dumps(self.writes)};",
            'select = "first";' if self.in_order else "",
            f"limits = {{ visits = {self.visits_max}; }};" if self.visits_max is not None else "",
            f"transitions = {{ {ways} }};",
        ]
        return f"s{at} = {{ {' '.join(parts)} }};"


@st.composite
def stands(draw: st.DrawFn) -> list[Stand]:
    number = draw(st.integers(1, 4))
    made = []
    for at in range(number):
        targets = st.sampled_from([*(f"s{each}" for each in range(number)), "end"])
        first = "end" if at == number - 1 else f"s{at + 1}"
        ways = [draw(ways_to(st.just(first))), *draw(st.lists(ways_to(targets), max_size=3))]
        names = st.lists(st.sampled_from(sorted(VARIABLES)), unique=True, max_size=3).map(tuple)
        made.append(Stand(tuple(ways), draw(names), draw(names), draw(st.booleans()), draw(st.none() | st.integers(1, 1_000_000))))
    return made


def ways_to(targets: st.SearchStrategy[str]) -> st.SearchStrategy[Way]:
    checks = st.lists(st.sampled_from(sorted(CHECKS)), unique=True, max_size=2).map(tuple)
    return st.builds(Way, targets, st.none() | GUARDS, st.sampled_from(["", "It is so."]), checks, st.booleans())


def source_of(made: list[Stand]) -> str:
    variables, inputs = (" ".join(f"{name} = {text};" for name, text in each.items()) for each in (VARIABLES, INPUTS))
    checks = " ".join(f'{name} = {{ command = {command}; timeout = "{time}"; }};' for name, (command, time, _) in CHECKS.items())
    states = "\n".join(state.text(at) for at, state in enumerate(made))
    return (
        f'schema_version = 2; name = "made"; initial = "s0";\nvariables = {{ {variables} }};\ninputs = {{ {inputs} }};\n'
        f'checks = {{ {checks} }};\nstates = {{\n{states}\nend = {{ instructions = ""; terminal = true; }};\n}};\n'
    )


@given(stands())
def test_a_lowered_definition_is_read_alike_by_all_who_read_it(made: list[Stand]) -> None:
    source = Source("made.dcdl", source_of(made))
    read = read_flow(source, parse(source).module)
    assert (list(read.problems), read.evaluation.diagnostics) == ([], [])
    assert read.flow is not None
    data = lower(read.flow)
    canonical = canonical_of(data)
    typed = CompiledFlowDefinition.model_validate_json(canonical)
    pinned = read_pinned(canonical)
    assert canonical == rfc8785.dumps(json.loads(canonical)) == canonical_bytes(typed)
    assert typed == definition_of(data)
    assert typed.model_dump(mode="json") == data
    _says(typed, pinned)
    assert [_of_state(state) for state in typed.states[:-2]] == [_wanted(state) for state in made]


def _says(typed: CompiledFlowDefinition, pinned: PinnedFlow) -> None:
    """Hold both readings against each other."""
    assert typed.declared_variables == pinned.declared_variables
    assert typed.declared_inputs == pinned.declared_inputs
    assert typed.declared_checks == pinned.declared_checks
    assert [state.id for state in typed.states] == [state.id for state in pinned.states]
    for one, other in zip(typed.states, pinned.states, strict=True):
        assert (one.reads, one.writes, one.select, one.visits_max) == (other.reads, other.writes, other.select, other.visits_max)
        assert [_of_way(each) for each in one.transitions] == [
            (each.target, each.guard, each.condition, each.checks, each.otherwise) for each in other.transitions
        ]


def _of_way(way: CompiledTransition) -> tuple[object, ...]:
    return way.target, way.guard, way.condition, way.checks, way.otherwise


def _of_state(state: CompiledState) -> tuple[object, ...]:
    ways = [(way.target, way.guard is not None, way.condition, way.checks, way.otherwise) for way in state.transitions[:-1]]
    return ways, state.reads, state.writes, state.select, state.visits_max


def _wanted(state: Stand) -> tuple[object, ...]:
    ways = [(way.target, way.guard is not None, way.condition, way.checks, way.otherwise) for way in state.ways]
    return ways, state.reads, state.writes, "first" if state.in_order else "exclusive", state.visits_max
