"""What the guards of a state come to: which always or never hold, which is never taken, which meet, what none covers."""

import pytest

from stateward.compiler.flow.analysis.analyse import analyse
from stateward.compiler.flow.analysis.given import Given
from stateward.compiler.predicates.constraints import Bounded, EntriesOf, Family, Matching, OfType
from stateward.compiler.predicates.guards import Compute, Fits, Guard, If, Lit, Or
from stateward.compiler.predicates.schema import AllOf, Exactly, Member, Plain, RecordOf, Schema
from tests.compiler.flow.analysis.flows import BOOL, FLOAT, INT, STRING, State, WayOut, both, compare, flow, ints, known, no, one_of, ref

END = State()
GUARDS = {"guard_always_true", "guard_never_true", "transition_shadowed", "guards_overlap", "guards_leave_gap"}


def told(given: Given) -> list[tuple[str, str]]:
    """Give code and message of everything that is said of guards."""
    found = [each.diagnostic() for each in analyse(given)]
    return [(each.code, each.message) for each in found if each.code in GUARDS]


def codes(given: Given) -> list[str]:
    return [code for code, _ in told(given)]


def notes(given: Given, code: str) -> tuple[str, ...]:
    (found,) = [each for each in (problem.diagnostic() for problem in analyse(given)) if each.code == code]
    return found.notes


VARIABLES: "dict[str, Schema | tuple[Schema, Plain]]" = {
    "ready": BOOL,
    "sure": (BOOL, False),
    "score": (ints(0, 10), 0),
    "many": (INT, 0),
    "share": (FLOAT, 0.0),
    "kind": (one_of("a", "b", "c"), "a"),
    "title": (STRING, ""),
    "other": (STRING, ""),
    "slug": (AllOf((Matching("^[a-z]+$"),)), "x"),
    "any": (AllOf((Bounded(">", 3),)), 4),
    "pair": (RecordOf((Member("ok", BOOL), Member("size", ints(0, 3)))), {"ok": True, "size": 0}),
    "free": (AllOf((EntriesOf(ints(0, 3)),)), {}),
    "list": (AllOf((OfType(Family.STRING),)), ""),
}


def single(guard: Guard) -> Given:
    """A state with one way out, that something else may decide too, so that only its guard is judged."""
    return flow({"work": State(WayOut("go", "done", guard, judged=True), WayOut("stop", "done", judged=True)), "done": END}, VARIABLES)


TWICE = Compute("*", ref("vars.many"), Lit(2))
ALWAYS: list[Guard] = [
    Lit(True),
    compare("vars.score", ">=", 0),
    compare("vars.score", "<", 11),
    compare("vars.score", "!=", 11),
    Or((ref("vars.sure"), no(ref("vars.sure")))),
    Or((compare("vars.score", "<", 5), compare("vars.score", ">", 4))),
    Or(tuple(compare("vars.kind", "==", each) for each in "abc")),
    Fits(ref("vars.kind"), one_of("a", "b", "c", "d")),
    Fits(ref("vars.share"), FLOAT),
    compare("vars.any", ">", 3),
    Or((Fits(ref("vars.any"), INT), Fits(ref("vars.any"), FLOAT))),
    known("sure"),
    Or((known("ready"), no(known("ready")))),
    Or((no(known("ready")), ref("vars.ready"), no(ref("vars.ready")))),
    compare("visits.work", ">=", 1),
    compare("visits.done", ">", -1),
    no(ref("spent.exceeded")),
    Or((compare("vars.title", "==", "x"), compare("vars.title", "!=", "x"))),
    Or((compare("vars.title", "==", ref("vars.other")), compare("vars.title", "!=", ref("vars.other")))),
    Or((compare("vars.many", "<", ref("vars.score")), compare("vars.many", ">=", ref("vars.score")))),
    compare(TWICE, "!=", 3),
    compare(Compute("-", Lit(1), ref("vars.score")), "<=", 1),
    compare(Compute("+", ref("vars.score"), ref("vars.score")), "<=", 20),
    Or((ref("vars.pair.ok"), no(ref("vars.pair.ok")))),
    compare("vars.pair.size", "<=", 3),
    If(compare("vars.score", ">", 5), compare("vars.score", ">", 3), compare("vars.score", "<", 7)),
    compare(If(ref("vars.sure"), Lit(1), Lit(2)), "<", 3),
    compare("vars.slug", "!=", "A"),
]
NEVER: list[Guard] = [
    Lit(False),
    compare("vars.score", ">", 10),
    both(compare("vars.score", "<", 3), compare("vars.score", ">", 7)),
    both(compare("vars.many", ">", 3), compare("vars.many", "<", 4)),
    both(compare("vars.many", ">", 2**53), compare("vars.many", "<", 2**60)),
    both(ref("vars.ready"), no(ref("vars.ready"))),
    both(ref("vars.ready"), no(known("ready"))),
    compare("vars.kind", "==", "d"),
    Fits(ref("vars.kind"), one_of("d", "e")),
    Fits(ref("vars.kind"), Exactly("d")),
    both(compare("vars.title", "==", "x"), compare("vars.title", "==", "y")),
    both(compare("vars.title", "==", ref("vars.other")), compare("vars.title", "==", "x"), compare("vars.other", "==", "y")),
    both(compare("vars.many", "<", ref("vars.score")), compare("vars.many", ">", 9)),
    compare("visits.work", "<", 1),
    ref("spent.exceeded"),
    compare(TWICE, "==", 3),
    compare("vars.pair.size", ">", 3),
    compare("vars.free.x", ">", 3),
    compare("vars.slug", "==", "A"),
    both(compare("vars.share", ">", 1.0), compare("vars.share", "<", 1.0000000000000002)),
]
OPEN: list[Guard] = [
    ref("vars.ready"),
    Or((ref("vars.ready"), no(ref("vars.ready")))),  # it may be missing
    compare("vars.score", ">", 3),
    both(compare("vars.share", ">", 3), compare("vars.share", "<", 4)),
    both(compare("vars.any", ">", 3), compare("vars.any", "<", 4)),
    compare("visits.work", "<", 2),
    compare("visits.done", ">", 0),
    compare("vars.title", "==", ref("vars.other")),
    compare("vars.title", "!=", ref("vars.other")),
    compare("vars.many", "<", ref("vars.score")),
    compare(Compute("*", ref("vars.many"), Lit(2**40)), "<", 5),  # it may overflow
    compare("vars.free.x", "<=", 3),  # it may be missing
    Fits(ref("vars.slug"), AllOf((Matching("^[a-z]*$"),))),  # cannot be told
    Fits(ref("vars.pair"), RecordOf((Member("ok", BOOL), Member("size", INT)))),  # cannot be told
    compare(Compute("+", ref("vars.share"), Lit(0.1)), ">", ref("vars.share")),  # cannot be told
    compare(Compute("+", ref("vars.many"), ref("vars.score")), ">", Compute("+", ref("vars.many"), Lit(11))),  # cannot be told
]


@pytest.mark.parametrize("guard", ALWAYS, ids=str)
def test_a_guard_that_every_run_meets_is_told(guard: Guard) -> None:
    assert [("guard_always_true", "the guard of transition `go` of state `work` always holds")] == told(single(guard))


@pytest.mark.parametrize("guard", NEVER, ids=str)
def test_a_guard_that_no_run_meets_is_told(guard: Guard) -> None:
    assert [("guard_never_true", "the guard of transition `go` of state `work` never holds")] == told(single(guard))


@pytest.mark.parametrize("guard", OPEN, ids=str)
def test_nothing_is_said_of_a_guard_that_some_runs_meet_or_that_cannot_be_told(guard: Guard) -> None:
    assert [] == told(single(guard))


def test_an_input_is_never_missing_and_seeds_the_variable_of_its_name() -> None:
    guard = both(Or((ref("input.fast"), no(ref("input.fast")))), known("topic"))
    given = flow(
        {"work": State(WayOut("go", "done", guard, judged=True), WayOut("stop", "done", judged=True)), "done": END},
        {"topic": STRING},
        {"fast": BOOL, "topic": STRING},
    )
    assert ["guard_always_true"] == codes(given)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (compare("visits.work", ">=", 3), True),
        (compare("visits.work", "<", 3), False),
        (compare("visits.work", "==", 4), True),
    ],
)
def test_what_is_spent_hangs_on_the_visits_of_the_states_that_follow(second: Guard, *, expected: bool) -> None:
    ways = (WayOut("again", "work", both(ref("spent.exceeded"), second), judged=True), WayOut("stop", "done", judged=True))
    given = flow({"work": State(*ways, visits_max=3), "done": END})
    assert ([] if expected else ["guard_never_true"]) == codes(given)


def test_a_flag_may_be_set_by_a_state_whose_visits_no_guard_reads() -> None:
    ways = (
        WayOut("again", "work", both(ref("spent.exceeded"), compare("visits.work", "<", 3)), judged=True),
        WayOut("next", "more", judged=True),
    )
    given = flow({"work": State(*ways, visits_max=3), "more": State(("end", "done", None), visits_max=2), "done": END})
    assert [] == codes(given)


# --- never taken --------------------------------------------------------------------------------------------------------------------


def ordered(*ways: WayOut) -> Given:
    return flow({"work": State(*ways, first=True), "done": END}, VARIABLES)


HIGH, HIGHER, LOW = compare("vars.score", ">", 5), compare("vars.score", ">", 7), compare("vars.score", "<=", 5)


def test_a_transition_after_one_that_holds_whenever_it_does_is_shadowed() -> None:
    given = ordered(WayOut("a", "done", HIGH), WayOut("b", "done", HIGHER), WayOut("c", "done", LOW))
    assert [("transition_shadowed", "transition `b` of state `work` is never taken")] == told(given)


def test_transitions_shadow_one_together() -> None:
    given = ordered(WayOut("a", "done", HIGH), WayOut("b", "done", LOW), WayOut("c", "done", judged=True))
    assert [("transition_shadowed", "transition `c` of state `work` is never taken")] == told(given)
    (found,) = (each.diagnostic() for each in analyse(given) if each.diagnostic().code == "transition_shadowed")
    assert ["one of these is always met"] * 2 == [label.text for label in found.secondary]


def test_a_transition_that_is_held_back_wherever_it_is_met_is_shadowed() -> None:
    given = ordered(WayOut("a", "done", ref("vars.ready")), WayOut("b", "done", no(known("ready"))), WayOut("c", "done", judged=True))
    assert [("transition_shadowed", "transition `b` of state `work` is never taken")] == told(given)


@pytest.mark.parametrize(
    "first", [WayOut("a", "done", HIGH, judged=True), WayOut("a", "done", HIGH, checks="tests"), WayOut("a", "done", HIGH, sound=False)]
)
def test_a_transition_that_something_else_may_keep_from_being_taken_shadows_none(first: WayOut) -> None:
    assert [] == codes(ordered(first, WayOut("b", "done", HIGHER), WayOut("c", "done", LOW)))


def test_the_order_shadows_none_where_one_alone_may_be_met() -> None:
    given = flow({"work": State(WayOut("a", "done", HIGH, judged=True), WayOut("b", "done", HIGHER)), "done": END}, VARIABLES)
    assert ["guards_leave_gap"] == codes(given)


@pytest.mark.parametrize("first", [True, False])
def test_otherwise_is_never_taken_where_the_others_leave_nothing(*, first: bool) -> None:
    ways = (WayOut("a", "done", HIGH), WayOut("c", "done", otherwise=True), WayOut("b", "done", LOW))
    given = flow({"work": State(*ways, first=first), "done": END}, VARIABLES)
    assert [("transition_shadowed", "transition `c` of state `work` is never taken")] == told(given)


def test_otherwise_is_taken_where_a_check_fails() -> None:
    ways = (WayOut("a", "done", HIGH), WayOut("b", "done", LOW, checks="tests"), WayOut("c", "done", otherwise=True))
    assert [] == codes(flow({"work": State(*ways), "done": END}, VARIABLES, checks=["tests"]))


def test_otherwise_is_not_taken_where_a_value_is_missing() -> None:
    ways = (WayOut("a", "done", ref("vars.ready")), WayOut("b", "done", no(ref("vars.ready"))), WayOut("c", "done", otherwise=True))
    assert ["transition_shadowed"] == codes(flow({"work": State(*ways), "done": END}, VARIABLES))


# --- several met --------------------------------------------------------------------------------------------------------------------


def exclusive(*ways: WayOut, writes: str = "") -> Given:
    return flow({"work": State(*ways, writes=writes), "done": END}, VARIABLES, checks=["tests", "style"])


def test_two_guards_that_can_both_hold_are_told_with_an_example() -> None:
    given = exclusive(WayOut("a", "done", HIGH), WayOut("b", "done", compare("vars.score", "<", 7)))
    assert [("guards_overlap", "transitions `a` and `b` of state `work` can both be met")] == told(given)
    assert "both are met where `vars.score` is `6`" == notes(given, "guards_overlap")[0]


def test_an_example_shows_every_value_that_the_guards_see() -> None:
    given = exclusive(
        WayOut("a", "done", both(ref("vars.pair.ok"), compare("visits.work", "<", 3))),
        WayOut("b", "done", Or((known("ready"), compare("vars.kind", "==", "b")))),
        WayOut("c", "done", otherwise=True),
    )
    assert (
        "both are met where `vars.pair.ok` is `true`, `visits.work` is `1`, `known.ready` is `true` and `vars.kind` is"
        in notes(given, "guards_overlap")[0]
    )


def test_a_state_tells_each_transition_that_meets_earlier_ones_once() -> None:
    given = exclusive(*(WayOut(each, "done", HIGH) for each in "abc"), WayOut("d", "done", LOW))
    assert ["transitions `a` and `b` of state `work` can both be met", "transitions `a` and `c` of state `work` can both be met"] == [
        message for _, message in told(given)
    ]


@pytest.mark.parametrize(
    "ways",
    [
        (WayOut("a", "done", HIGH), WayOut("b", "done", LOW)),
        (WayOut("a", "done", HIGH, judged=True), WayOut("b", "done", HIGHER, judged=True), WayOut("c", "done", judged=True)),
        (WayOut("a", "done", HIGH), WayOut("b", "done", HIGHER, judged=True), WayOut("c", "done", judged=True)),
        (WayOut("a", "done", HIGH), WayOut("b", "done", HIGHER, otherwise=True)),
        (WayOut("a", "done", checks="tests"), WayOut("b", "done", checks="style")),
        (WayOut("a", "done", HIGH), WayOut("b", "done", HIGHER, sound=False)),
    ],
)
def test_guards_that_cannot_both_hold_or_do_not_decide_alone_are_fine(ways: tuple[WayOut, ...]) -> None:
    assert "guards_overlap" not in codes(exclusive(*ways))


def test_checks_that_pass_let_two_transitions_be_met() -> None:
    given = exclusive(WayOut("a", "done", checks="tests"), WayOut("b", "done", HIGH, checks="style"))
    assert "both are met where `vars.score` is `6` and checks `tests` and `style` pass" == notes(given, "guards_overlap")[0]


def test_what_only_an_operator_can_bring_about_is_no_example() -> None:
    ways = (WayOut("again", "work", compare("visits.work", "<", 3)), WayOut("stop", "done", ref("spent.exceeded")))
    assert [] == codes(flow({"work": State(*ways, visits_max=3), "done": END}))


# --- none met -----------------------------------------------------------------------------------------------------------------------


def test_values_that_no_guard_covers_are_told_with_an_example() -> None:
    given = exclusive(WayOut("a", "done", HIGHER), WayOut("b", "done", LOW))
    assert [("guards_leave_gap", "the guards of state `work` leave a gap")] == told(given)
    assert ("no guard holds where `vars.score` is `6`",) == notes(given, "guards_leave_gap")


@pytest.mark.parametrize(
    "ways",
    [
        (WayOut("a", "done", HIGHER), WayOut("b", "done", LOW), WayOut("c", "done", otherwise=True)),
        (WayOut("a", "done", HIGHER), WayOut("b", "done", LOW), WayOut("c", "done", checks="tests")),
        (WayOut("a", "done", HIGHER), WayOut("b", "done", LOW), WayOut("c", "done", judged=True)),
        (WayOut("a", "done", HIGH), WayOut("b", "done", LOW, judged=True)),
        (WayOut("a", "done", HIGHER), WayOut("b", "done", LOW, sound=False)),
        (WayOut("a", "done", ref("vars.ready")), WayOut("b", "done", no(ref("vars.ready")))),
    ],
)
def test_there_is_no_gap_where_something_may_be_met_or_is_missing(ways: tuple[WayOut, ...]) -> None:
    assert "guards_leave_gap" not in codes(exclusive(*ways))


def test_guards_leave_a_gap_whatever_else_their_transitions_ask() -> None:
    given = exclusive(WayOut("a", "done", HIGHER, judged=True), WayOut("b", "done", LOW, checks="tests"))
    assert ["guards_leave_gap"] == codes(given)


def test_an_otherwise_with_a_guard_leaves_a_gap_where_that_fails() -> None:
    given = exclusive(WayOut("a", "done", HIGHER), WayOut("b", "done", LOW, otherwise=True))
    assert ["guards_leave_gap"] == codes(given)


def test_a_bool_that_the_worker_has_not_set_yet_is_no_gap() -> None:
    ways = (WayOut("a", "done", both(ref("vars.sure"), ref("vars.ready"))), WayOut("b", "done", compare("vars.score", ">", 100)))
    done = (WayOut("a", "done", ref("vars.sure")), WayOut("b", "done", both(ref("vars.ready"), no(ref("vars.sure")))))
    assert "guards_leave_gap" not in codes(exclusive(*ways, writes="sure ready"))
    assert "guards_leave_gap" not in codes(exclusive(*done, writes="sure ready"))
    assert "guards_leave_gap" in codes(exclusive(*done))


def test_one_way_out_waits_for_what_the_worker_writes() -> None:
    assert [] == codes(exclusive(WayOut("a", "done", HIGH), writes="score"))
    assert ["guards_leave_gap"] == codes(exclusive(WayOut("a", "done", HIGH)))


def test_what_the_worker_has_not_written_yet_is_no_gap() -> None:
    ways = (WayOut("a", "done", compare("vars.many", ">", 3)), WayOut("b", "done", compare("vars.many", "<", 0)))
    assert "no guard holds where `vars.many` is `0`" in notes(exclusive(*ways), "guards_leave_gap")
    assert "no guard holds where `vars.many` is `1`" in notes(exclusive(*ways, writes="many"), "guards_leave_gap")


def test_what_all_transitions_alike_demand_is_waited_for() -> None:
    whole = compare("vars.score", "==", 10)
    ways = (WayOut("a", "done", both(whole, ref("vars.sure"))), WayOut("b", "done", both(whole, no(ref("vars.sure")))))
    assert [] == codes(exclusive(*ways, writes="score sure"))
    assert ["guards_leave_gap"] == codes(exclusive(*ways, writes="sure"))


def test_what_opens_the_one_transition_that_is_still_possible_is_waited_for() -> None:
    few = compare("visits.work", "<", 3)
    ways = (WayOut("a", "done", both(few, HIGH)), WayOut("b", "done", no(few)))
    assert [] == codes(exclusive(*ways, writes="score"))
    assert ["guards_leave_gap"] == codes(exclusive(*ways))


def test_a_gap_that_nothing_the_worker_writes_can_close_is_told() -> None:
    ways = (WayOut("a", "done", both(HIGH, compare("visits.work", "<", 3))), WayOut("b", "done", both(LOW, compare("visits.work", ">", 3))))
    assert "no guard holds where `vars.score` is" in notes(exclusive(*ways, writes="score"), "guards_leave_gap")[0]
    assert ["guards_leave_gap"] == codes(exclusive(*ways, writes="score"))


def test_nothing_is_said_of_gaps_where_a_transition_was_lost() -> None:
    ways = (WayOut("a", "done", HIGHER), WayOut("b", "done", LOW))
    assert [] == codes(flow({"work": State(*ways, complete=False), "done": END}, VARIABLES))


def test_an_end_leaves_no_gap() -> None:
    assert [] == codes(flow({"done": END}))


# --- what follows -------------------------------------------------------------------------------------------------------------------


def test_states_behind_an_impossible_guard_are_told_with_it() -> None:
    given = flow(
        {
            "work": State(WayOut("go", "mend", compare("vars.score", ">", 10)), WayOut("stop", "done", judged=True)),
            "mend": State(WayOut("on", "test", judged=True)),
            "test": State(WayOut("back", "work", judged=True)),
            "done": END,
        },
        VARIABLES,
    )
    (found,) = (each.diagnostic() for each in analyse(given) if each.diagnostic().code == "guard_never_true")
    assert ("no transition that can be taken leads to states `mend` and `test`",) == found.notes
    assert ("mend", "test") == found.states
    assert ["`score` is declared here", "never entered", "never entered"] == [label.text for label in found.secondary]


def test_an_end_behind_impossible_guards_alone_is_told_with_them() -> None:
    given = flow(
        {
            "work": State(WayOut("on", "test", judged=True)),
            "test": State(WayOut("back", "work", judged=True), WayOut("go", "done", compare("vars.score", ">", 10))),
            "done": END,
        },
        VARIABLES,
    )
    assert ("no transition that can be taken leads to state `done`", "no end can be reached from states `work` and `test`") == notes(
        given, "guard_never_true"
    )


def test_a_state_that_is_entered_in_another_way_is_not_lost() -> None:
    given = flow(
        {
            "work": State(WayOut("go", "done", compare("vars.score", ">", 10)), WayOut("stop", "done", judged=True)),
            "done": END,
        },
        VARIABLES,
    )
    assert () == notes(given, "guard_never_true")


def test_a_guard_over_too_many_values_is_left_alone() -> None:
    wide: dict[str, Schema | tuple[Schema, Plain]] = {f"v{at}": (ints(0, 10), 0) for at in range(16)}
    guard = Or(tuple(compare(f"vars.{name}", ">=", 0) for name in wide))
    ways = (WayOut("go", "done", guard, judged=True), WayOut("stop", "done", judged=True))
    assert [] == codes(flow({"work": State(*ways), "done": END}, wide))


NOT_YET: Guard = compare("visits.work", "==", 0)
LATER = (WayOut("early", "done", NOT_YET), WayOut("again", "more", compare("visits.more", "<", 9)), WayOut("stop", "done", otherwise=True))


def test_no_example_has_no_visit_of_a_state_that_every_way_leads_through() -> None:
    given = flow(
        {
            "work": State(WayOut("go", "next", judged=True)),
            "next": State(WayOut("on", "more", judged=True)),
            "more": State(*LATER),
            "done": END,
        }
    )
    assert [] == codes(given)


def test_an_example_may_have_no_visit_of_a_state_that_a_way_leads_past() -> None:
    begin = State(WayOut("go", "work", judged=True), WayOut("skip", "more", judged=True))
    given = flow({"begin": begin, "work": State(WayOut("on", "more", judged=True)), "more": State(*LATER), "done": END})
    assert ["guards_overlap"] == codes(given)


def test_no_gap_is_where_a_state_that_every_way_leads_through_was_not_entered() -> None:
    counted = State(WayOut("a", "done", compare("visits.work", ">", 0)))
    assert [] == codes(flow({"work": State(WayOut("go", "more", judged=True)), "more": counted, "done": END}))
    begin = State(WayOut("go", "work", judged=True), WayOut("skip", "more", judged=True))
    assert ["guards_leave_gap"] == codes(
        flow({"begin": begin, "work": State(WayOut("go", "more", judged=True)), "more": counted, "done": END})
    )
