"""Faults of what a flow declares beside its states, and of the names by which it is used: variables, inputs and checks."""

from typing import Final, NamedTuple

from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix, Label, Severity
from stateward.compiler.diagnostics.wording import counted, listed, quoted
from stateward.compiler.flow.declared import Meant
from stateward.compiler.flow.durations import duration_meant, either_duration, written
from stateward.compiler.flow.problems.meaning import written_anew
from stateward.compiler.flow.problems.told import came_through, did_you_mean, owner
from stateward.compiler.flow.typed import DeclarationSource, Located, Path
from stateward.compiler.predicates.constraints import SCALARS
from stateward.compiler.predicates.schema import Scalar
from stateward.compiler.predicates.text import value_text
from stateward.compiler.source import Place

_DURATION_RULE: Final = "a duration is a whole number and `s`, `m` or `h`"


class NameNotFound(NamedTuple):
    """A reference to a variable or a check that is not declared."""

    code: str
    what: str
    """`variable`, `check`."""
    reference: Located[str]
    declared: tuple[str, ...]
    meant: Meant
    is_input: bool = False
    """Whether an input has this name."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the reference, with the near name."""
        name = self.reference.value
        near, twin, alone = self.meant
        there = f"the flow declares {listed(self.declared)}" if self.declared else f"the flow declares no {self.what}"
        notes = [there]
        if twin is not None:
            notes.append(f"{quoted(twin)} looks the same and is written with other characters")
        if self.is_input:
            notes.append(f"{quoted(name)} is an input, which every guard may read and nothing writes")
        return Diagnostic(
            code=self.code,
            severity=Severity.ERROR,
            message=f"no {self.what} is named {quoted(name)}",
            primary=Label(self.reference.origin.place, "not declared in this flow"),
            secondary=came_through(self.reference.origin),
            notes=tuple(notes),
            help=did_you_mean(near),
            fixes=written_anew(self.reference, near) if near is not None and alone else (),
            path=self.reference.path,
        )


class NameTwice(NamedTuple):
    """A name that one list holds twice."""

    name: Located[str]
    first: Located[str]
    field: str

    def diagnostic(self) -> Diagnostic:
        """Tell it at the second."""
        return Diagnostic(
            code="name_given_twice",
            severity=Severity.ERROR,
            message=f"{quoted(self.field)} of {owner(self.name.path[:-2])} names {quoted(self.name.value)} twice",
            primary=Label(self.name.origin.place, "named again"),
            secondary=(Label(self.first.origin.place, "named here"), *came_through(self.name.origin)),
            help="take one of the two away",
            path=self.name.path,
        )


class InputWider(NamedTuple):
    """An input of the name of a variable, with values that the variable may not hold."""

    input: DeclarationSource
    variable: DeclarationSource

    def diagnostic(self) -> Diagnostic:
        """Tell it at the constraint of the input."""
        name = quoted(self.input.name)
        return Diagnostic(
            code="input_wider_than_variable",
            severity=Severity.ERROR,
            message=f"input {name} may hold what variable {name} may not",
            primary=Label(self.input.place, "not known to be as narrow"),
            secondary=(Label(self.variable.place, "what the variable may hold"),),
            notes=("an input gives the variable of its name the first value",),
            help="constrain the input as the variable is",
            path=self.input.path,
        )


class OneValue(NamedTuple):
    """A variable or an input that was given a value where its constraint stands: it can hold nothing else."""

    what: str
    """`variable`, `input`."""
    declaration: DeclarationSource
    value: Scalar

    def diagnostic(self) -> Diagnostic:
        """Tell it at the value, with the type that it probably stands for."""
        name, value = self.declaration.name, value_text(self.value)
        word = SCALARS[type(self.value)]
        return Diagnostic(
            code="declares_one_value",
            severity=Severity.WARNING,
            message=f"{self.what} {quoted(name)} can hold nothing but {quoted(value)}",
            primary=Label(self.declaration.place, "a constraint to this value"),
            notes=("what stands here is what it may hold; its first value comes after `default`",),
            help=f"write {quoted(f'{word} default {value}')} for a first value",
            path=self.declaration.path,
        )


class DefaultTooLarge(NamedTuple):
    """A default with too many bytes."""

    what: str
    """`variable`, `input`."""
    declaration: DeclarationSource
    size: int
    limit: int

    def diagnostic(self) -> Diagnostic:
        """Tell it at what was declared."""
        return Diagnostic(
            code="default_too_large",
            severity=Severity.ERROR,
            message=f"the default of {self.what} {quoted(self.declaration.name)} has {counted(self.size, 'byte')} as JSON",
            primary=Label(self.declaration.place, f"more than {self.limit:,} bytes"),
            path=self.declaration.path,
        )


class CommandUnusable(NamedTuple):
    """A command without a program, or one that is too long."""

    message: str
    place: Place
    label: str
    path: Path

    def diagnostic(self) -> Diagnostic:
        """Tell it at the command, or at the text that is at fault."""
        return Diagnostic(
            code="invalid_command",
            severity=Severity.ERROR,
            message=self.message,
            primary=Label(self.place, self.label),
            path=self.path,
        )


def command_of(check: str) -> str:
    """Name the command of a check."""
    return f"the command of check {quoted(check)}"


class NoDuration(NamedTuple):
    """A text that says no length of time, or one that is too short or too long."""

    text: Located[str]
    seconds: int | None
    """What it says; None when it says nothing."""
    least: int
    most: int

    def diagnostic(self) -> Diagnostic:
        """Tell it at the text."""
        field = quoted(str(self.text.path[-1]))
        said = quoted(self.text.value)
        if self.seconds is not None:
            short = self.seconds < self.least
            limit = written(self.least if short else self.most)
            message = f"{said} is {'shorter' if short else 'longer'} than `{limit}`"
            return self._told(message, f"{'less' if short else 'more'} than {field} may be", None, None)
        meant = duration_meant(self.text.value)
        if meant is None and self.text.value.isascii() and self.text.value.isdigit():
            return self._told(f"{said} has no unit", "a number alone", either_duration(self.text.value), None)
        return self._told(f"{said} is no duration", "not a duration", f'write `"{meant}"`' if meant is not None else None, meant)

    def _told(self, message: str, label: str, help_: str | None, mended: str | None) -> Diagnostic:
        origin = self.text.origin
        fixes: tuple[Fix, ...] = ()
        if mended is not None and not origin.through:
            fixes = (Fix(f'write `"{mended}"`', (Edit(origin.place.span, f'"{mended}"'),), Applicability.UNSAFE),)
        return Diagnostic(
            code="invalid_duration",
            severity=Severity.ERROR,
            message=message,
            primary=Label(origin.place, label),
            secondary=came_through(origin),
            notes=(_DURATION_RULE,) if self.seconds is None else (),
            help=help_,
            fixes=fixes,
            path=self.text.path,
        )


class UnknownSelection(NamedTuple):
    """A way to select that there is not."""

    text: Located[str]
    words: tuple[str, ...]
    near: str | None

    def diagnostic(self) -> Diagnostic:
        """Tell it at the text."""
        return Diagnostic(
            code="invalid_selection",
            severity=Severity.ERROR,
            message=f"a state cannot select {quoted(self.text.value)}",
            primary=Label(self.text.origin.place, "not a way to select"),
            secondary=came_through(self.text.origin),
            notes=(f"`select` is {listed(self.words, 'or')}",),
            help=did_you_mean(self.near),
            fixes=written_anew(self.text, self.near) if self.near is not None else (),
            path=self.text.path,
        )


class VisitsOutOfBounds(NamedTuple):
    """A number of visits that no state can be limited to."""

    visits: Located[int]
    least: int
    most: int

    def diagnostic(self) -> Diagnostic:
        """Tell it at the number."""
        few = self.visits.value < self.least
        return Diagnostic(
            code="invalid_visit_limit",
            severity=Severity.ERROR,
            message=f"{owner(self.visits.path[:-2])} cannot be limited to {counted(self.visits.value, 'visit')}",
            primary=Label(self.visits.origin.place, f"less than {self.least:,}" if few else f"more than {self.most:,}"),
            secondary=came_through(self.visits.origin),
            notes=("a state that is entered has one visit",) if few else (),
            path=self.visits.path,
        )
