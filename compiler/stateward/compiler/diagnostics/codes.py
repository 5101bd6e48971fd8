"""Every code a diagnostic may carry, with its severity and what it means in one line.

Invariants: a code is the snake-case name of the bad thing and is never used again for another; a phase emits no code that is not here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stateward.compiler.diagnostics.model import Severity


@dataclass(frozen=True, slots=True)
class Code:
    """A registered code."""

    name: str
    severity: Severity
    title: str
    """One line, for lists."""


_ERRORS: Final[Mapping[str, str]] = {
    # size and encoding
    "source_too_large": "The source has more bytes than a Flow source may have.",
    "source_not_utf8": "The bytes of the source are not UTF-8.",
    # the language
    "dcdl_syntax": "The text is not DCDL.",
    "dcdl_evaluation": "An expression has no value.",
    "dcdl_import": "A module cannot be imported.",
    # shape
    "unknown_field": "An object has a field that its level does not know.",
    "missing_field": "An object lacks a field that its level requires.",
    "wrong_type": "A value is not of the type that its place asks for.",
    "unsupported_schema_version": "The source is of a version that this compiler does not know.",
    # meaning
    "invalid_name": "The name of the flow is no identifier.",
    "states_empty": "The flow has no states.",
    "too_many_states": "The flow has more states than one flow may have.",
    "reserved_state": "A state of the author has the name of the synthetic end.",
    "invalid_state_id": "The id of a state is no identifier.",
    "initial_not_found": "The initial state is not declared.",
    "instructions_empty": "A state that is no end has blank instructions.",
    "instructions_too_large": "Instructions have more bytes than they may have.",
    "terminal_has_transitions": "A terminal state has transitions.",
    "non_terminal_without_transition": "A state that is no end has no way out.",
    "too_many_transitions": "A state has more transitions than one state may have.",
    "reserved_transition": "A transition of the author has the name of the synthetic one.",
    "invalid_transition_id": "The id of a transition is no identifier.",
    "reserved_transition_target": "A transition of the author leads to a reserved state.",
    "transition_target_not_found": "The target of a transition is not declared.",
    "condition_empty": "The condition of a transition is blank.",
    "condition_too_large": "A condition has more bytes than it may have.",
    # meaning, of version 2
    "invalid_declaration_name": "The name of a variable, an input or a check is no identifier.",
    "too_many_declarations": "The flow declares more variables, inputs or checks than it may.",
    "default_too_large": "A default has more bytes than it may have.",
    "input_wider_than_variable": "An input may hold what the variable of its name may not.",
    "invalid_command": "The command of a check can be no command.",
    "invalid_duration": "A text is no length of time, or one that is out of bounds.",
    "variable_not_found": "A state reads or writes a variable that is not declared.",
    "check_not_found": "A transition names a check that is not declared.",
    "name_given_twice": "A list names a variable or a check twice.",
    "invalid_selection": "A state selects its way out in a way that there is not.",
    "invalid_visit_limit": "A state is limited to a number of visits that is out of bounds.",
    "transition_without_condition": "A transition says nowhere when it is taken.",
    "otherwise_twice": "A state has two ways out that are taken when no other is.",
    "otherwise_beside_condition": "A way out that is taken when no other is stands beside one that is judged.",
    # guards and variables
    "guard_never_true": "A guard holds in no run.",
    "read_before_written": "A variable is read where nothing can have written it.",
    # graph
    "unreachable_state": "Nothing leads to a state.",
    "terminal_missing": "No state is an end.",
    "terminal_unreachable": "No end can be reached from some states.",
}

_WARNINGS: Final[Mapping[str, str]] = {
    "duplicate_condition": "Two transitions of one state have the same condition and target.",
    "guard_always_true": "A guard holds in every run.",
    "transition_shadowed": "A transition is never taken, since others are taken in its place.",
    "guards_overlap": "Two transitions of one state can both be met.",
    "guards_leave_gap": "There are values for which no transition of a state can be taken.",
    "read_perhaps_before_written": "A variable is read where something may not have written it yet.",
    "written_never_read": "A variable is written and nothing that can follow reads it.",
    "variable_unused": "A variable is declared and neither read nor written.",
    "declares_one_value": "A variable or an input is declared by a value, and can hold nothing else.",
    "check_unused": "A check is declared and no transition names it.",
    "import_unused": "An import is never needed.",
    "name_differs_from_slug": "The name of the flow is not the slug that it is kept under.",
    "unknown_escape": "A backslash in a string stands before a character that needs none.",
    "merge_marks_in_text": "A string holds the marks of a merge conflict.",
    "unused_binding": "A name is bound and never used.",
    "shadowed_name": "A name hides another of the same spelling.",
    "unresolved_in_unused_code": "A name is not defined, in code that nothing needs.",
    "duplicate_in_unused_code": "A name is set twice, in code that nothing needs.",
    "invisible_character": "The text holds a character that shows nothing or turns the reading direction.",
}

CODES: Final[Mapping[str, Code]] = {
    name: Code(name, severity, title)
    for severity, titles in ((Severity.ERROR, _ERRORS), (Severity.WARNING, _WARNINGS))
    for name, title in titles.items()
}
"""All codes, by name, errors first and in the order of the stages."""

BESIDE: Final[Mapping[str, str]] = {
    "value_not_allowed": (
        "A field of a file beside flows, of tests or of a profile, holds a value of the right type that it cannot have: a state that the"
        " flow does not have, a word that is none of those that the field knows, a number out of range. The message says what it may hold."
    ),
    "flow_test_ambiguous": (
        "A step of a flow test says too little or too much: it has exactly one of `enters` and `refused`, and at most one of `met` and"
        " `verdicts`. See docs/reference/flow-tests.md."
    ),
    "flow_test_failed": (
        "A flow test came to something else than it says: another state was entered, nothing was left, the state has no transition of that"
        " name, or the flow had ended. Either the flow or the test is wrong; `stateward simulate` walks the same way by hand."
    ),
    "verifier_incomplete": (
        "The verifier of a profile lacks a field without which its kind cannot judge, or has one that means nothing for it. See"
        " docs/reference/profiles.md."
    ),
}
"""Codes that are reported of files beside flows, with what each means. Never reported of a flow."""
