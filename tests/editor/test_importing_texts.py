"""Flows that import, in an editor: open texts come before files, and a fault elsewhere stands where it is brought in."""

from pathlib import Path

from tests.editor.client import Editor

FLOW = """\
schema_version = 2;
name = "paper";
initial = "draft";
states = {
    draft = { instructions = (import "./the draft.md").content; transitions = { send = { target = "done"; condition = "It is."; }; }; };
    done = { instructions = ""; terminal = true; };
};
"""


def test_files_of_the_folder_are_imported_and_open_texts_come_before_them(tmp_path: Path) -> None:
    flow, text = (tmp_path / "paper.dcdl").as_uri(), (tmp_path / "the draft.md").as_uri()
    (tmp_path / "the draft.md").write_text("Write.")
    with Editor() as editor:
        editor.open(flow, FLOW)
        assert [] == editor.faults(flow, 1)
        editor.open(text, "  \n")
        (fault,) = editor.faults(flow, 1)
        assert ("instructions_empty", 4) == (fault["code"], fault["range"]["start"]["line"])
        assert "in `the draft.md`: the instructions of state `draft` are blank" in fault["message"]
        assert text in [each["location"]["uri"] for each in fault["relatedInformation"]]
        editor.tell("textDocument/didClose", {"textDocument": {"uri": text}})
        assert [] == editor.faults(flow, 1)


def test_a_file_that_is_not_there_is_told_at_the_import(tmp_path: Path) -> None:
    flow = (tmp_path / "paper.dcdl").as_uri()
    with Editor() as editor:
        editor.open(flow, FLOW)
        (fault,) = editor.faults(flow, 1)
        assert ("dcdl_import", 4) == (fault["code"], fault["range"]["start"]["line"])


def test_a_text_that_is_no_file_imports_nothing() -> None:
    with Editor() as editor:
        editor.open("untitled:Untitled-1", FLOW)
        (fault,) = editor.faults("untitled:Untitled-1", 1)
        assert fault["message"].startswith("a flow that is read from here cannot import")
