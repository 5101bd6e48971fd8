"""What the phases of a Flow source find: one typed value for each kind of fault, and beside it how it is told.

A phase reports what it knows; `diagnostic()` is the one function that turns that into the flat form. Nothing else words a fault.
"""

from typing import Protocol

from stateward.compiler.diagnostics.model import Diagnostic


class Problem(Protocol):
    """A finding of a phase."""

    def diagnostic(self) -> Diagnostic:
        """Tell it in the flat form."""
        ...
