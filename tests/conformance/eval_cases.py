"""Cases of the evaluator: the value, exactly, or an error that must be among those reported."""

import json
from typing import Any

from stateward.compiler.diagnostics.model import Diagnostic, PathPart, Severity
from stateward.compiler.language.data import Data, plain
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.loader import MemoryLoader
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import Parse, parse
from tests.conformance.cases import Case, Mismatch

MAIN = "main.dcdl"
SHOWN_MAX = 400
"""Characters of a value that a mismatch shows."""


def judge_evaluation(case: Case) -> Mismatch | None:
    """Evaluate a case's source and compare."""
    source = Source.from_text(MAIN, case.source)
    parsed = parse(source)
    loader = MemoryLoader({**case.fields.get("files", {}), MAIN: case.source})
    evaluation = Evaluation(source, parsed.module, loader=loader)
    data = evaluation.data(evaluation.root)
    found = [each for each in (*parsed.diagnostics, *evaluation.diagnostics) if each.severity is Severity.ERROR]
    expect = case.fields["expect"]
    if "error" in expect:
        if any(_is_expected(each, expect, parsed, source) for each in found):
            return None
        wanted = json.dumps({name: expect[name] for name in expect if name != "message_hint"})
        return Mismatch(wanted, _told(found) or _value(data))
    wanted = json.dumps(expect["value"], sort_keys=True, ensure_ascii=False)
    got = _told(found) or _value(data)
    return None if got == wanted else Mismatch(wanted[:SHOWN_MAX], got[:SHOWN_MAX])


def _value(data: Data) -> str:
    try:
        return _encoded(plain(data))
    except AssertionError:
        return "a hole without a diagnostic"


def _encoded(value: Any) -> str:
    """Encode data as the cases do, so that an Int, a Float and a Bool of the same number differ."""

    def tagged(value: Any) -> Any:
        match value:
            case float():
                return {"$float": repr(value)}
            case list():
                return [tagged(item) for item in value]
            case dict():
                return {name: tagged(item) for name, item in value.items()}
        return value

    return json.dumps(tagged(value), sort_keys=True, ensure_ascii=False)


def _is_expected(diagnostic: Diagnostic, expect: dict[str, Any], parsed: Parse, main: Source) -> bool:
    if diagnostic.kind != expect["error"]:
        return False
    if "field_path" in expect and path_text(diagnostic.path) != expect["field_path"]:
        return False
    if expect.get("span") is None:
        return True
    source = diagnostic.primary.place.source
    if source.name != expect.get("file", MAIN):
        return False
    start, end = byte_span(diagnostic)
    first, last = expect["span"]
    if (start, end) == (first, last) or (start < end and first <= start and end <= last):
        return True
    trivia = parsed if source is main else parse(source)
    return diagnostic.kind == "syntax" and start == end == _end_of_token_before(first, source, trivia)


def _end_of_token_before(offset: int, source: Source, parsed: Parse) -> int:
    """Give the byte offset at which the last token before a byte offset ends."""
    at = len(source.text.encode("utf-8", "surrogatepass")[: offset - source.byte_offset(0)].decode("utf-8", "ignore"))
    ends = {comment.end: comment.start for comment in parsed.trivia.comments}
    while True:
        blank = len(source.text[:at].rstrip(" \t\r\n"))
        before = ends.get(blank, blank)
        if before == at:
            return source.byte_offset(at)
        at = before


def byte_span(diagnostic: Diagnostic) -> tuple[int, int]:
    """Give the place of a diagnostic in bytes."""
    place = diagnostic.primary.place
    return place.source.byte_offset(place.span.start), place.source.byte_offset(place.span.end)


def path_text(path: tuple[PathPart, ...]) -> str:
    """Write a path as the cases do."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def _told(diagnostics: list[Diagnostic]) -> str:
    told = [
        f"{each.kind} {list(byte_span(each))} in {each.primary.place.source.name} at `{path_text(each.path)}`: {each.message}"
        for each in diagnostics
    ]
    return "; ".join(told)[:SHOWN_MAX]
