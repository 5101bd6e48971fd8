"""How requests about a document are answered: by functions of its newest version, called away from the loop."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from lsprotocol import types

from stateward.compiler.editor.server import FlowServer
from stateward.compiler.editor.wire import Wire


class OfDocument(Protocol):
    """Parameters that name a document."""

    text_document: types.TextDocumentIdentifier


class OfItem(Protocol):
    """Parameters that name an item that was given before."""

    item: types.CallHierarchyItem


Told = TypeVar("Told", bound=OfDocument)
Named = TypeVar("Named", bound=OfItem)
Answer = TypeVar("Answer")


def of_document(answer: Callable[[Wire, Told], Answer]) -> Callable[[FlowServer, Told], Awaitable[Answer]]:
    """Make a request of what answers it for a document."""

    async def request(ls: FlowServer, params: Told) -> Answer:
        return await ls.answered(params.text_document.uri, lambda wire: answer(wire, params))

    return request


def of_item(answer: Callable[[Wire, Named], Answer]) -> Callable[[FlowServer, Named], Awaitable[Answer]]:
    """Make a request of what answers it for an item."""

    async def request(ls: FlowServer, params: Named) -> Answer:
        return await ls.answered(params.item.uri, lambda wire: answer(wire, params))

    return request
