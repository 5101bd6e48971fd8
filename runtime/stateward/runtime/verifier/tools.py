"""The tools by which a judge looks around: they only read."""

from stateward.runtime.verifier.declared import ToolDeclaration, ToolRefused

__all__ = ["ToolDeclaration", "ToolRefused"]
