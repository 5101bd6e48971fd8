"""Flows of real size with variables, guards, ordered selection, limits and checks: they compile, and wherever a run goes, it is sound."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.formatting.printer import format_source
from stateward.compiler.pipeline import Compilation, compile_source
from stateward.compiler.predicates.constraints import Bounded, ElementsOf, Family, Matching, OfType
from stateward.compiler.predicates.schema import AllOf, Exactly, Plain, RecordOf, Schema, misfit
from stateward.compiler.source import Source
from stateward.runtime.core.decide import Decided, Judged, Ran, Report, Request, Start
from stateward.runtime.core.events import Event, Judgement, Part, PartKind, Recorded, Verdict
from stateward.runtime.core.judging import asked_of
from stateward.runtime.core.replay import replay
from stateward.runtime.core.selecting import Run, next_of
from stateward.runtime.core.writing import Write, taken_inputs
from stateward.runtime.session.entries import Kind
from stateward.runtime.session.payloads import Extension, FlowRecord, decode, encode, flow_events
from stateward.runtime.session.pinned import read_pinned
from tests.runtime.core.test_guarded_flows import DIGEST, PIN, Log
from tests.runtime.session.test_payloads import entry

FOLDER = Path(__file__).parent / "guarded"
SOURCES = sorted(FOLDER.glob("*.dcdl"))
STEPS_MAX = 60
"""Of one run."""
ANSWERS = st.sampled_from(Verdict)


@cache
def compiled(path: Path) -> Compilation:
    return compile_source(path.read_bytes(), name=path.name, slug=path.stem)


def definition_of(path: Path) -> CompiledFlowDefinition:
    definition = compiled(path).definition
    assert definition is not None
    return definition


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_source_compiles_without_a_word_and_stands_in_canonical_form(path: Path) -> None:
    assert () == compiled(path).diagnostics
    text = path.read_text("utf-8")
    assert text == format_source(Source.from_text(path.name, text))


def test_together_they_use_everything_that_decides() -> None:
    definitions = [definition_of(path) for path in SOURCES]
    states = [state for definition in definitions for state in definition.states]
    assert all(len(definition.states) > 12 and definition.variables and definition.inputs for definition in definitions)
    assert all(any(state.visits_max for state in definition.states) for definition in definitions)
    assert any(definition.checks for definition in definitions)
    assert any(state.select == "first" and len(state.transitions) == 8 for state in states)
    assert any(way.otherwise for state in states for way in state.transitions)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_definition_is_read_alike_with_and_without_the_library(path: Path) -> None:
    compilation = compiled(path)
    assert compilation.canonical is not None
    typed, plain = compilation.definition, read_pinned(compilation.canonical)
    assert typed is not None
    for state, other in zip(typed.states, plain.states, strict=True):
        assert (state.id, state.reads, state.writes, state.select, state.visits_max) == (
            other.id,
            other.reads,
            other.writes,
            other.select,
            other.visits_max,
        )
        for way, another in zip(state.transitions, other.transitions, strict=True):
            assert (way.guard, way.checks, way.otherwise, way.condition) == (
                another.guard,
                another.checks,
                another.otherwise,
                another.condition,
            )
    assert (typed.declared_variables, typed.declared_inputs, typed.declared_checks) == (
        plain.declared_variables,
        plain.declared_inputs,
        plain.declared_checks,
    )


# --- running them -------------------------------------------------------------------------------------------------------------------


def values_of(schema: Schema) -> st.SearchStrategy[Plain]:
    """Give values that fit a constraint; of numbers those near its bounds, where guards look."""
    match schema:
        case Exactly(value=value):
            return st.just(value)
        case RecordOf(members=members):
            return st.fixed_dictionaries({each.name: values_of(each.schema) for each in members})
        case AllOf(atoms=atoms):
            return _of_atoms(atoms).filter(lambda value: misfit(schema, value) is None)
        case _:
            raise AssertionError("no flow here has a tuple")


def _of_atoms(atoms: tuple[object, ...]) -> st.SearchStrategy[Plain]:
    for atom in atoms:
        match atom:
            case OfType(family=Family.BOOL):
                return st.booleans()
            case Matching(pattern=pattern) if "|" in pattern:
                return st.sampled_from(pattern.strip("^$()").split("|"))
            case Matching():
                return st.sampled_from(["1.2.3", "api", "x"])
            case ElementsOf(item=item):
                return st.lists(values_of(item), max_size=2)
    limits = [each.limit for each in atoms if isinstance(each, Bounded)]
    if OfType(Family.INT) in atoms:
        return st.sampled_from([near for limit in (*limits, 0, 3, 40) for near in (int(limit) - 1, int(limit), int(limit) + 1)])
    return st.sampled_from([0.0, 0.005, 0.01, 0.5, 0.8, 1.0]) if OfType(Family.FLOAT) in atoms else st.sampled_from(["x", "an owl"])


class Journey:
    """One run of a flow, with whatever is drawn."""

    def __init__(self, definition: CompiledFlowDefinition, data: st.DataObject) -> None:
        self.data = data
        given_ = {each.name: data.draw(values_of(each.schema)) for each in definition.declared_inputs}
        inputs = taken_inputs(definition, given_)
        assert isinstance(inputs, tuple), inputs
        self.log = Log(definition)
        self.log.do(Start("i", PIN, inputs))

    def step(self, number: int) -> None:
        """Write something that may be written, and ask to leave."""
        here = self.log.definition.state(self.log.here.state)
        schemas = {each.name: each.schema for each in self.log.definition.declared_variables}
        if here.writes:
            names = self.data.draw(st.lists(st.sampled_from(here.writes), min_size=1, unique=True))
            self.log.do(Write({name: self.data.draw(values_of(schemas[name])) for name in names}))
        self.log.do(Request(f"a{number}", f"reason {number}", evidence=0))
        while self.log.here.attempt is not None:
            self._answer()

    def _answer(self) -> None:
        attempt = self.log.here.attempt
        assert attempt is not None
        state = self.log.definition.state(attempt.state)
        step = next_of(state, attempt.parts)
        if isinstance(step, Run):
            found = {name: self.data.draw(ANSWERS) for name in step.checks}
            parts = [
                Part(way.id, PartKind.CHECK, found[check], check, entry=1)
                for way in state.transitions
                for check in way.checks
                if check in found
            ]
            self.log.do(Ran(attempt.id, tuple(parts)))
            return
        asked = asked_of(state, attempt.parts)
        assert asked
        met = self.data.draw(st.sampled_from(asked))
        judgements = tuple(_judged(each, Verdict.MET if each == met else self.data.draw(ANSWERS)) for each in asked)
        assert isinstance(self.log.do(Report(attempt.id, Judged(judgements))), Decided)


def _judged(transition: str, verdict: Verdict) -> Judgement:
    return Judgement(transition, verdict, verdict, "so it is", ("the rest",) if verdict is Verdict.NOT_MET else ())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
@settings(max_examples=15, suppress_health_check=[HealthCheck.data_too_large, HealthCheck.too_slow])
@given(data=st.data())
def test_wherever_a_run_goes_it_folds_again_to_the_same(path: Path, data: st.DataObject) -> None:
    definition = definition_of(path)
    run = Journey(definition, data)
    for number in range(STEPS_MAX):
        if run.log.here.status != "active" or run.log.here.halted is not None or run.log.here.held is not None:
            break
        run.step(number)
    limits = {each.id: each.visits_max for each in definition.states if each.visits_max is not None}
    assert all(run.log.here.visits.get(state, 0) <= most for state, most in limits.items())
    again = [Recorded(each.id, _stored(each)) for each in run.log.recorded]
    assert run.log.state == replay(again, {DIGEST: read_pinned(compiled(path).canonical or b"")})


def _stored(recorded: Recorded) -> Event:
    """Write an event as it is stored, and read it again."""
    (event,) = flow_events(decode(entry(Kind.EXTENSION, encode(Extension(FlowRecord((recorded.event,)))))))
    return event
