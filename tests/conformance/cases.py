"""The cases of the conformance data: read from JSON Lines, their kind told from their fields, their sources put together."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

CASES_MAX = 100_000
"""Cases that one file may hold."""
SOURCE_MAX = 64 * 1024 * 1024
"""Characters that a recipe may give."""


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
        fields = json.loads(line, parse_constant=_no_number)
        return Case(_kind(fields), fields["id"], fields)
    except KeyError as error:
        raise BadDataError(f"{path}:{number}: is no case: {error} is missing") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise BadDataError(f"{path}:{number}: is no case: {error}") from error


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no value")


def _kind(fields: Any) -> CaseKind:
    """Tell the kind of a case. Raises KeyError, TypeError or ValueError when it is of none."""
    _must(isinstance(fields, dict), "not an object")
    _must(isinstance(fields["id"], str), "`id` is not a text")
    if "source" in fields or "generate" not in fields:
        _must(isinstance(fields["source"], str), "`source` is not a text")
    else:
        _check_recipe(fields["generate"])
    expect = fields.get("expect")
    if expect is None:
        if "formatted" not in fields and "error" not in fields:
            raise KeyError("expect")
        _must(isinstance(fields.get("formatted", fields.get("error")), str), "`formatted` or `error` is not a text")
        return CaseKind.FORMAT
    _must(isinstance(expect, dict), "`expect` is not an object")
    if expect.keys() & {"ok", "diagnostics"}:
        _check_compilation(expect)
        return CaseKind.COMPILE
    _check_evaluation(fields, expect)
    return CaseKind.EVALUATE


def _must(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _check_evaluation(fields: dict[str, Any], expect: dict[str, Any]) -> None:
    files = fields.get("files", {})
    _must(isinstance(files, dict) and _are(list(files.values()), str), "`files` does not map names to texts")
    if "error" not in expect:
        _must("value" in expect, "`expect` has no `value`, `error`, `ok` or `diagnostics`")
        return
    _must(_are([expect["error"], expect.get("file", ""), expect.get("field_path", "")], str), "a text of `expect` is none")
    span = expect.get("span")
    _must(span is None or (isinstance(span, list) and len(span) == len(("start", "end")) and _are(span, int)), "`span` is not two numbers")


def _check_compilation(expect: dict[str, Any]) -> None:
    if "ok" in expect:
        wanted = expect["ok"]
        _must(isinstance(wanted, dict), "`ok` is not an object")
        _must(isinstance(wanted.get("states"), list) and _are(wanted["states"], dict), "`states` is not a list of objects")
        for state in wanted["states"]:
            _must(isinstance(state.get("id"), str), "a state has no `id`")
            _must(_is_table(state.get("transitions"), 3), "`transitions` are not lists of id, target and condition")
        return
    found = expect["diagnostics"]
    _must(_is_table(found, 2) and all(_are(each, str) for each in found), "`diagnostics` are not pairs of code and path")


def _is_table(rows: Any, width: int) -> bool:
    return isinstance(rows, list) and _are(rows, list) and all(len(row) == width for row in rows)


def _are(values: Sequence[Any], kind: type) -> bool:
    return all(isinstance(value, kind) for value in values)


def _check_recipe(recipe: Any) -> None:
    """Tell whether a text can be put together from a recipe, and is not endless."""
    _must(isinstance(recipe, list), "`generate` is not a list")
    size = 0
    for part in recipe:
        match part:
            case str():
                size += len(part)
            case {"repeat": [str(text), int(times)]}:
                size += len(text) * times
            case {"each": [str(text), int(first), int(last)]}:
                size += (len(text) + text.count("{i") * len(str(last))) * max(0, last - first + 1)
            case _:
                raise ValueError(f"no part of a recipe: {part}")
    _must(size <= SOURCE_MAX, f"the recipe gives more than {SOURCE_MAX:,} characters")


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
