"""The reference of the language server against the server: its requests, its errors and its bounds."""

import re
from pathlib import Path

import pytest
from lsprotocol import types

from stateward.compiler.editor.completing import ITEMS_MAX
from stateward.compiler.editor.documents import DOCUMENTS_MAX, TEXT_CHARS_MAX, TEXTS_CHARS_MAX
from stateward.compiler.editor.frames import BODY_BYTES_MAX, HEAD_BYTES_MAX
from stateward.compiler.editor.protocol import REQUESTS_MAX
from stateward.compiler.editor.requests import register
from stateward.compiler.editor.requests.writing import TRIGGERS
from stateward.compiler.editor.server import ANALYSES_MAX, PAUSE_SECONDS, FlowServer
from stateward.compiler.editor.symbols import SYMBOLS_MAX
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "editors.md").read_text("utf-8")


def test_every_request_that_is_answered_is_described_and_no_other() -> None:
    server = FlowServer()
    register(server)
    told = set()
    table = PAGE.partition("| request | answer |")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        group = ""
        for name in re.findall(r"`([^`]+)`", row.split("|")[1]):
            group = name.rpartition("/")[0] if "/" in name and not name.startswith("semanticTokens") else group
            told.add(name if "/" in name else f"{group}/{name}")
    assert set(server.protocol.fm.features) | {types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS} == told


@pytest.mark.parametrize(
    ("bound", "row"),
    [
        (FLOW_SOURCE_BYTES_MAX, "a flow"),
        (TEXT_CHARS_MAX, "the text of a document"),
        (DOCUMENTS_MAX, "open documents"),
        (TEXTS_CHARS_MAX, "open documents"),
        (ANALYSES_MAX, "analyses that are kept"),
        (REQUESTS_MAX, "requests under way"),
        (BODY_BYTES_MAX, "a message"),
        (HEAD_BYTES_MAX, "a message"),
        (ITEMS_MAX, "offers of a completion"),
        (SYMBOLS_MAX, "symbols of one answer"),
    ],
)
def test_every_bound_is_the_one_that_holds(bound: int, row: str) -> None:
    (line,) = [each for each in PAGE.splitlines() if each.startswith(f"| {row} |")]
    assert f"{bound:,}" in line


def test_every_error_of_the_protocol_has_its_code() -> None:
    told = {int(each) for each in re.findall(r"^\| `(-\d+)` \|", PAGE, re.MULTILINE)}
    own = (types.LSPErrorCodes.RequestCancelled, types.LSPErrorCodes.ContentModified, types.LSPErrorCodes.RequestFailed)
    assert {each.value for each in (*types.ErrorCodes, *own)} - {types.ErrorCodes.UnknownErrorCode.value} == told


def test_the_pause_and_the_signs_that_begin_a_completion_are_told() -> None:
    assert f"{PAUSE_SECONDS * 1000:.0f} ms after the last change" in PAGE
    (row,) = [each for each in PAGE.splitlines() if each.startswith("| `textDocument/completion`")]
    assert set(TRIGGERS) == set(re.findall(r"`([^a-zA-Z`]+)`", row))
