"""The requests of an editor, each answered by a pure function of the analysis.

Invariants: nothing is decided here; a request is answered for the newest text, or with an error.
"""

from stateward.compiler.editor.requests import names, text, writing
from stateward.compiler.editor.server import FlowServer


def register(server: FlowServer) -> None:
    """Register every request that the server answers."""
    for part in (text, names, writing):
        part.register(server)
