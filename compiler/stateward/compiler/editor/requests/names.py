"""Requests about names: where they are declared and used, what they stand for."""

from stateward.compiler.editor.server import FlowServer


def register(server: FlowServer) -> None:
    """Register what is asked about names."""
