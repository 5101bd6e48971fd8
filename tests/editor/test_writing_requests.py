"""What an author is offered, as an editor asks for it over the wire."""

from typing import Any

import pytest

from tests.editor.client import Editor
from tests.editor.test_session import edited

URI = "file:///flows/paper.dcdl"
FLOW = """schema_version = 1;
name = "paper";
initial = "draft";
states = {
    draft = {
        instructions = "📝 Write
it.";
        transitions = { send = { target = "review"; condition = "Written."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 11, "character": 0}}


def at(line: int, text: str) -> dict[str, int]:
    """Give the place behind a text of a line."""
    found = FLOW.split("\n")[line].index(text) + len(text)
    return {"line": line, "character": found}


def test_a_target_is_completed_and_the_fault_is_gone() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        asked = {"textDocument": {"uri": URI}, "position": at(7, 'target = "rev')}
        items = editor.ask("textDocument/completion", asked)["items"]
        assert [("draft", '"draft"'), ("done", '"done"')] == [(each["label"], each["textEdit"]["newText"]) for each in items]
        assert ['"draft"', '"done"'] == [each["filterText"] for each in items]
        editor.change(URI, 2, {"text": edited(FLOW, [items[1]["textEdit"]])})
        assert [] == editor.faults(URI, 2)


@pytest.mark.parametrize("snippets", [False, True])
def test_snippets_are_given_to_editors_that_know_them(*, snippets: bool) -> None:
    capabilities = {"textDocument": {"completion": {"completionItem": {"snippetSupport": snippets}}}}
    with Editor(capabilities=capabilities) as editor:
        editor.open(URI, "na")
        asked = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 2}}
        (name,) = [each for each in editor.ask("textDocument/completion", asked)["items"] if each["label"] == "name"]
        expected = ('name = "$1";', 2) if snippets else ('name = "";', 1)
        assert expected == (name["textEdit"]["newText"], name["insertTextFormat"])


def test_actions_mend_a_finding_and_are_told_by_kind() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        place = {"start": at(7, 'target = "'), "end": at(7, 'target = "')}
        asked: dict[str, Any] = {"textDocument": {"uri": URI}, "range": place, "context": {"diagnostics": []}}
        actions = editor.ask("textDocument/codeAction", asked)
        (adding,) = [each for each in actions if each["title"] == "add the state `review`"]
        assert ("quickfix", "transition_target_not_found") == (adding["kind"], adding["diagnostics"][0]["code"])
        (change,) = adding["edit"]["documentChanges"]
        editor.change(URI, 2, {"text": edited(FLOW, change["edits"])})
        assert ["unreachable_state"] == [each["code"] for each in editor.faults(URI, 2)]
        selected = {"start": at(7, "target = "), "end": at(7, 'target = "review"')}
        asked = {**asked, "range": selected, "context": {"diagnostics": [], "only": ["refactor"]}}
        assert ["escape the selection for a string"] == [each["title"] for each in editor.ask("textDocument/codeAction", asked)]
        asked["context"] = {"diagnostics": [], "only": ["source"]}
        assert [] == editor.ask("textDocument/codeAction", asked)


@pytest.mark.parametrize("only", [["source.fixAll"], ["source"], None])
def test_all_that_is_certain_is_mended_at_once_wherever_it_stands(only: list[str] | None) -> None:
    broken = FLOW.replace('name = "paper"', 'name: "paper"').replace('instructions = ""', 'instructions: ""').replace("review", "don")
    with Editor() as editor:
        assert "source.fixAll" in editor.capabilities["codeActionProvider"]["codeActionKinds"]
        editor.open(URI, broken)
        start = {"line": 0, "character": 0}
        context = {"diagnostics": [], **({"only": only} if only else {})}
        asked = {"textDocument": {"uri": URI}, "range": {"start": start, "end": start}, "context": context}
        (action,) = editor.ask("textDocument/codeAction", asked)
        assert ("mend 2 faults of which it is certain how", "source.fixAll") == (action["title"], action["kind"])
        (change,) = action["edit"]["documentChanges"]
        editor.change(URI, 2, {"text": edited(broken, change["edits"])})
        assert ["transition_target_not_found"] == [each["code"] for each in editor.faults(URI, 2)], "that one is a guess"


def test_colours_are_encoded_line_by_line_in_the_units_of_the_session() -> None:
    with Editor(["utf-16"]) as editor:
        legend = editor.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
        editor.open(URI, FLOW)
        data = editor.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": URI}})["data"]
        line = character = 0
        found = []
        for lines, characters, length, kind, _ in zip(*[iter(data)] * 5, strict=True):
            line, character = line + lines, characters + (0 if lines else character)
            text = FLOW.split("\n")[line].encode("utf-16-le")
            found.append((text[2 * character : 2 * (character + length)].decode("utf-16-le"), legend[kind]))
        assert [("schema_version", "property"), ("=", "operator"), ("1", "number")] == found[:3]
        assert [('"📝 Write', "string"), ('it."', "string")] == [each for each in found if each[0] in {'"📝 Write', 'it."'}]
        some = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 4}}
        part = editor.ask("textDocument/semanticTokens/range", {"textDocument": {"uri": URI}, "range": some})["data"]
        assert [1, 0, 4, legend.index("property"), 0] == part


def test_folds_and_selections_are_answered() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        folds = editor.ask("textDocument/foldingRange", {"textDocument": {"uri": URI}})
        assert [(3, 9), (4, 7), (5, 6)] == [(each["startLine"], each["endLine"]) for each in folds]
        asked = {"textDocument": {"uri": URI}, "positions": [at(7, 'target = "re'), {"line": 0, "character": 0}]}
        first, second = editor.ask("textDocument/selectionRange", asked)
        assert (at(7, 'target = "'), at(7, 'target = "review')) == (first["range"]["start"], first["range"]["end"])
        assert {"line": 0, "character": 14} == second["range"]["end"]


def test_a_text_with_line_ends_of_two_signs_is_formatted_by_an_edit_between_places_that_an_editor_knows() -> None:
    text = FLOW.replace("\n", "\r\n")
    with Editor() as editor:
        editor.open(URI, text)
        (edit,) = editor.ask("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}})
        end = edit["range"]["end"]
        assert end["character"] <= len(text.split("\r\n")[end["line"]])
        editor.change(URI, 2, {"range": edit["range"], "text": edit["newText"]})
        assert [] == editor.ask("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}})
