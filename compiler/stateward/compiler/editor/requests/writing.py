"""Requests of an author at the keyboard: what could stand here, how the text is coloured, folded and selected."""

from stateward.compiler.editor.server import FlowServer


def register(server: FlowServer) -> None:
    """Register what is asked while a text is written."""
