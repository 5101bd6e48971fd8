"""Why a Worker does not leave its state: each way out, part by part, with what each part came to and the entry that it rests on.

Invariants: pure; a guard is evaluated on what variables hold now, so it is shown as the next request would find it; checks and conditions
are as they were found last in this visit, and a part of which nothing was found out has no verdict.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from stateward.compiler.predicates.guards import KNOWN, VARS, VISITS, Bag, Ref, references
from stateward.runtime.core.events import EntryCitation, FileCitation, Judgement, Part, PartKind, Verdict
from stateward.runtime.core.flow import Flow, Transition
from stateward.runtime.core.instance import Attempt, Instance
from stateward.runtime.core.selecting import bag_of, guard_parts, nobody_else
from stateward.runtime.session.entries import reference

if TYPE_CHECKING:
    from stateward.compiler.predicates.guards import Guard


class Kind(StrEnum):
    """What has to be met for a transition."""

    GUARD = "guard"
    CHECK = "check"
    OTHERWISE = "otherwise"
    CONDITION = "condition"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a guard reads."""

    name: str
    """As it is written: `vars.attempts`."""
    is_set: bool
    value: Any
    """None where it leads to nothing."""
    entry: str
    """The entry that wrote it; empty for what no single entry did, and where there is none."""


@dataclass(frozen=True, slots=True)
class PartFound:
    """A part of a transition, and what it came to."""

    kind: Kind
    text: str
    """The guard as an expression, the name of the check, the condition; empty for `otherwise`."""
    verdict: Verdict | None
    """None where nothing was found out in this visit."""
    saw: tuple[Seen, ...] = ()
    missing: tuple[str, ...] = ()
    """What is missing: what a guard reads and nobody wrote, why a check could not be run, what a judge named."""
    rationale: str = ""
    note: str = ""
    entry: str = ""
    """The entry that shows the verdict."""
    judged: str = ""
    """Of a condition: the last entry that was judged."""
    cites: tuple[str, ...] = ()
    """Of a condition: what its verdict rests on, entries by their reference and lines of files."""


@dataclass(frozen=True, slots=True)
class WayFound:
    """A way out, part by part."""

    transition: str
    target: str
    synthetic: bool
    parts: tuple[PartFound, ...]


def ways_of(definition: Flow, instance: Instance) -> tuple[WayFound, ...]:
    """Take the ways out of the state in which an instance stands apart."""
    here = definition.state(instance.state)
    seen = _Seen(definition, instance)
    return tuple(WayFound(each.id, each.target, each.synthetic, tuple(seen.parts(each))) for each in here.transitions)


class _Seen:
    """What is known of a state by now."""

    def __init__(self, definition: Flow, instance: Instance) -> None:
        self._instance = instance
        self._here = definition.state(instance.state)
        self._bag: Bag = bag_of(definition, instance)
        self._guards: Mapping[str, Part] = {each.transition: each for each in guard_parts(definition, instance)}
        attempt = _attempt_here(instance)
        self._checks = () if attempt is None else tuple(each for each in attempt.parts if each.kind is PartKind.CHECK)
        self._judged = _judged_here(instance)

    def parts(self, way: Transition) -> Iterator[PartFound]:
        """Give the parts of a transition, those first that cost nothing."""
        if way.guard is not None:
            yield self._guard(way.guard, self._guards[way.id])
        for name in way.checks:
            yield self._check(way.id, name)
        if way.otherwise:
            yield PartFound(Kind.OTHERWISE, "", nobody_else(self._here, (*self._guards.values(), *self._checks)))
        if way.condition:
            yield self._condition(way)

    def _guard(self, guard: "Guard", part: Part) -> PartFound:
        from stateward.compiler.predicates.text import guard_text  # noqa: PLC0415 -- most flows have no guards

        return PartFound(Kind.GUARD, guard_text(guard), part.verdict, tuple(map(self._read, references(guard))), part.missing)

    def _read(self, ref: Ref) -> Seen:
        value = self._bag.at(ref)
        return Seen(ref.text, value is not None, value, self._written(ref))

    def _written(self, ref: Ref) -> str:
        root, name = ref.path[:2]
        if root in {VARS, KNOWN}:
            held = self._instance.variables.get(name)
            return "" if held is None else reference(held.entry)
        if root == VISITS:
            entered = self._instance.entered.get(name)
            return "" if entered is None else reference(entered)
        return ""  # an input, or what follows from several entries

    def _check(self, transition: str, name: str) -> PartFound:
        found = next((each for each in self._checks if (each.transition, each.name) == (transition, name)), None)
        if found is None:
            return PartFound(Kind.CHECK, name, None)
        return PartFound(Kind.CHECK, name, found.verdict, missing=found.missing, entry=reference(found.entry) if found.entry else "")

    def _condition(self, way: Transition) -> PartFound:
        judgement = self._judged.get(way.id)
        if judgement is None:
            return PartFound(Kind.CONDITION, way.condition, None)
        last = self._instance.last
        assert last is not None  # it judged this
        return PartFound(
            Kind.CONDITION,
            way.condition,
            judgement.checked,
            missing=judgement.missing,
            rationale=judgement.rationale,
            note=judgement.note,
            entry=reference(last.resolved.seq),
            judged=reference(last.attempt.shown),
            cites=tuple(map(_cited, judgement.citations)),
        )


def _attempt_here(instance: Instance) -> Attempt | None:
    """Give the open attempt, or the last one, where it is of this visit."""
    attempt = instance.attempt or (None if instance.last is None else instance.last.attempt)
    return attempt if attempt is not None and attempt.visit == instance.visit else None


def _judged_here(instance: Instance) -> Mapping[str, Judgement]:
    """Give what was judged last, where that was in this visit."""
    last = instance.last
    if last is None or last.attempt.visit != instance.visit:
        return {}
    return {each.transition: each for each in last.judgements}


def _cited(citation: EntryCitation | FileCitation) -> str:
    if isinstance(citation, EntryCitation):
        return citation.entry
    return f"{citation.path}:{citation.first_line}-{citation.last_line}"
