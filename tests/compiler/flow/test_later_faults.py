"""What is told of slips in a source of version 2."""

from pathlib import Path

import pytest

from stateward.compiler.diagnostics.model import Diagnostic, errors_of
from stateward.compiler.diagnostics.text import Look, render
from stateward.compiler.flow.durations import CHARACTERS_MAX, duration_meant, seconds_of, written
from stateward.compiler.flow.schema import FLOW_2, SCHEMAS, Mode, levels_of, version_with
from stateward.compiler.flow.words import LATER_NAMES, field_meant
from stateward.compiler.pipeline import compile_source
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled, visible
from tests.compiler.flow.sources import GOOD_2, changed

SNAPSHOTS = Path(__file__).parent / "snapshots" / "later"


def told(source: str) -> list[Diagnostic]:
    return errors_of(compile_source(source.encode()).diagnostics)


@pytest.mark.parametrize(
    ("old", "new", "message", "help_"),
    [
        ('["topic", "attempts"]', '"topic"', "`reads` must be an array of variable names, not a String", 'write `["topic"]`'),
        (
            '["topic", "attempts"]',
            '"topic, attempts"',
            "`reads` must be an array of variable names, not a String",
            'write `["topic", "attempts"]`',
        ),
        ('["topic", "attempts"]', "5", "`reads` must be an array of variable names, not an Int", 'write it as `["…"]`'),
        ('["topic", "attempts"]', "topic", "`topic` is not defined", 'write `["topic"]`'),
        ('["topic", "attempts"]', "[topic]", "`topic` is not defined", 'write `"topic"`'),
        ('["topic", "attempts"]', '["topic", 5]', "`reads[1]` must be a String, not an Int", 'write `"5"`'),
        ('["topic", "attempts"]', '["topic", ["attempts"]]', "`reads[1]` must be a String, not an Array", 'write `"attempts"`'),
        (
            '["codespell", "paper.md"]',
            '"codespell paper.md"',
            "`command` must be an array of texts, not a String",
            'write `["codespell", "paper.md"]`',
        ),
        ('["codespell", "paper.md"]', '"codespell | sort"', "`command` must be an array of texts, not a String", 'write it as `["…"]`'),
        ('["codespell", "paper.md"]', '[" "]', "the program of check `spelling` is blank", None),
        ("limits = { visits = 5; }", "limits = 5", "`limits` must be an object, not an Int", "write it as `{ visits = 5; }`"),
        ("limits = { visits = 5; }", 'limits = "5"', "`limits` must be an object, not a String", "write it as `{ visits = …; }`"),
        ("limits = { visits = 5; }", "limits = []", "`limits` must be an object, not an Array", "write it as `{ visits = …; }`"),
        ("limits = { visits = 5; }", "limits = { visit = 5; }", "a limit has no field `visit`", "did you mean `visits`?"),
        ("limits = { visits = 5; }", "visits = 5", "a state has no field `visits`", "put it into `limits = { … };`"),
        ("visits = 5", 'visits = "5"', "`visits` must be an Int, not a String", "write `5`"),
        ("visits = 5", "visits = 0", "state `draft` cannot be limited to 0 visits", None),
        ('"90s"', "90", "`timeout` must be a duration, not an Int", 'write `"90s"` for seconds, `"90m"` for minutes'),
        ('"90s"', "true", "`timeout` must be a duration, not a Bool", 'write `"10m"`'),
        ('"90s"', '"90"', "`90` has no unit", 'write `"90s"` for seconds, `"90m"` for minutes'),
        ('"90s"', '"10 minutes"', "`10 minutes` is no duration", 'write `"10m"`'),
        ('"90s"', '"1h30m"', "`1h30m` is no duration", 'write `"90m"`'),
        ('"90s"', '"soon"', "`soon` is no duration", None),
        ('"90s"', '"0s"', "`0s` is shorter than `1s`", None),
        ('"90s"', '"86401s"', "`86401s` is longer than `24h`", None),
        ('select = "first"', "select = first", "`first` is not defined", 'write `"first"`'),
        ('select = "first"', 'select = "firts"', "a state cannot select `firts`", "did you mean `first`?"),
        ('select = "first"', "select = true", "`select` must be a String, not a Bool", 'write `"exclusive"` or `"first"`'),
        ('reads = ["topic", "attempts"]', 'reads = ["topic", "attempst"]', "no variable is named `attempst`", "did you mean `attempts`?"),
        (
            'reads = ["topic", "attempts"]',
            'reads = ["attempts", "attempts"]',
            "`reads` of state `draft` names `attempts` twice",
            "take one of the two away",
        ),
        (
            '"done"; checks = ["spelling"]',
            '"done"; checks = []',
            "transition `accept` of state `review` says nowhere when it is taken",
            "write `otherwise = true;` if it is taken when no other is",
        ),
        (
            '"done"; checks = ["spelling"]',
            '"done"; otherwise = false',
            "transition `accept` of state `review` says nowhere when it is taken",
            None,
        ),
        (
            '"done"; checks = ["spelling"]',
            '"done"; condition = " "',
            "the condition of transition `accept` of state `review` is blank",
            None,
        ),
        ('"done"; checks = ["spelling"]', '"done"; guard = vars.attempts > 2', "a transition has no field `guard`", "did you mean `when`?"),
        ("command = [", "cmd = [", "a check has no field `cmd`", "did you mean `command`?"),
        ('command = ["codespell", "paper.md"]; ', "", "check `spelling` has no `command`", 'add `command = ["…"];`'),
        ("vars.attempts < 3", "vars.attempst < 3", "no variable is named `attempst`", "did you mean `attempts`?"),
        ("vars.attempts < 3", '"vars.attempts < 3"', "a guard is an expression, not a text", "write the expression without the quotes"),
        ("schema_version = 2", "schema_version = 4", "schema version 4 is not known", None),
    ],
)
def test_a_slip_is_told_once_with_the_change_that_mends_it(old: str, new: str, message: str, help_: str | None) -> None:
    (found,) = told(changed((old, new), of=GOOD_2))
    assert (message, help_) == (found.message, found.help)


def test_a_field_of_version_2_in_a_source_of_version_1_says_where_it_is_known() -> None:
    (alone,) = told(changed(('instructions = "Read it.";', 'instructions = "Read it."; select = "first";')))
    assert (alone.code, alone.notes[-1], alone.help) == ("unknown_field", "a state has it in version 2", "write `schema_version = 2;`")


def test_several_fields_of_version_2_in_a_source_of_version_1_are_one_fault() -> None:
    (found,) = told(changed(("schema_version = 2", "schema_version = 1"), ("when = vars.attempts < 3; ", ""), of=GOOD_2))
    assert (found.code, found.help) == ("unknown_field", "write `schema_version = 2;`")
    assert found.message == "`variables`, `inputs`, `checks`, `reads`, `writes`, `limits` and `select` are fields of version 2"


def test_a_condition_is_not_missed_where_a_later_version_needs_none() -> None:
    (found,) = told(changed(('condition = "It is written."', 'checks = ["spelling"]')))
    assert (found.code, found.message) == ("unknown_field", "a transition has no field `checks`")


def test_every_word_of_another_tool_leads_to_a_field_of_version_2() -> None:
    levels = {level.what: level for level in levels_of(FLOW_2)}
    for what, words in LATER_NAMES.items():
        assert set(words.values()) <= set(levels[what].names)
        assert [word for word in words if word in levels[what].names or word != word.lower() or not word.isalpha()] == []
        assert {field_meant(word, levels[what], ()) for word in words} <= set(levels[what].names)


def test_version_2_has_all_fields_of_version_1_and_asks_for_no_more() -> None:
    later = {level.what: level for level in levels_of(SCHEMAS[2])}
    for level in levels_of(SCHEMAS[1]):
        assert set(level.names) < set(later[level.what].names)
        assert later[level.what].required <= level.required


def test_each_field_of_version_2_is_described_and_is_of_a_known_way_to_be_taken() -> None:
    specs = [spec for level in levels_of(SCHEMAS[2]) for spec in level.fields]
    assert [spec.name for spec in specs if not spec.doc.endswith(".") or "\n" in spec.doc] == []
    assert {spec.name: spec.mode for spec in specs if spec.mode is not Mode.DATA} == {
        "variables": Mode.CONSTRAINT,
        "inputs": Mode.CONSTRAINT,
        "when": Mode.GUARD,
    }
    transition = next(level for level in levels_of(SCHEMAS[1]) if level.what == "transition")
    assert (version_with("when", transition), version_with("where", transition)) == (2, None)


@pytest.mark.parametrize(
    ("text", "seconds", "meant"),
    [
        ("1s", 1, "1s"),
        ("90s", 90, "90s"),
        ("10m", 600, "10m"),
        ("2h", 7200, "2h"),
        ("007m", 420, "7m"),
        ("1.5h", None, "90m"),
        ("1 hour, 30 minutes", None, "90m"),
        ("2 Days", None, "48h"),
        ("1500ms", None, None),
        ("2000 ms", None, "2s"),
        ("10 M", None, "10m"),
        ("10", None, None),
        ("m", None, None),
        ("-1m", None, None),
        ("10 fortnights", None, None),
        ("", None, None),
        ("１０m", None, None),
        ("1" * CHARACTERS_MAX + "s", None, None),
    ],
)
def test_a_length_of_time_is_a_number_and_a_unit(text: str, seconds: int | None, meant: str | None) -> None:
    assert (seconds_of(text), duration_meant(text)) == (seconds, meant)
    assert seconds is None or seconds_of(written(seconds)) == seconds


CASES: dict[str, str] = {
    "wrong_kinds_of_everything": changed(
        ("variables = { topic = String; attempts = Int & >= 0 default 0; };", 'variables = ["topic"];'),
        ("inputs = { topic = String; };", "inputs = String;"),
        ("checks = { spelling = {", 'checks = { grammar = "languagetool paper.md"; spelling = {'),
        ('["codespell", "paper.md"]', '{ program = "codespell"; }'),
        ('"90s"', '["90s"]'),
        ("{ visits = 5; }", '{ visits = "five"; }'),
        ('"first"', "1"),
        ("vars.attempts < 3", "{ }"),
        of=GOOD_2,
    ),
    "names_that_are_not_declared": changed(
        ('reads = ["topic", "attempts"]', 'reads = ["topik", "attempts"]'),
        ('writes = ["attempts"]', 'writes = ["tries"]'),
        ('target = "review"; checks = ["spelling"]', 'target = "review"; checks = ["speling", "grammar"]'),
        ("vars.attempts < 3", 'vars.attemps < 3 || input.topik == "a" || visits.reveiw > 2 || known.tpoic'),
        of=GOOD_2,
    ),
    "guards_that_mean_something_else": changed(
        ("vars.attempts < 3", 'vars.attempts < "3"'),
        ('"done"; checks = ["spelling"]', '"done"; when = vars.topic'),
        ('instructions = "Read it."', "instructions = vars.topic"),
        of=GOOD_2,
    ),
    "habits_of_other_machines": changed(
        ("variables = {", "vars = {"),
        ("inputs = {", "parameters = {"),
        ("limits = { visits = 5; };", "maxVisits = 5;"),
        ('select = "first";', 'order = "first";'),
        ("when = vars.attempts < 3;", "guard = vars.attempts < 3;"),
        ('command = ["codespell", "paper.md"]', 'run = ["codespell", "paper.md"]'),
        of=GOOD_2,
    ),
    "constraints_that_are_none": changed(
        ("attempts = Int & >= 0 default 0", 'attempts = (x) => x; more = Paper; most = Int default "one"; least = vars.topic'),
        of=GOOD_2,
    ),
    "ways_out_beside_each_other": changed(
        ('condition = "It is written."', ""),
        ('checks = ["spelling"]; ; };', "};"),
        ('when = vars.attempts < 3; condition = "Something is to be mended."', "otherwise = true"),
        ('target = "done"; checks = ["spelling"];', 'target = "done"; otherwise = true; condition = "Enough.";'),
        of=GOOD_2,
    ),
    "a_way_out_without_its_id": changed(
        (
            'transitions = { submit = { target = "review"; checks = ["spelling"]; condition = "It is written."; }; };',
            'transitions = { target = "review"; when = vars.attempts > 1; };',
        ),
        of=GOOD_2,
    ),
    "ways_out_without_their_map": changed(
        (
            'transitions = { submit = { target = "review"; checks = ["spelling"]; condition = "It is written."; }; };',
            'target = "review"; when = vars.attempts > 1; spare = vars.topic;',
        ),
        of=GOOD_2,
    ),
    "a_source_of_version_1_with_what_is_new": changed(("schema_version = 2", "schema_version = 1"), of=GOOD_2),
}


@pytest.mark.parametrize("name", CASES)
def test_renderings(name: str) -> None:
    found = compile_source(CASES[name].encode(), name=f"flows/{name}.dcdl").diagnostics
    sections = [(f"flows/{name}.dcdl", visible(CASES[name])), ("rendering", render(found, Look(width=110)))]
    assert_snapshot(SNAPSHOTS / f"{name}.txt", titled(sections))


@pytest.mark.parametrize("broken", ["checks = { spelling = { command = [", "variables = { topic = ", 'reads = ["topic", "attempts'])
def test_what_a_fault_of_the_syntax_may_have_swallowed_is_not_missed(broken: str) -> None:
    source = changed((broken, broken.rstrip("= [")), of=GOOD_2)
    assert {each.code for each in told(source)} <= {"dcdl_syntax", "wrong_type"}


def test_declarations_that_failed_make_no_name_unknown() -> None:
    assert [each.code for each in told(changed(("variables = { topic = String;", "variables = { topic = nope;"), of=GOOD_2))] == [
        "dcdl_evaluation"
    ]
    failed = changed(("variables = { topic = String; attempts = Int & >= 0 default 0; };", "variables = nope;"), of=GOOD_2)
    assert [(each.code, each.message) for each in told(failed)] == [("dcdl_evaluation", "`nope` is not defined")]


@pytest.mark.parametrize("said", ["", 'schema_version = "2";\n', "schema_version = 2.0;\n"])
def test_a_source_that_says_no_version_is_read_as_the_one_whose_fields_it_has(said: str) -> None:
    found = told(changed(("schema_version = 2;\n", said), ('writes = ["attempts"]', 'writes = ["attempst"]'), of=GOOD_2))
    assert [each.code for each in found] == ["wrong_type" if said else "missing_field", "variable_not_found"]
    assert found[0].help == ("write `2`" if said else "add `schema_version = 2;`")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"done"; checks = ["spelling"]', '"done"; checks = ["spelling"]; condition = "Enough was read."'),
        ('checks = ["spelling"]; condition = "It is written."', "otherwise = true"),
        ('checks = ["spelling"]; condition = "It is written."', 'otherwise = true; checks = ["spelling"]; condition = "It is written."'),
        ('checks = ["spelling"]; condition = "It is written."', 'checks = ["spelling"]; otherwise = false'),
        ("limits = { visits = 5; };", "limits = {};"),
        ("limits = { visits = 5; };", "limits.visits = 1 + 1;"),
        ('"90s"', '"1m"'),
        ('["codespell", "paper.md"]', '["codespell"] ++ ["paper.md", ""]'),
        ("inputs = { topic = String; };", 'inputs = { topic = String & /^a/ default "about"; };'),
    ],
)
def test_what_is_allowed_is_allowed_without_a_word(old: str, new: str) -> None:
    assert [each.message for each in compile_source(changed((old, new), of=GOOD_2).encode(), slug="paper").diagnostics] == []


def test_two_ways_out_are_the_same_only_where_all_that_decides_them_is() -> None:
    def duplicates(parts: str) -> list[tuple[str, ...]]:
        ways = f'a = {{ target = "done"; condition = "So."; }}; b = {{ target = "done"; condition = "So."; {parts} }};'
        source = changed(('accept = { target = "done"; checks = ["spelling"]; };', ways), ('"It is written."', '"So."'), of=GOOD_2)
        return [each.notes for each in compile_source(source.encode()).diagnostics if each.code == "duplicate_condition"]

    assert duplicates("") == [("the first of the two is taken whenever both are met",)]
    assert duplicates('checks = ["spelling"];') == duplicates("when = vars.attempts > 1;") == []
