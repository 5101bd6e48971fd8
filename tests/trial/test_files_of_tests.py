"""Files of flow tests: what is wrong with one, how a test fails, and what they cover."""

from pathlib import Path

import pytest

from stateward.compiler.diagnostics.text import PLAIN, render
from stateward.compiler.pipeline import compile_source
from stateward.runtime.trial.reading import Unusable, read_tests
from stateward.runtime.trial.running import Edge, coverage, run_tests
from stateward.runtime.trial.starter import starter_flow, starter_tests
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled

SNAPSHOTS = Path(__file__).parent / "snapshots"
NAME = "paper.test.dcdl"
DEFINITION = compile_source(starter_flow("paper").encode(), name="paper.dcdl", slug="paper").definition
assert DEFINITION is not None


def step(inside: str) -> str:
    return f"schema_version = 1;\ntests = {{\n    one = {{\n        steps = [\n            {inside}\n        ];\n    }};\n}};\n"


BROKEN = {
    "no-object": "3",
    "nothing": "",
    "no-version": "tests = { a = { steps = []; }; };",
    "other-version": "schema_version = 2;\ntests = { a = { steps = []; }; };",
    "no-tests": "schema_version = 1;\ntests = {};",
    "misspelt-fields": "schema_version = 1;\ntests = { a = { step = []; stpes = []; about = 1; }; };",
    "wrong-types": 'schema_version = 1;\ntests = { a = 4; b = { steps = {}; from = true; }; c = { steps = [1, "x"]; }; };',
    "says-nothing": step('{ met = "submit"; },'),
    "says-twice": step('{ met = "submit"; verdicts = {}; enters = "review"; refused = "indeterminate"; },'),
    "unknown-words": step('{ verdicts = { submit = "mett"; }; enters = "reveiw"; },\n            { refused = "no"; },'),
    "unknown-ending": 'schema_version = 1;\ntests = { a = { from = "nowhere"; steps = []; ends = "done"; }; };',
    "no-dcdl": "schema_version: 1",
    "fails-in-the-language": step('{ met = sumbit; enters = "review"; },'),
    "imports": step('{ met = import "./x.dcdl"; enters = "review"; },'),
}

FAILING = {
    "another-state": step('{ met = "submit"; enters = "done"; },'),
    "stayed-instead": step('{ verdicts = { submit = "indeterminate"; }; enters = "review"; },'),
    "moved-instead": step('{ met = "submit"; refused = "indeterminate"; },'),
    "another-refusal": step('{ refused = "indeterminate"; },'),
    "no-such-transition": step('{ met = "submit"; enters = "review"; },\n            { met = "acept"; enters = "done"; },'),
    "after-the-end": step('{ met = "$cancel"; enters = "$cancelled"; },\n            { refused = "no_condition_met"; },'),
    "another-ending": 'schema_version = 1;\ntests = { a = {\n    from = "review";\n    steps = [];\n    ends = "completed";\n}; };\n',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_cannot_be_used_says_what_to_change(name: str) -> None:
    read = read_tests(NAME, BROKEN[name].encode(), DEFINITION)
    assert isinstance(read, Unusable)
    assert_snapshot(SNAPSHOTS / f"broken-{name}.txt", titled([(NAME, BROKEN[name]), ("rendering", render(read.diagnostics, PLAIN))]))


@pytest.mark.parametrize("name", FAILING)
def test_a_test_that_fails_says_what_happened_and_what_should_have(name: str) -> None:
    tests = read_tests(NAME, FAILING[name].encode(), DEFINITION)
    assert not isinstance(tests, Unusable)
    (ran,) = run_tests(DEFINITION, tests)
    assert ran.failure is not None
    assert_snapshot(SNAPSHOTS / f"failing-{name}.txt", titled([(NAME, FAILING[name]), ("rendering", render([ran.failure], PLAIN))]))


@pytest.mark.parametrize("name", ["paper", "a", "Review_2-x"])
def test_what_an_author_begins_with_compiles_is_canonical_and_its_tests_take_every_transition(name: str) -> None:
    compilation = compile_source(starter_flow(name).encode(), name=f"{name}.dcdl", slug=name)
    assert () == compilation.diagnostics
    assert compilation.definition is not None
    tests = read_tests(f"{name}.test.dcdl", starter_tests(name).encode(), compilation.definition)
    assert not isinstance(tests, Unusable)
    ran = run_tests(compilation.definition, tests)
    assert [] == [each.failure for each in ran if each.failure is not None]
    assert () == coverage(compilation.definition, ran).missed


def test_covered_is_what_steps_took_and_not_the_way_to_where_a_test_begins() -> None:
    text = 'schema_version = 1;\ntests = { a = { from = "review"; steps = [{ met = "accept"; enters = "done"; }]; }; };'
    tests = read_tests(NAME, text.encode(), DEFINITION)
    assert not isinstance(tests, Unusable)
    found = coverage(DEFINITION, run_tests(DEFINITION, tests))
    assert (Edge("review", "accept"),) == found.taken
    assert (Edge("work", "submit"), Edge("review", "send_back")) == found.missed


def test_a_file_over_the_limit_is_told_as_that() -> None:
    read = read_tests(NAME, b"#" * (256 * 1024 + 1), DEFINITION)
    assert isinstance(read, Unusable)
    assert ["source_too_large"] == [each.code for each in read.diagnostics]
