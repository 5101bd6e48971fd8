"""Values as an author meant them: a value of one type written in another, where that is certain, and how what belongs somewhere looks."""

import re
from typing import Final

from stateward.compiler.flow.schema import Level, ScalarType
from stateward.compiler.flow.words import TRUTHS
from stateward.compiler.language.data import ArrayData, Data, Scalar

_PLAIN_TEXT: Final = re.compile(r'[^"\\\n]+')
"""A text that stands in quotes as it is."""
_NAMES: Final = re.compile(r"[A-Za-z0-9_-]+(?:\s*[,;]?\s*[A-Za-z0-9_-]+)*")
"""Names in one text."""
_WORDS: Final = re.compile(r"[A-Za-z0-9_./=:@%+,-]+(?: +[A-Za-z0-9_./=:@%+,-]+)*")
"""A command of which every shell makes the same words."""
WORDS_MAX: Final = 16
"""Words of one text that are written out."""


def rewritten(data: Data, wanted: ScalarType, *, is_name: bool) -> str | None:
    """Write a value in the type that was wanted, where that is certain; a text that is no name is not made of a number."""
    match data:
        case Scalar(value=value):
            return _rewritten(value, wanted) if is_name or wanted is not ScalarType.STRING else None
        case ArrayData(items=(Scalar(value=str() as value),)) if wanted is ScalarType.STRING and _PLAIN_TEXT.fullmatch(value):
            return f'"{value}"'
        case _:
            return None


def _rewritten(value: bool | int | float | str, wanted: ScalarType) -> str | None:
    match wanted, value:
        case ScalarType.BOOL, str() | int():
            return TRUTHS.get(str(value).lower())
        case ScalarType.INT, float() if value.is_integer():
            return str(int(value))
        case ScalarType.INT, str() if value.isascii() and value.isdigit():
            return str(int(value))
        case ScalarType.STRING, bool():
            return f'"{str(value).lower()}"'
        case ScalarType.STRING, int():
            return f'"{value}"'
    return None


def rewritten_list(data: Data, *, is_name: bool) -> str | None:
    """Write one text as the array of texts that was wanted, where that is certain: names one by one, a command by its words."""
    match data:
        case Scalar(value=str() as text) if is_name and _NAMES.fullmatch(text):
            return _listed(re.split(r"[\s,;]+", text))
        case Scalar(value=str() as text) if not is_name and _WORDS.fullmatch(text):
            return _listed(text.split())
        case _:
            return None


def _listed(words: list[str]) -> str | None:
    return None if len(words) > WORDS_MAX else "[" + ", ".join(f'"{word}"' for word in words) + "]"


def example(level: Level) -> str:
    """Show how an object of a level is written: with what it must have, or with one field where it need have none."""
    shown = [spec for spec in level.fields if spec.required] or level.fields[:1]
    return f"{{ {' '.join(f'{spec.name} = …;' for spec in shown)} }}"


def example_by_id(level: Level) -> str:
    """Show how a map of such objects is written."""
    return f"{{ some_id = {example(level)}; }}"


def example_of_fields(level: Level, value: bool | int | float | str) -> str:
    """Show how an object is written whose fields may all be left out; what was given stands in it where it is that of the first."""
    first = level.fields[0]
    fits = isinstance(first.type, ScalarType) and type(value) is first.type.of_python
    return f"{{ {first.name} = {value if fits else '…'}; }}"
