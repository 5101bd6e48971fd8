"""Why a Worker does not leave its state, part by part."""

from stateward.compiler.flow.definition import CompiledTransition
from stateward.runtime.core.events import EntryCitation, Part, PartKind, Source, Variable, Verdict
from stateward.runtime.core.instance import Attempt, EventId, Instance, Pin, Status
from stateward.runtime.engine.explaining import Kind, PartFound, Seen, WayFound, ways_of
from stateward.runtime.engine.overview import Why
from stateward.runtime.ports import VerifierAnswered
from tests.runtime.engines import AGENT, Desk, Judge
from tests.runtime.guarded import BUGS, COUNT, NEEDS, VISITS, declared, guarded, state, way
from tests.runtime.judgements import INDETERMINATE, MET, NOT_MET, judgement


def why(desk: Desk) -> Why:
    found = desk.engine.why(desk.worker)
    assert isinstance(found, Why)
    return found


def parts(desk: Desk, transition: str) -> tuple[PartFound, ...]:
    (found,) = [each for each in why(desk).ways if each.transition == transition]
    return found.parts


def test_a_condition_is_shown_with_its_last_verdict_what_it_rests_on_and_where_it_was_told() -> None:
    desk = Desk("refine", actor=AGENT, inputs=NEEDS)
    desk.engine.set_variables(desk.worker, {"attempts": 9}, AGENT)
    desk.request("Done.", {})
    desk.engine.set_variables(desk.worker, {"bugs": False}, AGENT)
    cited = (EntryCitation("E00000003"),)
    judge = Judge(
        lambda request: VerifierAnswered(tuple(judgement(each.transition, NOT_MET, citations=cited) for each in request.questions)),
        desk.view.verifier,
    )
    desk.request("Good enough.", judge)
    (found,) = parts(desk, "judged")
    assert (Kind.CONDITION, "It is good enough.", NOT_MET, ("a record of it",), "It is not_met.") == (
        found.kind,
        found.text,
        found.verdict,
        found.missing,
        found.rationale,
    )
    assert ("E00000007", "E00000008", ("E00000003",)) == (found.judged, found.entry, found.cites)
    (guard,) = parts(desk, "good")
    assert (NOT_MET, Seen("vars.attempts", is_set=True, value=9, entry="E00000003")) == (guard.verdict, guard.saw[1])


def test_a_guard_is_shown_as_the_next_request_would_find_it() -> None:
    desk = Desk("refine", actor=AGENT, inputs=NEEDS)
    desk.request("Done.", {})
    assert INDETERMINATE is parts(desk, "again")[0].verdict
    desk.engine.set_variables(desk.worker, {"bugs": True}, AGENT)
    assert MET is parts(desk, "again")[0].verdict


def test_what_was_judged_in_an_earlier_visit_is_not_shown_of_this_one() -> None:
    desk = Desk("fork", actor=AGENT)
    desk.request("no", {})
    assert NOT_MET is parts(desk, "x")[0].verdict
    desk.record_evidence()
    desk.request("around", {"z": MET})
    assert (None, "") == (parts(desk, "x")[0].verdict, parts(desk, "x")[0].entry)


def test_a_flow_that_ended_has_no_ways_out() -> None:
    assert () == why(Desk("nothing")).ways


CHECKED = guarded(
    "checked",
    state(
        "work",
        CompiledTransition(
            id="ship", target="done", condition="It is liked.", synthetic=False, when=way("x", "y", when=BUGS).when, checks=("tests",)
        ),
        way("seen", "work", when=VISITS),
        way("else", "done", otherwise=True),
    ),
    state("done"),
    variables=(declared("bugs", COUNT),),
)
PIN = Pin("w", "s", "f", 1, "c", "d", "person")


def instance(*found: Part) -> Instance:
    attempt = Attempt("a-1", "work", 1, "so", EventId(5, 0), parts=found)
    return Instance(
        "i",
        PIN,
        "work",
        1,
        Status.ACTIVE,
        attempt,
        None,
        1,
        {"work": 1},
        entered={"work": 2},
        variables={"bugs": Variable("bugs", True, Source.WORKER, "work", 1, 4)},
    )


def way_of(found: tuple[WayFound, ...], transition: str) -> tuple[PartFound, ...]:
    return next(each.parts for each in found if each.transition == transition)


def test_every_part_of_a_way_out_is_shown_with_the_entry_it_rests_on() -> None:
    run = Part("ship", PartKind.CHECK, Verdict.NOT_MET, "tests", ("it ended with exit status 1",), entry=6)
    guard, check, condition = way_of(ways_of(CHECKED, instance(run)), "ship")
    assert (Seen("vars.bugs", is_set=True, value=True, entry="E00000004"),) == guard.saw
    assert (Kind.CHECK, "tests", NOT_MET, "E00000006", ("it ended with exit status 1",)) == (
        check.kind,
        check.text,
        check.verdict,
        check.entry,
        check.missing,
    )
    assert (Kind.CONDITION, None) == (condition.kind, condition.verdict)


def test_a_count_of_visits_rests_on_the_entry_that_entered_the_state_last() -> None:
    (guard,) = way_of(ways_of(CHECKED, instance()), "seen")
    assert (Seen("visits.work", is_set=True, value=1, entry="E00000002"),) == guard.saw


def test_whether_no_other_is_met_cannot_be_told_before_the_checks_were_run() -> None:
    (open_,) = way_of(ways_of(CHECKED, instance()), "else")
    assert (Kind.OTHERWISE, None) == (open_.kind, open_.verdict)
    run = Part("ship", PartKind.CHECK, Verdict.NOT_MET, "tests", entry=6)
    (told,) = way_of(ways_of(CHECKED, instance(run)), "else")
    assert INDETERMINATE is told.verdict  # a number is no truth, so nobody can tell of `seen`
