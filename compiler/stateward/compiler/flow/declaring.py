"""Stage 4, of version 2: what is declared beside the states, and the names in the lists that use it.

Each check passes over what failed before. A name is not missed while declarations were lost.
"""

from collections.abc import Iterator
from json import JSONEncoder
from typing import Final, NamedTuple

from stateward.compiler.diagnostics.wording import counted, nearest, quoted
from stateward.compiler.flow.declared import Declared
from stateward.compiler.flow.durations import seconds_of
from stateward.compiler.flow.identifiers import identifier_fault
from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.declaring import (
    CommandUnusable,
    DefaultTooLarge,
    InputWider,
    NameNotFound,
    NameTwice,
    NoDuration,
    OneValue,
    UnknownSelection,
    VisitsOutOfBounds,
    command_of,
)
from stateward.compiler.flow.problems.meaning import CountOutOfBounds, InvalidIdentifier
from stateward.compiler.flow.schema import SELECTIONS
from stateward.compiler.flow.typed import (
    Checks,
    CheckSource,
    Declarations,
    DeclarationSource,
    FlowSource,
    Located,
    StateSource,
    Texts,
    TransitionSource,
)
from stateward.compiler.limits import (
    COMMAND_BYTES_MAX,
    COMMAND_TEXTS_MAX,
    TIMEOUT_SECONDS_MAX,
    TIMEOUT_SECONDS_MIN,
    VISITS_MAX,
    VISITS_MIN,
    FlowLimits,
)
from stateward.compiler.predicates.entailing import entails
from stateward.compiler.predicates.schema import Exactly, Plain
from stateward.compiler.source import Place

_JSON: Final = JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Names(NamedTuple):
    """What names of variables and checks are judged against."""

    variables: Declared
    has_all_variables: bool
    """Whether a variable that is not declared is certainly missing."""
    inputs: frozenset[str]
    checks: Declared
    has_all_checks: bool


def names_of(flow: FlowSource) -> Names:
    """Give what a source declares."""
    return Names(
        Declared(tuple(each.name for each in flow.variables.items)),
        flow.variables.complete,
        frozenset(each.name for each in flow.inputs.items),
        Declared(tuple(each.name for each in flow.checks.items)),
        flow.checks.complete,
    )


def check_declarations(flow: FlowSource, limits: FlowLimits) -> Iterator[Problem]:
    """Give what is wrong with what a source declares beside its states."""
    yield from _declarations("variable", flow.variables, limits.variables, limits)
    yield from _declarations("input", flow.inputs, limits.inputs, limits)
    yield from _seeds(flow.variables, flow.inputs)
    yield from _checks(flow.checks, limits)


def _declarations(what: str, declarations: Declarations, most: int, limits: FlowLimits) -> Iterator[Problem]:
    yield from _count(what, len(declarations.items), most, declarations.key, declarations.path)
    for each in declarations.items:
        yield from _name(what, each.name, each.key, each.path)
        size = _json_bytes(each.default) if each.default is not None else 0
        if size > limits.default_bytes:
            yield DefaultTooLarge(what, each, size, limits.default_bytes)
        if isinstance(each.schema, Exactly):
            yield OneValue(what, each, each.schema.value)


def _count(what: str, number: int, most: int, key: Place | None, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if number > most and key is not None:
        yield CountOutOfBounds(
            "too_many_declarations", f"the flow has {counted(number, what)}", key, path, f"more than {counted(most, what)}"
        )


def _name(what: str, name: str, key: Place, path: tuple[str | int, ...]) -> Iterator[Problem]:
    if identifier_fault(name) is not None:
        yield InvalidIdentifier("invalid_declaration_name", f"{what} name", name, key, path)


def _json_bytes(value: Plain) -> int:
    """Count the bytes of a value as JSON, without white space."""
    return len(_JSON.encode(value).encode("utf-8", "surrogatepass"))


def _seeds(variables: Declarations, inputs: Declarations) -> Iterator[Problem]:
    by_name: dict[str, DeclarationSource] = {each.name: each for each in variables.items}
    for given in inputs.items:
        variable = by_name.get(given.name)
        if variable is None or variable.schema is None or given.schema is None:
            continue
        if not entails(given.schema, variable.schema):
            yield InputWider(given, variable)


def _checks(checks: Checks, limits: FlowLimits) -> Iterator[Problem]:
    yield from _count("check", len(checks.items), limits.checks, checks.key, checks.path)
    for each in checks.items:
        yield from _name("check", each.name, each.key, each.path)
        if each.command is not None:
            yield from _command(each, each.command)
        if each.timeout is not None:
            yield from _timeout(each.timeout)


def _command(check: CheckSource, command: Texts) -> Iterator[Problem]:
    whole, subject = command.origin.place, command_of(check.name)
    if not command.items:
        if command.complete:
            yield CommandUnusable(f"{subject} is empty", whole, "no program in it", command.path)
        return
    program = command.items[0]
    if program.path[-1] == 0 and (not program.value or program.value.isspace()):
        yield CommandUnusable(f"the program of check {quoted(check.name)} is blank", program.origin.place, "says no program", program.path)
    for each in command.items:
        if "\0" in each.value:
            yield CommandUnusable(f"{subject} holds a NUL", each.origin.place, "no program can be given it", each.path)
    number, size = len(command.items), sum(len(each.value.encode("utf-8", "surrogatepass")) for each in command.items)
    if number > COMMAND_TEXTS_MAX:
        yield CommandUnusable(f"{subject} has {counted(number, 'text')}", whole, f"more than {COMMAND_TEXTS_MAX} texts", command.path)
    if size > COMMAND_BYTES_MAX:
        yield CommandUnusable(f"{subject} has {counted(size, 'byte')}", whole, f"more than {COMMAND_BYTES_MAX:,} bytes", command.path)


def _timeout(timeout: Located[str]) -> Iterator[Problem]:
    seconds = seconds_of(timeout.value)
    if seconds is None or not TIMEOUT_SECONDS_MIN <= seconds <= TIMEOUT_SECONDS_MAX:
        yield NoDuration(timeout, seconds, TIMEOUT_SECONDS_MIN, TIMEOUT_SECONDS_MAX)


def check_state(state: StateSource, names: Names) -> Iterator[Problem]:
    """Give what is wrong with what version 2 says of a state itself."""
    for field, texts in (("reads", state.reads), ("writes", state.writes)):
        if texts is not None:
            yield from _twice(field, texts)
            for each in texts.items:
                if names.has_all_variables and each.value not in names.variables:
                    meant = names.variables.meant(each.value)
                    yield NameNotFound("variable_not_found", "variable", each, names.variables.ids, meant, each.value in names.inputs)
    if state.select is not None and state.select.value not in SELECTIONS:
        yield UnknownSelection(state.select, SELECTIONS, nearest(state.select.value, SELECTIONS))
    if state.visits_max is not None and not VISITS_MIN <= state.visits_max.value <= VISITS_MAX:
        yield VisitsOutOfBounds(state.visits_max, VISITS_MIN, VISITS_MAX)


def check_named(transition: TransitionSource, names: Names) -> Iterator[Problem]:
    """Give what is wrong with the checks that a transition names."""
    if transition.checks is None:
        return
    yield from _twice("checks", transition.checks)
    for each in transition.checks.items:
        if names.has_all_checks and each.value not in names.checks:
            yield NameNotFound("check_not_found", "check", each, names.checks.ids, names.checks.meant(each.value))


def _twice(field: str, texts: Texts) -> Iterator[Problem]:
    first: dict[str, Located[str]] = {}
    for each in texts.items:
        if each.value in first:
            yield NameTwice(each, first[each.value], field)
        first.setdefault(each.value, each)
