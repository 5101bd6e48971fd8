"""Conditions as people met them elsewhere: missing, null and false kept apart; no text that counts as true; no number that changes."""

import pytest

from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.pipeline import Compilation, compile_source
from stateward.runtime.core.decide import Decided
from stateward.runtime.core.events import RejectionCode
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.writing import Write
from tests.runtime.core.test_guarded_flows import at_look, started

SOURCE = """\
schema_version = 2;
name = "f";
initial = "a";
variables = {{ approved = Bool; count = Int default 0; share = Float default 0.0; name = String default ""; }};
states = {{
    a = {{
        instructions = "x";
        reads = ["count", "share", "name"];
        writes = ["approved", "count", "share", "name"];
        transitions.{edge} = {{ target = "b"; {decides} }};
    }};
    b = {{ instructions = ""; terminal = true; }};
}};
"""
EDGE = "out"


def compiled(decides: str) -> Compilation:
    return compile_source(SOURCE.format(edge=EDGE, decides=decides).encode(), slug="f")


def errors(decides: str) -> list[str]:
    return [each.message for each in compiled(decides).diagnostics if each.severity is Severity.ERROR]


# --- S-CND-1 ------------------------------------------------------------------------------------------------------------------------


def test_a_value_that_was_never_written_is_neither_true_nor_false_and_is_named() -> None:
    log = at_look()
    log.ask()
    last = log.here.last
    assert last is not None
    assert ("look", RejectionCode.INDETERMINATE) == (log.here.state, last.rejection)
    assert ("vars.bugs",) in [each.missing for each in last.attempt.parts]


@pytest.mark.parametrize("value", [None, "false", "true", 0, 1, [], {}], ids=repr)
def test_what_is_no_bool_is_never_stored_as_one(value: object) -> None:
    log = started()
    refused = log.do(Write({"bugs": value}))
    assert isinstance(refused, Refusal)
    assert RefusalCode.VARIABLE_MISFIT is refused.code
    assert "bugs" in refused.message
    assert "bugs" not in log.values


@pytest.mark.parametrize(("value", "state"), [(False, "done"), (True, "work")])
def test_only_the_bool_true_is_true(value: bool, state: str) -> None:
    log = at_look(bugs=value)
    assert isinstance(log.ask(), Decided)
    assert state == log.here.state


def test_a_name_that_is_not_declared_is_an_error_of_the_source() -> None:
    assert ["no variable is named `aproved`"] == errors("when = vars.aproved;")


# --- S-CND-2 ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decides", "stray"),
    [
        ('when = vars.approved";', "vars"),
        ('when = "vars.approved";', '"vars.approved"'),
        ("when = vars.approved vars.count;", "vars"),
        ('when = "" + vars.approved;', '""'),
    ],
)
def test_text_around_an_expression_is_an_error_where_it_stands(decides: str, stray: str) -> None:
    (found,) = [each for each in compiled(decides).diagnostics if each.severity is Severity.ERROR]
    place = found.primary.place
    assert decides in place.source.line_text(place.source.line_column(place.span.start)[0])
    assert place.source.text.startswith(stray, place.span.start)


def test_a_guard_that_is_always_true_is_told_with_its_transition() -> None:
    warnings = [each for each in compiled("when = true;").diagnostics if each.severity is Severity.WARNING]
    assert any(each.code == "guard_always_true" and EDGE in each.message for each in warnings)


# --- S-CND-3 ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "decides",
    ['condition = "";', 'condition = " \\n\\t ";', "", "when = match vars.count { };", "checks = [];", "otherwise = false;", "when = {};"],
)
def test_an_empty_condition_is_an_error_at_its_edge(decides: str) -> None:
    compilation = compiled(decides)
    assert compilation.definition is None
    assert any("transitions" in each.path and EDGE in each.path for each in compilation.diagnostics)


# --- S-CND-4 ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "guard",
    ["vars.count == true", "vars.count == vars.approved", 'vars.count == "1"', "vars.name == 1", "vars.approved > 0", "vars.count && true"],
)
def test_types_that_cannot_be_compared_are_errors_of_the_source(guard: str) -> None:
    assert 1 == len(errors(f"when = {guard};"))


@pytest.mark.parametrize("digits", [str(2**63), "1" + "0" * 400, "9" * 200_000])
def test_a_literal_that_no_int_can_hold_is_an_error_and_no_float(digits: str) -> None:
    assert ["an Int does not fit 64 bits"] == errors(f"when = vars.count < {digits};")


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**63, 10**400, int("9" * 4000)], ids=lambda number: f"{number.bit_length()} bits")
def test_a_variable_beyond_what_every_reader_keeps_exactly_is_refused(number: int) -> None:
    log = started()
    refused = log.do(Write({"attempts": number}))
    assert isinstance(refused, Refusal)
    assert "variable `attempts` cannot hold this: the Int lies beyond 2^53 - 1" == refused.message


def test_the_largest_int_stays_what_it_is() -> None:
    log = started()
    log.do(Write({"attempts": 2**53 - 1}))
    assert 2**53 - 1 == log.values["attempts"]
