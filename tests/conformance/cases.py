"""The cases of the conformance data: read from JSON Lines, their kind told from their fields, their sources put together."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

CASES_MAX = 100_000
"""Cases that one file may hold."""


class CaseKind(StrEnum):
    """What a case asks for."""

    EVALUATE = "evaluate"
    FORMAT = "format"
    COMPILE = "compile"


class BadDataError(Exception):
    """A data file is missing, empty or not of a known form; the message names it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case, with its fields as they stand in the file."""

    kind: CaseKind
    id: str
    fields: dict[str, Any]

    @property
    def source(self) -> str:
        """The text that the case is about."""
        text = self.fields.get("source")
        return text if text is not None else "".join(generated(self.fields["generate"]))


@dataclass(frozen=True, slots=True)
class Mismatch:
    """What a case expects and what came instead, each on one line."""

    expected: str
    got: str


def read_cases(path: Path) -> list[Case]:
    """Read all cases of a file.

    Raises BadDataError when there is none, when there are too many, or when a line is no case.
    """
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadDataError(f"{path}: cannot be read: {error}") from error
    if len(lines) > CASES_MAX:
        raise BadDataError(f"{path}: holds more than {CASES_MAX:,} lines")
    cases = [_case(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not cases:
        raise BadDataError(f"{path}: holds no cases")
    return cases


def _case(path: Path, number: int, line: str) -> Case:
    try:
        fields = json.loads(line)
        return Case(_kind(fields), fields["id"], fields)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadDataError(f"{path}:{number}: is no case: {error}") from error


def _kind(fields: Any) -> CaseKind:
    if not isinstance(fields, dict):
        raise TypeError("not an object")
    expect = fields.get("expect")
    if expect is None:
        if not fields.keys() & {"formatted", "error"}:
            raise KeyError("expect")
        return CaseKind.FORMAT
    return CaseKind.COMPILE if expect.keys() & {"ok", "diagnostics"} else CaseKind.EVALUATE


def generated(recipe: Iterable[str | dict[str, Any]]) -> Iterable[str]:
    """Put a long text together from its recipe."""
    for part in recipe:
        match part:
            case str():
                yield part
            case {"repeat": [text, times]}:
                yield text * times
            case {"each": [text, first, last]}:
                for number in range(first, last + 1):
                    yield text.replace("{i}", str(number)).replace("{i-1}", str(number - 1)).replace("{i+1}", str(number + 1))
            case _:
                raise BadDataError(f"no part of a recipe: {part}")
