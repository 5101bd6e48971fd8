"""Cases of the flow compiler: the compiled flow, or all its diagnostics, compared as the data's README says."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from stateward.compiler.diagnostics.model import Diagnostic, Severity
from stateward.compiler.flow.definition import CompiledFlowDefinition, CompiledState, CompiledTransition
from stateward.compiler.pipeline import Compilation, compile_source
from tests.conformance.cases import Case, Mismatch

Finding: TypeAlias = tuple[str, str]
"""A code and a path."""

LANGUAGE: Final = frozenset({"dcdl_syntax", "dcdl_evaluation", "dcdl_import"})
SHAPE: Final = frozenset({"unknown_field", "missing_field", "wrong_type"})
GRAPH: Final = frozenset({"unreachable_state", "terminal_missing", "terminal_unreachable"})
UNPLACED: Final = LANGUAGE | {"source_too_large"}
"""Codes whose paths are not compared."""
LEFT_OUT_BESIDE: Final = {
    "initial_not_found": {"states_empty", "reserved_state"},
    "transition_target_not_found": {"reserved_transition_target"},
    "invalid_state_id": {"reserved_state"},
    "invalid_transition_id": {"reserved_transition"},
}
"""Faults that only follow from another may be left out."""
CANCEL: Final = "$cancel"


def judge_compilation(case: Case) -> Mismatch | None:
    """Compile a case's source and compare."""
    compilation = compile_source(case.source.encode("utf-8", "surrogatepass"), name="main.dcdl")
    expect = case.fields["expect"]
    if "ok" in expect:
        return _judge_definition(expect["ok"], compilation)
    return _judge_findings([(code, path) for code, path in expect["diagnostics"]], compilation, "import" in case.source)


def _judge_definition(wanted: dict[str, Any], compilation: Compilation) -> Mismatch | None:
    definition = compilation.definition
    errors = _errors(compilation)
    if definition is None or errors:
        return Mismatch("a compiled flow", _told(_findings(errors)))
    got = _described(definition, wanted)
    got["digest"] = compilation.content_digest
    wanted = {**wanted, "states": _by_id(wanted["states"])}
    wanted.pop("partial", None)
    first, second = (json.dumps(each, sort_keys=True, ensure_ascii=False) for each in (wanted, got))
    return None if first == second else Mismatch(first, second)


def _described(definition: CompiledFlowDefinition, wanted: dict[str, Any]) -> dict[str, Any]:
    texts = {state["id"]: state for state in wanted["states"]}
    states = [_state(state, texts.get(state.id, {})) for state in definition.states]
    described: dict[str, Any] = {"name": definition.name, "initial": definition.initial}
    if wanted.get("partial"):
        states = [state for state in states if state["id"] in texts]
        described["state_count"] = len(definition.states)
    return {**described, "states": _by_id(states)}


def _state(state: CompiledState, wanted: dict[str, Any]) -> dict[str, Any]:
    conditions = {each[0]: each[2] for each in wanted.get("transitions", ())}
    return {
        "id": state.id,
        "instructions": _text(state.instructions, wanted.get("instructions")),
        "terminal": state.terminal,
        "transitions": [_transition(each, conditions.get(each.id)) for each in state.transitions],
    }


def _transition(transition: CompiledTransition, wanted: Any) -> list[Any]:
    condition = _text(transition.condition, wanted)
    is_sound = transition.synthetic == (transition.id == CANCEL)
    if transition.id == CANCEL and transition.condition.strip():
        condition = None
    return [transition.id, transition.target, condition if is_sound else "wrongly marked as synthetic or not"]


def _text(text: str, wanted: Any) -> Any:
    return {"$bytes": len(text.encode())} if isinstance(wanted, dict) else text


def _by_id(states: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put states and transitions in order of their ids; `$cancel` stays where it is, so it must be last in its state."""
    ordered = []
    for state in sorted(states, key=lambda state: str(state["id"])):
        given = state["transitions"]
        last = len(given) - 1
        moved = sorted((each for at, each in enumerate(given) if at != last or each[0] != CANCEL), key=lambda each: str(each[0]))
        ordered.append({**state, "transitions": [*moved, *given[len(moved) :]]})
    return ordered


def _judge_findings(reference: list[Finding], compilation: Compilation, has_import: bool) -> Mismatch | None:
    got = _findings(_errors(compilation))
    wanted = [_translated(finding, has_import) for finding in reference]
    left = Counter(_comparable(got))
    missing = []
    for code, path in _comparable(wanted):
        if left[code, path]:
            left[code, path] -= 1
        elif not _stands_for(code, path, got, wanted):
            missing.append((code, path))
    surplus = [finding for finding in left.elements() if not _may_be_more(finding, wanted)]
    if not got:
        return Mismatch(_told(wanted), "a compiled flow")
    return Mismatch(_told(wanted), _told(got)) if missing or surplus else None


def _translated(finding: Finding, has_import: bool) -> Finding:
    code, path = finding
    match code:
        case "dcdl_parse":
            return "dcdl_syntax", path
        case "dcdl_evaluation" | "dcdl_materialization":
            return ("dcdl_import" if has_import else "dcdl_evaluation"), path
    return finding


def _comparable(findings: Iterable[Finding]) -> list[Finding]:
    return [(code, "" if code in UNPLACED else path) for code, path in findings]


def _stands_for(code: str, path: str, got: list[Finding], wanted: list[Finding]) -> bool:
    """Tell whether an expected diagnostic may be missing, because another stands for it or it only follows from another."""
    codes = {each for each, _ in got}
    at_path = {each for each, where in got if where == path}
    if "unsupported_schema_version" in codes and (code == "schema_decode" or ("unsupported_schema_version", "schema_version") in wanted):
        return True
    match code:
        case "schema_decode":
            return bool(codes & SHAPE)
        case "invalid_initial" | "invalid_transition_target":
            return bool(at_path) or "invalid_state_id" in codes
        case "initial_not_found":
            return bool(codes & LEFT_OUT_BESIDE[code])
    return bool(at_path & LEFT_OUT_BESIDE.get(code, set()))


def _may_be_more(finding: Finding, wanted: list[Finding]) -> bool:
    """Tell whether a fault may be reported beyond those of the reference, which stops early."""
    codes = {code for code, _ in wanted}
    if codes & LANGUAGE or "schema_decode" in codes:
        return True
    return finding[0] in GRAPH and not codes & (GRAPH | {"source_too_large"})


def _errors(compilation: Compilation) -> list[Diagnostic]:
    return [each for each in compilation.diagnostics if each.severity is Severity.ERROR]


def _findings(diagnostics: Iterable[Diagnostic]) -> list[Finding]:
    findings = []
    for each in diagnostics:
        if each.states and each.code in GRAPH - {"terminal_missing"}:
            findings += [(each.code, f"states.{state}") for state in each.states]
        else:
            findings.append((each.code, ".".join(str(part) for part in each.path) or "$"))
    return findings


def _told(findings: Iterable[Finding]) -> str:
    return ", ".join(f"{code} at {path}" for code, path in findings)
