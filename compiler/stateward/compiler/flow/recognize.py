"""Whether a text is a Flow source at all: for folders, which hold other DCDL files too, and for files of quite another kind."""

import re
from collections.abc import Iterator
from typing import Final

from stateward.compiler.diagnostics.model import Diagnostic, errors_of
from stateward.compiler.flow.intake import take_in
from stateward.compiler.flow.problems.source import NotAFlowSource
from stateward.compiler.flow.schema import FLOW
from stateward.compiler.language.evaluation import Evaluation, ObjectShape
from stateward.compiler.limits import FLOW_LIMITS, FlowLimits
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import Parse, parse
from stateward.compiler.syntax.tree import Arm, Binary, Expr, Lambda, Let, Match, Module, Object, Paren

_TELLING: Final = frozenset({"schema_version", "states"})
_JOINING: Final = frozenset({"//", "&", "as", "default"})
_OF_A_FLOW: Final = re.compile(r"\b(?:schema_version|initial|states|transitions|instructions)\b")
"""The names that nothing but a flow is likely to hold."""
NO_DCDL: Final = "and no DCDL"
"""How the message ends with which the parser names another kind of text."""


def is_flow_source(data: bytes, limits: FlowLimits = FLOW_LIMITS) -> bool:
    """Tell whether a DCDL file is meant as a flow: its root has `states` or `schema_version`, or it cannot be read as DCDL at all."""
    source = take_in(data, "<candidate>", limits.source_bytes)
    if not isinstance(source, Source):
        return True
    parsed = parse(source, limits.language)
    if errors_of(parsed.diagnostics) or _TELLING & set(_root_names(parsed.module)):
        return True
    if isinstance(parsed.module.body, Object):
        return False
    evaluation = Evaluation(source, parsed.module, limits=limits.language)
    shape = evaluation.shape(evaluation.root)
    return isinstance(shape, ObjectShape) and bool(_TELLING & shape.fields.keys())


def foreign(source: Source, parsed: Parse) -> NotAFlowSource | None:
    """Tell a text that holds nothing, or that is broken and holds nothing of a flow: its faults mean nothing then."""
    faults = errors_of(parsed.diagnostics)
    if not faults:
        return None
    if all(not line or line.startswith("#") for line in map(str.strip, source.text.split("\n"))):
        return NotAFlowSource("the source is empty", "nothing to read", faults[0])
    if set(FLOW.names) & set(_root_names(parsed.module)) or (len(faults) == 1 and not _is_strange(source, parsed, faults[0])):
        return None
    return NotAFlowSource("the text is not a Flow source", "cannot be read from here", faults[0])


def _is_strange(source: Source, parsed: Parse, fault: Diagnostic) -> bool:
    """Tell whether a text with a single fault is something else than a flow; what the parser has named already keeps its name."""
    is_named = fault.kind != "syntax" or fault.message.endswith(NO_DCDL)
    return not (is_named or isinstance(parsed.module.body, Object) or _OF_A_FLOW.search(source.text))


def _root_names(module: Module) -> Iterator[str]:
    """Give the names that objects at the root of a module are written with; what a call or a name gives is not seen."""
    open_: list[Expr] = [module.body]
    for node in open_:
        match node:
            case Object(fields=fields):
                yield from (field.path[0].text for field in fields if field.path)
            case Paren(inner=inner):
                open_.append(inner)
            case Let(body=body) | Lambda(body=body):
                open_.append(body)
            case Binary(operator=operator, left=left, right=right) if operator in _JOINING:
                open_ += (left, right)
            case Match(arms=arms):
                open_ += (arm.body for arm in arms if isinstance(arm, Arm))
            case _:
                pass
