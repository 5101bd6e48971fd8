"""The cases of the evaluation set: small data files in DCDL, one for each kind of evidence, read whole and checked when they are read.

DCDL because most of a case is text of several lines, which stands in it as it is, and because its reader is bounded and names the place of
a fault. Invariants: a case that is read can be laid out and scored: every way out has its right verdict, a `met` has the evidence that
shows it, and what is named as evidence is there. Every text, list and file has a maximum.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from stateward.compiler.diagnostics.model import errors_of
from stateward.compiler.flow.intake import take_in
from stateward.compiler.flow.reserved import CANCEL_TRANSITION
from stateward.compiler.language.data import plain
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse

FOLDER: Final = Path(__file__).resolve().parent / "cases"
FILE_BYTES_MAX: Final = 256 * 1024
"""One file of cases."""
FILES_MAX: Final = 64
CASES_MAX: Final = 200
"""All cases together."""
TEXT_CHARACTERS_MAX: Final = 32 * 1024
"""One text as it is written."""
LONG_CHARACTERS_MAX: Final = 4 * 1024 * 1024
"""One text that is made by repetition."""
STEPS_MAX: Final = 40
WORK_FILES_MAX: Final = 40
WAYS_MAX: Final = 8
LINES: Final = re.compile(r"(?P<path>.+):(?P<first>[1-9][0-9]*)-(?P<last>[1-9][0-9]*)")
"""How lines of a file are named as evidence: `notes/plan.md:3-5`."""
TASK: Final = "task"
"""The label of the first input, which the person gave."""
FACTS: Final = "facts"
"""The label of what the runtime recorded of a repository when the worker asked."""

Text: TypeAlias = Annotated[str, StringConstraints(max_length=TEXT_CHARACTERS_MAX)]
Word: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Label: TypeAlias = Annotated[str, StringConstraints(pattern=r"^([a-z][a-z0-9_]{0,31})?$")]
Answer: TypeAlias = Literal["met", "not_met", "indeterminate"]
Who: TypeAlias = Literal["host", "agent", "person"]


class BadCaseError(Exception):
    """A file of cases is missing, cannot be read, or holds what is no case; the message names it."""


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Long(_Closed):
    """A text too long to be written out: `repeat` so many times, between what stands before and after it."""

    before: Text = ""
    repeat: Text
    times: int = Field(ge=1, le=1_000_000)
    after: Text = ""

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        if len(self.repeat) * self.times > LONG_CHARACTERS_MAX:
            raise ValueError(f"a text has more than {LONG_CHARACTERS_MAX} characters")
        return self

    @property
    def whole(self) -> str:
        """All of it."""
        return f"{self.before}{self.repeat * self.times}{self.after}"


class Link(_Closed):
    """A symbolic link."""

    link: Text


class Bytes(_Closed):
    """A file that is no text, as hexadecimal digits."""

    hex: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{2})*$", max_length=TEXT_CHARACTERS_MAX)]


WorkFile: TypeAlias = Text | Long | Link | Bytes
Output: TypeAlias = Text | Long


def whole(text: Output) -> str:
    """Give a text, written out or made."""
    return text.whole if isinstance(text, Long) else text


# --- what was recorded --------------------------------------------------------------------------------------------------------------


class Ran(_Closed):
    """A command was run, and its result recorded."""

    ran: Text
    status: int | None = None
    output: Output = ""
    folder: Text = ""
    by: Who = "host"
    label: Label = ""


class Used(_Closed):
    """Another tool was used, and its result recorded."""

    used: Text
    given: dict[str, Text | int | bool] = Field(max_length=20)
    output: Output = ""
    by: Who = "host"
    label: Label = ""


class Called(_Closed):
    """A call of a tool was recorded, and no result of it."""

    called: Text
    given: dict[str, Text | int | bool] = Field(max_length=20)
    by: Who = "host"
    label: Label = ""


class Said(_Closed):
    """The agent said something."""

    said: Text
    by: Who = "agent"
    label: Label = ""


class Noted(_Closed):
    """Somebody left a note."""

    noted: Text
    by: Who = "agent"
    label: Label = ""


class Given(_Closed):
    """Further input was given."""

    input: Text
    by: Who = "person"
    label: Label = ""


class Rewound(_Closed):
    """An operator went back to the beginning of the state; what was recorded in it was set aside."""

    rewound: Text
    label: Label = ""


class Refused(_Closed):
    """The worker asked before, and was turned down with this as the rationale and what was missing."""

    asked: Text
    rationale: Text
    missing: Text
    label: Label = ""


Step: TypeAlias = Ran | Used | Called | Said | Noted | Given | Rewound | Refused


# --- a case -------------------------------------------------------------------------------------------------------------------------


class Case(_Closed):
    """A worker in a state that asks to leave, what there is to judge by, and what is right."""

    id: Word
    kind: Word
    areas: list[Literal["JUD", "EVI", "SEC", "WRK"]] = Field(max_length=4)
    flow: Word
    state: Word
    instructions: Text
    ways: dict[Word, Text] = Field(min_length=1, max_length=WAYS_MAX)
    """The conditions of the ways out, but for the one of giving up, which the compiler adds."""
    task: Text
    """The first input."""
    session: list[Step] = Field(max_length=STEPS_MAX)
    files: dict[str, WorkFile] | None = Field(default=None, max_length=WORK_FILES_MAX)
    """What lies in the folder of the work; None for a Worker that has none."""
    repository: bool = False
    """Whether those files are committed to a git repository there."""
    later: dict[str, WorkFile] = Field(default={}, max_length=WORK_FILES_MAX)
    """What was written after that."""
    reason: Text
    wants: str
    """The way that the worker wants to go."""
    right: dict[str, list[Answer]]
    """For each way the verdicts that are right, the best one first. The way of giving up is `not_met` where it is not named."""
    why: Text
    evidence: dict[str, list[Text]] = Field(default={}, max_length=WAYS_MAX + 1)
    """For a way what shows that its verdict is right: labels of entries, and lines of files."""

    @model_validator(mode="after")
    def _can_be_scored(self) -> Self:
        # One after the other: evidence can be looked at only where the ways are right.
        fault = next(chain(self._faults_of_ways(), self._faults_of_evidence()), None)
        if fault is not None:
            raise ValueError(fault)
        return self

    def _faults_of_ways(self) -> Iterator[str]:
        if CANCEL_TRANSITION in self.ways or not self.ways.keys() <= self.right.keys() <= {*self.ways, CANCEL_TRANSITION}:
            yield "the right verdicts are not those of the ways"
        if self.wants not in self.all_ways:
            yield f"`{self.wants}` is none of the ways"
        if not all(self.right.values()):
            yield "a way has no right verdict"
        if self.files is None and (self.repository or self.later):
            yield "there are files of a folder that is none"

    def _faults_of_evidence(self) -> Iterator[str]:
        labels = [TASK, *(each.label for each in self.session if each.label), *([FACTS] if self.repository else [])]
        if len(set(labels)) != len(labels):
            yield "a label stands twice"
        for way in self.all_ways:
            if self.best(way) == "met" and not self.evidence.get(way):
                yield f"nothing is named that shows `{way}`"
        for way, named in self.evidence.items():
            if way not in self.all_ways:
                yield f"evidence is named for `{way}`, which is none of the ways"
            for each in named:
                if each not in labels and not self._is_of_a_file(each):
                    yield f"`{each}` is neither a label nor lines of a file"

    def _is_of_a_file(self, named: str) -> bool:
        found = LINES.fullmatch(named)
        return found is not None and self.files is not None and found["path"] in {**self.files, **self.later}

    @property
    def all_ways(self) -> tuple[str, ...]:
        """Every way out, that of giving up last."""
        return (*self.ways, CANCEL_TRANSITION)

    def accepted(self, way: str) -> Sequence[Answer]:
        """Give the verdicts that are right for a way, the best one first."""
        return self.right.get(way, ["not_met"])

    def best(self, way: str) -> Answer:
        """Give the right verdict for a way."""
        return self.accepted(way)[0]

    @property
    def moves(self) -> str:
        """The way that the worker should get; empty when it should stay."""
        met = [each for each in self.all_ways if self.best(each) == "met"]
        return met[0] if len(met) == 1 else ""


class _CaseFile(_Closed):
    schema_version: Literal[1]
    kind: Word
    about: Text
    cases: dict[Word, dict[str, Any]] = Field(min_length=1, max_length=CASES_MAX)


def read_file(path: Path) -> list[Case]:
    """Read one file of cases. Raises BadCaseError."""
    try:
        with path.open("rb") as opened:
            data = opened.read(FILE_BYTES_MAX + 1)
    except OSError as problem:
        raise BadCaseError(f"{path.name}: cannot be read: {problem.strerror}") from problem
    value = _evaluated(path.name, data)
    try:
        given = _CaseFile.model_validate(value)
    except ValidationError as problem:
        raise BadCaseError(f"{path.name}: {_first(problem)}") from problem
    return [_case(path.name, given.kind, name, fields) for name, fields in given.cases.items()]


def _evaluated(name: str, data: bytes) -> object:
    source = take_in(data, name, FILE_BYTES_MAX)
    if not isinstance(source, Source):
        raise BadCaseError(f"{name}: {source.diagnostic().message}")
    parsed = parse(source)
    evaluation = Evaluation(source, parsed.module)
    value = evaluation.data(evaluation.root)
    for each in errors_of((*parsed.diagnostics, *evaluation.diagnostics)):
        line, _ = each.primary.place.source.line_column(each.primary.place.span.start)
        raise BadCaseError(f"{name}:{line}: {each.message}")
    return plain(value)


def _case(file: str, kind: str, name: str, fields: Mapping[str, Any]) -> Case:
    try:
        return Case.model_validate({**fields, "id": name, "kind": kind})
    except ValidationError as problem:
        raise BadCaseError(f"{file}: case `{name}`: {_first(problem)}") from problem


def _first(problem: ValidationError) -> str:
    found = problem.errors(include_url=False)[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}".removeprefix(": ")


def read_cases(folder: Path = FOLDER) -> list[Case]:
    """Read every case of a folder, by the names of the files and in their order. Raises BadCaseError."""
    paths = sorted(folder.glob("*.dcdl"))
    if not 1 <= len(paths) <= FILES_MAX:
        raise BadCaseError(f"{folder.name}: holds {len(paths)} files of cases, and 1 to {FILES_MAX} are read")
    cases = [each for path in paths for each in read_file(path)]
    names = [each.id for each in cases]
    twice = next((each for each in names if names.count(each) > 1), None)
    if twice is not None or len(cases) > CASES_MAX:
        raise BadCaseError(f"case `{twice}` stands twice" if twice else f"there are more than {CASES_MAX} cases")
    return cases


@cache
def shipped_cases() -> tuple[Case, ...]:
    """Give the cases that come with this folder."""
    return tuple(read_cases())
