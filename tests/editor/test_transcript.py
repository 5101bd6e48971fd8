"""A session as a reader sees it: what an editor sends, what it is answered, and the text after each step.

The client is one of pytest-lsp, with the capabilities of VS Code; it holds the text itself. The transcript is read in review:
snapshots/session.txt, written anew by `STATEWARD_SNAPSHOTS=write`.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from tests.cli.program import STATEWARD
from tests.compiler.diagnostics.snapshots import assert_snapshot

SNAPSHOT = Path(__file__).with_name("snapshots") / "session.txt"
URI = "file:///flows/paper.dcdl"
NAME = types.TextDocumentIdentifier(URI)
START = """schema_version = 1;
name = "paper";
initial: "draft";
states = {
  draft = {
    instructions = "Write the paper 📝.";
    transitions = {
      ready = { target = "review"; condition = "Every section is written."; };
    };
  };
  review = {
    instructions = "Read it as a stranger would.";
    transitions = {
      again = { target = "draft"; condition = "A section is unclear."; };
      anew = { target = "draft"; condition = "It is another paper that is needed."; };
      print = { target = ""; condition = "Nothing is unclear."; };
    };
  };
  printed = { instructions = ""; terminal = true; };
};
"""


class Author:
    """Someone at an editor: acts, waits for what comes of it, and writes all down."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.text = START
        self.version = 0
        self.lines: list[str] = []

    def say(self, *lines: str) -> None:
        self.lines += lines

    def show(self) -> None:
        self.say("", *(f"    {line}" for line in self.text.splitlines()))

    async def faults(self) -> Sequence[types.Diagnostic]:
        """Wait for what is wrong with the newest version, and write it down."""
        while True:
            told = await self.client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
            assert isinstance(told, types.PublishDiagnosticsParams)
            if told.version == self.version:
                break
        self.say(f"<- version {told.version}: {len(told.diagnostics) or 'no'} fault{'s' * (len(told.diagnostics) != 1)}")
        for each in told.diagnostics:
            self.say(f"   {placed(each.range)} {each.code}", *(f"      {line}" for line in str(each.message).splitlines()))
        return told.diagnostics

    async def open(self) -> Sequence[types.Diagnostic]:
        self.version = 1
        self.say("-> open")
        self.show()
        self.say("")
        document = types.TextDocumentItem(URI, "dcdl", self.version, self.text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return await self.faults()

    async def apply(self, edits: Sequence[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]) -> Sequence[types.Diagnostic]:
        """Make edits, the last one first, tell the server of each, and show the text."""
        changes: list[types.TextDocumentContentChangeEvent] = []
        for each in sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character), reverse=True):
            assert isinstance(each, types.TextEdit)
            self.say(f"   {placed(each.range)} becomes {each.new_text!r}")
            start, end = self.offset(each.range.start), self.offset(each.range.end)
            self.text = self.text[:start] + each.new_text + self.text[end:]
            changes.append(types.TextDocumentContentChangePartial(range=each.range, text=each.new_text))
        self.version += 1
        identifier = types.VersionedTextDocumentIdentifier(version=self.version, uri=URI)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))
        found = await self.faults()
        self.show()
        self.say("")
        return found

    def workspace(self, edit: types.WorkspaceEdit | None) -> Sequence[types.TextEdit]:
        """Take the edits of this very version out of an answer."""
        assert edit is not None
        assert edit.document_changes is not None
        (change,) = edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        assert (URI, self.version) == (change.text_document.uri, change.text_document.version)
        return [each for each in change.edits if isinstance(each, types.TextEdit)]

    def offset(self, at: types.Position) -> int:
        """Count the UTF-16 units before a place."""
        lines = self.text.split("\n")
        before = lines[at.line].encode("utf-16-le")[: 2 * at.character].decode("utf-16-le")
        return sum(len(line) + 1 for line in lines[: at.line]) + len(before)

    def place(self, text: str, within: int = 0) -> types.Position:
        """Find where a text stands that stands there once."""
        assert self.text.count(text) == 1, text
        lines = self.text[: self.text.index(text) + within].split("\n")
        return types.Position(len(lines) - 1, len(lines[-1].encode("utf-16-le")) // 2)


def placed(range_: types.Range) -> str:
    """Name a range as people count."""
    start, end = range_.start, range_.end
    begin = f"{start.line + 1}:{start.character + 1}"
    return begin if start == end else f"{begin}-{end.line + 1}:{end.character + 1}"


async def mend(author: Author, fault: types.Diagnostic) -> None:
    """Apply the action that the server prefers."""
    author.say(f"-> what mends {placed(fault.range)}?")
    context = types.CodeActionContext([fault], only=[types.CodeActionKind.QuickFix])
    actions = await author.client.text_document_code_action_async(types.CodeActionParams(NAME, fault.range, context))
    assert actions is not None
    for each in actions:
        assert isinstance(each, types.CodeAction)
        author.say(f"<- {each.title}{' (preferred)' if each.is_preferred else ''}")
    chosen = next(each for each in actions if isinstance(each, types.CodeAction) and each.is_preferred)
    author.say(f"-> apply: {chosen.title}")
    await author.apply(author.workspace(chosen.edit))


async def rename(author: Author, at: types.Position, new: str) -> None:
    """Rename a state from one of its references."""
    author.say(f"-> rename what stands at {at.line + 1}:{at.character + 1} to `{new}`")
    prepared = await author.client.text_document_prepare_rename_async(types.PrepareRenameParams(NAME, at))
    assert isinstance(prepared, types.PrepareRenamePlaceholder)
    author.say(f"<- {placed(prepared.range)} `{prepared.placeholder}` can be renamed")
    edit = await author.client.text_document_rename_async(types.RenameParams(new_name=new, text_document=NAME, position=at))
    await author.apply(author.workspace(edit))


async def complete(author: Author, at: types.Position, label: str) -> None:
    """Take one of the offers at a place."""
    author.say(f"-> what can stand at {at.line + 1}:{at.character + 1}?")
    found = await author.client.text_document_completion_async(types.CompletionParams(NAME, at))
    assert isinstance(found, types.CompletionList)
    offered = sorted(found.items, key=lambda each: each.sort_text or each.label)
    author.say(*(f"<- {each.label}{f'  {each.detail}' if each.detail else ''}" for each in offered))
    (chosen,) = [each for each in found.items if each.label == label]
    assert isinstance(chosen.text_edit, types.TextEdit)
    author.say(f"-> take `{label}`")
    await author.apply([chosen.text_edit])


async def draw(author: Author) -> None:
    """Ask for the picture, and write down what it shows."""
    author.say("-> preview")
    drawn = await author.client.protocol.send_request_async("stateward/preview", {"textDocument": {"uri": URI}})
    names = [each for each in ("paper", "outline", "draft", "review", "printed") if f">{each}<" in (drawn.svg or "")]
    kind = "no picture" if drawn.svg is None else f"a picture that names {', '.join(names)}"
    author.say(f"<- {kind}{f': {drawn.message}' if drawn.message else ''}", "")


async def session() -> str:
    client = make_test_lsp_client()
    await client.start_io(str(STATEWARD), "lsp")
    capabilities = client_capabilities("visual-studio-code")
    begun = await client.initialize_session(types.InitializeParams(capabilities))
    author = Author(client)
    author.say(f"-> initialize, as VS Code does; columns are counted in {begun.capabilities.position_encoding}", "")
    faults = await author.open()
    await draw(author)
    await mend(author, faults[0])
    await complete(author, author.place('target = ""', within=10), "printed")
    await rename(author, author.place('"draft"; condition = "A section', within=3), "outline")
    author.say("-> format")
    edits = await client.text_document_formatting_async(
        types.DocumentFormattingParams(NAME, types.FormattingOptions(4, insert_spaces=True))
    )
    assert edits is not None
    await author.apply(edits)
    await draw(author)
    await client.shutdown_session()
    author.say("-> shutdown, exit", "<- the server has ended")
    await client.stop()
    return "\n".join(author.lines) + "\n"


def test_a_session_from_the_first_fault_to_the_picture() -> None:
    assert_snapshot(SNAPSHOT, asyncio.run(session()))
