"""Faults of meaning: names, counts, texts and references of a source whose shape is right."""

from typing import Final, NamedTuple

from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix, Label, Severity
from stateward.compiler.diagnostics.wording import character, counted, listed, quoted
from stateward.compiler.flow.declared import Meant
from stateward.compiler.flow.identifiers import RULE, id_like, identifier_fault, name_like
from stateward.compiler.flow.problems.told import came_through, declared_in, declares, did_you_mean, owner
from stateward.compiler.flow.reserved import CANCEL_TRANSITION, CANCELLED_STATE
from stateward.compiler.flow.typed import Located, Path, TransitionSource
from stateward.compiler.language.data import Origin
from stateward.compiler.source import Place

LABELS_MAX: Final = 6
"""Further places that a diagnostic shows."""
_DOLLAR_RULE: Final = "names with `$` in front are kept for what the compiler adds"
_ADDED: Final = f"the compiler adds `{CANCEL_TRANSITION}` to every state that is no end, and `{CANCELLED_STATE}`, to which it leads"


class InvalidIdentifier(NamedTuple):
    """A name or an id that is no identifier."""

    code: str
    what: str
    """`flow name`, `state id`, `transition id`."""
    text: str
    place: Place
    path: Path
    through: tuple[Label, ...] = ()

    def diagnostic(self) -> Diagnostic:
        """Tell it at the name, with the character or the rule that it breaks."""
        fault = identifier_fault(self.text)
        assert fault is not None
        subject = f"{self.what} {quoted(self.text)}" if self.text else f"the {self.what}"
        like = name_like(self.text) if self.code == "invalid_name" else id_like(self.text)
        return Diagnostic(
            code=self.code,
            severity=Severity.ERROR,
            message=f"{subject} {fault}",
            primary=Label(self.place, f"not a {self.what}"),
            secondary=self.through,
            notes=(_DOLLAR_RULE if self.text.startswith("$") else f"a {self.what} {RULE}",),
            help=f"spell it {quoted(like)}" if like is not None else None,
            path=self.path,
        )


class Reserved(NamedTuple):
    """An author's use of a name that belongs to the compiler."""

    code: str
    message: str
    place: Place
    path: Path
    label: str
    through: tuple[Label, ...] = ()
    note: str | None = None
    """What explains it better than the names of the compiler do."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the name."""
        return Diagnostic(
            code=self.code,
            severity=Severity.ERROR,
            message=self.message,
            primary=Label(self.place, self.label),
            secondary=self.through,
            notes=(self.note or _ADDED,),
            path=self.path,
        )


class CountOutOfBounds(NamedTuple):
    """No states, too many states, or too many transitions."""

    code: str
    message: str
    place: Place
    path: Path
    label: str
    help: str | None = None

    def diagnostic(self) -> Diagnostic:
        """Tell it at the key of the object that holds them."""
        return Diagnostic(self.code, Severity.ERROR, self.message, Label(self.place, self.label), help=self.help, path=self.path)


class StateNotFound(NamedTuple):
    """A reference to a state that is not declared: `initial`, or the target of a transition."""

    code: str
    reference: Located[str]
    flow: str | None
    declared: tuple[str, ...]
    meant: Meant
    renamed: str | None = None
    """The state that was probably called so before."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the reference, with the near name."""
        name = self.reference.value
        near, twin, alone = self.meant
        notes = declares(self.flow, self.declared)
        if twin is not None:
            notes = (*notes, f"a state that looks the same is written with other characters: {_spelt(twin)} there, {_spelt(name)} here")
        elif not name.isascii():
            notes = (*notes, f"it is written with {_spelt(name)}")
        return Diagnostic(
            code=self.code,
            severity=Severity.ERROR,
            message=f"no state is named {quoted(name)}",
            primary=Label(self.reference.origin.place, declared_in(self.flow)),
            secondary=came_through(self.reference.origin),
            notes=notes,
            help=self._help(),
            fixes=self._fixes(near or self.renamed) if alone and twin is None else (),
            path=self.reference.path,
        )

    def _help(self) -> str | None:
        if self.meant.near is None and self.meant.twin is None and self.renamed is not None:
            return f"was it renamed to {quoted(self.renamed)}?"
        return did_you_mean(self.meant.near)

    def _fixes(self, near: str | None) -> tuple[Fix, ...]:
        return written_anew(self.reference, near) if near is not None else ()


def written_anew(text: Located[str], name: str) -> tuple[Fix, ...]:
    """Put a name in the place of a text, where the text was written out where it is used."""
    origin = text.origin
    if origin.through or origin.place.source.slice(origin.place.span) != f'"{text.value}"':
        return ()
    return (Fix(f"name `{name}`", (Edit(origin.place.span, f'"{name}"'),), Applicability.UNSAFE),)


def _spelt(name: str) -> str:
    """Spell out the characters beyond ASCII."""
    odd = [character(char) for char in name if not char.isascii()]
    return ", ".join(odd[:4]) if odd else "ASCII"


class TextBlank(NamedTuple):
    """Instructions or a condition that say nothing."""

    code: str
    text: Located[str]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the text."""
        of = owner(self.text.path[:-1])
        instructions = self.code == "instructions_empty"
        return Diagnostic(
            code=self.code,
            severity=Severity.ERROR,
            message=f"the instructions of {of} are blank" if instructions else f"the condition of {of} is blank",
            primary=Label(self.text.origin.place, "says nothing"),
            secondary=came_through(self.text.origin),
            notes=("only a terminal state may have blank instructions" if instructions else "a blank condition does not mean `always`",),
            path=self.text.path,
        )


class TextTooLarge(NamedTuple):
    """Instructions or a condition with too many bytes."""

    code: str
    text: Located[str]
    size: int
    limit: int

    def diagnostic(self) -> Diagnostic:
        """Tell it at the text."""
        part = "instructions" if self.code == "instructions_too_large" else "condition"
        verb = "have" if part == "instructions" else "has"
        return Diagnostic(
            code=self.code,
            severity=Severity.ERROR,
            message=f"the {part} of {owner(self.text.path[:-1])} {verb} {counted(self.size, 'byte')}",
            primary=Label(self.text.origin.place, f"more than {self.limit:,} bytes"),
            secondary=came_through(self.text.origin),
            path=self.text.path,
        )


class TerminalHasTransitions(NamedTuple):
    """An end with a way out."""

    state: str
    key: Place
    terminal: Origin | None
    path: Path

    def diagnostic(self) -> Diagnostic:
        """Tell it at the transitions, with where the state was declared an end."""
        return Diagnostic(
            code="terminal_has_transitions",
            severity=Severity.ERROR,
            message=f"terminal state {quoted(self.state)} has transitions",
            primary=Label(self.key, "nothing leaves an end"),
            secondary=(Label(self.terminal.place, "declared an end here"),) if self.terminal is not None else (),
            path=self.path,
        )


class NoWayOut(NamedTuple):
    """A state that is no end and has no transition."""

    state: str
    key: Place
    path: Path

    def diagnostic(self) -> Diagnostic:
        """Tell it at the transitions, or at the state when it has none."""
        return Diagnostic(
            code="non_terminal_without_transition",
            severity=Severity.ERROR,
            message=f"state {quoted(self.state)} has no transition and is not terminal",
            primary=Label(self.key, "no way out"),
            help="add `terminal = true;` if the flow ends here",
            path=self.path,
        )


class DuplicateCondition(NamedTuple):
    """Transitions of one state with the same condition and target."""

    transitions: tuple[TransitionSource, ...]
    """Two or more, in order of declaration."""
    state: str
    in_order: bool = False
    """Whether the first that is met is taken."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the second."""
        first, second, *others = self.transitions
        return Diagnostic(
            code="duplicate_condition",
            severity=Severity.WARNING,
            message=f"transitions {listed([each.id for each in self.transitions])} of state {quoted(self.state)} are the same",
            primary=Label(second.key, "same condition, same target"),
            secondary=(Label(first.key, "the first of them"), *(Label(each.key, "this too") for each in others[:LABELS_MAX])),
            notes=(
                "the first of the two is taken whenever both are met"
                if self.in_order
                else "a request that meets both meets more than one transition, and is refused",
            ),
            path=second.path,
        )


class NameDiffersFromSlug(NamedTuple):
    """A flow whose name is not the slug that it is kept under."""

    name: Located[str]
    slug: str

    def diagnostic(self) -> Diagnostic:
        """Tell it at the name."""
        return Diagnostic(
            code="name_differs_from_slug",
            severity=Severity.WARNING,
            message=f"flow {quoted(self.name.value)} is kept as {quoted(self.slug)}",
            primary=Label(self.name.origin.place, f"differs from {quoted(self.slug)}"),
            secondary=came_through(self.name.origin),
            notes=("a flow is found by its slug, and its name is to be the same",),
            help=f"name it {quoted(self.slug)}",
            fixes=written_anew(self.name, self.slug) if identifier_fault(self.slug) is None else (),
            path=self.name.path,
        )
