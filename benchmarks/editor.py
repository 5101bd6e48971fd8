"""What an author waits for: from a keystroke to what is wrong with the text, beside one compile of the same text.

The source is close to 256 KiB, the most that a flow may have. The installed program serves it; a keystroke is one notification with one
changed character, and the answer is the diagnostics of that very version. The compile is one in this process of the same text, in turns
with the keystrokes, since whatever else the machine does falls on both alike. The server waits a little before it looks at a text, so that
it does not do so at each key; `pause_ms` is that wait, and part of the keystroke. `broken` is the same with a fault in every state. Run
`python -m benchmarks.editor`; it prints JSON.
"""

import argparse
import json
import platform
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from statistics import median
from time import perf_counter
from types import TracebackType
from typing import Any, Final

from stateward.compiler.editor.server import PAUSE_SECONDS
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX, STATES_MAX
from stateward.compiler.pipeline import compile_source

URI: Final = "file:///bench/long.dcdl"
SERVER: Final = (sys.executable, "-c", "from stateward.runtime.surfaces.cli import main; main(['lsp'])")
SENTENCE: Final = "Read what the state asks for, do it, and say what was done. "
ROUNDS: Final = 15
REQUESTS: Final = ("documentSymbol", "foldingRange", "semanticTokens/full", "formatting")


def flow(target: str = "s{next}") -> str:
    """Write as large a flow as there can be: every state leads to the next one."""
    room = FLOW_SOURCE_BYTES_MAX // STATES_MAX - 220
    text = (SENTENCE * (room // len(SENTENCE) + 1))[:room]
    body = "".join(
        f'    s{at} = {{\n        instructions = "{text}";\n        transitions = {{\n'
        f'            on = {{ target = "{target.format(next=at + 1)}"; condition = "Step {at} is done, and its result can be seen."; }};\n'
        "        };\n    };\n"
        for at in range(STATES_MAX - 1)
    )
    end = f'    s{STATES_MAX - 1} = {{ instructions = ""; terminal = true; }};\n'
    return f'schema_version = 1;\nname = "long";\ninitial = "s0";\nstates = {{\n{body}{end}}};\n'


class Session(AbstractContextManager["Session"]):
    """The installed program, and one who writes."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(SERVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._version = 0
        self._ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self._send({"method": "initialized", "params": {}})

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._ask("shutdown", None)
        self._send({"method": "exit"})
        self._server.communicate()

    def open(self, text: str) -> int:
        """Hand a text over, wait for what is wrong with it, and count that."""
        self._version += 1
        document = {"uri": URI, "languageId": "dcdl", "version": self._version, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        return self._faults()

    def press(self) -> None:
        """Change one character, and wait for what is wrong then."""
        self._version += 1
        place = {"line": 1, "character": 8}
        over = {"line": 1, "character": 9}
        change = {"range": {"start": place, "end": over}, "text": "kl"[self._version % 2]}
        named = {"uri": URI, "version": self._version}
        self._send({"method": "textDocument/didChange", "params": {"textDocument": named, "contentChanges": [change]}})
        self._faults()

    def request(self, method: str) -> None:
        """Ask for what an editor asks for when a text has changed."""
        self._ask(f"textDocument/{method}", {"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}})

    def _faults(self) -> int:
        while True:
            message = self._message()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"].get("version") == self._version:
                return len(message["params"]["diagnostics"])

    def _ask(self, method: str, params: Any) -> None:
        self._send({"id": 1, "method": method, "params": params})
        while "id" not in (message := self._message()):
            pass
        assert "error" not in message, message  # noqa: S101 - a benchmark of refusals would be worthless

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None  # noqa: S101 - the same
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self._server.stdin.flush()

    def _message(self) -> dict[str, Any]:
        out = self._server.stdout
        assert out is not None  # noqa: S101 - the same
        length = 0
        while line := out.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(out.read(length))
        return message


def milliseconds(act: Callable[[], object]) -> float:
    """Time one act."""
    begin = perf_counter()
    act()
    return (perf_counter() - begin) * 1e3


def keystrokes(text: str, rounds: int) -> dict[str, float]:
    """Measure keystrokes and compiles in turns."""
    data = text.encode()
    with Session() as session:
        faults = session.open(text)
        session.press()
        turns = [(milliseconds(lambda: compile_source(data)), milliseconds(session.press)) for _ in range(rounds)]
        requests = {}
        for method in REQUESTS:
            session.request(method)
            requests[f"{method}_ms"] = round(median(milliseconds(lambda: session.request(method)) for _ in range(rounds)), 1)  # noqa: B023 - used at once
    compiles, presses = (median(each) for each in zip(*turns, strict=True))
    pause = PAUSE_SECONDS * 1e3
    return {
        "bytes": len(data),
        "faults": faults,
        "compile_ms": round(compiles, 1),
        "pause_ms": pause,
        "keystroke_ms": round(presses, 1),
        "keystroke_over_compile": round(median(press / compile_ for compile_, press in turns), 2),
        "without_the_pause_over_compile": round(median((press - pause) / compile_ for compile_, press in turns), 2),
        **requests,
    }


def main() -> None:
    """Measure, and print JSON."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    rounds: int = arguments.parse_args().rounds
    report = {"python": platform.python_version(), "sound": keystrokes(flow(), rounds), "broken": keystrokes(flow("nowhere{next}"), rounds)}
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
