"""Which transition is taken: the runtime asks no more than it has to, and comes to what the rules say when everything is known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.predicates.guards import Compare, Lit, Ref
from stateward.runtime.core.events import Judgement, Part, PartKind, RejectionCode, Verdict
from stateward.runtime.core.judging import Passed, Rejected, rule
from stateward.runtime.core.selecting import Ask, Blocked, Next, Run, Taken, next_of, together
from stateward.runtime.session.pinned import PinnedState, PinnedTransition

MET, NOT_MET, UNCLEAR = Verdict.MET, Verdict.NOT_MET, Verdict.INDETERMINATE
CANCEL = PinnedTransition("$cancel", "$cancelled", "it cannot go on", synthetic=True)
GUARD = Compare("<", Ref(("vars", "count")), Lit(3))


@dataclass(frozen=True)
class Way:
    """A transition, and what each of its parts comes to."""

    guard: Verdict | None = None
    checks: tuple[Verdict, ...] = ()
    condition: Verdict | None = None
    otherwise: bool = False

    @property
    def own(self) -> Verdict:
        """All parts together but `otherwise`."""
        return together(each for each in (self.guard, *self.checks, self.condition) if each is not None)


@dataclass(frozen=True)
class Case:
    """A state, with everything known."""

    select: str
    ways: tuple[Way, ...]
    cancel: Verdict

    @property
    def state(self) -> PinnedState:
        transitions = tuple(
            PinnedTransition(
                f"t{at}",
                "next",
                "" if way.condition is None else "it is done",
                synthetic=False,
                guard=None if way.guard is None else GUARD,
                checks=tuple(f"c{at}.{number}" for number, _ in enumerate(way.checks)),
                otherwise=way.otherwise,
            )
            for at, way in enumerate(self.ways)
        )
        return PinnedState("here", "work", terminal=False, transitions=(*transitions, CANCEL), select=self.select)

    @property
    def guards(self) -> tuple[Part, ...]:
        return tuple(Part(f"t{at}", PartKind.WHEN, way.guard) for at, way in enumerate(self.ways) if way.guard is not None)

    def run(self, checks: Sequence[str]) -> tuple[Part, ...]:
        named = {f"c{at}.{number}": (f"t{at}", each) for at, way in enumerate(self.ways) for number, each in enumerate(way.checks)}
        return tuple(Part(named[check][0], PartKind.CHECK, named[check][1], check) for check in checks)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What each authored transition comes to."""
        plain = [way.own for way in self.ways if not way.otherwise]
        nobody = NOT_MET if MET in plain else UNCLEAR if UNCLEAR in plain else MET
        return tuple(together((way.own, nobody)) if way.otherwise else way.own for way in self.ways)

    @property
    def is_deterministic(self) -> bool:
        """Whether exactly one is met and all others are not, whatever a verifier would say."""
        closed = [verdict is NOT_MET if way.condition is not None else True for way, verdict in zip(self.ways, self.known, strict=True)]
        return all(closed) and sorted(self.known).count(MET) == 1 and UNCLEAR not in self.known

    @property
    def known(self) -> tuple[Verdict, ...]:
        """What each comes to without a verifier."""
        return Case(self.select, tuple(Way(way.guard, way.checks, None, way.otherwise) for way in self.ways), self.cancel).verdicts

    @property
    def taken(self) -> str | None:
        """What the rules say, read off word by word."""
        if self.select == "first":
            for at, verdict in enumerate((*self.verdicts, self.cancel)):
                if verdict is not NOT_MET:
                    return self.state.transitions[at].id if verdict is MET else None
            return None
        judged = self.verdicts if self.is_deterministic else (*self.verdicts, self.cancel)
        met = [self.state.transitions[at].id for at, verdict in enumerate(judged) if verdict is MET]
        return met[0] if len(met) == 1 else None


@dataclass(frozen=True)
class Played:
    """What came of a state when its questions were answered as they were asked."""

    taken: str | None
    asked: tuple[str, ...]
    run: tuple[str, ...]


def judged(case: Case, transition: str) -> Judgement:
    at = [each.id for each in case.state.transitions].index(transition)
    verdict = case.cancel if transition == CANCEL.id else case.ways[at].condition
    assert verdict is not None, "nobody is asked about a transition without a condition"
    return Judgement(transition, verdict, verdict, "so it is", missing=("the rest",) if verdict is NOT_MET else ())


def play(case: Case, parts: tuple[Part, ...]) -> Played:
    run: tuple[str, ...] = ()
    step: Next = next_of(case.state, parts)
    while isinstance(step, Run):
        assert step.checks
        assert not set(step.checks) & set(run)
        run += step.checks
        parts = (*parts, *case.run(step.checks))
        step = next_of(case.state, parts)
    match step:
        case Taken(transition):
            return Played(transition, (), run)
        case Blocked():
            return Played(None, (), run)
        case Ask(transitions):
            ruling = rule(case.state, [judged(case, each) for each in transitions], frozenset(), None, parts)
            return Played(ruling.transition if isinstance(ruling, Passed) else None, transitions, run)


VERDICTS = st.sampled_from(Verdict)
PLAIN = st.builds(
    Way, st.none() | VERDICTS, st.lists(VERDICTS, max_size=2).map(tuple), st.none() | VERDICTS
).filter(lambda way: way != Way())  # fmt: skip
DETERMINISTIC = st.builds(Way, st.none() | VERDICTS, st.lists(VERDICTS, max_size=2).map(tuple)).filter(lambda way: way != Way())
LAST_RESORT = st.builds(Way, st.none() | VERDICTS, otherwise=st.just(value=True))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    if draw(st.booleans()):
        ways = draw(st.lists(PLAIN, min_size=1, max_size=5))
    else:
        ways = draw(st.lists(DETERMINISTIC, min_size=0, max_size=4))
        ways.insert(draw(st.integers(0, len(ways))), draw(LAST_RESORT))
    return Case(draw(st.sampled_from(("exclusive", "first"))), tuple(ways), draw(VERDICTS))


@given(cases())
def test_what_is_taken_is_what_the_rules_say_when_everything_is_known(case: Case) -> None:
    assert case.taken == play(case, case.guards).taken


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_in_which_parts_were_found_changes_nothing(case: Case, random: Random) -> None:
    shuffled = list(case.guards)
    random.shuffle(shuffled)
    assert play(case, case.guards) == play(case, tuple(shuffled))


@given(cases())
def test_nobody_is_asked_what_cannot_change_what_is_taken(case: Case) -> None:
    played = play(case, case.guards)
    for transition in played.asked:
        if transition != CANCEL.id:
            at = int(transition[1:])
            assert case.known[at] is not NOT_MET
            assert case.ways[at].condition is not None


@given(cases())
def test_a_state_that_its_guards_decide_asks_nobody(case: Case) -> None:
    if case.is_deterministic:
        played = play(case, case.guards)
        assert (case.taken, ()) == (played.taken, played.asked)


TABLE: Mapping[str, tuple[Case, Played]] = {
    "one guard holds": (Case("exclusive", (Way(MET), Way(NOT_MET)), MET), Played("t0", (), ())),
    "two guards hold": (Case("exclusive", (Way(MET), Way(MET)), NOT_MET), Played(None, (), ())),
    "no guard holds": (Case("exclusive", (Way(NOT_MET), Way(NOT_MET)), NOT_MET), Played(None, ("$cancel",), ())),
    "a guard that nobody can tell beside one that holds": (
        Case("exclusive", (Way(MET), Way(UNCLEAR)), NOT_MET),
        Played("t0", ("$cancel",), ()),
    ),
    "a guard rules its condition out": (
        Case("exclusive", (Way(NOT_MET, condition=MET), Way(MET, condition=MET)), NOT_MET),
        Played("t1", ("t1", "$cancel"), ()),
    ),
    "otherwise": (Case("exclusive", (Way(NOT_MET), Way(otherwise=True)), MET), Played("t1", (), ())),
    "otherwise, where nobody can tell": (Case("exclusive", (Way(UNCLEAR), Way(otherwise=True)), NOT_MET), Played(None, ("$cancel",), ())),
    "the first that holds": (Case("first", (Way(NOT_MET), Way(MET), Way(MET)), MET), Played("t1", (), ())),
    "what nobody can tell holds back what comes after it": (Case("first", (Way(UNCLEAR), Way(MET)), MET), Played(None, (), ())),
    "a condition before a guard that holds": (
        Case("first", (Way(condition=NOT_MET), Way(MET), Way(condition=MET)), MET),
        Played("t1", ("t0",), ()),
    ),
    "giving up comes last": (Case("first", (Way(condition=MET), Way(condition=MET)), MET), Played("t0", ("t0", "t1", "$cancel"), ())),
    "a check that nothing needs is not run": (
        Case("exclusive", (Way(NOT_MET, (MET,)), Way(MET, (MET,))), NOT_MET),
        Played("t1", (), ("c1.0",)),
    ),
    "a check behind the first that holds is not run": (Case("first", (Way(MET), Way(checks=(MET,))), NOT_MET), Played("t0", (), ())),
    "a check that could not be run": (Case("exclusive", (Way(checks=(UNCLEAR,)),), NOT_MET), Played(None, ("$cancel",), ("c0.0",))),
}


@pytest.mark.parametrize("name", TABLE)
def test_what_is_asked_run_and_taken(name: str) -> None:
    case, expected = TABLE[name]
    assert expected == play(case, case.guards)


def test_a_met_that_its_citations_do_not_bear_out_holds_back_what_comes_after_it() -> None:
    case = Case("first", (Way(condition=MET), Way(condition=MET)), NOT_MET)
    weak = Judgement("t0", MET, MET, "so it is")
    given_ = [weak, judged(case, "t1"), judged(case, "$cancel")]
    ruling = rule(case.state, given_, frozenset(), frozenset(), ())
    assert isinstance(ruling, Rejected)
    assert RejectionCode.INDETERMINATE is ruling.code
