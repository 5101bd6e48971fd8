"""The definition that a log pins reads like the compiler's own, without its library."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from stateward.compiler.flow.canonical import canonical_bytes
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.session.pinned import read_pinned
from stateward.runtime.session.strict import Malformed
from tests.runtime.flows import FORK, HALF, REVIEW

CANONICAL = canonical_bytes(REVIEW)


@pytest.mark.parametrize("compiled", [FORK, REVIEW], ids=lambda each: each.name)
def test_a_pinned_definition_says_all_that_the_compiled_one_says(compiled: CompiledFlowDefinition) -> None:
    pinned = read_pinned(canonical_bytes(compiled))
    assert (compiled.schema_version, compiled.name, compiled.initial) == (pinned.schema_version, pinned.name, pinned.initial)
    for expected, actual in zip(compiled.states, pinned.states, strict=True):
        assert actual == pinned.state(expected.id)
        assert (expected.id, expected.instructions, expected.terminal) == (actual.id, actual.instructions, actual.terminal)
        for way, found in zip(expected.transitions, actual.transitions, strict=True):
            assert found == actual.transition(way.id)
            assert (way.id, way.target, way.condition, way.synthetic) == (found.id, found.target, found.condition, found.synthetic)
        assert actual.transition("no such way") is None


def test_a_state_that_a_pinned_definition_does_not_have_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        read_pinned(CANONICAL).state("no such state")


def _changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    data = json.loads(CANONICAL)
    change(data)
    return json.dumps(data).encode()


BROKEN = {
    "no JSON": b"{",
    "no UTF-8": CANONICAL.replace(b"Do ", b"\xff", 1),
    "a mark before it": b"\xef\xbb\xbf" + CANONICAL,
    "another encoding": CANONICAL.decode().encode("utf-16"),
    "an array": b"[]",
    "a member more": _changed(lambda data: data.update(more=1)),
    "a member less": _changed(lambda data: data.pop("initial")),
    "a text for a number": _changed(lambda data: data.update(schema_version="1")),
    "a truth for a number": _changed(lambda data: data.update(schema_version=True)),
    "a fraction for a number": _changed(lambda data: data.update(schema_version=1.5)),
    "a number for a text": _changed(lambda data: data.update(name=1)),
    "nothing for a text": _changed(lambda data: data["states"][0].update(instructions=None)),
    "a number for a truth": _changed(lambda data: data["states"][0].update(terminal=0)),
    "an object for an array": _changed(lambda data: data.update(states={})),
    "a way with a member more": _changed(lambda data: data["states"][0]["transitions"][0].update(more=1)),
    "half of a character": _changed(lambda data: data["states"][0].update(instructions=HALF)),
}


@pytest.mark.parametrize("canonical", BROKEN.values(), ids=BROKEN)
def test_what_the_compiler_does_not_take_for_a_definition_is_none_here(canonical: bytes) -> None:
    with pytest.raises(ValueError):
        CompiledFlowDefinition.model_validate_json(canonical)
    with pytest.raises(Malformed):
        read_pinned(canonical)


def test_a_text_that_only_looks_like_half_of_a_character_is_kept() -> None:
    canonical = _changed(lambda data: data["states"][0].update(instructions="C:\\ud800 \U0001f600"))
    assert "C:\\ud800 \U0001f600" == read_pinned(canonical).states[0].instructions
    assert "C:\\ud800 \U0001f600" == CompiledFlowDefinition.model_validate_json(canonical).states[0].instructions


def test_reading_a_pinned_definition_loads_no_library() -> None:
    code = "import sys; from stateward.runtime.session.pinned import read_pinned; print(sorted({'pydantic', 'lark'} & set(sys.modules)))"
    assert "[]\n" == subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
