"""Every limit accepts its exact value and refuses one more, whatever stack the thread has; nothing short makes the evaluator run on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from stateward.compiler.language.render import show
from stateward.compiler.limits import LIMITS, Limits
from stateward.compiler.predicates.patterns import REFUSED_STEPS
from tests.compiler.language.evaluated import evaluated, evaluation_of, kinds, told, written
from tests.compiler.language.explosions import EXPLOSIONS, each

STACK_BYTES = 256 * 1024
COUNT_DOWN = "let f = (n) => match n { 0: 0; _: 1 + f(n - 1); }; in "
TIGHT = replace(LIMITS, steps=20_000, nodes=5_000, items=20_000)
"""Smaller budgets, so that what runs into them does so soon; the depths are the documented ones."""
NEST = "let nest = (n) => match n { 1: []; _: [nest(n - 1)]; }; in "


@contextmanager
def small_stacks() -> Iterator[None]:
    before = threading.stack_size(STACK_BYTES)
    try:
        yield
    finally:
        threading.stack_size(before)


def in_a_thread(work: Callable[[], object]) -> object:
    """Run it in a thread with a small stack."""
    answers: list[object] = []
    with small_stacks():
        thread = threading.Thread(target=lambda: answers.append(work()))
        thread.start()
        thread.join()
    return answers[0]


def chain(length: int) -> str:
    """Write values of which each needs the one before; with the result itself, `length` of them wait at once."""
    last = length - 2
    return "let a0 = 1; " + each("a{i} = a{i-1} + 1; ", last) + f"in a{last}"


def refused(text: str, limits: Limits = LIMITS) -> str:
    """Give the message of the one limit that a text passes."""
    found = evaluated(text, limits=limits)
    assert ["limit"] == kinds(found)
    return found.diagnostics[0].message


def test_calls_are_counted_to_the_last_one() -> None:
    assert LIMITS.calls - 1 == evaluated(f"{COUNT_DOWN} f({LIMITS.calls - 1})").value
    assert "calls are nested deeper than 1,000" == refused(f"{COUNT_DOWN} f({LIMITS.calls})")


def test_a_chain_of_values_is_counted_to_the_last_one() -> None:
    assert LIMITS.forcing - 1 == evaluated(chain(LIMITS.forcing)).value
    assert "more than 1,000 values wait for each other" == refused(chain(LIMITS.forcing + 1))


def test_nesting_of_a_value_is_counted_to_the_last_level() -> None:
    assert not evaluated(f"{NEST} nest({LIMITS.nesting})").diagnostics
    assert "the value is nested deeper than 500" == refused(f"{NEST} nest({LIMITS.nesting + 1})")


@pytest.mark.parametrize("operator", ["//", "&", "as"])
def test_values_are_combined_to_the_last_level(operator: str) -> None:
    nested = "let nest = (n) => match n { 0: 1; _: { v = nest(n - 1); }; }; in "
    assert not evaluated(f"{nested} nest({LIMITS.nesting}) {operator} nest({LIMITS.nesting})").diagnostics
    deeper = f"{nested} nest({LIMITS.nesting + 1}) {operator} nest({LIMITS.nesting + 1})"
    assert "the values are nested deeper than 500" == refused(deeper)


def test_items_are_counted_to_the_last_one() -> None:
    text = "[1, 2, 3] ++ [4]"
    assert [1, 2, 3, 4] == evaluated(text, limits=replace(LIMITS, items=8)).value
    assert "the evaluation makes more than 7 array items" == refused(text, replace(LIMITS, items=7))


def test_nodes_are_counted_to_the_last_one() -> None:
    text = "{ a = 1; b = [2, 3]; }"
    assert {"a": 1, "b": [2, 3]} == evaluated(text, limits=replace(LIMITS, nodes=5)).value
    assert "the value has more than 4 nodes" == refused(text, replace(LIMITS, nodes=4))


@pytest.mark.parametrize("text", [f"{COUNT_DOWN} f(20)", "{ a = 1; b.c = [2]; } & { b.d = Int default 1; }", "match [1] { [...Int]: 1; }"])
def test_steps_are_counted_to_the_last_one(text: str) -> None:
    found = evaluated(text)
    steps = LIMITS.steps - found.evaluation.machine.steps
    assert found.value == evaluated(text, limits=replace(LIMITS, steps=steps)).value
    assert f"the evaluation takes more than {steps - 1:,} steps" == refused(text, replace(LIMITS, steps=steps - 1))


def test_modules_are_counted_to_the_last_one() -> None:
    files = {f"m{number}": f"import m{number + 1}" for number in range(1, 4)} | {"m4": "7"}
    assert 7 == evaluated("import m1", files, limits=replace(LIMITS, modules=4)).value
    found = evaluated("import m1", files, limits=replace(LIMITS, modules=3))
    assert ["limit: more than 3 modules are imported"] == told(found)
    assert "m3: import m4" == written(found.diagnostics[0].primary)


def test_the_longest_chain_of_modules_works() -> None:
    files = {f"m{number}": f"import m{number + 1}" for number in range(1, LIMITS.modules)} | {f"m{LIMITS.modules}": "7"}
    assert 7 == evaluated("import m1", files).value


def test_the_bytes_of_one_module_are_counted_to_the_last_one() -> None:
    files = {"m": '"é"'}
    assert "é" == evaluated("import m", files, limits=replace(LIMITS, module_bytes=4)).value
    found = evaluated("import m", files, limits=replace(LIMITS, module_bytes=3))
    assert ["limit: the module `m` is larger than 3 bytes"] == told(found)


def test_the_bytes_of_all_modules_are_counted_to_the_last_one() -> None:
    files = {"a": "11", "b": "222"}
    text = "[import a, import b, import a]"
    assert [11, 222, 11] == evaluated(text, files, limits=replace(LIMITS, modules_bytes=5)).value
    found = evaluated(text, files, limits=replace(LIMITS, modules_bytes=4))
    assert ["limit: the imported modules are together larger than 4 bytes"] == told(found)


@pytest.mark.parametrize("name", EXPLOSIONS)
def test_an_explosion_ends_in_one_limit(name: str) -> None:
    assert ["limit"] == kinds(evaluated(EXPLOSIONS[name], limits=TIGHT))


@pytest.mark.parametrize(
    "name", ["calls for ever in a deep expression", "a value that goes on for ever", "unions doubled", "a merge for ever"]
)
def test_an_explosion_ends_in_a_thread_with_a_small_stack(name: str) -> None:
    assert ["limit"] == in_a_thread(lambda: kinds(evaluated(EXPLOSIONS[name])))


def test_the_limits_are_the_same_in_a_thread_with_a_small_stack() -> None:
    assert LIMITS.calls - 1 == in_a_thread(lambda: evaluated(f"{COUNT_DOWN} f({LIMITS.calls - 1})").value)
    assert LIMITS.forcing - 1 == in_a_thread(lambda: evaluated(chain(LIMITS.forcing)).value)
    deep = in_a_thread(lambda: evaluated(f"{NEST} nest({LIMITS.nesting})").value)
    assert LIMITS.nesting == depth_of(deep)


def depth_of(value: object) -> int:
    depth = 0
    while isinstance(value, list):
        depth += 1
        value = value[0] if value else None
    return depth


def test_the_deepest_calls_may_each_stand_in_the_deepest_expression() -> None:
    deep = f"let f = (n) => match n {{ 0: 0; _: {'-' * 300}f(n - 1); }}; in f({LIMITS.calls - 1})"
    assert 0 == in_a_thread(lambda: evaluated(deep, limits=replace(LIMITS, steps=10**6)).value)


@pytest.mark.parametrize(
    "text",
    [
        "1" + " + 1" * 20_000,
        "[]" + " ++ []" * 20_000,
        "true" + " && true" * 20_000,
        "{}" + " // {}" * 20_000,
        "Int" + " & Int" * 20_000 + " & 1",
        "let x = { a = x; v = 1; }; in x" + ".a" * 20_000 + ".v",
        "let f = () => f; in match 1 { 1: 2; _: f" + "()" * 20_000 + "; }",
    ],
    ids=["+", "++", "&&", "//", "&", ".", "()"],
)
def test_a_long_chain_to_the_left_is_not_depth(text: str) -> None:
    assert not evaluated(text).diagnostics


def test_a_limit_in_one_field_leaves_the_others_alone() -> None:
    found = evaluated("let f = (n) => f(n + 1); in { a = f(1); b = 1 / 0; c = 3; }")
    assert ["limit: calls are nested deeper than 1,000", "conflict: division by zero"] == told(found)


def test_after_the_steps_ran_out_nothing_more_is_told() -> None:
    text = (
        f"let f = (n) => match n {{ 0: 1; 1: 1; _: f(n - 1) + f(n - 2); }}; in {{ a = f(40); b = 1 / 0; c = f(41); d = [{'1, ' * 50}]; }}"
    )
    assert ["limit"] == kinds(evaluated(text))


def test_a_value_that_contains_itself_shows_where() -> None:
    found = evaluated("let x = { y = { z = x; }; }; in x")
    fault = found.diagnostics[0]
    assert ("the value contains itself", "x", ("y", "z")) == (fault.message, written(fault.primary), fault.path)


def test_a_value_that_occurs_twice_does_not_contain_itself() -> None:
    assert {"a": {"v": 1}, "b": {"v": 1}} == evaluated("let x = { v = 1; }; in { a = x; b = x; }").value


@pytest.mark.parametrize("name", EXPLOSIONS)
def test_printing_a_value_is_bounded_as_well(name: str) -> None:
    evaluation = evaluation_of(EXPLOSIONS[name], limits=TIGHT)
    show(evaluation)
    assert {"limit"} >= {each.kind for each in evaluation.diagnostics}


def test_faults_are_counted_to_the_last_one() -> None:
    text = "[1 / 0, nope, Int, {}.a]"
    assert 4 == len(evaluated(text, limits=replace(LIMITS, faults=4)).diagnostics)
    found = evaluated(text, limits=replace(LIMITS, faults=3))
    assert "limit: more than 3 faults are found" == told(found)[-1]
    assert 4 == len(found.diagnostics)


def test_a_flood_of_faults_ends_the_search() -> None:
    found = evaluated("[" * 400 + "".join(f"nope{number}, " for number in range(20_000)) + "]" * 400)
    assert LIMITS.faults + 1 == len(found.diagnostics)
    assert "limit: more than 1,000 faults are found" == told(found)[-1]


def test_a_flood_of_circles_ends_the_search() -> None:
    deep = "-" * 400
    cells = "".join(f"c{number} = a; " for number in range(3_000))
    names = "".join(f"c{number}, " for number in range(3_000))
    found = evaluated(f"let a = f(500); {cells} f = (n) => match n {{ 0: [{names}] as [...Int]; _: {deep}f(n - 1); }}; in a")
    assert "limit" == kinds(found)[-1]


def test_patterns_that_are_refused_cost_as_much_as_their_size_may_have() -> None:
    patterns = each(r"/\pL{100}{i}/, ", 2_000)
    found = evaluated(f"[{patterns}]")
    assert "limit" == kinds(found)[-1]
    assert len(found.diagnostics) < LIMITS.steps // REFUSED_STEPS + 2


def test_what_a_pattern_costs_does_not_depend_on_what_was_evaluated_before() -> None:
    text = 'let f = (n) => match n { 0: 0; _: match "ab" { /^a.{1,9}c/: 1; _: f(n - 1); }; }; in f(3)'
    first, again = (evaluation_of(text) for _ in range(2))
    for evaluation in (first, again):
        evaluation.data(evaluation.root)
    assert first.machine.steps == again.machine.steps
