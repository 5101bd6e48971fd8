"""What a flow declares beside its states: variables, inputs, checks."""

from dataclasses import dataclass

from stateward.compiler.predicates.schema import Plain, Schema


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable or an input: its name, what it may hold, and what it holds from the beginning; None: nothing."""

    name: str
    schema: Schema
    default: "Plain | None" = None


@dataclass(frozen=True, slots=True)
class CheckDeclaration:
    """A command that the host runs in the Workdir when a transition that names it is asked for."""

    name: str
    command: tuple[str, ...]
    """The program and its arguments; no shell reads them."""
    timeout_seconds: int
