"""What the reading of a profile finds: one typed value for each kind of fault, and beside it how it is told.

What the compiler has a problem for is told by that one; the codes here that are not the compiler's are `value_not_allowed` and
`verifier_incomplete`.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.wording import listed, nearest, quoted
from stateward.compiler.flow.problems.told import came_through, did_you_mean
from stateward.compiler.flow.typed import Path
from stateward.compiler.language.data import Origin
from stateward.compiler.source import Place

OWN_CODES: Final = ("value_not_allowed", "verifier_incomplete")


class UnknownField(NamedTuple):
    """A field that neither a profile nor the section has."""

    name: str
    key: Place
    path: Path
    known: Sequence[str]
    elsewhere: str | None
    """The section, or the profile itself, that does have a field of this name."""
    other_names: Mapping[str, str]
    """What fields of this holder are called elsewhere, folded."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key."""
        holder = quoted(str(self.path[-2])) if len(self.path) > 1 else "a profile"
        notes = [f"the fields of {holder} are {listed(self.known)}"]
        if self.elsewhere is not None:
            notes.append(f"{quoted(self.name)} is a field of {self.elsewhere}")
        return Diagnostic(
            code="unknown_field",
            severity=Severity.ERROR,
            message=f"{holder} has no field {quoted(self.name)}",
            primary=Label(self.key, f"not a field of {holder}"),
            notes=tuple(notes),
            help=did_you_mean(nearest(self.name, self.known) or self._called_so_elsewhere()),
            path=self.path,
        )

    def _called_so_elsewhere(self) -> str | None:
        meant = self.other_names.get(self.name.lower().replace("-", "").replace("_", ""))
        return meant if meant in self.known else None


class MissingField(NamedTuple):
    """A field without which nothing can be said."""

    holder: str
    name: str
    example: str
    place: Place
    path: Path
    code: str = "missing_field"

    def diagnostic(self) -> Diagnostic:
        """Tell it at what lacks the field."""
        return Diagnostic(
            code=self.code,
            severity=Severity.ERROR,
            message=f"{self.holder} has no {quoted(self.name)}",
            primary=Label(self.place, f"lacks {quoted(self.name)}"),
            help=f"add `{self.name} = {self.example};`",
            path=self.path,
        )


class NotAProfile(NamedTuple):
    """A value at the root that is no object."""

    origin: Origin

    def diagnostic(self) -> Diagnostic:
        """Tell it at the value."""
        return Diagnostic(
            code="wrong_type",
            severity=Severity.ERROR,
            message="a profile must be an object",
            primary=Label(self.origin.place, "no object"),
            secondary=came_through(self.origin),
        )


class NotAllowed(NamedTuple):
    """A value of the right type that its field cannot have."""

    message: str
    label: str
    origin: Origin
    path: Path
    help: str | None = None
    notes: tuple[str, ...] = ()

    def diagnostic(self) -> Diagnostic:
        """Tell it at the value."""
        return Diagnostic(
            code="value_not_allowed",
            severity=Severity.ERROR,
            message=self.message,
            primary=Label(self.origin.place, self.label),
            secondary=came_through(self.origin),
            notes=self.notes,
            help=self.help,
            path=self.path,
        )


class OutOfPlace(NamedTuple):
    """A field of the verifier that says nothing where it stands."""

    name: str
    key: Place
    path: Path
    why: str
    """The end of a sentence that begins with the name."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key."""
        return Diagnostic(
            code="verifier_incomplete",
            severity=Severity.ERROR,
            message=f"{quoted(self.name)} {self.why}",
            primary=Label(self.key, "has no meaning here"),
            help=f"take {quoted(self.name)} away",
            path=self.path,
        )
