"""A file of flow tests: DCDL to tests, or what is wrong with it, in the compiler's own diagnostics.

Invariants: what failed in the language is a hole and passed over in silence; a text that does not parse is told as that alone; a file
gives its tests only when all of it is right. It imports nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from stateward.compiler.diagnostics.model import Diagnostic, errors_of, sort_key
from stateward.compiler.diagnostics.wording import listed, nearest, quoted
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.flow.intake import take_in
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.shape import UnsupportedVersion, WrongType
from stateward.compiler.flow.problems.told import did_you_mean, opening
from stateward.compiler.flow.typed import Located, Path
from stateward.compiler.language.data import ArrayData, Data, FieldData, Hole, ObjectData, Scalar, is_whole, plain, word_of
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.predicates.constraints import SCALARS
from stateward.compiler.source import Place, Source
from stateward.compiler.syntax.parser import parse
from stateward.runtime.core.events import Verdict
from stateward.runtime.profile.problems import MissingField
from stateward.runtime.trial.form import (
    ENDINGS,
    FIELDS,
    FILE_BYTES_MAX,
    REFUSALS,
    REQUIRED,
    STEPS_MAX,
    TESTS_MAX,
    VERDICTS,
    VERSION,
    FlowTest,
    Said,
    Step,
)
from stateward.runtime.trial.problems import Ambiguous, NotAllowed, NotAnObject, UnknownField

_HOLDERS = {"file": "a file of tests", "test": "a test", "step": "a step"}


class _Spot(NamedTuple):
    """Where the walk stands: a path, and the place by which an object there is known."""

    path: Path
    place: Place

    def at(self, part: str | int, place: Place) -> "_Spot":
        return _Spot((*self.path, part), place)


class Unusable(NamedTuple):
    """What is wrong with a file of tests, by position."""

    diagnostics: tuple[Diagnostic, ...]


def read_tests(name: str, data: bytes, definition: CompiledFlowDefinition) -> tuple[FlowTest, ...] | Unusable:
    """Read a file of tests of a flow, which people know by `name`: all its tests, at least one, or what is wrong."""
    source = take_in(data, name, FILE_BYTES_MAX)
    if not isinstance(source, Source):
        return Unusable((source.diagnostic(),))
    parsed = parse(source)
    broken = errors_of(parsed.diagnostics)
    if broken:
        return Unusable(tuple(sorted(broken, key=sort_key)))
    evaluation = Evaluation(source, parsed.module)
    reader = _Reader(definition)
    tests = reader.file(evaluation.data(evaluation.root))
    found = [*errors_of(evaluation.diagnostics), *(each.diagnostic() for each in reader.problems)]
    return Unusable(tuple(sorted(found, key=sort_key))) if found else tests


class _Reader:
    """One walk over the data of one file."""

    def __init__(self, definition: CompiledFlowDefinition) -> None:
        self.problems: list[Problem] = []
        self._states = tuple(state.id for state in definition.states)

    def file(self, data: Data) -> tuple[FlowTest, ...]:
        """Read the whole of it."""
        spot = _Spot((), opening(data.origin.place))
        fields = self._object("file", data, spot)
        if fields is None or not self._is_of_this_version(fields):
            return ()
        self._text(fields, "about", spot)
        tests = self._map(fields, "tests", spot)
        if tests is None:
            return ()
        self._require_count(len(tests), (1, TESTS_MAX), fields["tests"].value, ("tests",))
        return tuple(self._test(name, each) for name, each in tests.items())

    def _is_of_this_version(self, fields: Mapping[str, FieldData]) -> bool:
        given = self._scalar(fields, "schema_version", int, _Spot((), next(iter(fields.values())).key)) if fields else None
        if given is None or given.value == VERSION:
            return True
        self.problems.append(UnsupportedVersion(int(given.value), given.origin, ("schema_version",), (VERSION,)))
        return False

    def _test(self, name: str, field: FieldData) -> FlowTest:
        spot = _Spot(("tests", name), field.key)
        fields = self._object("test", field.value, spot) or {}
        self._text(fields, "about", spot)
        return FlowTest(
            name=name,
            key=field.key,
            start=self._state(fields, "from", spot),
            inputs=self._values(fields, "inputs", spot),
            steps=self._steps(fields, spot),
            ends=self._word(fields, "ends", ENDINGS, spot),
        )

    def _steps(self, fields: Mapping[str, FieldData], spot: _Spot) -> tuple[Step, ...]:
        match fields.get("steps"):
            case None | FieldData(value=Hole()):
                return ()
            case FieldData(value=ArrayData(items=items) as value):
                path = (*spot.path, "steps")
                self._require_count(len(items), (0, STEPS_MAX), value, path)
                steps = [self._step(each, _Spot((*path, at), opening(each.origin.place))) for at, each in enumerate(items)]
                return tuple(each for each in steps if each is not None)
            case FieldData(value=value):
                self._wrong_type("steps", value, "Array", (*spot.path, "steps"))
                return ()

    def _step(self, data: Data, spot: _Spot) -> Step | None:
        fields = self._object("step", data, spot)
        if fields is None:
            return None
        enters, refused = self._state(fields, "enters", spot), self._word(fields, "refused", REFUSALS, spot)
        self._require_one(fields, ("enters", "refused"), "what must come of it", spot, needed=True)
        self._require_one(fields, ("met", "verdicts"), "the verdicts", spot, needed=False)
        return Step(
            place=data.origin.place,
            reason=self._text(fields, "reason", spot),
            verdicts=self._verdicts(fields, spot),
            sets=self._values(fields, "set", spot),
            checks=self._said(fields, "checks", spot),
            enters=enters,
            refused=refused,
        )

    def _verdicts(self, fields: Mapping[str, FieldData], spot: _Spot) -> Mapping[str, Said]:
        met = self._scalar(fields, "met", str, spot)
        if met is not None:
            return {str(met.value): Said(Verdict.MET, met.origin.place)}
        return self._said(fields, "verdicts", spot)

    def _said(self, fields: Mapping[str, FieldData], field: str, spot: _Spot) -> Mapping[str, Said]:
        """Read verdicts by name."""
        given = self._map(fields, field, spot) or {}
        inside = spot.at(field, spot.place)
        words = {name: self._word(given, name, VERDICTS, inside) for name in given}
        return {name: Said(Verdict(word.value), given[name].key) for name, word in words.items() if word is not None}

    def _values(self, fields: Mapping[str, FieldData], name: str, spot: _Spot) -> Located[Mapping[str, object]] | None:
        """Read values by name; whether they fit is for the flow to say. One with a hole in it was told already."""
        inner = self._map(fields, name, spot)
        if inner is None or not all(is_whole(each.value) for each in inner.values()):
            return None
        return Located({each: plain(field.value) for each, field in inner.items()}, fields[name].value.origin, (*spot.path, name))

    def _require_one(self, fields: Mapping[str, FieldData], names: Sequence[str], what: str, spot: _Spot, *, needed: bool) -> None:
        there = [name for name in names if name in fields]
        one, other = names
        if len(there) > 1:
            message = f"a step says {what} twice, with {quoted(one)} and {quoted(other)}"
            place = fields[other].key
            self.problems.append(Ambiguous(message, "the second time", place, (*spot.path, other), f"take {quoted(other)} away"))
        elif needed and not there:
            message, remedy = f"a step does not say {what}", f'add `{one} = "…";` or `{other} = "…";`'
            self.problems.append(Ambiguous(message, f"says neither {quoted(one)} nor {quoted(other)}", spot.place, spot.path, remedy))

    def _object(self, level: str, data: Data, spot: _Spot) -> Mapping[str, FieldData] | None:
        """Give the fields of an object of the form, those that its level knows; None when it is none."""
        holder = _HOLDERS[level]
        if not isinstance(data, ObjectData):
            if not isinstance(data, Hole):
                self.problems.append(NotAnObject(holder, word_of(data), data.origin, spot.path))
            return None
        known = FIELDS[level]
        meant: set[str | None] = set()
        for name, field in data.fields.items():
            if name not in known:
                meant.add(nearest(name, known))
                self.problems.append(UnknownField(holder, name, field.key, (*spot.path, name), tuple(known)))
        for name, example in REQUIRED[level].items():
            if name not in data.fields and name not in meant:  # one slip, one diagnostic
                self.problems.append(MissingField(holder, name, example, spot.place, (*spot.path, name)))
        return {name: field for name, field in data.fields.items() if name in known}

    def _map(self, fields: Mapping[str, FieldData], name: str, spot: _Spot) -> Mapping[str, FieldData] | None:
        match fields.get(name):
            case FieldData(value=ObjectData(fields=inner)):
                return inner
            case None | FieldData(value=Hole()):
                return None
            case FieldData(value=value):
                self._wrong_type(name, value, "object", (*spot.path, name))
                return None

    def _scalar(
        self, fields: Mapping[str, FieldData], name: str, wanted: type[int] | type[str], spot: _Spot
    ) -> Located[bool | int | float | str] | None:
        match fields.get(name):
            case FieldData(value=Scalar(value=value, origin=origin)) if type(value) is wanted:
                return Located(value, origin, (*spot.path, name))
            case None | FieldData(value=Hole()):
                return None
            case FieldData(value=value):
                self._wrong_type(name, value, SCALARS[wanted].value, (*spot.path, name))
                return None

    def _text(self, fields: Mapping[str, FieldData], name: str, spot: _Spot) -> str:
        found = self._scalar(fields, name, str, spot)
        return "" if found is None else str(found.value)

    def _state(self, fields: Mapping[str, FieldData], name: str, spot: _Spot) -> Located[str] | None:
        return self._one_of(fields, name, self._states, spot, lambda state: f"the flow has no state {quoted(state)}")

    def _word(self, fields: Mapping[str, FieldData], name: str, words: Sequence[str], spot: _Spot) -> Located[str] | None:
        return self._one_of(fields, name, words, spot, lambda word: f"{quoted(name)} is one of {listed(words, 'and')}, not {quoted(word)}")

    def _one_of(
        self, fields: Mapping[str, FieldData], name: str, words: Sequence[str], spot: _Spot, message: Callable[[str], str]
    ) -> Located[str] | None:
        found = self._scalar(fields, name, str, spot)
        if found is None:
            return None
        word = str(found.value)
        if word not in words:
            remedy = did_you_mean(nearest(word, words))
            self.problems.append(NotAllowed(message(word), "there is none of this name", found.origin, found.path, remedy))
            return None
        return Located(word, found.origin, found.path)

    def _require_count(self, count: int, bounds: tuple[int, int], data: Data, path: Path) -> None:
        least, most = bounds
        if not least <= count <= most:
            message = f"{quoted(str(path[-1]))} has {count:,} items, and may have {least:,} to {most:,}"
            self.problems.append(NotAllowed(message, "not as many", data.origin, path))

    def _wrong_type(self, name: str, data: Data, wanted: str, path: Path) -> None:
        self.problems.append(WrongType(name, word_of(data), wanted, data.origin, path))
