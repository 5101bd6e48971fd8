"""A server with features of which some fail, some wait, and some print. It changes the modules of the server: in a process of its own."""

import asyncio
import os
from threading import Event
from typing import Any

from stateward.compiler.editor import server, stdio
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.requests import names, text
from stateward.compiler.editor.server import FlowServer


class Failing(Analysis):
    """The compiler, but for one text that it fails on."""

    @property
    def diagnostics(self) -> Any:
        return super().diagnostics if "crash" not in self.source.text else 1 // 0


class Gate:
    """Work that goes on when it is told to, and how much of it has begun."""

    def __init__(self) -> None:
        self.opened, self.begun = Event(), Event()
        self.done: list[Any] = []

    def work(self, wire: Any) -> int:
        self.done.append(wire)
        self.begun.set()
        self.opened.wait()
        return len(self.done)


GATE = Gate()


async def crash(ls: FlowServer, params: Any) -> Any:
    return await ls.answered(params.text_document.uri, lambda wire: 1 // 0)


def at_once(ls: FlowServer, params: Any) -> Any:
    raise RecursionError("too deep")


def speak(ls: FlowServer, params: Any) -> str:
    print("from python")
    os.write(1, b"from below\n")
    return "spoken"


def wait(ls: FlowServer, params: Any) -> str:
    ls.worker.submit(Event().wait)
    return "busy"


async def work(ls: FlowServer, params: Any) -> Any:
    return await ls.answered(params.textDocument.uri, GATE.work)


async def begun(ls: FlowServer, params: Any) -> None:
    await asyncio.to_thread(GATE.begun.wait)


async def go_on(ls: FlowServer, params: Any) -> int:
    await asyncio.to_thread(GATE.begun.wait)
    count = len(GATE.done)
    GATE.opened.set()
    return count


def bring(flows: FlowServer) -> None:
    flows.feature("test/work")(work)
    flows.feature("test/begun")(begun)
    flows.feature("test/goOn")(go_on)
    flows.feature("workspace/symbol")(names.searched)
    flows.feature("textDocument/hover")(crash)
    flows.feature("textDocument/definition")(at_once)
    flows.feature("test/speak")(speak)
    flows.feature("test/busy")(wait)
    text.register(flows)


def serve() -> None:
    """Serve them at standard input and output."""
    server.Analysis = Failing  # type: ignore[attr-defined]
    stdio.register = bring  # type: ignore[attr-defined, assignment]
    raise SystemExit(stdio.serve())
