"""How what is found of guards, variables and checks is told."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic, Label, Severity
from stateward.compiler.diagnostics.wording import listed, quoted
from stateward.compiler.flow.analysis.given import Declared, Standing, Way
from stateward.compiler.flow.analysis.roads import Consequence
from stateward.compiler.flow.analysis.writing import NeverRead, PerhapsUnwritten, Read, Unused, Unwritten
from stateward.compiler.flow.problems.told import owner
from stateward.compiler.predicates.guards import INPUT, KNOWN, VARS, Bag, Guard, Lit, Ref, references
from stateward.compiler.predicates.schema import shown
from stateward.compiler.source import Place

LABELS_MAX: Final = 6
"""Further places that a diagnostic shows."""
SHOWN_MAX: Final = 6
"""Values that an example spells out."""
ROAD_MAX: Final = 8
"""States that a way spells out."""


class AlwaysTrue(NamedTuple):
    """A guard that holds in every run."""

    way: Way
    guard: Guard
    declared: tuple[Declared, ...]
    """What it reads that is declared."""
    may_be_otherwise: bool
    """Whether its state may have an `otherwise`, and has none."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the guard."""
        return Diagnostic(
            code="guard_always_true",
            severity=Severity.WARNING,
            message=f"the guard of {owner(self.way.path)} always holds",
            primary=Label(self.way.place, "always holds"),
            secondary=_declared_here(self.declared),
            notes=("it comes to `true` before any run",) if isinstance(self.guard, Lit) else (),
            help="write `otherwise = true;` in its place if it is for what no other covers" if self.may_be_otherwise else None,
            path=self.way.path,
        )


class NeverTrue(NamedTuple):
    """A guard that holds in no run."""

    way: Way
    guard: Guard
    declared: tuple[Declared, ...]
    consequence: Consequence
    states: tuple[Standing, ...]
    """The states of the flow."""

    def diagnostic(self) -> Diagnostic:
        """Tell it at the guard, with the states that are lost by it."""
        return Diagnostic(
            code="guard_never_true",
            severity=Severity.ERROR,
            message=f"the guard of {owner(self.way.path)} never holds",
            primary=Label(self.way.place, "never holds"),
            secondary=(*_declared_here(self.declared), *_lost_here(self.consequence, self.states)),
            notes=(
                *(("it comes to `false` before any run",) if isinstance(self.guard, Lit) else ()),
                *_following(self.consequence),
            ),
            path=self.way.path,
            states=_named(self.consequence),
        )


class Shadowed(NamedTuple):
    """A way out that others leave nothing to."""

    way: Way
    by: tuple[Way, ...]
    """At least one."""
    consequence: Consequence
    states: tuple[Standing, ...]

    def diagnostic(self) -> Diagnostic:
        """Tell it at the transition, with those that are taken in its place."""
        why = (
            "a transition with `otherwise` is taken where all others are not met"
            if self.way.otherwise
            else 'under `select = "first"` a transition is taken where all before it are not met'
        )
        label = "one of these is always met" if len(self.by) > 1 else "met whenever it could be"
        return Diagnostic(
            code="transition_shadowed",
            severity=Severity.WARNING,
            message=f"{owner(self.way.path)} is never taken",
            primary=Label(self.way.key, "never taken"),
            secondary=(*(Label(each.place, label) for each in self.by[:LABELS_MAX]), *_lost_here(self.consequence, self.states)),
            notes=(why, *_following(self.consequence)),
            path=self.way.path,
            states=_named(self.consequence),
        )


class Overlapping(NamedTuple):
    """Ways out of which more than one can be met."""

    state: str
    first: tuple[Way, ...]
    """At least one."""
    second: Way
    example: Bag

    def diagnostic(self) -> Diagnostic:
        """Tell it at the second, with an example."""
        both = (self.first[0], self.second)
        guards = [each.guard for each in both if each.guard is not None]
        checks = tuple(dict.fromkeys(each.name for way in both for each in way.checks))
        passing = f"{'check' if len(checks) == 1 else 'checks'} {listed(checks)} {'passes' if len(checks) == 1 else 'pass'}"
        where = example_of(guards, self.example)
        return Diagnostic(
            code="guards_overlap",
            severity=Severity.WARNING,
            message=f"transitions {listed([each.id for each in both])} of state {quoted(self.state)} can both be met",
            primary=Label(self.second.place, f"met together with {quoted(self.first[0].id)}"),
            secondary=tuple(Label(each.place, "met where this is met") for each in self.first[:LABELS_MAX]),
            notes=(
                f"both are met where {' and '.join(each for each in (where, passing if checks else '') if each) or 'the state is left'}",
                "a request that meets more than one transition is refused",
            ),
            help='write `select = "first";` in the state if the first of them is to be taken',
            path=self.second.path,
        )


class LeavingGap(NamedTuple):
    """Guards of which none holds for some values."""

    state: Standing
    example: Bag

    def diagnostic(self) -> Diagnostic:
        """Tell it at the state, with an example."""
        guards = [each.guard for each in self.state.ways if each.guard is not None]
        where = example_of(guards, self.example) or "the state is entered"
        is_open = not any(each.is_judged or each.otherwise for each in self.state.ways)
        return Diagnostic(
            code="guards_leave_gap",
            severity=Severity.WARNING,
            message=f"the guards of state {quoted(self.state.id)} leave a gap",
            primary=Label(self.state.key, "left by no transition there"),
            secondary=tuple(Label(each.place, "does not hold there") for each in self.state.ways[:LABELS_MAX]),
            notes=(f"no guard holds where {where}",),
            help="add a transition with `otherwise = true;`" if is_open else None,
            path=self.state.path,
        )


class ReadBeforeWritten(NamedTuple):
    """A variable that is read where nothing can have written it."""

    found: Unwritten

    def diagnostic(self) -> Diagnostic:
        """Tell it at the first place."""
        name, first = self.found.variable, self.found.reads[0]
        written = [each.state for each in self.found.writers]
        return Diagnostic(
            code="read_before_written",
            severity=Severity.ERROR,
            message=f"variable {quoted(name)} is read before anything writes it",
            primary=Label(first.where.place, f"reads {quoted(name)}" if first.is_guard else "nothing to be shown"),
            secondary=(*_read_too(self.found.reads[1:]), *_written(self.found.writers)),
            notes=(f"no way leads from {_states(written)} to state {quoted(first.state)}" if written else "no state writes it",),
            help=f"give {quoted(name)} a default",
            path=("states", first.state),
        )


class ReadPerhapsBeforeWritten(NamedTuple):
    """A variable that is read where it may not have been written."""

    found: PerhapsUnwritten

    def diagnostic(self) -> Diagnostic:
        """Tell it at the first place, with a way on which nothing writes it."""
        name, first = self.found.variable, self.found.reads[0]
        begun = len(self.found.road) == 1
        way = f"the flow begins in state {quoted(first.state)}" if begun else f"nothing writes it on the way {_arrows(self.found.road)}"
        help_ = f"ask `{KNOWN}.{name}` in the same guard, or give {quoted(name)} a default"
        return Diagnostic(
            code="read_perhaps_before_written",
            severity=Severity.WARNING,
            message=f"variable {quoted(name)} may be read before anything writes it",
            primary=Label(first.where.place, f"reads {quoted(name)}" if first.is_guard else "perhaps nothing to be shown"),
            secondary=(*_read_too(self.found.reads[1:]), *_written(self.found.writers)),
            notes=(way,),
            help=help_ if first.is_guard else f"give {quoted(name)} a default",
            path=("states", first.state),
        )


class WrittenNeverRead(NamedTuple):
    """A variable that is written for nothing."""

    found: NeverRead

    def diagnostic(self) -> Diagnostic:
        """Tell it where it is written first."""
        first, *others = self.found.writers
        return Diagnostic(
            code="written_never_read",
            severity=Severity.WARNING,
            message=f"variable {quoted(self.found.declared.name)} is written and never read",
            primary=Label(first.where.place, "read nowhere after this"),
            secondary=(
                *(Label(each.where.place, "nor after this") for each in others[:LABELS_MAX]),
                Label(self.found.declared.place, "declared here"),
            ),
            notes=("no state that can follow shows it to its worker, and no guard there looks at it",),
            path=("states", first.state),
        )


class DeclaredUnused(NamedTuple):
    """A variable or a check that is not used."""

    found: Unused

    def diagnostic(self) -> Diagnostic:
        """Tell it where it is declared."""
        name, what = self.found.declared.name, "check" if self.found.is_check else "variable"
        return Diagnostic(
            code="check_unused" if self.found.is_check else "variable_unused",
            severity=Severity.WARNING,
            message=f"{what} {quoted(name)} is not used",
            primary=Label(self.found.declared.place, "named by no transition" if self.found.is_check else "neither read nor written"),
            help=f"take {quoted(name)} out",
            path=self.found.declared.path,
        )


# --- words --------------------------------------------------------------------------------------------------------------------------


def example_of(guards: Sequence[Guard], bag: Bag) -> str:
    """Say in words what guards see; empty where they see nothing."""
    refs = list(dict.fromkeys(ref for guard in guards for ref in references(guard)))
    valued = {ref.path[1] for ref in refs if ref.path[0] == VARS}
    told = [_told(ref, bag) for ref in refs if ref.path[0] != KNOWN or ref.path[1] not in valued]
    cut = told if len(told) <= SHOWN_MAX else [*told[: SHOWN_MAX - 1], "so on"]
    return cut[0] if len(cut) == 1 else f"{', '.join(cut[:-1])} and {cut[-1]}" if cut else ""


def _told(ref: Ref, bag: Bag) -> str:
    value = bag.at(ref)
    return f"`{ref.text}` is {shown(value) if value is not None else 'missing'}"


def _declared_here(declared: Iterable[Declared]) -> tuple[Label, ...]:
    return tuple(Label(each.place, f"{quoted(each.name)} is declared here") for each in list(declared)[:LABELS_MAX])


def _lost_here(consequence: Consequence, states: Iterable[Standing]) -> tuple[Label, ...]:
    keys: dict[str, Place] = {state.id: state.key for state in states}
    return (
        *(Label(keys[each], "never entered") for each in consequence.lost[:LABELS_MAX]),
        *(Label(keys[each], "no way to an end") for each in consequence.trapped[:LABELS_MAX]),
    )


def _following(consequence: Consequence) -> tuple[str, ...]:
    notes = []
    if consequence.lost:
        notes.append(f"no transition that can be taken leads to {_states(consequence.lost)}")
    if consequence.trapped:
        notes.append(f"no end can be reached from {_states(consequence.trapped)}")
    return tuple(notes)


def _named(consequence: Consequence) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*consequence.lost, *consequence.trapped)))


def _states(ids: Sequence[str]) -> str:
    return f"{'state' if len(ids) == 1 else 'states'} {listed(ids)}"


def _arrows(road: Sequence[str]) -> str:
    cut = [quoted(each) for each in road] if len(road) <= ROAD_MAX else [*map(quoted, road[: ROAD_MAX - 2]), "…", quoted(road[-1])]
    return " → ".join(cut)


def _read_too(reads: Sequence[Read]) -> tuple[Label, ...]:
    return tuple(Label(each.where.place, "read here too") for each in reads[:LABELS_MAX])


def _written(writers: Sequence[Read]) -> tuple[Label, ...]:
    return tuple(Label(each.where.place, "written here") for each in writers[:LABELS_MAX])


def declared_of(guard: Guard, variables: Iterable[Declared], inputs: Iterable[Declared]) -> tuple[Declared, ...]:
    """Give the declarations of what a guard reads, in the order in which it reads it."""
    by_root = {VARS: {each.name: each for each in variables}, INPUT: {each.name: each for each in inputs}}
    read = dict.fromkeys((VARS if ref.path[0] == KNOWN else ref.path[0], ref.path[1]) for ref in references(guard))
    found = (by_root.get(root, {}).get(name) for root, name in read)
    return tuple(each for each in found if each is not None)
