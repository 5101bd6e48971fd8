"""Fuzzing of the parser and the formatter: whatever a text holds, both end without an exception, and what they promise holds.

An input is either a text, or a row of numbers that choose tokens, so that sound texts are found soon. What is found is reduced and
becomes a case in the tests.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.compiler.dcdl_checks import check_format, check_parse
from tests.compiler.dcdl_sources import ODD_TOKENS, TOKENS

CHOICES: Final = (*TOKENS, " ", " ", "let a = ", "match a {", "(x) => ", "a = ", "import a", *ODD_TOKENS)
RAW: Final = 0
_CASES: Final = Path(__file__).parents[1] / "conformance" / "dcdl"


def text_of(data: bytes) -> str:
    """Read an input as a text, or as the tokens that it chooses."""
    if not data or data[0] % 2 == RAW:
        return data[1:].decode("utf-8", "surrogateescape")
    return "".join(CHOICES[number % len(CHOICES)] for number in data[1:])


def one_input(data: bytes) -> None:
    """Parse and format one input."""
    text = text_of(data)
    check_parse(text)
    check_format(text)


def seeds() -> Iterator[bytes]:
    """Give inputs to begin with: the sources of the conformance data."""
    for name in ("eval.jsonl", "format.jsonl"):
        for line in (_CASES / name).read_text("utf-8").splitlines():
            case = json.loads(line)
            if "source" in case:
                yield bytes([RAW]) + case["source"].encode("utf-8", "surrogatepass")
