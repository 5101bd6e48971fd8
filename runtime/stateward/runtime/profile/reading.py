"""One file of a profile: DCDL to what it says, or what is wrong with it, in the compiler's own diagnostics.

Invariants: what is read is plain data; what failed in the language is a hole and passed over in silence; a text that does not parse is
told as that alone; a file says nothing unless all of it is right. A profile imports nothing, so that its digest covers all that it says.
"""

import re
from dataclasses import dataclass
from typing import Final, NamedTuple, assert_never

from stateward.compiler.diagnostics.model import Diagnostic, errors_of, sort_key
from stateward.compiler.diagnostics.wording import listed, nearest, quoted
from stateward.compiler.flow.intake import take_in
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.shape import UnsupportedVersion, WrongType
from stateward.compiler.flow.problems.told import did_you_mean, opening
from stateward.compiler.flow.typed import Path
from stateward.compiler.language.data import ArrayData, Data, FieldData, Hole, ObjectData, Scalar, word_of
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse
from stateward.runtime.profile import commands
from stateward.runtime.profile.form import (
    ABOUT_BYTES_MAX,
    ABOUT_FIELD,
    BASE_FIELD,
    FIELDS,
    ITEMS_MAX,
    OTHER_NAMES,
    SECTIONS,
    TOP,
    VERSION,
    VERSION_FIELD,
    Check,
    Flag,
    ListOf,
    ListOfCommands,
    Number,
    Rule,
    Text,
    Type,
    Word,
    text_problem,
)
from stateward.runtime.profile.judging import judge_problems
from stateward.runtime.profile.problems import MissingField, NotAllowed, NotAProfile, UnknownField
from stateward.runtime.profile.selectors import canonical
from stateward.runtime.profile.terms import Commands, Terms, Value

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:=@ -]*")
"""A line whose blanks part its words and that reads the same in quotes."""
_BEGINNING: Final = ListOf(Text(Check.LINE), Check.LINE)
"""The first words of a command."""
FILE_BYTES_MAX: Final = 64 * 1024
"""Of one file."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a file says."""

    terms: Terms
    about: str
    base: str
    """The built-in profile it stands on; empty where it does not say."""


class _Authored(NamedTuple):
    """A value that somebody wrote under a name of the form."""

    name: str
    field: FieldData
    path: Path


def read_profile(name: str, data: bytes, *, with_base: bool) -> Read | tuple[Diagnostic, ...]:
    """Read a file of a profile, which people know by `name`; `with_base` tells whether it is one that stands on a built-in."""
    source = take_in(data, name, FILE_BYTES_MAX)
    if not isinstance(source, Source):
        return (source.diagnostic(),)
    parsed = parse(source)
    broken = errors_of(parsed.diagnostics)
    if broken:
        return tuple(sorted(broken, key=sort_key))
    evaluation = Evaluation(source, parsed.module)
    reader = _Reader(with_base=with_base)
    read = reader.read(evaluation.data(evaluation.root))
    found = [*errors_of(evaluation.diagnostics), *(each.diagnostic() for each in reader.problems)]
    if found or read is None:
        return tuple(sorted(found, key=sort_key))
    return read


class _Reader:
    """One walk over the data of one file."""

    def __init__(self, *, with_base: bool) -> None:
        self.problems: list[Problem] = []
        self._with_base = with_base

    def read(self, data: Data) -> Read | None:
        """Read the whole of it; None when it is nothing that could be read."""
        if not isinstance(data, ObjectData):
            self._not_an_object(data)
            return None
        if not self._is_of_this_version(data):
            return None
        authored = self._authored(data)
        taken = {each.name: value for each in authored if (value := self._taken(each)) is not None}
        self.problems += judge_problems(data.fields.get("verifier"), taken)
        about, base = (self._line(data, name) for name in (ABOUT_FIELD, BASE_FIELD))
        return Read(taken, about, base)

    def _not_an_object(self, data: Data) -> None:
        if not isinstance(data, Hole):
            self.problems.append(NotAProfile(data.origin))

    def _is_of_this_version(self, data: ObjectData) -> bool:
        """Settle the version first: of one that is not known nothing else can be judged. One that is not said is told, and read as this."""
        given = data.fields.get(VERSION_FIELD)
        path = (VERSION_FIELD,)
        if given is None:
            place = next((field.key for field in data.fields.values()), opening(data.origin.place))
            self.problems.append(MissingField("the profile", VERSION_FIELD, str(VERSION), place, path))
            return True
        match given.value:
            case Scalar(value=bool() | str() | float()) | ArrayData() | ObjectData():
                self._wrong_type(VERSION_FIELD, given.value, "Int", path)
            case Scalar(value=int() as version, origin=origin) if version != VERSION:
                self.problems.append(UnsupportedVersion(version, origin, path, (VERSION,)))
                return False
            case _:
                pass
        return True

    def _authored(self, data: ObjectData) -> list[_Authored]:
        """Give what stands under names of the form; report what does not."""
        found: list[_Authored] = []
        for name, field in data.fields.items():
            path = (name,)
            if name in SECTIONS:
                found += self._section(name, field)
            elif name in FIELDS:
                found.append(_Authored(name, field, path))
            elif name not in TOP or (name == BASE_FIELD and not self._with_base):
                known = [each for each in TOP if each != BASE_FIELD or self._with_base]
                self.problems.append(UnknownField(name, field.key, path, known, _elsewhere(name, ""), OTHER_NAMES[""]))
        return found

    def _section(self, section: str, field: FieldData) -> list[_Authored]:
        match field.value:
            case ObjectData(fields=fields):
                pass
            case Hole():
                return []
            case _:
                self._wrong_type(section, field.value, "object", (section,))
                return []
        found: list[_Authored] = []
        for name, inner in fields.items():
            path = (section, name)
            if name in SECTIONS[section]:
                found.append(_Authored(f"{section}.{name}", inner, path))
            else:
                elsewhere = _elsewhere(name, section)
                self.problems.append(UnknownField(name, inner.key, path, SECTIONS[section], elsewhere, OTHER_NAMES.get(section, {})))
        return found

    def _taken(self, authored: _Authored) -> Value | None:
        """Take the value of a field; None where it cannot be what it is, which was reported."""
        field = FIELDS[authored.name]
        value = self._value(field.type, authored.field.value, authored.path)
        return canonical(value) if isinstance(value, tuple) and field.rule is Rule.COMMON else value

    def _line(self, data: ObjectData, name: str) -> str:
        """Read a text about the file itself; empty where there is none."""
        field = data.fields.get(name)
        if field is None or (name == BASE_FIELD and not self._with_base):
            return ""
        check = Check.NAME if name == BASE_FIELD else Check.LINE
        value = self._value(Text(check), field.value, (name,))
        if not isinstance(value, str):
            return ""
        if len(value.encode()) > ABOUT_BYTES_MAX:
            message = f"{quoted(name)} has more than {ABOUT_BYTES_MAX} bytes"
            self.problems.append(NotAllowed(message, "too long", field.value.origin, (name,)))
        return value

    def _value(self, wanted: Type, data: Data, path: Path) -> Value | None:
        match wanted, data:
            case _, Hole():
                return None
            case Flag(), Scalar(value=bool() as flag):
                return flag
            case Number(), Scalar(value=int() as number) if not isinstance(number, bool):
                return self._number(wanted, number, data, path)
            case Word(), Scalar(value=str() as word):
                return self._word(wanted, word, data, path)
            case Text(check=check), Scalar(value=str() as text):
                return self._text(check, text, data, path)
            case ListOf(), ArrayData():
                return self._list(wanted, data, path)
            case ListOfCommands(), ArrayData():
                return self._commands(data, path)
            case _:
                self._wrong_type(_shown(path), data, _type_word(wanted), path)
                return None

    def _number(self, wanted: Number, number: int, data: Scalar, path: Path) -> int | None:
        if wanted.least <= number <= wanted.most:
            return number
        message = f"{quoted(_shown(path))} is {number:,}, and lies between {wanted.least:,} and {wanted.most:,}"
        nearer = wanted.least if number < wanted.least else wanted.most
        self.problems.append(NotAllowed(message, "out of range", data.origin, path, help=f"write `{nearer}`"))
        return None

    def _word(self, wanted: Word, word: str, data: Scalar, path: Path) -> str | None:
        if word in wanted.words:
            return word
        message = f"{quoted(_shown(path))} is one of {listed(wanted.words, 'and')}, not {quoted(word)}"
        self.problems.append(NotAllowed(message, "none of them", data.origin, path, help=did_you_mean(nearest(word, wanted.words))))
        return None

    def _text(self, check: Check, text: str, data: Scalar, path: Path) -> str | None:
        fault = text_problem(check, text)
        if fault is None:
            return text
        self.problems.append(NotAllowed(f"{quoted(_shown(path))} {fault}", f"not {check.value}", data.origin, path))
        return None

    def _list(self, wanted: ListOf, data: ArrayData, path: Path) -> tuple[str, ...] | None:
        if len(data.items) > ITEMS_MAX or (wanted.first is not None and not data.items):
            message = f"{quoted(_shown(path))} has {len(data.items)} items, and may have {1 if wanted.first else 0} to {ITEMS_MAX}"
            self.problems.append(NotAllowed(message, "not as many", data.origin, path))
            return None
        taken: list[str] = []
        for at, item in enumerate(data.items):
            check = Text(wanted.first) if wanted.first is not None and at == 0 else wanted.item
            value = self._value(check, item, (*path, at))
            if isinstance(value, str):
                taken.append(value)
        return tuple(taken) if len(taken) == len(data.items) else None

    def _commands(self, data: ArrayData, path: Path) -> Commands | None:
        if len(data.items) > ITEMS_MAX:
            message = f"{quoted(_shown(path))} has {len(data.items)} items, and may have 0 to {ITEMS_MAX}"
            self.problems.append(NotAllowed(message, "not as many", data.origin, path))
            return None
        taken: list[tuple[str, ...]] = []
        for at, item in enumerate(data.items):
            if isinstance(item, Scalar) and isinstance(item.value, str):
                self.problems.append(self._one_text(item, item.value, (*path, at)))
                continue
            value = self._value(_BEGINNING, item, (*path, at))
            if isinstance(value, tuple):
                taken.append(value)
        return Commands(commands.canonical(taken)) if len(taken) == len(data.items) else None

    def _one_text(self, item: Scalar, text: str, path: Path) -> Problem:
        """Tell of a command that is written as a line, with its words where it is plain which they are."""
        words = ", ".join(f'"{each}"' for each in text.split()) if _PLAIN.fullmatch(text) else ""
        return WrongType(_shown(path), "String", "Array", item.origin, path, rewritten=f"[{words}]" if words else None)

    def _wrong_type(self, name: str, data: Data, wanted: str, path: Path) -> None:
        shape = f"{name} = {{ … }}" if wanted == "object" else None
        self.problems.append(WrongType(name, word_of(data), wanted, data.origin, path, shape=shape))


def _shown(path: Path) -> str:
    """Name the field that a path leads to, or the item of it."""
    at = next(at for at in range(len(path) - 1, -1, -1) if isinstance(path[at], str))
    return f"{path[at]}{''.join(f'[{each}]' for each in path[at + 1 :])}"


def _elsewhere(name: str, section: str) -> str | None:
    """Say where there is a field of this name."""
    if section and name in TOP:
        return "the profile itself"
    return next((quoted(other) for other, names in SECTIONS.items() if other != section and name in names), None)


def _type_word(wanted: Type) -> str:
    match wanted:
        case Flag():
            return "Bool"
        case Number():
            return "Int"
        case Word() | Text():
            return "String"
        case ListOf() | ListOfCommands():
            return "Array"
    assert_never(wanted)
