"""An editor: starts the server, speaks the protocol with it, and holds the texts as an editor does."""

import json
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from tests.cli.program import STATEWARD
from tests.editor.children import Forked, serve

MESSAGES_MAX = 1_000


def forked() -> Forked:
    """Start the program as it is in this process."""
    return Forked(serve)


def installed() -> "subprocess.Popen[bytes]":
    """Start the installed program."""
    return subprocess.Popen([str(STATEWARD), "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Editor(AbstractContextManager["Editor"]):
    """One session. Reading waits for the server, so nothing here needs a pause."""

    def __init__(
        self,
        encodings: list[str] | None = None,
        start: "Callable[[], Forked | subprocess.Popen[bytes]]" = forked,
        process_id: int | None = None,
        begins: bool = True,
        capabilities: dict[str, Any] | None = None,
    ) -> None:
        self.server = start()
        self._number = 0
        self.notifications: list[dict[str, Any]] = []
        self.answers: dict[int | None, dict[str, Any]] = {}
        self.capabilities: dict[str, Any] = {}
        if begins:
            self.initialize(encodings, process_id, capabilities)

    def initialize(
        self, encodings: list[str] | None = None, process_id: int | None = None, capabilities: dict[str, Any] | None = None
    ) -> None:
        general = {"positionEncodings": encodings} if encodings else {}
        params = {"processId": process_id, "rootUri": None, "capabilities": {**(capabilities or {}), "general": general}}
        self.capabilities = self.ask("initialize", params)["capabilities"]
        self.tell("initialized", {})

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if fault is not None:
            self.server.kill()
            self.server.communicate()
            return
        if self.server.returncode is not None:
            return
        self.ask("shutdown", None)
        self.tell("exit", None)
        assert (b"", 0) == self.ended()[:2]

    def ended(self) -> tuple[bytes, int, str]:
        """Leave without a word, and give what was still written, the status and what was said."""
        out, err = self.server.communicate()
        status = self.server.returncode
        assert status is not None
        return out, status, err.decode()

    def put(self, data: bytes) -> None:
        """Send bytes, whatever they are."""
        assert self.server.stdin is not None
        self.server.stdin.write(data)
        self.server.stdin.flush()

    def frame(self, body: bytes) -> None:
        self.put(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send(self, message: dict[str, Any]) -> None:
        self.frame(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def tell(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def begin(self, method: str, params: Any) -> int:
        self._number += 1
        self.send({"id": self._number, "method": method, "params": params})
        return self._number

    def refusal(self, method: str, params: Any) -> dict[str, Any]:
        """Ask for what is answered with an error."""
        error: dict[str, Any] = self.answer(self.begin(method, params))["error"]
        return error

    def answer(self, number: int | None) -> dict[str, Any]:
        """Wait for the answer to a request, be it a result or an error."""
        self._read(lambda: number in self.answers)
        return self.answers.pop(number)

    def ask(self, method: str, params: Any) -> Any:
        answer = self.answer(self.begin(method, params))
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def told(self, method: str, fits: Callable[[Any], bool] = lambda _: True) -> Any:
        """Wait for a notification."""
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            found[:] = [each for each in self.notifications if each["method"] == method and fits(each["params"])]
            return bool(found)

        self._read(is_there)
        self.notifications.remove(found[0])
        return found[0]["params"]

    def faults(self, uri: str, version: int) -> list[dict[str, Any]]:
        """Wait for what is wrong with a version of a document."""
        told = self.told("textDocument/publishDiagnostics", lambda params: params["uri"] == uri and params.get("version") == version)
        found: list[dict[str, Any]] = told["diagnostics"]
        return found

    def open(self, uri: str, text: str, version: int = 1) -> None:
        document = {"uri": uri, "languageId": "dcdl", "version": version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def _read(self, is_done: Callable[[], bool]) -> None:
        for _ in range(MESSAGES_MAX):
            if is_done():
                return
            message = self._message()
            if "method" in message:
                self.notifications.append(message)
            else:
                self.answers[message["id"]] = message
        raise AssertionError("the server speaks of other things")

    def _message(self) -> dict[str, Any]:
        out = self.server.stdout
        assert out is not None
        length = 0
        while line := out.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the server has ended"
        message: dict[str, Any] = json.loads(out.read(length))
        return message
