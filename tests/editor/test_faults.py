"""What the server makes of requests that do not fit, of features that fail, of streams that are none, and of editors that vanish."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.program import STATEWARD
from tests.editor import failing as failing_server
from tests.editor.children import Forked
from tests.editor.client import Editor, installed
from tests.editor.test_session import FLOW, FORMATTING, URI

INVALID_PARAMS, PARSE_ERROR, INVALID_REQUEST, NOT_INITIALIZED = -32602, -32700, -32600, -32002
METHOD_NOT_FOUND, INTERNAL_ERROR, CANCELLED, MODIFIED = -32601, -32603, -32800, -32801
DOCUMENT = {"textDocument": {"uri": URI}}
ALL: dict[str, Any] = {"diagnostics": []}


def failing() -> Forked:
    """Start a server that serves features of which some fail."""
    return Forked(failing_server.serve)


def at(line: int, character: int) -> dict[str, int]:
    return {"line": line, "character": character}


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("textDocument/formatting", {**DOCUMENT, "options": {"insertSpaces": True}}, "required field missing: `options.tabSize`"),
        ("textDocument/codeAction", {**DOCUMENT}, "required field missing: `range`; required field missing: `context`"),
        ("textDocument/codeAction", {**DOCUMENT, "range": {"start": at(0, 0)}, "context": ALL}, "required field missing: `range.end`"),
        ("textDocument/formatting", None, "invalid value for type, expected DocumentFormattingParams: `params`"),
        ("stateward/preview", 7, "required field missing: `textDocument.uri`"),
        ("stateward/preview", {"textDocument": {"uri": 5}}, "required field missing: `textDocument.uri`"),
    ],
)  # fmt: skip
def test_a_request_that_does_not_fit_is_answered_with_what_is_missing(method: str, params: Any, message: str) -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        error = editor.refusal(method, params)
        assert (INVALID_PARAMS, message) == (error["code"], error["message"])
        assert editor.ask("textDocument/formatting", FORMATTING)


def test_a_request_without_parameters_is_answered() -> None:
    with Editor() as editor:
        editor.send({"id": 70, "method": "stateward/preview"})
        assert INVALID_PARAMS == editor.answer(70)["error"]["code"]
        editor.send({"id": 71, "method": "nobody/knows"})
        assert METHOD_NOT_FOUND == editor.answer(71)["error"]["code"]


def test_a_change_that_cannot_be_read_loses_the_text_until_it_is_sent_whole() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW)
        editor.change(URI, 2, {"range": {"start": at(0, 0)}, "text": "x"})
        (fault,) = editor.faults(URI, 2)
        assert "a change of it could not be read (required field missing: `contentChanges[0].range.end`)" in fault["message"]
        editor.change(URI, 3, {"text": FLOW})
        assert [] == editor.faults(URI, 3)


def test_a_feature_that_fails_answers_with_an_error_and_the_next_request_works() -> None:
    with Editor(start=failing) as editor:
        editor.open(URI, FLOW)
        for method, message in (
            ("hover", "ZeroDivisionError: integer division or modulo by zero"),
            ("definition", "RecursionError: too deep"),
        ):
            error = editor.refusal(f"textDocument/{method}", {**DOCUMENT, "position": at(0, 0)})
            assert (INTERNAL_ERROR, message) == (error["code"], error["message"])
        assert editor.ask("textDocument/formatting", FORMATTING)


def test_a_compiler_that_fails_on_a_text_is_told_at_its_head_and_the_next_version_is_judged() -> None:
    with Editor(start=failing) as editor:
        editor.open(URI, FLOW.replace("Write.", "crash"))
        (fault,) = editor.faults(URI, 1)
        assert (at(0, 0), 1) == (fault["range"]["start"], fault["severity"])
        assert "the compiler failed on this text: ZeroDivisionError: integer division or modulo by zero" == fault["message"]
        assert INTERNAL_ERROR == editor.refusal("textDocument/formatting", FORMATTING)["code"]
        editor.change(URI, 2, {"text": FLOW})
        assert [] == editor.faults(URI, 2)


def test_what_is_printed_goes_to_standard_error() -> None:
    editor = Editor(start=failing)
    assert "spoken" == editor.ask("test/speak", None)
    out, _, err = editor.ended()
    assert b"" == out
    assert "from python" in err
    assert "from below" in err


def test_a_request_that_is_cancelled_is_answered_as_that_and_what_had_not_begun_is_not_done() -> None:
    editor = Editor(start=failing)
    editor.ask("test/busy", None)
    editor.open(URI, FLOW)
    number = editor.begin("textDocument/formatting", FORMATTING)
    editor.tell("$/cancelRequest", {"id": number})
    assert CANCELLED == editor.answer(number)["error"]["code"]
    editor.tell("$/cancelRequest", {"id": number})
    editor.tell("$/cancelRequest", {"id": "nothing"})
    editor.tell("$/cancelRequest", {})
    waiting = editor.begin("textDocument/formatting", FORMATTING)
    editor.change(URI, 2, {"text": FLOW + "\n"})
    assert MODIFIED == editor.answer(waiting)["error"]["code"]
    out, status, _ = editor.ended()
    assert 1 == status, "what never ends does not keep the server"
    assert b"publishDiagnostics" not in out


def test_requests_are_refused_before_the_session_and_after_it() -> None:
    editor = Editor(begins=False)
    editor.open(URI, FLOW)
    assert NOT_INITIALIZED == editor.refusal("textDocument/formatting", FORMATTING)["code"]
    editor.initialize()
    assert INVALID_REQUEST == editor.refusal("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["code"]
    assert "the text of the document is not known" == editor.refusal("textDocument/formatting", FORMATTING)["message"]
    editor.ask("shutdown", None)
    assert INVALID_REQUEST == editor.refusal("textDocument/formatting", FORMATTING)["code"]
    editor.tell("exit", None)
    assert (b"", 0, "") == editor.ended()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", PARSE_ERROR),
        (b'"\xff"', PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b"9" * 10_000, PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"7", INVALID_REQUEST),
        (b"{}", INVALID_REQUEST),
        (b'{"jsonrpc": "2.0"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "shutdown"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": true, "method": "shutdown"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": 1, "method": 5}', INVALID_REQUEST),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_message_that_is_none_is_answered_and_the_session_goes_on(body: bytes, code: int) -> None:
    with Editor() as editor:
        editor.frame(body)
        assert code == editor.answer(None)["error"]["code"]
        editor.open(URI, FLOW)
        assert [] == editor.faults(URI, 1)


def test_a_message_within_a_message_is_a_value_like_any_other() -> None:
    with Editor() as editor:
        inner = {"jsonrpc": "2.0", "id": 5, "method": "textDocument/hover"}
        assert INVALID_PARAMS == editor.refusal("stateward/preview", inner)["code"]
        editor.tell("$/anything", {"of": [inner]})
        editor.send({"id": 900, "result": inner})
        editor.send({"id": 901, "error": {"code": "x"}})
        assert METHOD_NOT_FOUND == editor.refusal("nobody/knows", [])["code"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"hello\r\n\r\n", "the head of a message names no `Content-Length`"),
        (b"Content-Length: -5\r\n\r\n", "the head of a message names no `Content-Length`"),
        (b"x" * 5000, "no head of a message within 4,096 bytes"),
        (b"Content-Length: 99999999999\r\n\r\n", "a message of 99,999,999,999 bytes is larger than 67,108,864 bytes"),
        (b"Content-Length: 2\r\nContent-Type: a/b; charset=utf-16\r\n\r\n{}", "a message is encoded as utf-16, which is not UTF-8"),
        (b"", "the editor is gone"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_stream_that_cannot_be_followed_ends_the_server(data: bytes, why: str) -> None:
    editor = Editor()
    editor.put(data)
    assert (b"", 1, f"stateward lsp: {why}\n") == editor.ended()


@pytest.mark.parametrize("given", ["", "no protocol at all\r\n\r\n", "Content-Length: 10\r\n\r\n{"])
def test_nothing_is_written_where_there_is_no_session(given: str) -> None:
    done = subprocess.run([str(STATEWARD), "lsp"], input=given, capture_output=True, text=True, check=False)
    assert ("", 1) == (done.stdout, done.returncode)
    assert done.stderr.startswith("stateward lsp: ")


def test_leaving_without_saying_so_ends_with_a_status_that_tells_it() -> None:
    editor = Editor(start=installed)
    editor.tell("exit", None)
    assert (b"", 1, "") == editor.ended()


def killed(editor: Editor) -> int:
    editor.server.send_signal(signal.SIGTERM)
    return -signal.SIGTERM


def unread(editor: Editor) -> int:
    """Close the end that is read, and make the server write."""
    assert editor.server.stdout is not None
    editor.server.stdout.close()
    editor.open(URI, FLOW)
    return 1


def gone(editor: Editor) -> int:
    assert editor.server.stdin is not None
    editor.server.stdin.close()
    return 1


@pytest.mark.parametrize("leave", [killed, unread, gone])
@pytest.mark.parametrize("is_busy", [True, False], ids=["busy", "idle"])
def test_a_server_does_not_outlive_its_editor(leave: Callable[[Editor], int], is_busy: bool) -> None:
    editor = Editor(start=failing)
    if is_busy:
        editor.ask("test/busy", None)
        editor.open(URI, FLOW)
        editor.begin("textDocument/formatting", FORMATTING)
    expected = leave(editor)
    assert expected == editor.server.wait()
    for stream in (editor.server.stdin, editor.server.stdout, editor.server.stderr):
        assert stream is not None
        stream.close()


@pytest.mark.skipif(os.name != "posix", reason="another process is looked for in the way of POSIX")
def test_a_server_ends_when_the_process_of_its_editor_is_gone_though_its_input_stays_open() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as host:
        editor = Editor(process_id=host.pid, start=installed)
        host.communicate(b"\n")
    assert 1 == editor.server.wait()
    assert (b"", 1, "stateward lsp: the editor is gone\n") == editor.ended()


def test_versions_only_grow_and_nothing_is_told_of_a_closed_document() -> None:
    with Editor() as editor:
        for opening in range(3):
            editor.open(URI, FLOW)
            for version in range(2, 30):
                editor.change(URI, version, {"range": {"start": at(4, 78), "end": at(4, 78)}, "text": "x"})
                if version % 10 == 0:
                    editor.faults(URI, version)
            editor.tell("textDocument/didClose", DOCUMENT)
            told = editor.told("textDocument/publishDiagnostics", lambda params: "version" not in params or params["version"] is None)
            assert [] == told["diagnostics"], opening
            versions = [each["params"]["version"] for each in editor.notifications]
            assert versions == sorted(set(versions))
            editor.notifications.clear()
        assert editor.refusal("textDocument/formatting", FORMATTING)
        assert [] == editor.notifications


def test_documents_without_a_file_and_in_every_number_are_served_within_bounds() -> None:
    with Editor() as editor:
        for number in range(1_001):
            editor.open(f"untitled:Untitled-{number}", FLOW if number % 100 == 0 else "")
        assert [] == editor.faults("untitled:Untitled-900", 1)
        (fault,) = editor.faults("untitled:Untitled-1000", 1)
        assert "more than 1,000 documents are open" in fault["message"]


def test_nothing_is_told_of_texts_after_the_end_of_the_session_was_asked_for() -> None:
    with Editor() as editor:
        for number in range(100):
            editor.open(f"untitled:Untitled-{number}", FLOW)
        editor.ask("shutdown", None)
        editor.tell("exit", None)
        assert (b"", 0) == editor.ended()[:2]


def test_what_works_on_a_text_keeps_no_message_waiting_and_is_left_out_where_it_was_cancelled_before() -> None:
    with Editor(start=failing) as editor:
        editor.open(URI, FLOW)
        working = editor.begin("test/work", DOCUMENT)
        cancelled, waiting = (editor.begin("test/work", DOCUMENT) for _ in range(2))
        editor.tell("$/cancelRequest", {"id": cancelled})
        assert CANCELLED == editor.answer(cancelled)["error"]["code"]
        assert 1 == editor.ask("test/goOn", None), "the first alone has begun"
        assert (1, 2) == (editor.answer(working)["result"], editor.answer(waiting)["result"])


def test_what_still_works_on_an_older_text_is_answered_at_once_as_that() -> None:
    with Editor(start=failing) as editor:
        editor.open(URI, FLOW)
        working, waiting = (editor.begin("test/work", DOCUMENT) for _ in range(2))
        editor.ask("test/begun", None)
        editor.change(URI, 2, {"text": FLOW + "\n"})
        assert [MODIFIED] * 2 == [editor.answer(each)["error"]["code"] for each in (working, waiting)]
        assert 1 == editor.ask("test/goOn", None)
        assert [] == editor.faults(URI, 2)


def test_a_search_is_answered_for_the_newest_texts_while_one_changes() -> None:
    other = "file:///flows/other.dcdl"
    with Editor() as editor:
        editor.open(URI, FLOW)
        editor.open(other, FLOW.replace("paper", "other"))
        number = editor.begin("workspace/symbol", {"query": "write"})
        editor.change(URI, 2, {"text": FLOW.replace("    write =", "    rewrite =")})
        found = editor.answer(number)["result"]
        assert [(other, "write"), (URI, "rewrite")] == [(each["location"]["uri"], each["name"]) for each in found]


def test_a_text_that_the_compiler_fails_on_is_left_out_of_a_search() -> None:
    with Editor(start=failing) as editor:
        editor.open(URI, FLOW.replace("Write.", "crash"))
        editor.open("file:///flows/other.dcdl", FLOW)
        found = editor.ask("workspace/symbol", {"query": "write"})
        assert ["file:///flows/other.dcdl"] == [each["location"]["uri"] for each in found]


def test_a_text_that_is_too_large_is_told_in_the_terms_of_what_is_too_large() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW + "#" * 256 * 1024)
        (fault,) = editor.faults(URI, 1)
        assert "source_too_large" == fault["code"]
        assert "1 error" in editor.ask("stateward/preview", DOCUMENT)["message"]
        editor.change(URI, 2, {"text": "#" * (1024 * 1024 + 1)})
        (fault,) = editor.faults(URI, 2)
        assert "the text is not known to the server: it has more than 1,048,576 characters" in fault["message"]
        editor.change(URI, 3, {"text": FLOW})
        assert [] == editor.faults(URI, 3)


@pytest.mark.parametrize(
    ("offered", "chosen", "columns"),
    [
        (None, "utf-16", (69, 75)),
        (["utf-7"], "utf-16", (69, 75)),
        (["utf-7", "utf-32", "utf-8"], "utf-32", (68, 74)),
        (["utf-8", "utf-16"], "utf-8", (71, 77)),
    ],
)
def test_the_first_encoding_of_the_editor_that_is_known_is_chosen(offered: list[str] | None, chosen: str, columns: tuple[int, int]) -> None:
    with Editor(offered) as editor:
        assert chosen == editor.capabilities["positionEncoding"]
        editor.open(URI, FLOW.replace("Write.", "😀", 1).replace('"done"; c', '"gone"; c'))
        (fault,) = [each for each in editor.faults(URI, 1) if each["code"] == "transition_target_not_found"]
        assert columns == (fault["range"]["start"]["character"], fault["range"]["end"]["character"])


def test_a_surrogate_in_a_message_is_no_end_of_the_session() -> None:
    with Editor() as editor:
        editor.open(URI, FLOW.replace("Write.", "Write \ud83d."))
        assert "the lone surrogate U+D83D stands in a text" in json.dumps(editor.faults(URI, 1))
        editor.change(URI, 2, {"range": {"start": at(4, 37), "end": at(4, 37)}, "text": "\ude00"})
        assert [] == editor.faults(URI, 2)
