"""Random edits: what the server holds after each is what a fresh one makes of the text.

The text is edited here a second time, on arrays of the units that an editor counts in, by code that shares nothing with the server's.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.documents import Document
from stateward.compiler.editor.positions import Encoding
from stateward.compiler.editor.requests import register
from stateward.compiler.editor.server import FlowServer
from stateward.compiler.editor.symbols import symbols
from stateward.compiler.editor.wire import Wire
from tests.editor.client import Editor, installed
from tests.editor.test_session import FLOW

URI = "file:///flows/paper.dcdl"
LF, CR = 10, 13
BASES = ("", FLOW, FLOW.replace("\n", "\r\n"), "\ufeff" + FLOW.replace("Write.", "Écris 😀."), FLOW.replace("\n", "\r", 3))
PIECES = (
    "",
    "x",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "é",
    "😀",
    '"',
    "{",
    "}",
    ";",
    "\ufeff",
    "# é\n",
    "done",
    "z = { };",
    'target = "😀";',
    "write",
)
HALVES = ("\ud83d", "\ude00")
ASKED = ("documentSymbol", "foldingRange", "semanticTokens/full", "formatting")


class Edit(NamedTuple):
    """A replacement, of everything or between two places: numbers that are fitted to the text, or lines and columns as they are."""

    new: str
    begin: tuple[int, int] | int | None
    end: tuple[int, int] | int | None


class Model:
    """A text as the units of an encoding; None while it is lost."""

    def __init__(self, encoding: str, text: str) -> None:
        self._codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding]
        self._size = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
        self.units: list[int] | None = self._units(text)

    @property
    def text(self) -> str | None:
        if self.units is None:
            return None
        return b"".join(each.to_bytes(self._size, "little") for each in self.units).decode(self._codec, "surrogatepass")

    def place(self, at: int) -> tuple[int, int]:
        """Give the line and the column of a unit."""
        assert self.units is not None
        line = begin = 0
        for number in range(at):
            if self._ends_line(number):
                line, begin = line + 1, number + 1
        return line, at - begin

    def replace(self, begin: tuple[int, int] | None, end: tuple[int, int] | None, new: str) -> None:
        if begin is None or end is None:
            self.units = self._units(new)
        elif self.units is not None:
            start, stop = self._at(begin), self._at(end)
            if start is None or stop is None or stop < start:
                self.units = None
            else:
                self.units[start:stop] = self._units(new)

    def _units(self, text: str) -> list[int]:
        data = text.encode(self._codec, "surrogatepass")
        return [int.from_bytes(data[at : at + self._size], "little") for at in range(0, len(data), self._size)]

    def _ends_line(self, at: int) -> bool:
        units = self.units or []
        return units[at] == LF or (units[at] == CR and units[at + 1 : at + 2] != [LF])

    def _at(self, place: tuple[int, int]) -> int | None:
        units = self.units or []
        begins = [0, *(at + 1 for at in range(len(units)) if self._ends_line(at))]
        if place[0] >= len(begins):
            return None
        begin = begins[place[0]]
        stop = next((at for at in range(begin, len(units)) if units[at] in {LF, CR}), len(units))
        at = min(begin + place[1], stop)
        return None if at < stop and self._is_inside(at) else at

    def _is_inside(self, at: int) -> bool:
        """Tell whether a character goes on at a unit."""
        units = self.units or []
        if self._size == 1:
            return units[at] & 0xC0 == 0x80
        return self._size == 2 and at > 0 and 0xD800 <= units[at - 1] < 0xDC00 <= units[at] < 0xE000


def edits(pieces: tuple[str, ...]) -> st.SearchStrategy[Edit]:
    fitted = st.integers(0, 100_000)
    written = st.tuples(st.integers(0, 9), st.integers(0, 90))
    new = st.lists(st.sampled_from(pieces), max_size=3).map("".join)
    return st.one_of(
        st.builds(Edit, new, fitted, fitted),
        st.builds(Edit, new, fitted, st.none()),  # an insertion
        st.builds(Edit, new, written, written),
        st.builds(Edit, st.sampled_from(BASES), st.none(), st.none()),
    )


Game = tuple[str, list[list[Edit]]]
"""A text, and the changes of each notification."""


def games(encoding: Encoding) -> st.SearchStrategy[Game]:
    pieces = PIECES + HALVES * (encoding is Encoding.UTF16)
    return st.tuples(st.sampled_from(BASES), st.lists(st.lists(edits(pieces), min_size=1, max_size=3), min_size=1, max_size=6))


def made(model: Model, edit: Edit) -> dict[str, Any]:
    """Make an edit on the model, and give it as it is told."""
    begin, end = edit.begin, edit.end
    if isinstance(begin, int):
        length = len(model.units or ()) + 1
        other = begin if end is None else end
        assert isinstance(other, int)
        low, high = sorted((begin % length, other % length))
        begin, end = (model.place(low), model.place(high)) if model.units is not None else ((0, 0), (0, 0))
    assert not isinstance(end, int)
    model.replace(begin, end, edit.new)
    if begin is None or end is None:
        return {"text": edit.new}
    places = ({"line": line, "character": character} for line, character in (begin, end))
    return {"text": edit.new, "range": dict(zip(("start", "end"), places, strict=True))}


class Talk:
    """A server in this process, and what it writes."""

    def __init__(self, encoding: str) -> None:
        self.server = FlowServer()
        register(self.server)
        self.server.protocol.set_writer(self, include_headers=False)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self.told: list[dict[str, Any]] = []
        self.heard = asyncio.Event()
        self._encoding = encoding

    def write(self, data: bytes) -> None:
        message = json.loads(data)
        if "method" in message:
            self.told.append(message)
            self.heard.set()
        else:
            self._answers.pop(message["id"]).set_result(message)

    def close(self) -> None:
        self.server.shutdown()

    async def begin(self) -> None:
        general = {"general": {"positionEncodings": [self._encoding]}}
        await self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": general})

    def tell(self, method: str, params: Any) -> None:
        self.server.protocol.take(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    async def ask(self, method: str, params: Any) -> Any:
        number = id(params)
        self._answers[number] = answer = asyncio.get_running_loop().create_future()
        self.server.protocol.take(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode())
        return {name: value for name, value in (await answer).items() if name != "id"}

    async def state(self) -> dict[str, Any]:
        """Give all that is answered for the text."""
        named = {"textDocument": {"uri": URI}, "options": {"tabSize": 4, "insertSpaces": True}}
        return {method: await self.ask(f"textDocument/{method}", dict(named)) for method in ASKED}

    async def faults(self, version: int) -> list[dict[str, Any]]:
        """Wait for what is wrong with a version."""
        while True:
            self.heard.clear()
            for each in self.told:
                if each["method"] == "textDocument/publishDiagnostics" and each["params"].get("version") == version:
                    found: list[dict[str, Any]] = each["params"]["diagnostics"]
                    return found
            await self.heard.wait()


@contextmanager
def talk(encoding: str) -> Iterator[Talk]:
    session = Talk(encoding)
    try:
        yield session
    finally:
        session.close()


def document(version: int, text: str) -> dict[str, Any]:
    return {"textDocument": {"uri": URI, "languageId": "dcdl", "version": version, "text": text}}


async def play(encoding: str, base: str, notifications: list[list[Edit]]) -> None:
    model = Model(encoding, base)
    with talk(encoding) as edited, talk(encoding) as fresh:
        await edited.begin()
        await fresh.begin()
        edited.tell("textDocument/didOpen", document(1, base))
        version = 1
        for version, changes in enumerate(notifications, start=2):
            told = [made(model, each) for each in changes]
            edited.tell("textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": told})
            held = edited.server.documents[URI]
            assert (model.text is None, model.text or "", version) == (held.lost is not None, held.text, held.version)
            if model.text is not None:
                found = await edited.server.answered(URI, lambda wire: wire)
                expected = Analysis("paper.dcdl", model.text, "paper")
                assert Wire(Document(URI, version, model.text), expected, Encoding(encoding)).diagnostics() == found.diagnostics()
                assert symbols(expected) == symbols(found.analysis)
        last = model.text if model.text is not None else FLOW
        if model.text is None:
            version += 1
            edited.tell("textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": last}]})
        fresh.tell("textDocument/didOpen", document(version, last))
        assert await fresh.faults(version) == await edited.faults(version)
        assert await fresh.state() == await edited.state()


@given(st.sampled_from(Encoding), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_after_every_edit_the_server_is_as_a_fresh_one_with_that_text(encoding: Encoding, data: st.DataObject) -> None:
    asyncio.run(play(encoding.value, *data.draw(games(encoding))))


@given(st.sampled_from(Encoding), st.data())
@settings(
    deadline=None,
    max_examples=3,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_the_installed_program_is_as_one_that_was_just_given_the_text(encoding: Encoding, data: st.DataObject) -> None:
    with Editor([encoding.value], start=installed) as editor:
        for number, (base, notifications) in enumerate(data.draw(st.lists(games(encoding), min_size=3, max_size=6))):
            uri, other = f"file:///edited/f{number}.dcdl", f"file:///fresh/f{number}.dcdl"
            model, version = Model(encoding.value, base), 1
            editor.open(uri, base)
            for version, changes in enumerate(notifications, start=2):
                editor.change(uri, version, *(made(model, each) for each in changes))
            if model.text is None:
                version += 1
                editor.change(uri, version, {"text": FLOW})
            editor.open(other, FLOW if model.text is None else model.text)
            assert json.dumps(editor.faults(other, 1)).replace(other, uri) == json.dumps(editor.faults(uri, version))
            editor.notifications.clear()
