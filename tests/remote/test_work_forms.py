"""Values of Workers travel without loss, and nothing else is taken for one."""

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from datetime import UTC, datetime
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stateward.runtime.ports import (
    Answered,
    AttemptShown,
    Cursor,
    EntryShown,
    HostRecord,
    InProgress,
    LogPage,
    Recorded,
    RecordedEntry,
    Standing,
    Submitted,
    Waiting,
    Written,
)
from stateward.runtime.remote import work_forms as forms
from stateward.runtime.session.segments import FlowSegment, TextSegment

NUMBER = st.integers(1, 2**53 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=8), inner, max_size=2),
    max_leaves=4,
)
VALUES_BY_NAME = st.dictionaries(st.text(max_size=8), JSON, max_size=2)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: st.text(max_size=8),
    int: NUMBER,
    datetime: st.datetimes(timezones=st.just(UTC)),
    Any: JSON,
    Mapping[str, Any]: VALUES_BY_NAME,
    Mapping[str, object]: VALUES_BY_NAME,
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Draw values of a type, in the bounds that forms have."""
    if hint in PLAIN:
        return PLAIN[hint]
    if is_dataclass(hint):
        return st.builds(hint, **{name: values(each) for name, each in get_type_hints(hint).items()})
    inner = get_args(hint)
    if get_origin(hint) is tuple:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    return st.one_of(*map(values, inner)) if inner else st.from_type(hint)


VALUES: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (forms.StandingForm, values(Standing)),
    (forms.AskedForm, values(Answered | InProgress | Waiting)),
    (forms.AttemptForm, values(AttemptShown)),
    (forms.SubmittedForm, values(Submitted)),
    (forms.WrittenForm, values(Written)),
    (forms.CursorForm, values(Cursor)),
    (forms.RecordForm, values(HostRecord)),
    (forms.RecordedForm, values(Recorded)),
    (forms.RecordedEntryForm, values(RecordedEntry)),
    (forms.FlowSegmentForm, values(FlowSegment)),
    (forms.TextSegmentForm, values(TextSegment)),
    (forms.EntryForm, values(EntryShown)),
    (forms.LogForm, values(LogPage)),
]


@pytest.mark.parametrize(("form", "strategy"), VALUES, ids=[form.__name__ for form, _ in VALUES])
def test_a_value_comes_out_as_it_went_in(form: Any, strategy: st.SearchStrategy[Any]) -> None:
    @given(strategy)
    def travels(value: Any) -> None:
        assert value == form.model_validate_json(form.of(value).model_dump_json()).value()

    travels()


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda data: data | {"more": 1},
        lambda data: data | {"payload": "no base64!"},
        lambda data: data | {"by": 7},
        lambda data: {name: value for name, value in data.items() if name != "key"},
    ],
    ids=["unknown field", "no base64", "another type", "missing field"],
)
def test_what_is_not_of_the_form_is_no_record(spoilt: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    data = {"kind": "note", "payload": "eA==", "key": {"host": "h", "session": "s", "use": "u"}}
    assert b"x" == forms.RecordForm.model_validate(data).value().payload
    with pytest.raises(ValidationError):
        forms.RecordForm.model_validate(spoilt(data))
