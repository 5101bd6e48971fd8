"""What a source compiles to: the same definition for ever."""

import hashlib
import json

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stateward.compiler.flow.canonical import canonical_bytes, canonical_of, definition_digest
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.flow.lower import CANCEL_CONDITION, DefinitionData, definition_of
from stateward.compiler.pipeline import compile_source
from tests.compiler.flow.sources import GOOD, changed

GOLDEN = (
    b'{"initial":"draft","name":"paper","schema_version":1,"states":['
    b'{"id":"draft","instructions":"Write it.","terminal":false,"transitions":['
    b'{"condition":"It is written.","id":"submit","synthetic":false,"target":"review"},'
    b'{"condition":"Something exceptional has actually happened that makes it impossible to carry on with the instructions of this state '
    b"and to reach a regular end of the flow with the tools, the scope and the context at hand. Work that is hard, slow or unfinished, a "
    b'check that fails and can be mended, or the mere wish to stop does not meet this condition.","id":"$cancel","synthetic":true,'
    b'"target":"$cancelled"}]},'
    b'{"id":"review","instructions":"Read it.","terminal":false,"transitions":['
    b'{"condition":"Something is to be mended.","id":"back","synthetic":false,"target":"draft"},'
    b'{"condition":"Nothing is to be mended.","id":"accept","synthetic":false,"target":"done"},'
    b'{"condition":"Something exceptional has actually happened that makes it impossible to carry on with the instructions of this state '
    b"and to reach a regular end of the flow with the tools, the scope and the context at hand. Work that is hard, slow or unfinished, a "
    b'check that fails and can be mended, or the mere wish to stop does not meet this condition.","id":"$cancel","synthetic":true,'
    b'"target":"$cancelled"}]},'
    b'{"id":"done","instructions":"","terminal":true,"transitions":[]},'
    b'{"id":"$cancelled","instructions":"","terminal":true,"transitions":[]}]}'
)
GOLDEN_DIGEST = "sha256:" + hashlib.sha256(GOLDEN).hexdigest()


def compiled(source: str = GOOD) -> CompiledFlowDefinition:
    definition = compile_source(source.encode()).definition
    assert definition is not None
    return definition


def test_the_canonical_form_of_version_1_is_frozen_to_the_byte() -> None:
    assert canonical_bytes(compiled()) == GOLDEN


TEXTS = st.text(st.characters(codec="utf-8"))


@given(st.lists(st.tuples(TEXTS, TEXTS, st.booleans(), st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=3)), max_size=4), TEXTS)
def test_the_canonical_form_is_rfc_8785_whatever_texts_there_are(
    states: list[tuple[str, str, bool, list[tuple[str, str, str]]]], name: str
) -> None:
    data: DefinitionData = {
        "schema_version": 1,
        "name": name,
        "initial": name[::-1],
        "states": [
            {
                "id": id_,
                "instructions": text,
                "terminal": terminal,
                "transitions": [
                    {"id": each, "target": target, "condition": condition, "synthetic": not terminal} for each, target, condition in ways
                ],
            }
            for id_, text, terminal, ways in states
        ],
    }
    assert rfc8785.dumps(json.loads(json.dumps(data))) == canonical_of(data) == canonical_bytes(definition_of(data))


def test_a_compilation_holds_one_definition_in_all_its_forms() -> None:
    done = compile_source(GOOD.encode())
    assert done.definition is not None
    assert (done.definition, done.flow) == (CompiledFlowDefinition.model_validate_json(done.canonical or b""), done.definition.name)
    assert done.definition.model_dump(mode="json") == done.data


def test_what_does_not_compile_has_no_definition_in_any_form() -> None:
    done = compile_source(b"{")
    assert (done.definition, done.data, done.canonical, done.definition_digest, done.flow) == (None, None, None, None, None)


def test_the_digest_of_a_definition_covers_its_canonical_form() -> None:
    compilation = compile_source(GOOD.encode())
    assert compilation.definition_digest == GOLDEN_DIGEST == definition_digest(compiled())


def test_the_digest_of_the_content_covers_the_bytes_as_they_are() -> None:
    for data in (GOOD.encode(), b"\xef\xbb\xbf" + GOOD.encode(), GOOD.replace("\n", "\r\n").encode(), b"", b"\xff"):
        assert compile_source(data).content_digest == "sha256:" + hashlib.sha256(data).hexdigest()


def test_what_the_author_writes_around_the_graph_changes_no_definition() -> None:
    other = "# a remark\n" + GOOD.replace("    ", "\t").replace("{ target", "{\n\n target")
    assert compile_source(other.encode()).definition_digest == GOLDEN_DIGEST


def test_order_of_declaration_is_kept() -> None:
    source = (
        'schema_version = 1; name = "o"; initial = "m"; states = {'
        'z = { instructions = "x"; transitions = { c = { target = "a"; condition = "1"; }; };};'
        'm = { instructions = "x"; transitions = { b = { target = "z"; condition = "2"; }; a = { target = "m"; condition = "3"; }; }; };'
        'a = { instructions = ""; terminal = true; }; };'
    )
    definition = compiled(source)
    assert [state.id for state in definition.states] == ["z", "m", "a", "$cancelled"]
    assert [transition.id for transition in definition.state("m").transitions] == ["b", "a", "$cancel"]


def test_the_way_to_be_cancelled_is_last_in_each_state_that_is_no_end() -> None:
    for state in compiled().states:
        synthetic = [each for each in state.transitions if each.synthetic]
        assert [each.id for each in synthetic] == ([] if state.terminal else ["$cancel"])
        assert synthetic == list(state.transitions[-1:])
        assert all((each.target, each.condition) == ("$cancelled", CANCEL_CONDITION) for each in synthetic)


def test_texts_come_through_byte_for_byte() -> None:
    text = " Prüfe «日本語» \U0001f600 {x} {{ %s ${HOME} {% if %} }\r\n\tend "
    assert compiled(changed(('"Read it."', f'"{text}"'))).state("review").instructions == text


def test_a_definition_reads_back_from_its_canonical_form() -> None:
    definition = compiled()
    assert CompiledFlowDefinition.model_validate_json(canonical_bytes(definition)) == definition


def test_a_definition_cannot_be_changed_or_widened() -> None:
    definition = compiled()
    with pytest.raises(ValidationError):
        definition.name = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        CompiledFlowDefinition.model_validate({**json.loads(canonical_bytes(definition)), "more": 1})
