"""Which variables are read before anything writes them, which are written for nothing, and what is not used."""

from itertools import pairwise

import pytest
from hypothesis import given as generated
from hypothesis import strategies as st

from stateward.compiler.diagnostics.model import Diagnostic, Severity
from stateward.compiler.flow.analysis.analyse import analyse
from stateward.compiler.flow.analysis.given import Given
from stateward.compiler.flow.analysis.problems import ReadPerhapsBeforeWritten
from stateward.compiler.predicates.constraints import Matching
from stateward.compiler.predicates.guards import Fits, Or
from stateward.compiler.predicates.schema import AllOf, Member, RecordOf
from tests.compiler.flow.analysis.flows import BOOL, INT, STRING, State, WayOut, both, compare, flow, known, no, ref

END = State()
CODES = {"read_before_written", "read_perhaps_before_written", "written_never_read", "variable_unused", "check_unused"}


def found(given: Given) -> list[Diagnostic]:
    return [each for each in (problem.diagnostic() for problem in analyse(given)) if each.code in CODES]


def told(given: Given) -> list[tuple[str, str]]:
    return [(each.code, each.message) for each in found(given)]


def judged(id_: str, target: str) -> WayOut:
    return WayOut(id_, target, judged=True)


def test_a_variable_that_is_written_before_it_is_read_is_fine() -> None:
    given = flow({"plan": State(judged("on", "work"), writes="x"), "work": State(judged("on", "done"), reads="x"), "done": END}, {"x": INT})
    assert [] == told(given)


def test_a_variable_that_a_state_writes_itself_may_be_read_in_it() -> None:
    given = flow(
        {"plan": State(WayOut("on", "done", compare("vars.x", ">", 3), judged=True), reads="x", writes="x"), "done": END}, {"x": INT}
    )
    assert [] == told(given)


@pytest.mark.parametrize("kind", ["default", "input", "input with a default"])
def test_a_variable_that_holds_something_from_the_beginning_is_never_unwritten(kind: str) -> None:
    variables = {"x": (INT, 0)} if kind == "default" else {"x": INT}
    inputs = {"x": (INT, 0)} if kind == "input with a default" else {"x": INT} if kind == "input" else {}
    assert [] == told(flow({"work": State(judged("on", "done"), reads="x"), "done": END}, variables, inputs))


def test_a_variable_that_nothing_writes_is_told_as_an_error_where_it_is_read() -> None:
    states = {
        "work": State(WayOut("on", "more", compare("vars.x", ">", 3), judged=True)),
        "more": State(judged("on", "done"), reads="x"),
        "done": END,
    }
    (diagnostic,) = found(flow(states, {"x": INT}))
    assert ("read_before_written", Severity.ERROR) == (diagnostic.code, diagnostic.severity)
    assert "variable `x` is read before anything writes it" == diagnostic.message
    assert ("no state writes it",) == diagnostic.notes
    assert ["read here too"] == [label.text for label in diagnostic.secondary]


def test_a_variable_that_is_written_only_after_it_is_read_is_told_as_an_error() -> None:
    states = {"work": State(judged("on", "more"), reads="x"), "more": State(judged("on", "done"), writes="x"), "done": END}
    (diagnostic,) = found(flow(states, {"x": INT}))
    assert ("read_before_written", ("no way leads from state `more` to state `work`",)) == (diagnostic.code, diagnostic.notes)


def test_a_variable_that_is_written_on_some_ways_alone_is_a_warning_with_a_way() -> None:
    states = {
        "plan": State(judged("a", "left"), judged("b", "right")),
        "left": State(judged("on", "join"), writes="x"),
        "right": State(judged("on", "join")),
        "join": State(judged("on", "done"), reads="x"),
        "done": END,
    }
    (diagnostic,) = found(flow(states, {"x": INT}))
    assert ("read_perhaps_before_written", Severity.WARNING) == (diagnostic.code, diagnostic.severity)
    assert ("nothing writes it on the way `plan` → `right` → `join`",) == diagnostic.notes
    assert ["written here"] == [label.text for label in diagnostic.secondary]


def test_a_loop_writes_a_variable_after_the_first_time() -> None:
    states = {
        "work": State(judged("on", "check"), reads="x"),
        "check": State(judged("back", "work"), judged("end", "done"), writes="x"),
        "done": END,
    }
    (diagnostic,) = found(flow(states, {"x": INT}))
    assert ("read_perhaps_before_written", ("the flow begins in state `work`",)) == (diagnostic.code, diagnostic.notes)


@pytest.mark.parametrize(
    ("guard", "is_read"),
    [
        (ref("vars.x"), True),
        (both(known("x"), ref("vars.x")), False),
        (both(ref("vars.x"), known("x")), False),
        (Or((no(known("x")), ref("vars.x"))), False),
        (Or((known("x"), ref("vars.x"))), True),
        (both(known("y"), ref("vars.x")), True),
        (known("x"), False),
        (both(ref("vars.sure"), ref("vars.x")), True),
    ],
)
def test_a_guard_that_asks_first_whether_a_variable_is_known_does_not_depend_on_it(guard: Or, *, is_read: bool) -> None:
    states = {
        "work": State(WayOut("on", "work", guard, judged=True), WayOut("go", "more", both(known("y"), ref("vars.sure")), judged=True)),
        "more": State(judged("end", "done"), writes="x y sure"),
        "done": END,
    }
    codes = [code for code, message in told(flow(states, {"x": BOOL, "y": BOOL, "sure": (BOOL, False)})) if "`x`" in message]
    assert (["read_before_written"] if is_read else []) == [code for code in codes if code == "read_before_written"]


def test_a_guard_that_cannot_be_told_is_taken_to_need_what_it_does_not_ask_for() -> None:
    schema = RecordOf((Member("a", STRING),))
    for guard, expected in ((Fits(ref("vars.x"), schema), ["read_before_written"]), (both(known("x"), Fits(ref("vars.x"), schema)), [])):
        given = flow({"work": State(WayOut("on", "done", guard, judged=True)), "done": END}, {"x": schema})
        assert expected == [code for code, _ in told(given)]


def test_a_way_by_a_guard_that_needs_a_variable_is_no_way_on_which_it_is_missing() -> None:
    states = {
        "plan": State(WayOut("a", "write", judged=True), WayOut("b", "read", compare("vars.x", ">", 3), judged=True), writes=""),
        "write": State(judged("on", "plan"), writes="x"),
        "read": State(judged("on", "done"), reads="x"),
        "done": END,
    }
    (diagnostic,) = found(flow(states, {"x": INT}))
    assert ("read_perhaps_before_written", ("the flow begins in state `plan`",)) == (diagnostic.code, diagnostic.notes)
    assert [] == [label.text for label in diagnostic.secondary if label.text == "read here too"]


def test_a_way_that_is_never_taken_is_no_way_on_which_something_is_missing() -> None:
    states = {
        "plan": State(WayOut("a", "write", judged=True), WayOut("b", "read", compare("visits.plan", "<", 1), judged=True)),
        "write": State(judged("on", "read"), writes="x"),
        "read": State(judged("on", "done"), reads="x"),
        "done": END,
    }
    assert [] == told(flow(states, {"x": INT}))


def test_a_variable_that_is_written_and_read_nowhere_after_that_is_told() -> None:
    states = {
        "work": State(judged("on", "more"), reads="x", writes="y"),
        "more": State(judged("on", "done"), writes="x y"),
        "done": END,
    }
    first, second = found(flow(states, {"x": (INT, 0), "y": INT}))
    assert ("written_never_read", "variable `x` is written and never read") == (first.code, first.message)
    assert "variable `y` is written and never read" == second.message
    assert ["nor after this", "declared here"] == [label.text for label in second.secondary]


@pytest.mark.parametrize("guard", [ref("vars.x"), known("x"), Fits(ref("vars.x"), AllOf((Matching("a"),)))])
def test_a_guard_reads_what_it_looks_at(guard: Or) -> None:
    given = flow({"work": State(WayOut("on", "done", guard, judged=True), writes="x"), "done": END}, {"x": BOOL})
    assert [] == told(given)


def test_what_is_declared_and_not_used_is_told() -> None:
    given = flow({"work": State(WayOut("on", "done", checks="tests")), "done": END}, {"x": (INT, 0)}, {}, ["tests", "style"])
    assert [("variable_unused", "variable `x` is not used"), ("check_unused", "check `style` is not used")] == told(given)


@pytest.mark.parametrize("part", ["flow", "state", "way"])
def test_nothing_is_said_of_variables_where_something_is_not_known(part: str) -> None:
    way = WayOut("on", "done", judged=True, sound=part != "way")
    states = {"work": State(way, reads="x", complete=part != "state"), "done": END}
    assert [] == told(flow(states, {"x": INT, "y": INT}, {}, ["tests"], complete=part != "flow"))


@st.composite
def drawn(draw: st.DrawFn) -> dict[str, State]:
    """A few states with ways between them, of which some read and some write a variable."""
    ids = [f"s{at}" for at in range(draw(st.integers(2, 5)))]
    states = {}
    for id_ in ids:
        targets = draw(st.lists(st.sampled_from(ids), unique=True, max_size=3))
        kind = draw(st.sampled_from(["", "", "read", "write", "both"]))
        reads, writes = ("x" if kind in {"read", "both"} else ""), ("x" if kind in {"write", "both"} else "")
        states[id_] = State(*(judged(f"to-{each}", each) for each in targets), reads=reads, writes=writes)
    return states


@generated(drawn())
def test_what_is_said_of_reads_is_what_going_every_way_shows(states: dict[str, State]) -> None:
    """Every state is gone to with and without the variable having been written, as far as there are ways."""
    came, waiting = set[tuple[str, bool]](), [(next(iter(states)), False)]
    while waiting:
        state, written = waiting.pop()
        written = written or bool(states[state].writes)
        if (state, written) not in came:
            came.add((state, written))
            waiting += [(way.target, written) for way in states[state].ways]
    read = [id_ for id_, state in states.items() if state.reads]
    never = any((each, False) in came and (each, True) not in came for each in read)
    perhaps = any({(each, False), (each, True)} <= came for each in read)
    codes = [code for code, _ in told(flow(states, {"x": INT}))]
    assert never == ("read_before_written" in codes)
    assert perhaps == ("read_perhaps_before_written" in codes)


@generated(drawn())
def test_a_way_on_which_nothing_writes_a_variable_is_one(states: dict[str, State]) -> None:
    for each in analyse(flow(states, {"x": INT})):
        if isinstance(each, ReadPerhapsBeforeWritten):
            road = each.found.road
            assert (next(iter(states)), each.found.reads[0].state) == (road[0], road[-1])
            assert not any(states[state].writes for state in road)
            assert all(head in {way.target for way in states[tail].ways} for tail, head in pairwise(road))


@generated(drawn())
def test_what_is_written_is_read_where_a_way_leads_to_a_read(states: dict[str, State]) -> None:
    codes = [code for code, _ in told(flow(states, {"x": (INT, 0)}))]
    writers = [id_ for id_, state in states.items() if state.writes]
    after, waiting = set(writers), list(writers)
    while waiting:
        for way in states[waiting.pop()].ways:
            if way.target not in after:
                after.add(way.target)
                waiting.append(way.target)
    is_read = any(states[each].reads for each in after)
    assert ("written_never_read" in codes) == (bool(writers) and not is_read)
    assert ("variable_unused" in codes) == (not writers and not any(state.reads for state in states.values()))
