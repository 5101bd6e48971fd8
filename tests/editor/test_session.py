"""A session of an editor with the installed program."""

from typing import Any

from tests.editor.client import Editor, installed

URI = "file:///flows/paper.dcdl"
FORMATTING = {"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}}
FLOW = """schema_version = 1;
name = "paper";
initial = "write";
states = {
    write = { instructions = "Write."; transitions = { send = { target = "done"; condition = "It is written."; }; }; };
    done = { instructions = ""; terminal = true; };
};
"""


def at(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


def test_faults_are_told_of_the_version_they_were_found_in() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        assert [] == editor.faults(URI, 1)
        for version in range(2, 6):
            editor.change(URI, version, {"range": {"start": at(4, 78), "end": at(4, 78)}, "text": "x"})
        assert ["transition_target_not_found"] == [each["code"] for each in editor.faults(URI, 5)]
        assert [] == [each for each in editor.notifications if each["params"]["version"] < 5 and each["params"]["diagnostics"]]


def test_a_bad_range_is_told_and_the_whole_text_mends_it() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        editor.change(URI, 2, {"range": {"start": at(40, 0), "end": at(41, 0)}, "text": "x"})
        (fault,) = editor.faults(URI, 2)
        assert "which is no range of the text" in fault["message"]
        editor.told("window/showMessage")
        answer = editor.answer(
            editor.begin("textDocument/formatting", {"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}})
        )
        assert "the text of the document is not known" == answer["error"]["message"]
        editor.change(URI, 3, {"text": FLOW})
        assert [] == editor.faults(URI, 3)


def edited(text: str, edits: list[Any]) -> str:
    """Make the edits that a server told, from the last to the first; in texts of one unit a character."""
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines))]
    for each in sorted(edits, key=lambda each: (each["range"]["start"]["line"], each["range"]["start"]["character"]), reverse=True):
        begin, end = (starts[each["range"][side]["line"]] + each["range"][side]["character"] for side in ("start", "end"))
        text = text[:begin] + each["newText"] + text[end:]
    return text


def test_a_fault_is_seen_mended_by_an_action_and_gone_and_the_flow_is_formatted_and_drawn() -> None:
    broken = FLOW.replace('initial = "write";', 'initial: "write";')
    with Editor(start=installed) as editor:
        editor.open(URI, broken)
        (fault,) = editor.faults(URI, 1)
        assert ("dcdl_syntax", at(2, 7)) == (fault["code"], fault["range"]["start"])
        drawn = editor.ask("stateward/preview", {"textDocument": {"uri": URI}})
        assert (None, "the flow has 1 error, and is drawn when it has none") == (drawn["svg"], drawn["message"])
        asked = {"textDocument": {"uri": URI}, "range": fault["range"], "context": {"diagnostics": []}}
        action, *_ = editor.ask("textDocument/codeAction", asked)
        (change,) = action["edit"]["documentChanges"]
        assert (1, True) == (change["textDocument"]["version"], action["isPreferred"])
        mended = edited(broken, change["edits"])
        assert FLOW == mended
        editor.change(URI, 2, {"text": mended})
        assert [] == editor.faults(URI, 2)
        formatted = edited(mended, editor.ask("textDocument/formatting", FORMATTING))
        assert '    write = {\n        instructions = "Write.";\n' in formatted
        drawn = editor.ask("stateward/preview", {"textDocument": {"uri": URI}})
        assert drawn["svg"].startswith("<svg ")
        assert editor.answer(editor.begin("stateward/preview", {}))["error"]["message"].endswith("`textDocument.uri`")
