"""JSON of another program is taken apart without being rewritten, and nothing in it makes the program fail otherwise than in one way."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.runtime.surfaces.hooks.calls import own_tool
from stateward.runtime.surfaces.hooks.claude import CLAUDE
from stateward.runtime.surfaces.hooks.codex import CODEX
from stateward.runtime.surfaces.hooks.reading import HookEvent, HookProblem
from stateward.runtime.surfaces.hooks.scanning import Unreadable, elements_of, members_of, object_of, text_in

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=5)
NEARLY = st.text('{}[]",:0.e-ntf\\u8 \n', max_size=40)


def same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


@given(OBJECTS, st.sampled_from([None, 1]), st.booleans())
def test_the_members_of_an_object_are_what_stood_there(value: dict[str, Any], indent: int | None, ascii_only: bool) -> None:
    members = members_of(json.dumps(value, indent=indent, ensure_ascii=ascii_only))
    assert list(value) == list(members)
    assert all(same(value[name], json.loads(raw)) for name, raw in members.items())


@given(st.lists(VALUES, max_size=5))
def test_the_elements_of_an_array_are_what_stood_there(value: list[Any]) -> None:
    assert same(value, [json.loads(each) for each in elements_of(json.dumps(value, indent=1))])


@given(NEARLY | st.text(max_size=20) | st.binary(max_size=40).map(lambda data: data.decode("utf-8", "surrogateescape")))
def test_any_other_text_is_unreadable_exactly_where_it_is_no_json(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    for read, kind in ((members_of, dict), (elements_of, list)):
        if isinstance(value, kind):
            read(text)
        else:
            with pytest.raises(Unreadable):
                read(text)


@given(OBJECTS, st.sampled_from(HookEvent), st.sampled_from([CLAUDE, CODEX]))
def test_any_object_is_a_call_or_a_problem(value: dict[str, Any], event: HookEvent, host: Any) -> None:
    names = {"hook_event_name": "Stop", "session_id": "s-1"}
    for given_value in (value, {**value, **names}):
        try:
            host.read(event, members_of(json.dumps(given_value)))
        except HookProblem:
            continue


LINES = st.fixed_dictionaries(
    {"type": st.sampled_from(["assistant", "user", "response_item"]) | VALUES},
    optional={
        "message": st.fixed_dictionaries({}, optional={"content": st.lists(OBJECTS, max_size=3) | VALUES}) | VALUES,
        "payload": OBJECTS | VALUES,
        "uuid": VALUES,
    },
)


@given(LINES, st.sampled_from([CLAUDE, CODEX]))
def test_any_line_tells_of_something_or_is_unreadable(value: Any, host: Any) -> None:
    try:
        parts = host.line(json.dumps(value))
    except (Unreadable, HookProblem):
        return
    assert all(json.loads(each.payload) is not None for each in parts)


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, '{"a": ' + "9" * 100_000 + "}", '{"a": 1e999999}'])
def test_what_is_deep_or_long_is_read_or_unreadable(deep: str) -> None:
    if deep.endswith("}"):
        assert deep[6:-1] == members_of(deep)["a"]
    else:
        with pytest.raises(Unreadable):
            members_of(deep)


def test_a_text_is_given_as_what_it_says_and_anything_else_as_empty() -> None:
    members = members_of('{"a": "\\ud800\\n", "b": 1, "c": null}')
    assert ["\ud800\n", "", "", ""] == [text_in(members, name) for name in "abcd"]
    assert '{"x":1,"y":"\\ud800"}' == object_of(x="1", y='"\\ud800"')


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("mcp__stateward__request_flow_transition", "request_flow_transition"),
        ("mcp__plugin_stateward_stateward__flow_status", "flow_status"),
        ("mcp__stateward", ""),
        ("mcp__statewarden__flow_status", None),
        ("mcp__other__stateward", None),
        ("Bash", None),
        ("", None),
    ],
)
def test_which_tools_are_stateward_s_own(name: str, own: str | None) -> None:
    assert own == own_tool(name)
