"""Names as an editor asks for them over the wire, in the units that it counts in."""

from pathlib import Path
from typing import Any

import pytest

from tests.editor.client import Editor

URI = "file:///flows/paper.dcdl"
FLOW = """schema_version = 1;
name = "paper";
initial = "draft";
states = {
    draft = { instructions = "é漢📝𝄞 Write."; transitions = { send = { target = "done"; condition = "Written."; }; }; };
    done = { instructions = ""; terminal = true; };
};
"""
LINE = FLOW.splitlines()[4]


def place(units: str, line: int, text: str) -> dict[str, int]:
    """Give the place right behind a text of one line, in units of an encoding."""
    size = {"utf-8": lambda part: len(part.encode()), "utf-16": lambda part: len(part.encode("utf-16-le")) // 2, "utf-32": len}[units]
    return {"line": line, "character": size(text)}


@pytest.mark.parametrize("units", ["utf-8", "utf-16", "utf-32"])
def test_a_state_is_renamed_behind_signs_that_take_two_units(units: str) -> None:
    before = LINE[: LINE.index('"done"') + 1]
    with Editor([units]) as editor:
        editor.open(URI, FLOW)
        asked: dict[str, Any] = {"textDocument": {"uri": URI}, "position": place(units, 4, before)}
        prepared = editor.ask("textDocument/prepareRename", asked)
        start, end = place(units, 4, before), place(units, 4, before + "done")
        assert {"range": {"start": start, "end": end}, "placeholder": "done"} == prepared
        answer = editor.ask("textDocument/rename", {**asked, "newName": "sent"})
        (change,) = answer["documentChanges"]
        assert {"uri": URI, "version": 1} == change["textDocument"]
        quoted = {"start": place(units, 4, before[:-1]), "end": place(units, 4, before + 'done"')}
        key = {"start": {"line": 5, "character": 4}, "end": {"line": 5, "character": 8}}
        assert [{"range": quoted, "newText": '"sent"'}, {"range": key, "newText": "sent"}] == change["edits"]


@pytest.mark.parametrize("units", ["utf-8", "utf-16", "utf-32"])
def test_a_fault_behind_signs_of_several_units_stands_under_its_field(units: str) -> None:
    text = FLOW.replace('Write."; transitions', 'Write."; transition')
    before = text.splitlines()[4].partition("transition =")[0]
    with Editor([units]) as editor:
        editor.open(URI, text)
        found = [each["range"] for each in editor.faults(URI, 1) if each["code"] == "unknown_field"]
        assert [{"start": place(units, 4, before), "end": place(units, 4, before + "transition")}] == found


def test_an_import_leads_to_the_file_beside_and_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "my flows"
    folder.mkdir()
    (folder / "ends é.dcdl").write_text("{}", "utf-8")
    (tmp_path / "above.dcdl").write_text("{}", "utf-8")
    lines = ['"./ends é.dcdl"', '"ends é.dcdl"', '"./gone.dcdl"', '"../above.dcdl"', '"."', '"/etc/passwd"', "ends"]
    uri = (folder / "paper.dcdl").as_uri()
    text = "".join(f"a{number} = import {each};\n" for number, each in enumerate(lines))
    with Editor() as editor:
        editor.open(uri, text)
        for number in range(len(lines)):
            position = {"line": number, "character": 14}
            found = editor.ask("textDocument/definition", {"textDocument": {"uri": uri}, "position": position})
            assert [(folder / "ends é.dcdl").as_uri()] * (number < 2) == [each["uri"] for each in found]


def test_what_cannot_be_renamed_is_answered_with_the_reason() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        asked = {"textDocument": {"uri": URI}, "position": {"line": 5, "character": 6}, "newName": "draft"}
        answer = editor.answer(editor.begin("textDocument/rename", asked))
        assert "there is a state `draft` already" == answer["error"]["message"]


def test_everything_about_names_is_answered_over_the_wire() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        here = {"textDocument": {"uri": URI}, "position": {"line": 5, "character": 6}}
        assert "state `done` (terminal)\n\n1 way in" == editor.ask("textDocument/hover", here)["contents"]["value"]
        (definition,) = editor.ask("textDocument/definition", here)
        assert (URI, 5) == (definition["uri"], definition["range"]["start"]["line"])
        assert 2 == len(editor.ask("textDocument/references", {**here, "context": {"includeDeclaration": True}}))
        assert 2 == len(editor.ask("textDocument/documentHighlight", here))
        symbols = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": URI}})
        assert ["schema_version", "name", "initial", "draft", "done"] == [each["name"] for each in symbols]
        assert ["send"] == [each["name"] for each in symbols[3]["children"]]
        found = editor.ask("workspace/symbol", {"query": "don"})
        assert [("done", "paper.dcdl")] == [(each["name"], each["containerName"]) for each in found]
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 7, "character": 0}}
        hints = editor.ask("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": whole})
        assert ["begins here", "1 way in"] == [each["label"] for each in hints]
        (item,) = editor.ask("textDocument/prepareCallHierarchy", here)
        (call,) = editor.ask("callHierarchy/incomingCalls", {"item": item})
        assert ("draft", 1) == (call["from"]["name"], len(call["fromRanges"]))
        assert [] == editor.ask("callHierarchy/outgoingCalls", {"item": item})
        (out,) = editor.ask("callHierarchy/outgoingCalls", {"item": call["from"]})
        assert "done" == out["to"]["name"]
