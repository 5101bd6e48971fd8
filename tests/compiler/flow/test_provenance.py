"""Where what a flow reads can come from."""

import pytest

from stateward.compiler.flow.provenance import Certainty, Reading, provenance
from stateward.compiler.pipeline import compile_source

SOURCE = """schema_version = 2; name = "paths"; initial = "a";
variables = {{ x = Int; d = Int default 1; topic = String; }};
inputs = {{ topic = String; least = Int default 2; }};
states = {{
    a = {{ instructions = "A."; {a} transitions = {{
        b = {{ target = "b"; condition = "To b."; }};
        c = {{ target = "c"; condition = "To c."; }};
    }}; }};
    b = {{ instructions = "B."; {b} transitions = {{
        end = {{ target = "end"; condition = "Over."; }};
        c = {{ target = "c"; condition = "On."; }};
    }}; }};
    c = {{ instructions = "C."; {c} transitions = {{ end = {{ target = "end"; {when} condition = "Over."; }}; }}; }};
    end = {{ instructions = ""; terminal = true; {end} }};
}};
"""


def readings(*, a: str = "", b: str = "", c: str = "", end: str = "", when: str = "") -> tuple[Reading, ...]:
    compiled = compile_source(SOURCE.format(a=a, b=b, c=c, end=end, when=when).encode(), name="paths.dcdl", slug="paths")
    assert compiled.definition is not None, compiled.diagnostics
    return provenance(compiled.definition)


@pytest.mark.parametrize(
    ("writing", "certainty", "writers"),
    [
        ({"a": 'writes = ["x"];'}, Certainty.ALWAYS, ("a",)),
        ({"b": 'writes = ["x"];'}, Certainty.PERHAPS, ("b",)),
        ({"b": 'writes = ["x"];', "c": 'writes = ["x"];'}, Certainty.ALWAYS, ("b", "c")),
        ({"a": 'writes = ["x"];', "c": 'writes = ["x"];'}, Certainty.ALWAYS, ("a", "c")),
    ],
)
def test_a_variable_is_there_on_every_way_or_on_some(writing: dict[str, str], certainty: Certainty, writers: tuple[str, ...]) -> None:
    (found,) = readings(**writing, end='reads = ["x"];')
    assert Reading("end", "", "x", False, False, False, writers, certainty) == found


def test_what_no_state_writes_on_any_way_there_is_never_there() -> None:
    (found,) = readings(when="when = !known.x;")
    assert ((), Certainty.NEVER) == (found.writers, found.certainty)


def test_a_default_and_an_input_of_the_same_name_are_there_from_the_beginning() -> None:
    default, seeded = readings(a='reads = ["d", "topic"];')
    assert (True, False, Certainty.ALWAYS) == (default.default, default.given, default.certainty)
    assert (False, True, Certainty.ALWAYS) == (seeded.default, seeded.given, seeded.certainty)


def test_a_guard_reads_variables_inputs_and_whether_something_is_known() -> None:
    found = readings(b='writes = ["x"];', when="when = vars.d > input.least && known.x;")
    assert [("c", "end", "d", False), ("c", "end", "least", True), ("c", "end", "x", False)] == [
        (each.state, each.transition, each.name, each.is_input) for each in found
    ]
    assert [Certainty.ALWAYS, Certainty.ALWAYS, Certainty.PERHAPS] == [each.certainty for each in found]


def test_what_is_asked_and_used_in_one_guard_is_one_read() -> None:
    found = readings(a='writes = ["x"];', when="when = known.x && vars.x > 1;")
    assert ["x"] == [each.name for each in found]


def test_a_flow_of_the_first_version_reads_nothing() -> None:
    source = 'schema_version = 1; name = "f"; initial = "e"; states = { e = { instructions = ""; terminal = true; }; };'
    definition = compile_source(source.encode(), name="f.dcdl", slug="f").definition
    assert definition is not None
    assert () == provenance(definition)
