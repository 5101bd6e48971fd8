"""The forms of the wire and the values they are made of: nothing is lost on the way, and nothing else gets through."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stateward.compiler.diagnostics.json import diagnostic_json
from stateward.compiler.flow.canonical import canonical_bytes
from stateward.compiler.pipeline import compile_source
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import (
    ActKind,
    Brought,
    BundleConflict,
    Conflict,
    Difference,
    Diverged,
    FlowAct,
    FlowRow,
    NewRevision,
    NotCompiled,
    Removed,
    Revision,
    RevisionFacts,
    Saved,
    Snapshot,
    TakenIn,
    Unresolved,
)
from stateward.runtime.remote import forms

DIGEST = "sha256:" + 64 * "a"
SOURCE = b"""\xef\xbb\xbfschema_version = 1;\r
name = "paper";\r
initial = "write";\r
states = {\r
    write = { instructions = "Write \xe2\x80\xa6 it."; transitions = { done = { target = "end"; condition = "It is."; }; }; };\r
    end = { instructions = "Rest."; terminal = true; };\r
};\r
"""

texts = st.text(max_size=40)
numbers = st.integers(1, 2**53 - 1)
times = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 -- bounds are naive
facts = st.builds(RevisionFacts, texts, texts, texts, numbers, st.just(DIGEST), st.just(DIGEST), texts, texts, texts, times)
contents = texts.map(lambda text: text.encode("utf-8")) | st.binary(max_size=40)
definitions = texts.map(lambda text: text.encode("utf-8"))
revisions = st.builds(Revision, texts, texts, texts, numbers, st.just(DIGEST), st.just(DIGEST), texts, texts, texts, times, contents)
news = st.builds(NewRevision, texts, contents, st.just(DIGEST), st.just(DIGEST), definitions, texts, texts, texts, times)
acts = st.builds(
    FlowAct, texts, texts, numbers, st.sampled_from(ActKind), numbers, numbers, texts, texts, times, st.sampled_from(["", DIGEST]), texts
)
differences = st.builds(Difference, texts, texts, texts, st.booleans())
conflicts = st.builds(
    Conflict, texts, st.none() | revisions, st.none() | numbers, st.none() | revisions, st.none() | acts, st.none() | differences
)
parted = st.builds(
    BundleConflict,
    st.just(DIGEST),
    st.lists(st.builds(Diverged, texts, numbers, facts, news), max_size=3).map(tuple),
)
taken = st.builds(
    TakenIn,
    st.just(DIGEST),
    texts,
    st.lists(st.builds(Brought, texts, numbers, st.integers(0, 99), st.booleans(), st.booleans()), max_size=3).map(tuple),
)


def over_the_wire(form: forms.Form) -> Any:
    """Give a form as it is read again on the other side."""
    return type(form).model_validate_json(form.model_dump_json())


def problem(code: str, **members: Any) -> forms.ProblemForm:
    sent = forms.ProblemForm(type=f"{forms.PROBLEM_URN}{code}", title="", status=400, detail="so", code=code, **members)
    return forms.ProblemForm.model_validate_json(sent.json_bytes())


@given(facts)
def test_facts_of_a_revision_come_through_whole(value: RevisionFacts) -> None:
    assert value == over_the_wire(forms.RevisionFactsForm.of(value)).value()


@given(revisions)
def test_a_revision_comes_through_with_every_byte_of_its_source(value: Revision) -> None:
    assert value == over_the_wire(forms.RevisionForm.of_revision(value)).revision_value()


@given(news)
def test_a_revision_of_a_bundle_comes_through_with_its_definition(value: NewRevision) -> None:
    assert value == over_the_wire(forms.NewRevisionForm.of(value)).value()


@given(st.builds(FlowRow, facts, st.none() | acts))
def test_a_listed_flow_comes_through_with_how_it_was_removed(value: FlowRow) -> None:
    assert value == over_the_wire(forms.FlowRowForm.of(value)).value()


@given(st.builds(Saved, revisions, st.booleans()))
def test_the_answer_to_a_save_comes_through(value: Saved) -> None:
    assert value == over_the_wire(forms.SavedForm.of(value)).value()


@given(st.builds(Removed, acts, st.booleans()))
def test_the_answer_to_a_removal_comes_through(value: Removed) -> None:
    assert value == over_the_wire(forms.RemovedForm.of(value)).value()


@given(differences)
def test_a_difference_comes_through(value: Difference) -> None:
    assert value == over_the_wire(forms.DifferenceForm.of(value)).value()


@given(taken)
def test_the_answer_to_a_bundle_comes_through(value: TakenIn) -> None:
    assert value == over_the_wire(forms.TakenInForm.of(value)).value()


@given(conflicts)
def test_a_conflict_comes_through_as_a_problem(value: Conflict) -> None:
    assert value == problem("base_stale", **forms.conflict_members(value)).conflict()


@given(parted)
def test_histories_that_part_come_through_as_a_problem(value: BundleConflict) -> None:
    assert value == problem("histories_part", **forms.bundle_conflict_members(value)).bundle_conflict()


def test_a_snapshot_comes_through_with_the_exact_bytes_of_its_definition() -> None:
    compiled = compile_source(SOURCE, name="paper.dcdl", slug="paper")
    assert compiled.definition is not None
    assert compiled.definition_digest is not None
    canonical = canonical_bytes(compiled.definition)
    value = Snapshot("w", "f", "workspace:paper", 3, compiled.content_digest, compiled.definition_digest, compiled.definition, canonical)
    assert value == over_the_wire(forms.SnapshotForm.of(value)).value()


def test_a_byte_order_mark_and_line_ends_of_a_source_stay() -> None:
    asked = over_the_wire(forms.SaveForm(source=forms.text_of(SOURCE)))
    assert SOURCE == forms.bytes_of(asked.source)


def test_diagnostics_come_through_with_what_is_null_in_them() -> None:
    compiled = compile_source(b"schema_version = 1;\n", name="paper.dcdl", slug="paper")
    diagnostics = tuple(diagnostic_json(each) for each in compiled.diagnostics)
    assert diagnostics
    assert NotCompiled(diagnostics) == problem("not_compiled", diagnostics=diagnostics).not_compiled()


def test_a_selector_that_names_nothing_comes_through_with_its_help() -> None:
    assert Unresolved("flow_not_found", "so", "save it") == problem("flow_not_found", help="save it").unresolved()


def test_a_refusal_comes_through_with_what_is_allowed_instead() -> None:
    expected = Refusal(RefusalCode.NAME_DIFFERS, "so", ("name it `paper`",))
    assert expected == problem("name_differs", allowed=("name it `paper`",)).refusal()


def test_a_refusal_of_a_code_that_is_not_known_here_is_none() -> None:
    with pytest.raises(ValueError, match="of_tomorrow"):
        problem("of_tomorrow").refusal()


def test_a_member_that_a_problem_does_not_bring_is_left_out() -> None:
    sent = forms.ProblemForm(type="t", title="t", status=404, detail="d", code="flow_not_found")
    assert b'{"type":"t","title":"t","status":404,"detail":"d","code":"flow_not_found"}' == sent.json_bytes()


FACTS = RevisionFacts("w", "f", "s", 1, DIGEST, DIGEST, "c", "a", "", datetime(2026, 1, 1, tzinfo=UTC))
REFUSED: dict[str, Callable[[], object]] = {
    "a field that is not known": lambda: forms.SaveForm.model_validate_json('{"source": "", "sauce": 1}'),
    "a text for a truth": lambda: forms.SaveForm.model_validate_json('{"source": "", "dry_run": "yes"}'),
    "a text for a number": lambda: forms.RestoreForm.model_validate_json('{"revision": "1"}'),
    "a number that not every program reads": lambda: forms.RestoreForm.model_validate_json('{"revision": 9007199254740992}'),
    "a note with a NUL": lambda: forms.SaveForm.model_validate_json('{"source": "", "note": "\\u0000"}'),
    "half a surrogate pair": lambda: forms.SaveForm.model_validate_json('{"source": "\\ud800"}'),
    "a source in base64 that is none": lambda: forms.RevisionForm(
        **{**forms.RevisionFactsForm.of(FACTS).model_dump(), "source": "a\nb", "encoding": "base64"}
    ),
    "a source over the limit": lambda: forms.SaveForm(source="x" * (forms.SOURCE_CHARACTERS_MAX + 1)),
    "a time without an offset": lambda: forms.RevisionFactsForm.of(
        RevisionFacts("w", "f", "s", 1, DIGEST, DIGEST, "c", "a", "", datetime(2026, 1, 1))  # noqa: DTZ001 -- that is the point
    ),
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED.keys())
def test_a_form_refuses(make: Callable[[], object]) -> None:
    with pytest.raises(ValidationError):
        make()


def test_a_time_keeps_its_microseconds() -> None:
    time = datetime(2026, 11, 30, 12, 0, 0, 1, tzinfo=UTC) + timedelta(days=1)
    value = RevisionFacts("w", "f", "s", 1, DIGEST, DIGEST, "c", "a", "", time)
    assert time == over_the_wire(forms.RevisionFactsForm.of(value)).value().created
