"""What is claimed of generated guards, against every run of a small world, one by one."""

from collections.abc import Sequence
from itertools import combinations, product
from math import prod

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stateward.compiler.flow.analysis.domains import Domain, Setting
from stateward.compiler.flow.analysis.tables import Budget, table_of
from stateward.compiler.flow.analysis.ways import Looked, look_at
from stateward.compiler.predicates.constraints import Bounded, Family, OfType
from stateward.compiler.predicates.declarations import Declaration
from stateward.compiler.predicates.guards import And, Bag, Compare, Compute, Fits, Guard, If, Lit, Not, Or, holds, references
from stateward.compiler.predicates.schema import AllOf, Exactly, Member, Plain, RecordOf, Schema, misfit
from tests.compiler.flow.analysis.flows import BOOL, INT, STRING, State, WayOut, flow, ints, one_of, ref

VISITS_MAX = 3
VARIABLES: "dict[str, Schema | tuple[Schema, Plain]]" = {
    "flag": BOOL,
    "sure": (BOOL, False),
    "small": (ints(0, 3), 0),
    "level": ints(-1, 2),
    "kind": (one_of("a", "b", "c"), "a"),
    "pair": RecordOf((Member("ok", BOOL), Member("size", ints(0, 2)))),
}
EVERY: "dict[str, Sequence[Plain | None]]" = {
    "vars.flag": (None, False, True),
    "vars.sure": (False, True),
    "vars.small": (0, 1, 2, 3),
    "vars.level": (None, -1, 0, 1, 2),
    "vars.kind": ("a", "b", "c"),
    "vars.pair": (None, *({"ok": ok, "size": size} for ok in (False, True) for size in range(3))),
    "visits.work": tuple(range(1, 11)),
    "visits.next": tuple(range(11)),
    "exceeded": (False, True),
}
"""All that there is in this world, visits up to beyond all that guards name."""

bools = st.sampled_from(
    [ref(each) for each in ("vars.flag", "vars.sure", "vars.pair.ok", "known.flag", "known.level", "known.pair", "spent.exceeded")]
)
whole = st.sampled_from([ref(each) for each in ("vars.small", "vars.level", "vars.pair.size", "visits.work", "visits.next")])
literals = st.integers(-2, 4).map(Lit)
halves = st.sampled_from([-0.5, 0.5, 1.5, 2.0]).map(Lit)
signs = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
equalities = st.sampled_from(["==", "!="])
texts = st.sampled_from(["a", "b", "c", "d"]).map(Lit)
computed = st.builds(Compute, st.sampled_from("+-*"), whole, literals) | st.builds(Compute, st.sampled_from("+-*"), literals, whole)
numbers = whole | computed | st.builds(If, bools, whole, literals)
fitting = st.sampled_from([INT, Exactly(2), AllOf((OfType(Family.INT), Bounded(">", 1))), AllOf((Bounded("<=", 0.5),))])
atoms: st.SearchStrategy[Guard] = st.one_of(
    bools,
    st.booleans().map(Lit),
    st.builds(Compare, signs, whole, literals | halves),
    st.builds(Compare, signs, numbers, literals),
    st.builds(Compare, signs, literals, numbers),
    st.builds(Compare, equalities, st.just(ref("vars.kind")), texts),
    st.builds(Compare, equalities, bools, bools),
    st.builds(Fits, whole, fitting),
    st.builds(Fits, st.just(ref("vars.kind")), st.sampled_from([one_of("a", "b"), one_of("c", "x"), Exactly("b")])),
)
guards: st.SearchStrategy[Guard] = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(lambda *each: And(each), inner, inner),
        st.builds(lambda *each: Or(each), inner, inner),
        st.builds(If, inner, inner, inner),
    ),
    max_leaves=5,
)


RUNS_MAX = 3_000


class Run:
    """One run of this world."""

    def __init__(self, held: "dict[str, Plain | None]") -> None:
        variables = {name.removeprefix("vars."): value for name, value in held.items() if name.startswith("vars.") and value is not None}
        visits = {
            name.removeprefix("visits."): value for name, value in held.items() if name.startswith("visits.") and isinstance(value, int)
        }
        self.bag = Bag(variables, {}, visits, held.get("exceeded") is True)
        number = visits.get("next", 0)
        self.is_possible = number >= VISITS_MAX or not self.bag.exceeded
        self.is_granted = number > VISITS_MAX or (number >= VISITS_MAX and held.get("exceeded") is False)
        """Whether an operator let the flow go on beyond a limit."""


def runs_of(several: Sequence[Guard]) -> list[Run]:
    """Give every run, as far as guards can tell runs apart."""
    read = {"exceeded" if path[0] == "spent" else f"{'vars' if path[0] == 'known' else path[0]}.{path[1]}" for path in _paths(several)}
    names = [name for name in EVERY if name in read or (name == "visits.next" and "exceeded" in read)]
    assume(prod(len(EVERY[name]) for name in names) <= RUNS_MAX)
    made = [Run(dict(zip(names, each, strict=True))) for each in product(*(EVERY[name] for name in names))]
    return [each for each in made if each.is_possible]


def _paths(several: Sequence[Guard]) -> set[tuple[str, ...]]:
    return {each.path for guard in several for each in references(guard)}


def looked_at(*ways: WayOut, first: bool = False, visits: str = "next") -> Looked:
    flow_ = flow({"work": State(*ways, first=first), "next": State(WayOut("on", "work", judged=True), visits_max=VISITS_MAX)}, VARIABLES)
    variables = {each.name: each.declaration for each in flow_.variables if each.declaration is not None}
    setting = Setting(variables, {}, "work", {"next": VISITS_MAX}, frozenset({visits}))
    return look_at(flow_.states[0], setting, Budget())


@given(guards)
@settings(max_examples=200)
def test_a_guard_always_or_never_holds_exactly_where_all_runs_or_none_say_so(guard: Guard) -> None:
    runs = runs_of([guard])
    (found,) = looked_at(WayOut("go", "next", guard, judged=True)).ways
    assert found.table is not None
    assert found.table.exact
    truths = {holds(guard, run.bag) for run in runs}
    assert (truths == {True}, True not in truths) == (found.always, found.never)


@given(guards)
def test_what_a_guard_implies_and_needs_is_what_runs_show(guard: Guard) -> None:
    runs = runs_of([guard])
    (found,) = looked_at(WayOut("go", "next", guard, judged=True)).ways
    for name in {path[1] for path in _paths([guard]) if path[0] in {"vars", "known"}}:
        assert all(name in run.bag.variables for run in runs if holds(guard, run.bag) is True) == (name in found.implied)
        if name in found.needed:
            assert any(name not in run.bag.variables for run in runs if holds(guard, run.bag) is None)


@given(st.lists(guards, min_size=2, max_size=3))
@settings(max_examples=100)
def test_guards_overlap_exactly_where_a_run_meets_two(several: list[Guard]) -> None:
    runs = [run for run in runs_of(several) if not run.is_granted]
    found = looked_at(*(WayOut(f"t{at}", "next", guard) for at, guard in enumerate(several))).overlaps
    expected = {
        (one, other)
        for one, other in combinations(range(len(several)), 2)
        if any(holds(several[one], run.bag) and holds(several[other], run.bag) for run in runs)
    }
    assert expected == {(int(first.id[1:]), int(each.second.id[1:])) for each in found for first in each.first}
    for each in found:
        assert holds(several[int(each.first[0].id[1:])], each.example) is True
        assert holds(several[int(each.second.id[1:])], each.example) is True


@given(st.lists(guards, min_size=1, max_size=3))
@settings(max_examples=100)
def test_guards_leave_a_gap_exactly_where_a_run_meets_none_for_certain(several: list[Guard]) -> None:
    runs = runs_of(several)
    looked = looked_at(*(WayOut(f"t{at}", "next", guard) for at, guard in enumerate(several)))
    left = any(all(holds(guard, run.bag) is False for guard in several) for run in runs if not run.is_granted)
    assert (left and not any(each.never for each in looked.ways)) == (looked.gap is not None)
    if looked.gap is not None:
        assert [False] * len(several) == [holds(guard, looked.gap) for guard in several]


@given(st.lists(st.tuples(guards, st.sampled_from(["plain", "judged", "checked"])), min_size=2, max_size=3))
@settings(max_examples=100)
def test_a_transition_is_never_taken_exactly_where_each_run_has_another_before_it(several: list[tuple[Guard, str]]) -> None:
    runs = runs_of([guard for guard, _ in several])
    ways = [
        WayOut(f"t{at}", "next", guard, judged=kind == "judged", checks="tests" if kind == "checked" else "")
        for at, (guard, kind) in enumerate(several)
    ]
    for at, each in enumerate(looked_at(*ways, first=True).ways):
        before = [guard for guard, kind in several[:at] if kind == "plain"]
        able = any(holds(several[at][0], run.bag) and all(holds(guard, run.bag) is False for guard in before) for run in runs)
        assert able != each.is_dead


@given(st.lists(guards, min_size=1, max_size=3), st.booleans())
def test_otherwise_is_never_taken_exactly_where_no_run_leaves_it_something(several: list[Guard], first: bool) -> None:
    runs = runs_of(several)
    ways = [WayOut(f"t{at}", "next", guard) for at, guard in enumerate(several)]
    found = looked_at(WayOut("else", "next", otherwise=True), *ways, first=first).ways[0]
    assert any(all(holds(guard, run.bag) is False for guard in several) for run in runs) != found.is_dead


BEGUN = {name: each[1] if isinstance(each, tuple) else False for name, each in VARIABLES.items()}
"""What each variable holds that nobody has set yet."""


@given(st.lists(guards, min_size=2, max_size=3), st.sets(st.sampled_from(sorted(VARIABLES)), min_size=1, max_size=2))
def test_a_gap_is_none_that_waits_for_the_worker(several: list[Guard], written: set[str]) -> None:
    given_ = flow(
        {"work": State(*(WayOut(f"t{at}", "work", guard) for at, guard in enumerate(several)), writes=" ".join(sorted(written)))}, VARIABLES
    )
    variables = {each.name: each.declaration for each in given_.variables if each.declaration is not None}
    gap = look_at(given_.states[0], Setting(variables, {}, "work", {}, frozenset({"work"})), Budget()).gap
    if gap is None:
        return
    assert [False] * len(several) == [holds(guard, gap) for guard in several]
    anything = [any(holds(guard, bag) is not False for bag in _with(gap, written)) for guard in several]
    assert sum(anything) != 1
    fresh = {name for name in written if repr(gap.variables.get(name)) == repr(BEGUN[name])}
    assert not any(holds(guard, bag) is not False for guard in several for bag in _with(gap, fresh))


def _with(bag: Bag, names: set[str]) -> list[Bag]:
    """Give what a run may hold that differs in some variables."""
    several = product(*(EVERY[f"vars.{name}"] for name in sorted(names)))
    made = [{**bag.variables, **dict(zip(sorted(names), each, strict=True))} for each in several]
    return [Bag({name: value for name, value in each.items() if value is not None}, {}, bag.visits, bag.exceeded) for each in made]


# --- worlds without bounds ----------------------------------------------------------------------------------------------------------

WIDE: "dict[str, Schema | tuple[Schema, Plain]]" = {
    "m": (INT, 0),
    "n": (INT, 0),
    "p": AllOf((OfType(Family.INT), Bounded("<", 2))),
    "s": (STRING, ""),
    "t": STRING,
    "u": (one_of("a", "x"), "a"),
    "f": (AllOf((OfType(Family.FLOAT), Bounded(">=", 0))), 0.0),
    "g": (AllOf((OfType(Family.FLOAT),)), 0.0),
}
WHOLE = tuple(range(-9, 10))
TEXTS = ("a", "b", "c", "d", "x", "y", "z")
PARTS = tuple(at / 2 for at in range(-9, 10))
EXAMPLES: "dict[str, Sequence[Plain | None]]" = {
    "m": WHOLE,
    "n": WHOLE,
    "p": (None, *(each for each in WHOLE if each < 2)),
    "s": TEXTS,
    "t": (None, *TEXTS),
    "u": ("a", "x"),
    "f": tuple(each for each in PARTS if each >= 0),
    "g": PARTS,
}
"""Enough values that guards that name none but small ones cannot tell more apart."""

ints_ = st.sampled_from([ref(f"vars.{each}") for each in "mnp"])
texts_ = st.sampled_from([ref(f"vars.{each}") for each in "stu"])
parts_ = st.sampled_from([ref(f"vars.{each}") for each in "fg"])
wide: st.SearchStrategy[Guard] = st.recursive(
    st.one_of(
        st.builds(Compare, signs, ints_, ints_ | literals),
        st.builds(Compare, equalities, texts_, texts_ | texts),
        st.builds(Compare, signs, parts_, parts_ | halves),
        st.builds(Compare, signs, ints_, parts_),
    ),
    lambda inner: st.one_of(
        st.builds(Not, inner), st.builds(lambda *each: And(each), inner, inner), st.builds(lambda *each: Or(each), inner, inner)
    ),
    max_leaves=4,
)


@given(wide)
@settings(max_examples=200)
def test_nothing_false_is_claimed_of_values_without_bounds_and_nothing_is_missed_where_that_is_exact(guard: Guard) -> None:
    names = sorted({path[1] for path in _paths([guard])})
    assume(prod(len(EXAMPLES[name]) for name in names) <= RUNS_MAX)
    flow_ = flow({"work": State(WayOut("go", "work", guard, judged=True))}, WIDE)
    variables = {each.name: each.declaration for each in flow_.variables if each.declaration is not None}
    (found,) = look_at(flow_.states[0], Setting(variables, {}, "work", {}, frozenset()), Budget()).ways
    bags = [
        Bag({name: value for name, value in zip(names, each, strict=True) if value is not None}, {}, {})
        for each in product(*(EXAMPLES[name] for name in names))
    ]
    truths = {holds(guard, bag) for bag in bags}
    claimed = (found.always, found.never)
    if found.table is not None and found.table.exact:
        assert (truths == {True}, True not in truths) == claimed
    else:
        assert (False, False) == claimed


@given(wide)
def test_every_value_of_an_axis_fits_its_variable(guard: Guard) -> None:
    declared = {name: Declaration(name, *each) if isinstance(each, tuple) else Declaration(name, each) for name, each in WIDE.items()}
    domain = Domain([guard], Setting(declared, {}, "work", {}, frozenset()))
    for axis in domain.axes.values():
        assert axis is not None
        for point in axis.points:
            for _, name, value in point.given:
                assert value is None or misfit(declared[name].schema, value) is None
    table = table_of(guard, domain, Budget())
    assert table is None or prod(len(axis.points) for axis in table.axes) == len(table.truths)
