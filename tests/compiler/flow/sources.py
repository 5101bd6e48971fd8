"""Flow sources for tests: a good one, and for each code one that has exactly this fault."""

from collections.abc import Mapping
from typing import Final

GOOD: Final = """\
schema_version = 1;
name = "paper";
initial = "draft";
states = {
    draft = {
        instructions = "Write it.";
        transitions = { submit = { target = "review"; condition = "It is written."; }; };
    };
    review = {
        instructions = "Read it.";
        transitions = {
            back = { target = "draft"; condition = "Something is to be mended."; };
            accept = { target = "done"; condition = "Nothing is to be mended."; };
        };
    };
    done = { instructions = ""; terminal = true; };
};
"""


def changed(*edits: tuple[str, str], of: str = GOOD) -> str:
    """Give a source with parts replaced; each part must occur exactly once."""
    for old, new in edits:
        assert of.count(old) == 1, f"{old!r} occurs {of.count(old)} times"
        of = of.replace(old, new)
    return of


def states_of(number: int) -> str:
    """Write a chain of that many states, the last one an end."""
    chain = "".join(
        f's{at} = {{ instructions = "x"; transitions = {{ on = {{ target = "s{at + 1}"; condition = "c"; }}; }}; }};\n'
        for at in range(1, number)
    )
    head = 'schema_version = 1; name = "chain"; initial = "s1";'
    return f'{head}\nstates = {{\n{chain}s{number} = {{ instructions = ""; terminal = true; }};\n}};\n'


def transitions_of(number: int) -> str:
    """Write a flow whose first state has that many transitions, all different."""
    ways = "".join(f't{at} = {{ target = "done"; condition = "case {at}"; }};\n' for at in range(number))
    return (
        'schema_version = 1; name = "fan"; initial = "a"; states = {\n'
        f'a = {{ instructions = "x"; transitions = {{\n{ways}}}; }};\ndone = {{ instructions = ""; terminal = true; }};\n}};\n'
    )


GOOD_2: Final = """\
schema_version = 2;
name = "paper";
initial = "draft";
variables = { topic = String; attempts = Int & >= 0 default 0; };
inputs = { topic = String; };
checks = { spelling = { command = ["codespell", "paper.md"]; timeout = "90s"; }; };
states = {
    draft = {
        instructions = "Write it.";
        reads = ["topic", "attempts"];
        writes = ["attempts"];
        limits = { visits = 5; };
        transitions = { submit = { target = "review"; checks = ["spelling"]; condition = "It is written."; }; };
    };
    review = {
        instructions = "Read it.";
        reads = ["topic"];
        select = "first";
        transitions = {
            back = { target = "draft"; when = vars.attempts < 3; condition = "Something is to be mended."; };
            accept = { target = "done"; checks = ["spelling"]; };
        };
    };
    done = { instructions = ""; terminal = true; };
};
"""
"""One of version 2."""


def inputs_of(number: int) -> str:
    """Write the declarations of that many inputs."""
    return "".join(f"i{at} = Int; " for at in range(number))


FAULTS: Final[Mapping[str, str | bytes]] = {
    "source_too_large": GOOD + "#" * (256 * 1024),
    "source_not_utf8": GOOD.encode().replace(b"Read it.", b"Read it \xff."),
    "dcdl_syntax": changed(('"Read it.";', '"Read it." "again";')),
    "dcdl_evaluation": changed(('"Read it.";', "read_it;")),
    "dcdl_import": changed(('"Read it.";', 'import "texts.dcdl".read_it;')),
    "unknown_field": changed(('name = "paper";', 'name = "paper"; licence = "free";')),
    "missing_field": changed(('target = "done"; ', "")),
    "wrong_type": changed(("terminal = true", 'terminal = "true"')),
    "unsupported_schema_version": changed(("schema_version = 1", "schema_version = 3")),
    "invalid_name": changed(('"paper"', '"a paper"')),
    "states_empty": 'schema_version = 1;\nname = "paper";\ninitial = "draft";\nstates = {};\n',
    "too_many_states": states_of(129),
    "reserved_state": changed(('initial = "draft"', 'initial = "$cancelled"')),
    "invalid_state_id": changed(("    review = {", '    "re view" = {'), ('target = "review"', 'target = "re view"')),
    "initial_not_found": changed(('initial = "draft"', 'initial = "drfat"')),
    "instructions_empty": changed(('"Read it."', '" \\n"')),
    "instructions_too_large": changed(('"Read it."', f'"{"x" * (32 * 1024 + 1)}"')),
    "terminal_has_transitions": changed(
        ("terminal = true;", 'terminal = true; transitions = { again = { target = "draft"; condition = "Again."; }; };')
    ),
    "non_terminal_without_transition": changed(('"";', '"End.";'), (" terminal = true;", "")),
    "too_many_transitions": transitions_of(33),
    "reserved_transition": changed(("submit = ", '"$cancel" = ')),
    "invalid_transition_id": changed(("submit = ", '"sub/mit" = ')),
    "reserved_transition_target": changed(('target = "done"', 'target = "$cancelled"')),
    "transition_target_not_found": changed(('target = "review"', 'target = "reveiw"')),
    "condition_empty": changed(('"It is written."', '""')),
    "condition_too_large": changed(('"It is written."', f'"{"x" * (32 * 1024 + 1)}"')),
    "invalid_declaration_name": changed(("inputs = { topic", 'inputs = { "a topic" = Int; topic'), of=GOOD_2),
    "too_many_declarations": changed(("topic = String; };\nchecks", f"topic = String; {inputs_of(64)}}};\nchecks"), of=GOOD_2),
    "default_too_large": changed(
        ("inputs = { topic", f'inputs = {{ more = String default "{"x" * (16 * 1024 - 1)}"; topic'),
        of=GOOD_2,
    ),
    "input_wider_than_variable": changed(("inputs = { topic", "inputs = { attempts = Int; topic"), of=GOOD_2),
    "invalid_command": changed(('["codespell", "paper.md"]', "[]"), of=GOOD_2),
    "invalid_duration": changed(('"90s"', '"90"'), of=GOOD_2),
    "variable_not_found": changed(('writes = ["attempts"]', 'writes = ["attempst"]'), of=GOOD_2),
    "check_not_found": changed(('"done"; checks = ["spelling"]', '"done"; checks = ["speling"]'), of=GOOD_2),
    "name_given_twice": changed(('reads = ["topic", "attempts"]', 'reads = ["topic", "attempts", "topic"]'), of=GOOD_2),
    "invalid_selection": changed(('"first"', '"frist"'), of=GOOD_2),
    "invalid_visit_limit": changed(("visits = 5", "visits = 1000001"), of=GOOD_2),
    "transition_without_condition": changed(('checks = ["spelling"]; };\n        };', "};\n        };"), of=GOOD_2),
    "otherwise_twice": changed(
        ('condition = "Something is to be mended."', "otherwise = true"),
        ('"done"; checks = ["spelling"]', '"done"; otherwise = true'),
        of=GOOD_2,
    ),
    "otherwise_beside_condition": changed(('"done"; checks = ["spelling"]', '"done"; otherwise = true'), of=GOOD_2),
    "guard_never_true": changed(("vars.attempts < 3", "vars.attempts < 0"), of=GOOD_2),
    "read_before_written": changed(
        ("default 0; };", "default 0; note = String; };"), ('reads = ["topic"]', 'reads = ["topic", "note"]'), of=GOOD_2
    ),
    "unreachable_state": changed(
        ('done = { instructions = ""', 'lost = { instructions = ""; terminal = true; };\n    done = { instructions = ""')
    ),
    "terminal_missing": changed(
        ('    done = { instructions = ""; terminal = true; };\n', ""),
        ('target = "done"', 'target = "review"'),
    ),
    "terminal_unreachable": changed(
        (
            "    done = {",
            '    ring = { instructions = "x"; transitions = { on = { target = "ring"; condition = "c"; }; }; };\n    done = {',
        ),
        ('target = "draft"', 'target = "ring"'),
    ),
    "duplicate_condition": changed(
        ('back = { target = "draft"; condition = "Something is', 'again = { target = "done"; condition = "Nothing is'),
    ),
    "guard_always_true": changed(("vars.attempts < 3", "vars.attempts >= 0"), of=GOOD_2),
    "transition_shadowed": changed(
        (' condition = "Something is to be mended.";', ""),
        (
            'accept = { target = "done"; checks',
            'stop = { target = "done"; when = vars.attempts >= 2; };\n            accept = { target = "done"; checks',
        ),
        of=GOOD_2,
    ),
    "guards_overlap": changed(
        ('        select = "first";\n', ""),
        (' condition = "Something is to be mended.";', ""),
        ('"done"; checks = ["spelling"]', '"done"; when = vars.attempts > 1'),
        of=GOOD_2,
    ),
    "guards_leave_gap": changed(
        (' condition = "Something is to be mended.";', ""),
        ('"done"; checks = ["spelling"]', '"done"; when = vars.attempts > 3'),
        of=GOOD_2,
    ),
    "read_perhaps_before_written": changed(
        ("default 0; };", "default 0; note = String; };"),
        ('reads = ["topic", "attempts"]', 'reads = ["topic", "attempts", "note"]'),
        ('select = "first"', 'writes = ["note"];\n        select = "first"'),
        of=GOOD_2,
    ),
    "written_never_read": changed(
        ("default 0; };", "default 0; note = String; };"), ('writes = ["attempts"]', 'writes = ["attempts", "note"]'), of=GOOD_2
    ),
    "variable_unused": changed(("default 0; };", "default 0; note = String; };"), of=GOOD_2),
    "declares_one_value": changed(("inputs = { topic = String; };", "inputs = { topic = String; rounds = 3; };"), of=GOOD_2),
    "check_unused": changed(('timeout = "90s"; };', 'timeout = "90s"; }; links = { command = ["linkcheck"]; };'), of=GOOD_2),
    "import_unused": changed(('"Read it."', 'match 1 { 1: "Read it."; _: (import "./long.md").content; }'), of=GOOD_2),
    "name_differs_from_slug": changed(('"paper"', '"essay"')),
    "merge_marks_in_text": changed(('"Read it."', '"Read it.\n<<<<<<< HEAD\nTwice.\n=======\nOnce.\n>>>>>>> other\n"')),
    "unused_binding": f"let spare = 1; in {{\n{GOOD}}}\n",
    "shadowed_name": changed(('"Read it."', '((name) => name)("Read it.")')),
    "unresolved_in_unused_code": changed(('"Read it."', 'match 1 { 1: "Read it."; _: nowhere; }')),
    "duplicate_in_unused_code": changed(('"Read it."', 'match 1 { 1: "Read it."; _: { a = 1; a = 2; }; }')),
    "unknown_escape": changed(('"Read it."', r'"Read \d it."')),
    "invisible_character": changed(('"Read it."', '"Read\u202e it."')),
}
"""For each code a source that has this fault and no other; they are compiled as what is kept under the slug `SLUG`."""

SLUGS: Final[Mapping[str, str]] = {"too_many_states": "chain", "too_many_transitions": "fan"}
SLUG: Final = "paper"
