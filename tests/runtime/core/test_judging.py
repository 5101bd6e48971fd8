"""How a verifier's results become a ruling: every row of the table, and that weakening opens no way."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core import limits
from stateward.runtime.core.events import Citation, EntryCitation, FailureCause, FileCitation, Judgement, RejectionCode, Verdict
from stateward.runtime.core.judging import Passed, Rejected, output_fault, rule, rule_again
from tests.runtime.flows import FORK
from tests.runtime.judgements import INDETERMINATE, MET, NOT_MET, judgement, judgements

HERE = FORK.state("a")
WAYS = tuple(each.id for each in HERE.transitions)
BROKEN = EntryCitation("E00000099")
SOUND = EntryCitation("E00000001")


def fault_of(*given: Judgement) -> str | None:
    return output_fault(WAYS, given)


def the(transition: str, verdict: Verdict = NOT_MET, **changes: Any) -> tuple[Judgement, ...]:
    """All results, the one for `transition` with changes."""
    every = judgements(FORK, "a", {transition: verdict})
    return tuple(replace(each, **changes) if each.transition == transition else each for each in every)


def test_exactly_one_condition_met_passes_in_order_of_declaration_whatever_the_order_of_the_results() -> None:
    given = judgements(FORK, "a", {"y": MET, "z": INDETERMINATE})
    assert rule(HERE, given, frozenset()) == rule(HERE, tuple(reversed(given)), frozenset()) == Passed("y", given)


@pytest.mark.parametrize("verdicts", list(product(Verdict, repeat=len(WAYS))), ids="-".join)
def test_every_combination_of_verdicts_has_the_outcome_of_the_table(verdicts: tuple[Verdict, ...]) -> None:
    given = judgements(FORK, "a", dict(zip(WAYS, verdicts, strict=True)))
    ruling = rule(HERE, given, frozenset())
    if verdicts.count(MET) == 1:
        assert Passed(WAYS[verdicts.index(MET)], given) == ruling
        return
    assert isinstance(ruling, Rejected)
    if verdicts.count(MET) > 1:
        expected = RejectionCode.MULTIPLE_CONDITIONS_MET
    elif INDETERMINATE in verdicts:
        expected = RejectionCode.INDETERMINATE
    else:
        expected = RejectionCode.NO_CONDITION_MET
    assert (expected, given) == (ruling.code, ruling.judgements)


def test_the_synthetic_transition_counts_for_ambiguity() -> None:
    ruling = rule(HERE, judgements(FORK, "a", {"x": MET, "$cancel": MET}), frozenset())
    assert isinstance(ruling, Rejected)
    assert (ruling.code, ruling.message) == (RejectionCode.MULTIPLE_CONDITIONS_MET, "2 conditions are met: `x` and `$cancel`")


def test_ambiguity_is_judged_before_the_citations_are() -> None:
    given = (judgement("x", MET, citations=(BROKEN,)), *judgements(FORK, "a", {"y": MET})[1:])
    ruling = rule(HERE, given, frozenset({BROKEN}))
    assert isinstance(ruling, Rejected)
    assert ruling.code is RejectionCode.MULTIPLE_CONDITIONS_MET


@pytest.mark.parametrize("citation", [BROKEN, FileCitation("src/a.py", 1, 2, "quote")])
def test_a_citation_that_does_not_resolve_weakens_met_to_indeterminate(citation: Citation) -> None:
    ruling = rule(HERE, the("x", MET, citations=(SOUND, citation)), frozenset({citation}))
    assert isinstance(ruling, Rejected)
    weakened = ruling.judgements[0]
    assert (RejectionCode.INDETERMINATE, "no condition is met; could not check `x`") == (ruling.code, ruling.message)
    assert (MET, INDETERMINATE) == (weakened.verdict, weakened.checked)
    assert weakened.note.endswith("which does not resolve")
    assert FailureCause.UNVERIFIABLE is weakened.cause


def test_a_broken_citation_of_another_verdict_is_noted_and_changes_nothing() -> None:
    ruling = rule(HERE, the("x", NOT_MET, citations=(BROKEN,)), frozenset({BROKEN}))
    assert isinstance(ruling, Rejected)
    assert (RejectionCode.NO_CONDITION_MET, NOT_MET) == (ruling.code, ruling.judgements[0].checked)
    expected = "cites `E00000099`, which does not resolve"
    assert expected == ruling.judgements[0].note


def test_what_a_verifier_claims_of_the_check_is_not_believed() -> None:
    given = the("x", INDETERMINATE, checked=MET, note="trust me", cause=FailureCause.UNVERIFIABLE)
    ruling = rule(HERE, given, frozenset())
    assert isinstance(ruling, Rejected)
    assert (INDETERMINATE, "", None) == (ruling.judgements[0].checked, ruling.judgements[0].note, ruling.judgements[0].cause)


# --- evidence -----------------------------------------------------------------------------------------------------------------------

CLAIM = EntryCitation("E00000002")


@pytest.mark.parametrize(
    ("cited", "note"), [((), "cites no evidence"), ((CLAIM,), "cites no evidence that counts")], ids=["nothing", "claim"]
)
def test_a_met_that_cites_no_evidence_that_counts_is_unverifiable(cited: tuple[Citation, ...], note: str) -> None:
    ruling = rule(HERE, the("x", MET, citations=cited), frozenset(), frozenset({SOUND}))
    assert isinstance(ruling, Rejected)
    doubted = ruling.judgements[0]
    assert (RejectionCode.INDETERMINATE, INDETERMINATE, note, FailureCause.UNVERIFIABLE) == (
        ruling.code,
        doubted.checked,
        doubted.note,
        doubted.cause,
    )


def test_a_met_that_cites_one_thing_that_counts_may_cite_claims_beside_it() -> None:
    assert isinstance(rule(HERE, the("x", MET, citations=(CLAIM, SOUND)), frozenset(), frozenset({SOUND})), Passed)


def test_where_no_evidence_is_asked_for_a_met_needs_none() -> None:
    assert isinstance(rule(HERE, the("x", MET), frozenset()), Passed)


def test_the_way_out_by_cancelling_needs_evidence_like_any_other() -> None:
    assert isinstance(rule(HERE, the("$cancel", MET), frozenset(), frozenset({SOUND})), Rejected)
    assert isinstance(rule(HERE, the("$cancel", MET, citations=(SOUND,)), frozenset(), frozenset({SOUND})), Passed)


def test_other_verdicts_than_met_need_no_evidence() -> None:
    ruling = rule(HERE, the("x", NOT_MET), frozenset(), frozenset())
    assert isinstance(ruling, Rejected)
    assert (RejectionCode.NO_CONDITION_MET, "", None) == (ruling.code, ruling.judgements[0].note, ruling.judgements[0].cause)


def test_two_conditions_met_are_ambiguous_though_only_one_cites_evidence() -> None:
    given = (*the("x", MET, citations=(SOUND,))[:1], *the("y", MET)[1:])
    ruling = rule(HERE, given, frozenset(), frozenset({SOUND}))
    assert isinstance(ruling, Rejected)
    assert ruling.code is RejectionCode.MULTIPLE_CONDITIONS_MET


@pytest.mark.parametrize("counting", [None, frozenset(), frozenset({SOUND})])
def test_what_was_checked_when_it_was_recorded_is_ruled_on_again_as_it_was(counting: frozenset[Citation] | None) -> None:
    for cited in ((), (SOUND,), (BROKEN, SOUND), (CLAIM,)):
        ruling = rule(HERE, the("x", MET, citations=cited), frozenset({BROKEN}), counting)
        assert ruling == rule_again(HERE, ruling.judgements)


VERDICTS = st.tuples(*[st.sampled_from(Verdict)] * len(WAYS))
CITED = st.tuples(*[st.sets(st.sampled_from([SOUND, BROKEN, EntryCitation("E7"), FileCitation("a", 1, 1, "b")]))] * len(WAYS))
UNRESOLVED = st.frozensets(st.sampled_from([SOUND, BROKEN, EntryCitation("E7"), FileCitation("a", 1, 1, "b")]))


@given(VERDICTS, CITED, UNRESOLVED, UNRESOLVED)
def test_weakening_a_citation_never_enables_a_move(
    verdicts: tuple[Verdict, ...], cited: tuple[set[Citation], ...], fewer: frozenset[Citation], more: frozenset[Citation]
) -> None:
    given = tuple(judgement(way, verdict, citations=tuple(names)) for way, verdict, names in zip(WAYS, verdicts, cited, strict=True))
    weaker = rule(HERE, given, fewer | more)
    stronger = rule(HERE, given, fewer)
    if isinstance(weaker, Passed):
        assert isinstance(stronger, Passed)
        assert weaker.transition == stronger.transition


@given(VERDICTS, CITED, UNRESOLVED, UNRESOLVED, UNRESOLVED)
def test_evidence_that_counts_no_more_never_enables_a_move(
    verdicts: tuple[Verdict, ...],
    cited: tuple[set[Citation], ...],
    unresolved: frozenset[Citation],
    counting: frozenset[Citation],
    lost: frozenset[Citation],
) -> None:
    given = tuple(judgement(way, verdict, citations=tuple(names)) for way, verdict, names in zip(WAYS, verdicts, cited, strict=True))
    weaker, stronger = rule(HERE, given, unresolved, counting - lost), rule(HERE, given, unresolved, counting)
    undemanding = rule(HERE, given, unresolved)
    if isinstance(weaker, Passed):
        assert isinstance(stronger, Passed)
        assert isinstance(undemanding, Passed)
        assert weaker.transition == stronger.transition == undemanding.transition


@given(VERDICTS, st.integers(0, len(WAYS) - 1), st.sampled_from([NOT_MET, INDETERMINATE]))
def test_weakening_a_verdict_of_a_state_that_would_not_move_for_want_of_a_met_enables_nothing(
    verdicts: tuple[Verdict, ...], at: int, weakened: Verdict
) -> None:
    before = rule(HERE, judgements(FORK, "a", dict(zip(WAYS, verdicts, strict=True))), frozenset())
    changed = (*verdicts[:at], weakened, *verdicts[at + 1 :])
    after = rule(HERE, judgements(FORK, "a", dict(zip(WAYS, changed, strict=True))), frozenset())
    if verdicts.count(MET) <= 1 and isinstance(after, Passed):
        assert isinstance(before, Passed)
        assert before.transition == after.transition


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((), "there is no result for `x`"),
        (judgements(FORK, "a", {})[:-1], "there is no result for `$cancel`"),
        ((*judgements(FORK, "a", {}), judgement("y", MET)), "there are 2 results for `y`"),
        ((judgement("fnish", MET),), "a result names `fnish`, which is none of `x`, `y`, `z` and `$cancel`"),
        ((judgement("x\n", MET),), r"a result names `x\n`, which is none of `x`, `y`, `z` and `$cancel`"),
        ((judgement("end", MET),), "a result names `end`, which is none of `x`, `y`, `z` and `$cancel`"),
        (
            (judgement("It is done: x", MET),),
            "a result names `It is done: x`, which is none of `x`, `y`, `z` and `$cancel`",
        ),
        (the("z", rationale=" \n"), "the result for `z` has a blank rationale"),
        (the("z", MET, missing=("tests not run",)), "the result for `z` says `met` and that something is missing"),
        (the("z", NOT_MET, missing=()), "the result for `z` says `not_met` and names nothing that is missing"),
        (the("z", NOT_MET, missing=(" ",)), "the result for `z` names a blank thing as missing"),
        (judgements(FORK, "a", {}) * 17, "68 results are over the limit of 64"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_results_that_cannot_be_ruled_on_are_rejected_with_the_reason(given: tuple[Judgement, ...], expected: str) -> None:
    assert expected == fault_of(*given)
    assert Rejected(RejectionCode.INVALID_VERIFIER_OUTPUT, expected) == rule(HERE, given, frozenset())


def test_a_fault_of_the_output_stands_before_ambiguity() -> None:
    given = (*judgements(FORK, "a", {"x": MET, "y": MET}), judgement("z", NOT_MET))
    ruling = rule(HERE, given, frozenset())
    assert isinstance(ruling, Rejected)
    assert ruling.code is RejectionCode.INVALID_VERIFIER_OUTPUT


LIMITS = {
    "rationale": ("rationale", "é" * (limits.RATIONALE_BYTES_MAX // 2), "é" * (limits.RATIONALE_BYTES_MAX // 2) + "x"),
    "missing things": ("missing", ("x",) * limits.MISSING_MAX, ("x",) * (limits.MISSING_MAX + 1)),
    "a missing thing": ("missing", ("x" * limits.MISSING_BYTES_MAX,), ("x" * (limits.MISSING_BYTES_MAX + 1),)),
    "citations": ("citations", (SOUND,) * limits.CITATIONS_MAX, (SOUND,) * (limits.CITATIONS_MAX + 1)),
    "reference": ("citations", (EntryCitation("E" * limits.REFERENCE_BYTES_MAX),), (EntryCitation("E" * 65),)),
    "line": ("citations", (FileCitation("p", 1, limits.LINES_MAX, ""),), (FileCitation("p", 1, limits.LINES_MAX + 1, ""),)),
    "first line": ("citations", (FileCitation("p", 1, 1, ""),), (FileCitation("p", 0, 1, ""),)),
    "order of lines": ("citations", (FileCitation("p", 2, 2, ""),), (FileCitation("p", 2, 1, ""),)),
    "path": ("citations", (FileCitation("p" * limits.PATH_BYTES_MAX, 1, 1, ""),), (FileCitation("p" * 4097, 1, 1, ""),)),
    "quote": ("citations", (FileCitation("p", 1, 1, "q" * limits.QUOTE_BYTES_MAX),), (FileCitation("p", 1, 1, "q" * 16385),)),
}


@pytest.mark.parametrize(("field", "fits", "over"), LIMITS.values(), ids=LIMITS.keys())
def test_each_limit_accepts_its_exact_value_and_refuses_one_more(field: str, fits: Any, over: Any) -> None:
    accepted, refused = fault_of(*the("y", **{field: fits})), fault_of(*the("y", **{field: over}))
    assert accepted is None
    assert refused is not None
    assert refused.startswith("the result for `y` ")


def test_the_results_together_have_a_limit() -> None:
    quote = FileCitation("p", 1, 1, "q" * limits.QUOTE_BYTES_MAX)
    given = tuple(replace(each, citations=(quote,) * 16) for each in judgements(FORK, "a", {}))
    assert f"the results are over the limit of {limits.RESULTS_BYTES_MAX} bytes" == fault_of(*given)
