"""Binding by the tables of the schema."""

import pytest

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.flow.bind import Binder, Kept, Table
from stateward.compiler.flow.schema import FLOW, STATE, TRANSITION, FieldSpec, Level, MapOf, Mode, ScalarType
from stateward.compiler.flow.typed import Located
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


def test_a_broken_value_in_the_middle_swallows_nothing() -> None:
    source = changed(('"Read it.";', ";"), ('condition = "Nothing is to be mended."; ', ""))
    assert [code for code, _ in found(source)] == ["dcdl_syntax", "missing_field"]


@pytest.mark.parametrize("version", ["0", "2", "-1", "4294967296", "9223372036854775807"])
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
