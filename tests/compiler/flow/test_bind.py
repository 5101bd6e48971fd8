"""Binding by the tables of the schema."""

import pytest

from stateward.compiler.diagnostics.model import Diagnostic, Severity
from stateward.compiler.diagnostics.wording import nearest
from stateward.compiler.flow.bind import Binder, Kept, Table
from stateward.compiler.flow.schema import FLOW, STATE, TRANSITION, FieldSpec, Level, MapOf, Mode, ScalarType
from stateward.compiler.flow.typed import Located
from stateward.compiler.flow.words import OTHER_NAMES, field_meant
from stateward.compiler.language.evaluation import Evaluation, OtherShape
from stateward.compiler.pipeline import compile_source
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse
from tests.compiler.flow.sources import GOOD, changed

GUARDED = Level(
    "task",
    (
        FieldSpec("count", ScalarType.INT, required=True, doc="A number."),
        FieldSpec("kind", ScalarType.STRING, required=False, doc="A constraint.", mode=Mode.CONSTRAINT),
        FieldSpec("when", ScalarType.BOOL, required=False, doc="A guard.", mode=Mode.GUARD),
        FieldSpec("parts", MapOf(TRANSITION), required=False, doc="A map."),
    ),
)


def binder(text: str) -> Binder:
    source = Source("main.dcdl", text)
    return Binder(Evaluation(source, parse(source).module))


def found(source: str) -> list[tuple[str, str]]:
    """Give codes and the texts that they point at."""
    return [(each.code, pointed(each)) for each in compile_source(source.encode()).diagnostics]


def pointed(diagnostic: Diagnostic) -> str:
    place = diagnostic.primary.place
    return place.source.slice(place.span)


def test_a_level_may_keep_constraints_and_guards_as_they_are() -> None:
    binding = binder("{ count = 1 + 1; kind = String & /^a/; when = later < 3; }")
    record = binding.root(GUARDED)
    assert record is not None
    count, kind, when = (record.fields[name].value for name in ("count", "kind", "when"))
    assert isinstance(count, Located)
    assert count.value == 2
    assert isinstance(kind, Kept)
    assert isinstance(binding.evaluation.shape(kind.cell), OtherShape)
    assert isinstance(when, Kept)
    assert (binding.problems, binding.evaluation.diagnostics) == ([], [])


def test_a_field_that_was_not_authored_has_no_entry() -> None:
    record = binder("{ count = 1; }").root(GUARDED)
    assert record is not None
    assert list(record.fields) == ["count"]


def test_a_map_keeps_order_and_the_places_of_its_keys() -> None:
    record = binder('{ count = 1; parts = { b = { target = "x"; condition = "y"; }; a = { target = "x"; condition = "y"; }; }; }').root(
        GUARDED
    )
    assert record is not None
    table = record.fields["parts"].value
    assert isinstance(table, Table)
    assert [(entry.id, entry.path, entry.key.source.slice(entry.key.span)) for entry in table.entries] == [
        ("b", ("parts", "b"), "b"),
        ("a", ("parts", "a"), "a"),
    ]


def test_one_table_a_level_names_every_field_once_with_a_line_of_words() -> None:
    for level in (FLOW, STATE, TRANSITION, GUARDED):
        assert len(set(level.names)) == len(level.fields)
        assert [spec for spec in level.fields if not spec.doc.endswith(".") or "\n" in spec.doc] == []


def test_version_1_has_only_data() -> None:
    assert {spec.mode for level in (FLOW, STATE, TRANSITION) for spec in level.fields} == {Mode.DATA}


def test_everything_is_forced_so_that_faults_anywhere_inside_are_found() -> None:
    source = changed(('name = "paper";', 'name = "paper"; more = { a = [1, nope]; };'), ('"Read it."', '"Read it."; extra = nope2'))
    assert found(source) == [
        ("unknown_field", "more"),
        ("dcdl_evaluation", "nope"),
        ("unknown_field", "extra"),
        ("dcdl_evaluation", "nope2"),
    ]


def test_a_failed_value_silences_what_needs_it() -> None:
    assert found(changed(('"done";', "nope;"))) == [("dcdl_evaluation", "nope")]
    assert found(changed(('initial = "draft"', "initial = nope"))) == [("dcdl_evaluation", "nope")]
    assert found("nope") == [("dcdl_evaluation", "nope")]
    assert found('schema_version = 1; name = "x"; initial = "a"; states = nope;') == [("dcdl_evaluation", "nope")]


def test_a_misspelt_field_is_bound_as_the_one_that_was_meant() -> None:
    source = changed(("states = {", "stats = {"), ('target = "done"', 'traget = "dnoe"'))
    assert found(source) == [("unknown_field", "stats"), ("unknown_field", "traget"), ("transition_target_not_found", '"dnoe"')]


def test_a_misspelt_field_of_another_type_is_only_misspelt() -> None:
    assert found(changed(('name = "paper"', "nmae = 5"))) == [("unknown_field", "nmae")]


def test_a_misspelt_field_is_renamed_only_where_its_value_fits() -> None:
    fixes = {
        value: [each.title for each in compile_source(changed(('name = "paper"', f"nmae = {value}")).encode()).diagnostics[0].fixes]
        for value in ('"paper"', "5", "[]")
    }
    assert fixes == {'"paper"': ["rename it to `name`"], "5": [], "[]": []}


def test_of_two_names_for_one_field_the_first_is_bound_and_the_other_unknown() -> None:
    source = changed(('target = "done"', 'to = "done"; next = "draft"'))
    told = compile_source(source.encode()).diagnostics
    assert [(pointed(each), each.help) for each in told] == [("to", "did you mean `target`?"), ("next", None)]


def test_every_word_of_another_tool_leads_to_a_field_and_is_none_itself() -> None:
    levels = {level.what: level for level in (FLOW, STATE, TRANSITION)}
    assert set(OTHER_NAMES) == set(levels)
    for what, words in OTHER_NAMES.items():
        assert set(words.values()) <= set(levels[what].names)
        assert [word for word in words if word in levels[what].names or word != word.lower() or not word.isalpha()] == []
        for word, field in words.items():
            assert field_meant(word.title(), levels[what], ()) in {field, nearest(word.title(), levels[what].names)}


@pytest.mark.parametrize(
    ("written", "help_"),
    [('"yes"', "true"), ('"No"', "false"), ("1", "true"), ("0", "false"), ("TRUE", "true"), ("off", "false"), ("False", "false")],
)
def test_a_truth_in_another_spelling_is_offered_in_ours(written: str, help_: str) -> None:
    (diagnostic,) = compile_source(changed(("terminal = true", f"terminal = {written}")).encode()).diagnostics
    assert (pointed(diagnostic), diagnostic.help) == (written, f"write `{help_}`")
    (edit,) = diagnostic.fixes[0].edits
    assert edit.replacement == help_


def test_a_letter_of_another_script_in_an_id_is_told_once() -> None:
    (diagnostic,) = compile_source(changed(("    done = {", "    d\u043ene = {")).encode()).diagnostics
    assert (diagnostic.code, pointed(diagnostic), diagnostic.help) == ("dcdl_syntax", "\u043e", "write `done` in letters of ASCII")
    assert [edit.replacement for edit in diagnostic.fixes[0].edits] == ["done"]


def test_a_name_in_brackets_is_offered_without_them() -> None:
    (diagnostic,) = compile_source(changed(('target = "review"', 'target = ["review"]')).encode()).diagnostics
    assert (pointed(diagnostic), diagnostic.help) == ('["review"]', 'write `"review"`')


def test_a_target_that_is_to_be_filled_in_is_told_so() -> None:
    (diagnostic,) = compile_source(changed(('target = "done"', 'target = "${next}"')).encode()).diagnostics
    assert (diagnostic.code, diagnostic.notes) == ("reserved_transition_target", ("nothing is filled into a string of DCDL",))


@pytest.mark.parametrize("written", ["null", "None", "nil", "undefined"])
def test_nothing_as_it_is_written_elsewhere_is_no_name_to_quote(written: str) -> None:
    (diagnostic,) = compile_source(changed(('target = "review"', f"target = {written}")).encode()).diagnostics
    assert (pointed(diagnostic), diagnostic.notes, diagnostic.fixes) == (written, (f"DCDL has no `{written}`",), ())
    assert diagnostic.help == 'put a name in `"`'


@pytest.mark.parametrize(("field", "name"), [("initial", "draft"), ("target", "code-review"), ("name", "a-b-c")])
def test_a_name_without_quotes_is_told_once_and_quoted(field: str, name: str) -> None:
    old = {"initial": '"draft"', "target": '"review"', "name": '"paper"'}[field]
    (diagnostic,) = compile_source(changed((f"{field} = {old}", f"{field} = {name}")).encode()).diagnostics
    assert (diagnostic.code, diagnostic.kind, pointed(diagnostic)) == ("dcdl_evaluation", "unresolved_identifier", name)
    assert (diagnostic.message, diagnostic.help) == (f"`{name}` is not defined", f'write `"{name}"`')


@pytest.mark.parametrize(
    ("source", "help_"),
    [
        (f"let drafted = 1; in {{ {GOOD.replace(chr(34) + 'draft' + chr(34) + ';', 'draftd;', 1)} }}", "did you mean `drafted`?"),
        (changed(('"Read it."', "read_it")), None),
        (changed(('name = "paper"', "name = String")), None),
    ],
    ids=["a near name in scope", "a text", "a type"],
)
def test_what_the_language_knows_better_is_left_to_it(source: str, help_: str | None) -> None:
    told = [each for each in compile_source(source.encode()).diagnostics if each.severity is Severity.ERROR]
    assert [each.help for each in told] == [help_]
    assert "a name, not" not in told[0].primary.text


def test_an_empty_array_is_offered_as_an_empty_object() -> None:
    (diagnostic,) = compile_source(changed(("terminal = true", "terminal = true; transitions = []")).encode()).diagnostics
    assert (diagnostic.code, diagnostic.help) == ("wrong_type", "write it as `{}`")


def moved(text: str, *, before: str) -> str:
    """Give the good source with a part of it moved to stand in front of another part."""
    return changed((text, ""), (before, text + before))


DONE = '    done = { instructions = ""; terminal = true; };\n'
ACCEPT = '            accept = { target = "done"; condition = "Nothing is to be mended."; };\n'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (moved(DONE, before="states = {"), "state `done` stands in the flow itself"),
        (moved(DONE, before='        instructions = "Read it.";'), "state `done` stands in state `review` itself"),
        (moved(DONE, before="            back = {"), "state `done` stands in `transitions` of state `review`"),
        (moved(ACCEPT, before='        instructions = "Read it.";'), "transition `accept` stands in state `review` itself"),
        (moved(ACCEPT, before="    draft = {"), "transition `accept` stands in `states`"),
        (changed(('{ target = "done"', '{ more = { target = "draft"; condition = "x"; }; target = "done"')), (
            "transition `more` stands in transition `accept` of state `review` itself"
        )),
        (changed(('transitions = { submit = { target = "review"; condition = "It is written."; }; };', (
            'submit = { target = "review"; condition = "It is written."; };'
        ))), "transition `submit` stands in state `draft` itself"),
    ],
)  # fmt: skip
def test_a_state_or_transition_that_stands_elsewhere_is_told_there_and_missed_nowhere(source: str, message: str | None) -> None:
    told = [each.message for each in compile_source(source.encode()).diagnostics]
    if message is not None:
        assert told == [message]
    assert "no state is named `done`" not in told


def test_states_in_a_group_are_told_one_by_one_and_the_group_lacks_nothing() -> None:
    source = changed(("    review = {", "    group = { review = {"), (DONE, DONE + "    };\n"))
    assert [(each.message, each.help) for each in compile_source(source.encode()).diagnostics] == [
        ("state `review` stands in state `group` itself", "move it into `states`"),
        ("state `done` stands in state `group` itself", "move it into `states`"),
    ]


@pytest.mark.parametrize("source", ["{ other = 1; }", "library = { a = 1; };\nmore = [1, 2];\n", "a = { b = { c = 1; }; };"])
def test_an_object_with_nothing_of_a_flow_is_told_once(source: str) -> None:
    (told,) = compile_source(source.encode()).diagnostics
    assert (told.code, told.message, told.path) == ("missing_field", "the object is not a Flow source", ())


def test_faults_inside_of_what_is_no_flow_are_told_too() -> None:
    assert [code for code, _ in found("{ other = nowhere; }")] == ["missing_field", "dcdl_evaluation"]


@pytest.mark.parametrize("source", ["{}", "{ version = 1; }", '{ done = { instructions = "x"; }; }', "{ stats = {}; other = 1; }"])
def test_an_object_with_anything_of_a_flow_is_judged_as_one(source: str) -> None:
    assert "the object is not a Flow source" not in [each.message for each in compile_source(source.encode()).diagnostics]


def test_states_that_hold_themselves_without_end_are_an_error_and_no_endless_walk() -> None:
    source = (
        'let way = (t) => { target = t; condition = "c"; back = base; };'
        ' base = { instructions = "x"; transitions = { go = way("a"); }; }; in'
        ' { schema_version = 1; name = "x"; initial = "a"; states = { a = base; }; }'
    )
    told = compile_source(source.encode()).diagnostics
    assert {each.code for each in told} <= {"unknown_field", "dcdl_evaluation", "terminal_missing", "terminal_unreachable"}
    assert told != ()


def test_an_object_with_some_field_of_a_state_is_no_state() -> None:
    source = changed(('instructions = "Read it.";', 'instructions = "Read it."; notes = { terminal = true; target = "nowhere"; };'))
    (told,) = compile_source(source.encode()).diagnostics
    assert told.message == "a state has no field `notes`"


def test_what_is_wrong_inside_of_a_misplaced_state_is_told_too() -> None:
    source = moved(DONE, before="states = {").replace("terminal = true", 'terminal = "true"')
    assert found(source) == [("unknown_field", "done"), ("wrong_type", '"true"')]


@pytest.mark.parametrize(
    ("part", "before", "path"),
    [
        ('initial = "draft";\n', "    draft = {", ("states", "initial")),
        ('name = "paper";\n', "    draft = {", ("states", "name")),
        ('        instructions = "Read it.";\n', "            back = {", ("states", "review", "transitions", "instructions")),
    ],
)
def test_a_field_among_the_ids_of_its_own_object_is_told_there_and_bound(part: str, before: str, path: tuple[str, ...]) -> None:
    (told,) = compile_source(moved(part, before=before).encode()).diagnostics
    assert (told.code, told.path, told.help) == ("unknown_field", path, f"move it out of `{path[-2]}`")


def test_a_field_that_stands_too_deep_is_judged_like_any_other() -> None:
    source = moved('initial = "draft";\n', before="    draft = {").replace('initial = "draft"', 'initial = "drfat"')
    assert found(source) == [("unknown_field", "initial"), ("initial_not_found", '"drfat"')]


def test_a_field_that_is_there_is_not_offered_again() -> None:
    (diagnostic,) = compile_source(changed(('name = "paper";', 'name = "paper"; nmae = "x";')).encode()).diagnostics
    assert (diagnostic.code, diagnostic.help) == ("unknown_field", None)


def test_paths_are_those_that_the_author_wrote() -> None:
    source = changed(("states = {", "stats = {"), ('condition = "It is written."', "condition = 3"))
    assert [each.path for each in compile_source(source.encode()).diagnostics] == [
        ("stats",),
        ("stats", "draft", "transitions", "submit", "condition"),
    ]


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ('{ submit = { target = "review"; condition = "It is written."; }; }', ("states", "draft", "transitions")),
        ('{ target = "review"; condition = "It is written."; }', ("states", "draft", "transitions", "submit")),
        ('"Write it."', ("states", "draft", "instructions")),
        ("schema_version = 1", ("extra",)),
    ],
)
def test_a_value_that_fails_is_told_with_its_path(part: str, path: tuple[str, ...]) -> None:
    source = changed((part, "extra = 1 + nowhere; schema_version = 1" if part.startswith("schema") else "1 + nowhere"))
    told = {each.code: each.path for each in compile_source(source.encode()).diagnostics}
    assert told["dcdl_evaluation"] == path


@pytest.mark.parametrize(
    ("source", "holder"),
    [
        (changed(('instructions = "Read it.";', "")), "review"),
        (changed(('initial = "draft";\n', "")), "schema_version"),
        ("{\n" + changed(('initial = "draft";\n', "")) + "}", "{"),
    ],
)
def test_a_missing_field_is_shown_at_the_key_of_its_object_or_where_the_root_begins(source: str, holder: str) -> None:
    assert found(source) == [("missing_field", holder)]


def test_an_object_that_lost_a_field_to_the_syntax_is_not_said_to_lack_it() -> None:
    source = changed(('instructions = "Read it.";', 'instructions "Read it.";'))
    assert [code for code, _ in found(source)] == ["dcdl_syntax"]


def test_a_state_lost_to_the_syntax_is_not_missed() -> None:
    source = changed(("    review = {", "    re-view = {"))
    assert {code for code, _ in found(source)} == {"dcdl_syntax"}


def test_what_a_string_that_is_never_closed_has_swallowed_is_not_missed() -> None:
    for old, new in (('"Read it.";', '"Read it;'), ('condition = "It is written.";', 'condition = "It is written;')):
        assert {code for code, _ in found(changed((old, new)))} == {"dcdl_syntax"}


@pytest.mark.parametrize("line", [4, 5, 8, 9, 11, 14, 15, 17])
def test_a_brace_that_is_missing_moves_everything_and_is_told_alone(line: int) -> None:
    lines = GOOD.splitlines(keepends=True)
    assert lines[line - 1].strip(" \n")[-1:] == "{" or "}" in lines[line - 1]
    assert [code for code, _ in found("".join(lines[: line - 1] + lines[line:]))] == ["dcdl_syntax"]


def test_what_holds_on_any_level_is_told_although_a_brace_is_missing() -> None:
    source = changed(
        ("    review = {", "    review = "),
        ('condition = "It is written."', 'condition = ""'),
        ("terminal = true", 'terminal = "true"'),
        ("submit = ", '"sub mit" = '),
    )
    assert [code for code, _ in found(source) if code != "dcdl_syntax"] == ["invalid_transition_id", "condition_empty", "wrong_type"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('schema_version = 1;\nname = "paper";', 'schema_version = name = "paper";'),
        ('name = "paper";\ninitial = ', "name = initial = "),
        ('target = "done"; condition = ', 'target = condition = "done" '),
    ],
)
def test_a_field_that_is_named_inside_of_a_broken_value_is_not_missed(old: str, new: str) -> None:
    assert {code for code, _ in found(changed((old, new)))} == {"dcdl_syntax"}


@pytest.mark.parametrize(
    ("old", "new"),
    [('name = "paper"', '"paper"'), ("schema_version = 1;", "schema_version = 1; x;"), ("    done = {", "    stray;\n    done = {")],
)
def test_a_stray_text_is_no_field(old: str, new: str) -> None:
    assert [code for code, _ in found(changed((old, new))) if code == "unknown_field"] == []


def test_a_broken_value_in_the_middle_swallows_nothing() -> None:
    source = changed(('"Read it.";', ";"), ('condition = "Nothing is to be mended."; ', ""))
    assert [code for code, _ in found(source)] == ["dcdl_syntax", "missing_field"]


@pytest.mark.parametrize("version", ["0", "3", "-1", "4294967296", "9223372036854775807"])
def test_an_unknown_version_stands_alone(version: str) -> None:
    source = f'schema_version = {version}; name = ""; initial = nope; more = 1; states = import "x";'
    assert found(source) == [("unsupported_schema_version", version)]


@pytest.mark.parametrize("version", ["1.0", '"1"', "true", "[1]"])
def test_a_version_of_the_wrong_type_does_not_hide_the_rest(version: str) -> None:
    source = changed(("schema_version = 1", f"schema_version = {version}"), ('"done";', '"dnoe";'))
    assert [code for code, _ in found(source)] == ["wrong_type", "transition_target_not_found"]


def test_a_default_and_a_computed_value_are_data() -> None:
    source = GOOD.replace("schema_version = 1", "schema_version = Int default 1").replace("terminal = true", "terminal = 1 == 1")
    assert found(source) == []


def test_a_fix_replaces_what_is_underlined() -> None:
    for source, mended in (
        (changed(('instructions = "Read', 'instrutions = "Read')), GOOD),
        (changed(('target = "done"', 'target = "dnoe"')), GOOD),
        (changed(("terminal = true", 'terminal = "true"')), GOOD),
    ):
        (diagnostic,) = compile_source(source.encode()).diagnostics
        (fix,) = diagnostic.fixes
        (edit,) = fix.edits
        assert source[: edit.span.start] + edit.replacement + source[edit.span.end :] == mended


@pytest.mark.parametrize(
    ("part", "before", "message", "path"),
    [
        (
            ' condition = "It is written.";',
            " }; };\n    };\n    review",
            "`condition` stands outside of transition `submit` of state `draft`",
            ("states", "draft", "transitions", "condition"),
        ),
        (
            ' condition = "It is written.";',
            "\n    };\n    review",
            "`condition` stands outside of transition `submit` of state `draft`",
            ("states", "draft", "condition"),
        ),
        ('instructions = "Write it.";', "review = {", "`instructions` stands outside of state `draft`", ("states", "instructions")),
        ('instructions = "Write it.";', "states = {", "`instructions` stands outside of state `draft`", ("instructions",)),
    ],
    ids=["beside a transition", "around its transitions", "beside a state", "around the states"],
)
def test_a_field_that_strayed_out_of_the_one_object_that_lacks_it_is_told_there_and_bound(
    part: str, before: str, message: str, path: tuple[str, ...]
) -> None:
    source = changed((part, ""))
    at = source.index(before) + (len(" };") if before.startswith(" }; }") else 0)
    (told,) = compile_source(f"{source[:at]}{part} {source[at:]}".encode()).diagnostics
    assert (message, path, "unknown_field") == (told.message, told.path, told.code)
    assert part.split(maxsplit=1)[0] == pointed(told)
    assert [part.split(maxsplit=1)[0] in each.text for each in told.secondary] == [True]


def test_a_field_that_strayed_is_judged_like_any_other() -> None:
    source = changed((' condition = "It is written."; }; };', " }; }; condition = 1;"))
    told = compile_source(source.encode()).diagnostics
    assert "unknown_field" in [each.code for each in told]
    blank = changed((' condition = "It is written."; }; };', ' }; }; condition = " ";'))
    assert ["unknown_field", "condition_empty"] == [each.code for each in compile_source(blank.encode()).diagnostics]


def test_where_two_objects_lack_a_field_it_belongs_to_neither() -> None:
    source = changed(
        (' condition = "Something is to be mended.";', ""), (' condition = "Nothing is to be mended.";', ' }; condition = "x"; more = {')
    )
    assert [] == [each.message for each in compile_source(source.encode()).diagnostics if "stands outside of" in each.message]


def test_states_without_the_field_that_holds_them_are_told_once_and_judged() -> None:
    source = changed(("states = {\n", ""), (DONE + "};\n", DONE), ('target = "done"', 'target = "done"; note = 1'))
    told = compile_source(source.encode()).diagnostics
    assert [("missing_field", "draft"), ("unknown_field", "note")] == [(each.code, pointed(each)) for each in told]
    assert ("the states of the flow stand outside of `states`", "put them into `states = { … };`") == (told[0].message, told[0].help)
    assert ["this too", "this too"] == [each.text for each in told[0].secondary]


def test_a_single_state_without_the_field_that_holds_it_is_named() -> None:
    source = 'schema_version = 1;\nname = "x";\ninitial = "done";\ndone = { instructions = ""; terminal = true; };\n'
    (told,) = compile_source(source.encode()).diagnostics
    assert ("missing_field", "state `done` stands outside of `states`", ("states",)) == (told.code, told.message, told.path)


def test_transitions_without_the_field_that_holds_them_are_told_once() -> None:
    source = changed(
        ("        transitions = {\n            back", "        back"), ('mended."; };\n        };\n    };\n', 'mended."; };\n    };\n')
    )
    (told,) = compile_source(source.encode()).diagnostics
    assert ("missing_field", "the transitions of state `review` stand outside of `transitions`") == (told.code, told.message)


def test_a_word_with_a_capital_letter_where_a_text_belongs_is_told_as_a_text_without_quotes() -> None:
    (told,) = compile_source(changed(('"Read it."', "TODO")).encode()).diagnostics
    assert ("dcdl_evaluation", "`TODO` is not defined", 'put a text in `"`') == (told.code, told.message, told.help)
    assert ("a name, not a String", "TODO") == (told.primary.text, pointed(told))


@pytest.mark.parametrize("value", ["true", "3"])
def test_no_text_is_made_of_what_is_none(value: str) -> None:
    (told,) = compile_source(changed(('"It is written."', value)).encode()).diagnostics
    assert ("wrong_type", None, ()) == (told.code, told.help, told.fixes)


def test_a_target_in_letters_that_look_alike_names_them() -> None:
    (told,) = compile_source(changed(('target = "done"', 'target = "d\u043ene"')).encode()).diagnostics
    assert "it is written with U+043E CYRILLIC SMALL LETTER O" in told.notes
    assert "did you mean `done`?" == told.help
