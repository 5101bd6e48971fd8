"""What may be written to the variables of an instance, by whom and when.

Invariants: a write is all or nothing; a worker writes only what the state in which it stands declares; every value that is recorded fits
its declaration, with its defaults filled in; what changes nothing is not recorded.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stateward.compiler.predicates.declarations import Declaration
from stateward.compiler.predicates.schema import completed, misfit
from stateward.runtime.core import limits
from stateward.runtime.core.events import Assigned, Source, Status, VariablesSet
from stateward.runtime.core.flow import Flow
from stateward.runtime.core.instance import FlowState, Instance
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import is_unicode, listed, shown, size_of

if TYPE_CHECKING:
    from stateward.compiler.predicates.schema import Plain


@dataclass(frozen=True, slots=True)
class Write:
    """Set variables, as a worker may."""

    values: "Mapping[str, object]"
    """By name, as they were given."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The variables hold these values already, and this visit wrote them: nothing is recorded."""


@dataclass(frozen=True, slots=True)
class Wrote:
    """This event is to be recorded."""

    event: VariablesSet


def write(definition: Flow, state: FlowState, command: Write) -> Wrote | Unchanged | Refusal:
    """Decide on a write."""
    instance = state.instance
    if instance is None or instance.status is not Status.ACTIVE:
        ended = "no flow was started" if instance is None else f"the flow ended as `{instance.status}` in state `{instance.state}`"
        return Refusal(RefusalCode.NO_ACTIVE_INSTANCE, ended, ("submit input with one flow segment",))
    if instance.paused is not None:
        message = f"the flow was paused by {instance.paused.by}: {instance.paused.reason}"
        return Refusal(RefusalCode.INSTANCE_PAUSED, message, ("wait until an operator resumes it",))
    if not command.values:
        return Refusal(RefusalCode.VARIABLES_EMPTY, "no variable is set", ("give a value for a variable",))
    problem = _not_written_here(definition, instance, command.values)
    if problem is not None:
        return problem
    declared = {each.name: each for each in definition.declared_variables}
    values = _fitted([declared[name] for name in command.values], command.values, RefusalCode.VARIABLE_MISFIT, "variable")
    if isinstance(values, Refusal):
        return values
    if all(_holds_already(instance, each) for each in values):
        return Unchanged()
    held = {name: each.value for name, each in instance.variables.items()} | {each.name: each.value for each in values}
    size = sum(map(size_of_value, held.values()))
    if size > limits.VARIABLES_BYTES_MAX:
        allowed = (f"keep all variables together within {limits.VARIABLES_BYTES_MAX} bytes",)
        return Refusal(RefusalCode.VARIABLES_TOO_LARGE, f"the variables would have {size} bytes", allowed)
    return Wrote(VariablesSet(instance=instance.id, visit=instance.visit, source=Source.WORKER, state=instance.state, values=values))


def _not_written_here(definition: Flow, instance: Instance, names: Iterable[str]) -> Refusal | None:
    """Refuse what the state does not write."""
    here = definition.state(instance.state).writes
    wrong = next((name for name in names if name not in here), None)
    if wrong is None:
        return None
    declared = any(each.name == wrong for each in definition.declared_variables)
    allowed = tuple(f"set `{each}`" for each in here)
    if not declared:
        return Refusal(RefusalCode.VARIABLE_UNKNOWN, f"the flow has no variable {shown(wrong)}", allowed)
    writes = f"it writes {listed(here)}" if here else "it writes none"
    return Refusal(RefusalCode.VARIABLE_NOT_WRITABLE, f"state `{instance.state}` does not write `{wrong}`; {writes}", allowed)


def _holds_already(instance: Instance, given: Assigned) -> bool:
    held = instance.variables.get(given.name)
    return held is not None and held.visit == instance.visit and _same(held.value, given.value)


def _same(left: object, right: object) -> bool:
    """Compare two values, types too: 1, 1.0 and true are three values."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(left[name], right[name]) for name in left)
    return left == right


def taken_inputs(definition: Flow, given: Mapping[str, object]) -> tuple[Assigned, ...] | Refusal:
    """Take in what a flow is started with, its defaults filled in."""
    declared = {each.name: each for each in definition.declared_inputs}
    unknown = next((name for name in given if name not in declared), None)
    if unknown is not None:
        has = f"it takes {listed(tuple(declared))}" if declared else "it takes none"
        return Refusal(RefusalCode.INPUT_UNKNOWN, f"flow `{definition.name}` has no input {shown(unknown)}; {has}")
    lacking = next((each.name for each in declared.values() if each.name not in given and each.default is None), None)
    if lacking is not None:
        return Refusal(RefusalCode.INPUT_MISSING, f"flow `{definition.name}` is given no input `{lacking}`", (f"give input `{lacking}`",))
    values = {name: given.get(name, each.default) for name, each in declared.items()}
    return _fitted(tuple(declared.values()), values, RefusalCode.INPUT_MISFIT, "input")


def _fitted(declared: Sequence[Declaration], values: Mapping[str, object], code: RefusalCode, what: str) -> tuple[Assigned, ...] | Refusal:
    fitted = []
    for each in declared:
        value = values[each.name]
        found = misfit(each.schema, value)
        if found is not None:
            at = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in found.path)
            where = "" if not at else f" at {shown(each.name + at)}"
            return Refusal(code, f"{what} `{each.name}` cannot hold this{where}: {found.why}", (f"give `{each.name}` a value that fits",))
        if not _is_text(value):
            why = f"{what} `{each.name}` cannot hold this: half a character is no text"
            return Refusal(code, why, (f"give `{each.name}` a value that fits",))
        plain: Plain = completed(each.schema, value)  # type: ignore[arg-type]  # it fits
        size = size_of_value(plain)
        if size > limits.VARIABLE_BYTES_MAX:
            allowed = (f"give at most {limits.VARIABLE_BYTES_MAX} bytes",)
            return Refusal(RefusalCode.VARIABLES_TOO_LARGE, f"{what} `{each.name}` would have {size} bytes", allowed)
        fitted.append(Assigned(each.name, plain))
    return tuple(fitted)


def _is_text(value: object) -> bool:
    """Tell whether every text in a value is one in UTF-8: values are read where nothing else is."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and not is_unicode(each):
            return False
        if isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend((*each, *each.values()))
    return True


def misfit_of(declared: Declaration, value: object) -> str | None:
    """Say why a variable cannot hold a value; None when it can."""
    found = misfit(declared.schema, value)
    return None if found is None else found.why


def seeds(definition: Flow, instance: str, inputs: Iterable[Assigned]) -> tuple[VariablesSet, ...]:
    """Give what the variables hold from the beginning: the inputs of their names, else their defaults."""
    given = {each.name: each.value for each in inputs}
    declared = definition.declared_variables
    from_inputs = tuple(
        Assigned(each.name, completed(each.schema, given[each.name])) for each in declared if each.name in given
    )  # fmt: skip
    defaults = tuple(Assigned(each.name, each.default) for each in declared if each.name not in given and each.default is not None)
    return tuple(
        VariablesSet(instance=instance, visit=1, source=source, state=definition.initial, values=values)
        for source, values in ((Source.DEFINITION, defaults), (Source.INPUT, from_inputs))
        if values
    )


def size_of_value(value: object) -> int:
    """Give the size of a value: its texts in UTF-8 bytes, and a few bytes for everything else."""
    size, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            size += size_of(each) + 2
        elif isinstance(each, list):
            size += 2
            waiting.extend(each)
        elif isinstance(each, dict):
            size += 2 + sum(size_of(name) + 4 for name in each)
            waiting.extend(each.values())
        else:
            size += 8
    return size
