"""One judge for every kind of case."""

from typing import assert_never

from tests.conformance.cases import Case, CaseKind, Mismatch


def judge(case: Case) -> Mismatch | None:
    """Run a case; None when it passes. Only the parts of the compiler that its kind needs are loaded."""
    match case.kind:
        case CaseKind.EVALUATE:
            from tests.conformance.eval_cases import judge_evaluation  # noqa: PLC0415  # see above

            return judge_evaluation(case)
        case CaseKind.FORMAT:
            from tests.conformance.format_cases import judge_format  # noqa: PLC0415

            return judge_format(case)
        case CaseKind.COMPILE:
            from tests.conformance.compile_cases import judge_compilation  # noqa: PLC0415

            return judge_compilation(case)
    assert_never(case.kind)
