"""Files of tests of flows with variables, guards and checks."""

from pathlib import Path

import pytest

from stateward.compiler.diagnostics.text import PLAIN, render
from stateward.compiler.pipeline import compile_source
from stateward.runtime.trial.reading import Unusable, read_tests
from stateward.runtime.trial.running import Ran, coverage, run_tests
from tests.cli.guarded import REFINE
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled

SNAPSHOTS = Path(__file__).parent / "snapshots"
NAME = "refine.test.dcdl"
DEFINITION = compile_source(REFINE.encode(), name="refine.dcdl", slug="refine").definition
assert DEFINITION is not None
TESTS = """schema_version = 1;
tests = {
    good_at_once = {
        inputs = { topic = "owls"; limit = 2; };
        steps = [
            { set = { title = "Owls"; attempts = 1; files = ["a.py"]; }; enters = "look"; },
            { set = { bugs = false; }; enters = "done"; },
        ];
        ends = "completed";
    };
    judged_where_guards_leave_it_open = {
        inputs = { topic = "owls"; limit = 2; };
        steps = [
            { set = { title = "Owls"; attempts = 2; }; enters = "look"; },
            { refused = "indeterminate"; },
            { set = { bugs = false; }; met = "judged"; enters = "done"; },
        ];
    };
    halted_at_the_limit = {
        inputs = { topic = "owls"; limit = 2; };
        steps = [
            { set = { title = "Owls"; }; enters = "look"; },
            { set = { bugs = true; }; enters = "work"; },
            { enters = "look"; },
            { set = { bugs = true; }; refused = "limit_reached"; },
        ];
        ends = "active";
    };
};
"""


def ran(text: str) -> tuple[Ran, ...]:
    tests = read_tests(NAME, text.encode(), DEFINITION)
    assert not isinstance(tests, Unusable), render(tests.diagnostics, PLAIN)
    return run_tests(DEFINITION, tests)


def one(inside: str) -> str:
    return f"schema_version = 1;\ntests = {{\n    one = {{\n        {inside}\n    }};\n}};\n"


def test_variables_are_set_and_every_transition_is_covered() -> None:
    found = ran(TESTS)
    assert [] == [render((each.failure,), PLAIN) for each in found if each.failure is not None]
    assert () == coverage(DEFINITION, found).missed


FAILING = {
    "no-inputs": one("steps = [];"),
    "misfit-input": one('inputs = { topic = "owls"; limit = 0; };\n        steps = [];'),
    "not-written-here": one('inputs = { topic = "owls"; };\n        steps = [{ set = { bugs = true; }; enters = "look"; }];'),
    "misfit-variable": one('inputs = { topic = "owls"; };\n        steps = [{ set = { attempts = "two"; }; enters = "look"; }];'),
    "not-led-to": one('inputs = { topic = "owls"; };\n        from = "done";\n        steps = [];'),
    "no-such-check": one('inputs = { topic = "owls"; };\n        steps = [{ checks = { tests = "met"; }; enters = "look"; }];'),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_test_that_fails_for_a_variable_says_what_was_refused(name: str) -> None:
    (found,) = ran(FAILING[name])
    assert found.failure is not None
    assert_snapshot(SNAPSHOTS / f"guarded-{name}.txt", titled([(NAME, FAILING[name]), ("rendering", render((found.failure,), PLAIN))]))


@pytest.mark.parametrize(
    ("inside", "code"),
    [
        ("inputs = 3; steps = [];", "wrong_type"),
        ('steps = [{ set = ["bugs"]; enters = "look"; }];', "wrong_type"),
        ('steps = [{ checks = { tests = "passed"; }; enters = "look"; }];', "value_not_allowed"),
        ('steps = [{ set = { bugs = bgs; }; enters = "look"; }];', "dcdl_evaluation"),
    ],
)
def test_values_that_are_none_are_told_where_they_stand(inside: str, code: str) -> None:
    read = read_tests(NAME, one(inside).encode(), DEFINITION)
    assert isinstance(read, Unusable)
    assert [code] == [each.code for each in read.diagnostics]
