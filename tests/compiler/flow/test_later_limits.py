"""Every limit of what version 2 adds accepts its exact value and refuses one more."""

import pytest

from stateward.compiler.diagnostics.model import errors_of
from stateward.compiler.limits import (
    CHECKS_MAX,
    COMMAND_BYTES_MAX,
    COMMAND_TEXTS_MAX,
    DEFAULT_BYTES_MAX,
    IDENTIFIER_BYTES_MAX,
    INPUTS_MAX,
    VARIABLES_MAX,
    VISITS_MAX,
    FlowLimits,
)
from stateward.compiler.pipeline import compile_source
from tests.compiler.flow.sources import GOOD_2, changed


def codes(source: str, limits: FlowLimits | None = None) -> list[str]:
    done = compile_source(source.encode()) if limits is None else compile_source(source.encode(), limits=limits)
    return [each.code for each in errors_of(done.diagnostics)]


def variables(number: int) -> str:
    more = " ".join(f"v{at} = Int;" for at in range(number - 2))
    return changed(("default 0; };", f"default 0; {more} }};"), of=GOOD_2)


def inputs(number: int) -> str:
    more = " ".join(f"i{at} = Int;" for at in range(number - 1))
    return changed(("inputs = { topic", f"inputs = {{ {more} topic"), of=GOOD_2)


def checks(number: int) -> str:
    more = " ".join(f'c{at} = {{ command = ["c"]; }};' for at in range(number - 1))
    return changed(("checks = { spelling", f"checks = {{ {more} spelling"), of=GOOD_2)


def command(texts: int, size: int = 1) -> str:
    return changed(('["codespell", "paper.md"]', "[" + ", ".join([f'"{"x" * size}"'] * texts) + "]"), of=GOOD_2)


def default(size: int) -> str:
    return changed(("default 0; };", f'default 0; more = String default "{"x" * (size - 2)}"; }};'), of=GOOD_2)


def named(what: str) -> str:
    return changed(("default 0; };", f"default 0; {what} = Int; }};"), of=GOOD_2)


@pytest.mark.parametrize(
    ("fits", "code", "one_more"),
    [
        (variables(VARIABLES_MAX), "too_many_declarations", variables(VARIABLES_MAX + 1)),
        (inputs(INPUTS_MAX), "too_many_declarations", inputs(INPUTS_MAX + 1)),
        (checks(CHECKS_MAX), "too_many_declarations", checks(CHECKS_MAX + 1)),
        (command(COMMAND_TEXTS_MAX), "invalid_command", command(COMMAND_TEXTS_MAX + 1)),
        (command(8, COMMAND_BYTES_MAX // 8), "invalid_command", command(8, COMMAND_BYTES_MAX // 8 + 1)),
        (default(DEFAULT_BYTES_MAX), "default_too_large", default(DEFAULT_BYTES_MAX + 1)),
        (named("n" * IDENTIFIER_BYTES_MAX), "invalid_declaration_name", named("n" * (IDENTIFIER_BYTES_MAX + 1))),
        *(
            (
                changed(("visits = 5", f"visits = {fits}"), of=GOOD_2),
                "invalid_visit_limit",
                changed(("visits = 5", f"visits = {no}"), of=GOOD_2),
            )
            for fits, no in ((1, 0), (VISITS_MAX, VISITS_MAX + 1))
        ),
        *(
            (changed(('"90s"', f'"{fits}"'), of=GOOD_2), "invalid_duration", changed(('"90s"', f'"{no}"'), of=GOOD_2))
            for fits, no in (("1s", "0s"), ("24h", "25h"), ("86400s", "86401s"))
        ),
    ],
    ids=range(12),
)
def test_counts_and_sizes(fits: str, code: str, one_more: str) -> None:
    assert (codes(fits), codes(one_more)) == ([], [code])


def test_limits_of_declarations_can_be_lifted_and_lowered() -> None:
    assert codes(variables(VARIABLES_MAX + 1), FlowLimits(variables=VARIABLES_MAX + 1)) == []
    assert codes(GOOD_2, FlowLimits(variables=1, inputs=0, checks=0)) == ["too_many_declarations"] * 3
