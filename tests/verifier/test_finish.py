"""The call that ends a verification: what is read of it, and everything that it is refused for."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.core import limits
from stateward.runtime.core.events import EntryCitation, FailureCause, FileCitation, Judgement, Verdict
from stateward.runtime.core.judging import output_fault
from stateward.runtime.verifier.arguments import FAULTS_MAX, REFUSAL_BYTES_MAX
from stateward.runtime.verifier.declared import ToolRefused
from stateward.runtime.verifier.finish import FINISH, parse_finish
from tests.verifier.logs import CANCEL, READY

QUESTIONS = (READY, CANCEL)


def result(name: str = "ready", verdict: str = "not_met", **changed: Any) -> dict[str, Any]:
    missing = ["a run of the tests"] if verdict == "not_met" else []
    return {"transition_id": name, "verdict": verdict, "rationale": "I looked.", "missing": missing, "citations": [], **changed}


def finish(*results: Any) -> dict[str, Any]:
    return {"results": list(results)}


def refusal(arguments: object) -> str:
    with pytest.raises(ToolRefused) as refused:
        parse_finish(arguments, QUESTIONS)
    return str(refused.value)


def test_results_are_read_in_the_order_of_the_questions() -> None:
    read = parse_finish(finish(result("$cancel"), result("ready", "met")), QUESTIONS)
    assert [("ready", Verdict.MET, Verdict.MET), ("$cancel", Verdict.NOT_MET, Verdict.NOT_MET)] == [
        (each.transition, each.verdict, each.checked) for each in read
    ]
    assert (("a run of the tests",), "I looked.") == (read[1].missing, read[1].rationale)


LINES = {"path": "a.py", "first_line": 1, "last_line": 2, "quote": "x\ny"}
CITATIONS = {
    "an entry": ({"entry": "E00000042"}, EntryCitation("E00000042")),
    "an entry, the rest null": ({"entry": "E1", **dict.fromkeys(LINES)}, EntryCitation("E1")),
    "an entry, the rest empty": ({"entry": "E1", "path": "", "first_line": 0, "last_line": 0, "quote": ""}, EntryCitation("E1")),
    "lines": (LINES, FileCitation("a.py", 1, 2, "x\ny")),
    "an empty line": ({**LINES, "entry": "", "quote": ""}, FileCitation("a.py", 1, 2, "")),
}


@pytest.mark.parametrize(("given", "expected"), CITATIONS.values(), ids=CITATIONS)
def test_a_citation_is_an_entry_or_lines_of_a_file(given: object, expected: object) -> None:
    read = parse_finish(finish(result(citations=[given]), result("$cancel")), QUESTIONS)
    assert (expected,) == read[0].citations


REFUSED: dict[str, tuple[object, str]] = {
    "nothing": (None, "what was given is no object"),
    "prose": ("all is met", "what was given is no object"),
    "the schema itself": (dict(FINISH.parameters), "`results` is missing"),
    "JSON in a code fence": ("```json\n{}\n```", "what was given is no object"),
    "no results": ({}, "`results` is missing"),
    "an empty list": (finish(), "there is no result for `ready`"),
    "results that are no array": ({"results": {"ready": "met"}}, "`results` is no array"),
    "a missing transition": (finish(result()), "there is no result for `$cancel`"),
    "a transition twice": (finish(result(), result(), result("$cancel")), "there are 2 results for `ready`"),
    "an unknown transition": (finish(result(), result("$cancel"), result("fnish")), "a result names `fnish`, which is none of `ready` and"),
    "a name with a line feed": (finish(result("ready\n"), result("$cancel")), r"a result names `ready\n`, which is none of"),
    "a name in another case": (finish(result("READY"), result("$cancel")), "a result names `READY`"),
    "a name with a blank": (finish(result(" ready"), result("$cancel")), "a result names ` ready`"),
    "reasoning in the name": (finish(result("ready, since the tests pass"), result("$cancel")), "a result names `ready, since"),
    "an unknown verdict": (finish(result(verdict="passed"), result("$cancel")), "`results[0].verdict` is none of `met`, `not_met` or `ind"),
    "a verdict in another case": (finish(result(verdict="Met"), result("$cancel")), "`results[0].verdict` is none of"),
    "a verdict that is true": (finish(result(verdict=True), result("$cancel")), "`results[0].verdict` is none of"),  # type: ignore[arg-type]
    "a name that is a number": (finish(result(1)), "`results[0].transition_id` is no text"),  # type: ignore[arg-type]
    "an unknown member": (finish(result(confidence=0), result("$cancel")), "`results[0].confidence` is no member of it"),
    "an unknown member outside": ({"results": [], "approve": True}, "`approve` is no member of it"),
    "a member left out": (finish({"transition_id": "ready"}), "`results[0].rationale` is missing"),
    "a blank rationale": (finish(result(rationale=" \n"), result("$cancel")), "the result for `ready` has a blank rationale"),
    "an invisible rationale": (finish(result(rationale="\u200b\u3164"), result("$cancel")), "has a rationale in which nothing can be seen"),
    "met with something missing": (
        finish(result(verdict="met", missing=["tests not run"]), result("$cancel")),
        "the result for `ready` says `met` and that something is missing",
    ),
    "not met with nothing missing": (
        finish(result(missing=[], rationale="all good"), result("$cancel")),
        "the result for `ready` says `not_met` and names nothing that is missing",
    ),
    "a blank thing missing": (
        finish(result(missing=["x", " "]), result("$cancel")),
        "the result for `ready` names a blank thing as missing",
    ),
    "an invisible thing missing": (
        finish(result(missing=["\u2060"]), result("$cancel")),
        "names a missing thing in which nothing can be seen",
    ),
    "missing as a text": (finish(result(missing="tests"), result("$cancel")), "`results[0].missing` is no array"),
    "a citation as a text": (finish(result(citations=["E00000001"]), result("$cancel")), "`results[0].citations[0]` is no object"),
    "a citation of nothing": (finish(result(citations=[{}]), result("$cancel")), "a citation is an entry alone, or a path with"),
    "a citation of both": (finish(result(citations=[{"entry": "E1", **LINES}]), result("$cancel")), "a citation is an entry alone"),
    "a citation without a quote": (
        finish(result(citations=[{**LINES, "quote": None}]), result("$cancel")),
        "a citation is an entry alone",
    ),
    "lines that are none": (
        finish(result(citations=[{**LINES, "first_line": 3}]), result("$cancel")),
        "the result for `ready` has a citation whose lines are none",
    ),
    "a line that is a text": (
        finish(result(citations=[{**LINES, "first_line": "1"}]), result("$cancel")),
        "`results[0].citations[0].first_line` is no whole number",
    ),
    "a line that is true": (
        finish(result(citations=[{**LINES, "first_line": True}]), result("$cancel")),
        "`results[0].citations[0].first_line` is no whole number",
    ),
    "too long a rationale": (
        finish(result(rationale="x" * (limits.RATIONALE_BYTES_MAX + 1)), result("$cancel")),
        "the result for `ready` has a rationale over the limit of 16384 bytes",
    ),
    "too many citations": (
        finish(result(citations=[{"entry": "E1"}] * (limits.CITATIONS_MAX + 1)), result("$cancel")),
        "the result for `ready` has more than 64 citations",
    ),
    "too many results": (finish(*[result()] * (limits.RESULTS_MAX + 1)), "65 results are over the limit of 64"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_a_call_that_cannot_be_a_result_is_refused_with_the_reason(arguments: object, message: str) -> None:
    """S-JUD-1, S-JUD-2, S-JUD-3: replies out of form, names of no transition, verdict and findings that disagree."""
    assert message in refusal(arguments)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    told = refusal(finish(result("done"), result("ready", missing=[]), result("ready", rationale=" "))).split("\n")
    assert [
        "a result names `done`, which is none of `ready` and `$cancel`",
        "there are 2 results for `ready`",
        "there is no result for `$cancel`",
        "the result for `ready` says `not_met` and names nothing that is missing",
        "the result for `ready` has a blank rationale",
    ] == told


@pytest.mark.parametrize(
    ("results", "inconsistent"),
    [
        ((result(verdict="met", missing=["x"]), result("$cancel")), True),
        ((result(missing=[]), result("$cancel", missing=[])), True),
        ((result(missing=[], rationale=" "), result("$cancel")), False),
        ((result(missing=[]), result("$cancel", rationale=" ")), False),
        ((result(missing=[]),), False),
        ((result(verdict="indeterminate", rationale=" "), result("$cancel")), False),
    ],
)
def test_a_call_whose_only_fault_is_that_it_contradicts_itself_is_told_apart(results: tuple[Any, ...], inconsistent: bool) -> None:
    """S-JUD-3."""
    with pytest.raises(ToolRefused) as refused:
        parse_finish(finish(*results), QUESTIONS)
    assert (FailureCause.INCONSISTENT if inconsistent else FailureCause.MALFORMED) is refused.value.cause


def test_what_is_told_is_bounded() -> None:
    many = finish(*[{f"m{each}": 1 for each in range(200)}] * 60)
    told = refusal(many)
    assert FAULTS_MAX + 1 == len(told.split("\n"))
    assert len(refusal({"x" * 1_000_000: 1}).encode()) <= REFUSAL_BYTES_MAX


def test_texts_at_their_limits_pass() -> None:
    full = result(
        rationale="x" * limits.RATIONALE_BYTES_MAX,
        missing=["m" * limits.MISSING_BYTES_MAX] * limits.MISSING_MAX,
        citations=[{"entry": "E1"}] * limits.CITATIONS_MAX,
    )
    assert 2 == len(parse_finish(finish(full, result("$cancel")), QUESTIONS))


def test_two_met_are_passed_on_for_the_runtime_to_refuse() -> None:
    read = parse_finish(finish(result(verdict="met"), result("$cancel", "met")), QUESTIONS)
    assert [Verdict.MET, Verdict.MET] == [each.verdict for each in read]


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
_RESULT = st.fixed_dictionaries(
    {
        "transition_id": st.sampled_from(["ready", "$cancel", "done"]) | _ANY,
        "verdict": st.sampled_from([str(each) for each in Verdict]) | _ANY,
        "rationale": st.just("I looked.") | _ANY,
        "missing": st.lists(st.text(max_size=5), max_size=2) | _ANY,
        "citations": st.lists(st.fixed_dictionaries({"entry": st.just("E00000001") | _ANY}), max_size=2) | _ANY,
    }
)


@given(st.fixed_dictionaries({"results": st.lists(_RESULT, max_size=3)}) | _ANY)
def test_whatever_is_given_is_refused_or_is_what_the_core_can_rule_on(arguments: object) -> None:
    read = _read(lambda: parse_finish(arguments, QUESTIONS))
    assert read is None or output_fault(("ready", "$cancel"), read) is None


def _read(parse: Callable[[], tuple[Judgement, ...]]) -> tuple[Judgement, ...] | None:
    try:
        return parse()
    except ToolRefused:
        return None


def test_the_declared_form_is_closed_at_every_level_and_plain() -> None:
    text = json.dumps(FINISH.parameters)
    assert not any(word in text for word in ("anyOf", "oneOf", "allOf", "$ref", "$defs", "$schema"))
    assert [True] * 3 == [each["additionalProperties"] is False for each in _objects(FINISH.parameters)]
    assert [str(each) for each in Verdict] == FINISH.parameters["properties"]["results"]["items"]["properties"]["verdict"]["enum"]


def _objects(schema: Any) -> list[Any]:
    if isinstance(schema, list):
        return [found for each in schema for found in _objects(each)]
    if not isinstance(schema, dict):
        return []
    here = [schema] if schema.get("type") == "object" else []
    return here + [found for each in schema.values() for found in _objects(each)]
