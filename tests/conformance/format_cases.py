"""Cases of the formatter: the text byte for byte, the same again, and nothing changed in what it evaluates to."""

from stateward.compiler.formatting.printer import format_source
from stateward.compiler.source import Source
from tests.conformance.cases import Case, Mismatch


def judge_format(case: Case) -> Mismatch | None:
    """Format a case's source and compare."""
    wanted = case.fields.get("formatted")
    got = format_source(Source.from_text("main.dcdl", case.source))
    if wanted is None:
        kinds = {each.kind for each in got} if isinstance(got, tuple) else set()
        return None if case.fields["error"] in kinds else Mismatch(f"error {case.fields['error']}", f"{got!r}")
    if got != wanted:
        return Mismatch(repr(wanted), repr(got))
    again = format_source(Source.from_text("main.dcdl", wanted))
    return None if again == wanted else Mismatch(f"again {wanted!r}", repr(again))
