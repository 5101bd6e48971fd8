"""Lengths of time as they are written: a whole number and `s`, `m` or `h`; and what was meant by a text that is none.

Invariants: a length is given in whole seconds; a text that is longer than `CHARACTERS_MAX` is not looked at.
"""

import re
from collections.abc import Mapping
from typing import Final

CHARACTERS_MAX: Final = 64
_DURATION: Final = re.compile(r"([0-9]+)([smh])")
_UNITS: Final[Mapping[str, int]] = {"s": 1, "m": 60, "h": 3600}
_OTHER_UNITS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
}
"""How units are written elsewhere, in seconds."""
_PARTS: Final = re.compile(r"(?:\s*[0-9]+(?:\.[0-9]+)?\s*[a-z]+\s*,?)+")
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]+)")


def seconds_of(text: str) -> int | None:
    """Give the seconds that a text says; None when it is no length of time."""
    found = _DURATION.fullmatch(text) if len(text) <= CHARACTERS_MAX else None
    return int(found[1]) * _UNITS[found[2]] if found is not None else None


def duration_meant(text: str) -> str | None:
    """Write a length of time that was written as it is elsewhere, such as `10 minutes` or `1h30m`; None when that is not certain."""
    folded = text.lower()
    if len(text) > CHARACTERS_MAX or _PARTS.fullmatch(folded) is None:
        return None
    seconds = 0.0
    for number, unit in _PART.findall(folded):
        if unit not in _OTHER_UNITS:
            return None
        seconds += float(number) * _OTHER_UNITS[unit]
    return written(int(seconds)) if seconds >= 1 and seconds.is_integer() else None


def either_duration(number: object) -> str:
    """Advise how a number without a unit is written."""
    return f'write `"{number}s"` for seconds, `"{number}m"` for minutes'


def written(seconds: int) -> str:
    """Write a length of time in the largest unit that it is a whole number of."""
    unit = next(unit for unit in ("h", "m", "s") if seconds % _UNITS[unit] == 0)
    return f"{seconds // _UNITS[unit]}{unit}"
