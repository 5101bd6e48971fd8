"""What an author is offered at the keyboard: what may stand here, what can be done to it, how it is coloured, folded and selected."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.editor.actions import ACTIONS_MAX, escape_selection, escaped, missing_states
from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.colouring import coloured
from stateward.compiler.editor.completing import Item, complete, plain
from stateward.compiler.editor.shaping import SELECTIONS_MAX, folds, selections
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.source import Source, Span
from stateward.compiler.syntax.parser import parse
from tests.editor.texts import cursor, edited

ROOT = Path(__file__).resolve().parents[2]
FLOWS = [path.read_text("utf-8") for path in sorted(ROOT.glob("resources/flows/*.dcdl"))]
FLOW = """schema_version = 1;
name = "paper";
initial = "draft";
states = {
    draft = {
        instructions = "Write the paper.
And read it.";
        transitions = { send = { target = "done"; condition = "It is written."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""


def offered(text: str) -> list[str]:
    return [each.label for each in complete(*cursor(text))]


def taken(text: str, label: str) -> str:
    """Take what was offered, without snippets."""
    analysis, offset = cursor(text)
    (item,) = [each for each in complete(analysis, offset) if each.label == label]
    return analysis.source.text[: item.span.start] + item.text + analysis.source.text[item.span.end :]


# --- completion -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("‸", ["schema_version", "name", "initial", "states", "let"]),
        ("schema_version = 1; na‸", ["name", "initial", "states"]),
        ('schema_version = 1;\n‸\nname = "paper";', ["initial", "states"]),
        ("states = { draft = { ‸", ["instructions", "terminal", "transitions"]),
        ('states = { draft = { instructions = "x"; te‸ }; };', ["terminal", "transitions"]),
        ("states = { draft = { transitions = { send = { ‸", ["target", "condition"]),
        ("states = { ‸", ["state"]),
        ("states = { draft = { transitions = { ‸", ["transition"]),
        ("states.draft.‸", ["instructions", "terminal", "transitions"]),
        ("# a comment ‸", []),
        ('states = { draft = { instructions = "prose ‸', []),
        (FLOW.replace('target = "done"', 'target = "‸"'), ["draft", "done"]),
        (FLOW.replace('target = "done"', 'target = "do‸ne"'), ["draft", "done"]),
        (FLOW.replace('initial = "draft"', 'initial = "‸'), ["draft", "done"]),
        (FLOW.replace('name = "paper"', 'name = "‸"'), ["paper"]),
    ],
)
def test_what_fits_the_place_is_offered(text: str, labels: list[str]) -> None:
    assert labels == offered(text)


def test_a_value_is_offered_with_names_in_scope_and_words() -> None:
    assert ["draft", "done", "first", "let", "match", "import"] == offered(
        'let first = "draft"; in { states = { draft = { instructions = ""; }; done = {}; }; initial = ‸; }'
    )
    assert ["true", "false"] == offered("states = { done = { terminal = ‸ }; };")[:2]
    assert ["b", "a", "let"] == offered("let a = 1; in (b) => ‸a")[:3]


def test_what_is_taken_stands_in_place_of_what_was_written() -> None:
    assert FLOW == taken(FLOW.replace('target = "done"', 'target = "do‸"'), "done")
    assert FLOW == taken(FLOW.replace('target = "done"', "target = do‸"), "done")
    assert 'schema_version = 1; name = "";' == taken("schema_version = 1; na‸", "name")
    assert 'schema_version = 1; name = "paper";' == taken('schema_version = 1; na‸ = "paper";', "name")


def test_required_fields_come_first_and_each_is_explained() -> None:
    items = complete(*cursor("states = { draft = { ‸"))
    assert [("instructions", 0), ("terminal", 1), ("transitions", 1)] == [(each.label, each.rank) for each in items]
    assert all(each.documentation for each in items)


@given(st.sampled_from([*FLOWS, FLOW]), st.data())
def test_completing_never_fails_and_changes_only_what_is_written_at_the_cursor(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(offset, min(len(text), offset + 60)))
    half = text[:offset] + text[cut:]
    analysis = Analysis("paper.dcdl", half)

    def check(item: Item) -> None:
        assert item.span.start <= offset <= item.span.end
        assert "\n" not in half[item.span.start : item.span.end]
        assert item.text == plain(item.snippet)

    for each in complete(analysis, offset):
        check(each)


# --- actions --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        FLOW.replace('target = "done"', 'target = "review"'),
        FLOW.replace('initial = "draft"', 'initial = "review"'),
        FLOW.replace('target = "done"', 'target = "let"'),
        FLOW.replace('target = "done"', 'target = "review"').replace("terminal = true; };\n", "terminal = true; }\n"),
        FLOW.replace('target = "done"', 'target = "review"').replace("terminal = true; };\n};", "terminal = true; }; };"),
        FLOW.replace('target = "done"', 'target = "review"').replace("terminal = true; };\n};", "terminal = true; } # the end\n};"),
        FLOW.replace('target = "done"', 'target = "review"').replace("\n", "\r\n"),
    ],
)
def test_a_state_that_is_missing_is_added_and_the_text_compiles_but_for_what_else_is_wrong(text: str) -> None:
    before = Analysis("paper.dcdl", text)
    (fault,) = [each for each in before.diagnostics if each.code in {"transition_target_not_found", "initial_not_found"}]
    (action,) = missing_states(before, fault.primary.place.span)
    after = Analysis("paper.dcdl", edited(text, list(action.edits)))
    assert [] == [each.code for each in after.diagnostics if each.code != "unreachable_state"]
    assert action.title in {"add the state `review`", "add the state `let`"}


def test_a_state_is_added_behind_the_others_as_the_text_is_laid_out() -> None:
    text = FLOW.replace('target = "done"', 'target = "review"')
    analysis = Analysis("paper.dcdl", text)
    (action,) = missing_states(analysis, Span(text.index('"review"'), text.index('"review"')))
    added = '    review = {\n        instructions = "Say what is to be done here.";\n        terminal = true;\n    };\n'
    assert text.replace("true; };\n};\n", f"true; }};\n{added}}};\n") == edited(text, list(action.edits))


def test_no_state_is_added_where_the_states_are_not_written_out() -> None:
    text = 'let all = {}; in { schema_version = 1; name = "paper"; initial = "draft"; states = all; }'
    analysis = Analysis("paper.dcdl", text)
    assert [] == list(missing_states(analysis, Span(0, len(text))))


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('"\\\n\r\t')))
def test_an_escaped_selection_evaluates_to_what_was_selected(text: str) -> None:
    written = escaped(text)
    assert written is not None
    source = Source.from_text("text.dcdl", f'"{written}"')
    evaluation = Evaluation(source, parse(source).module)
    assert text == getattr(evaluation.data(evaluation.root), "value", None)
    assert [] == evaluation.diagnostics


def test_a_selection_is_escaped_where_that_changes_it() -> None:
    text = 'He said "go".'
    analysis = Analysis("paper.dcdl", text)
    (action,) = escape_selection(analysis, Span(0, len(text)))
    assert 'He said \\"go\\".' == edited(text, list(action.edits))
    assert [] == list(escape_selection(analysis, Span(0, 7)))
    assert escaped("a\x00b") is None


# --- colours, folds, selections -------------------------------------------------------------------------------------------------------


@given(st.sampled_from([*FLOWS, FLOW]), st.data())
def test_colours_come_in_order_on_one_line_each_also_in_part_and_cut(text: str, data: st.DataObject) -> None:
    analysis = Analysis(
        "paper.dcdl", text[: data.draw(st.integers(0, len(text)))].replace("\n", data.draw(st.sampled_from(["\n", "\r\n"])))
    )
    parts = list(coloured(analysis))
    assert all(start < end for start, end, _ in parts)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(parts))
    assert not any("\n" in analysis.source.text[start:end] for start, end, _ in parts)
    begin = data.draw(st.integers(0, len(analysis.source.text)))
    span = Span(begin, data.draw(st.integers(begin, len(analysis.source.text))))
    some = list(coloured(analysis, span))
    assert [each for each in parts if each[0] < span.end and span.start < each[1]] == [
        each for each in some if each[0] < span.end and span.start < each[1]
    ]


def test_what_goes_over_several_lines_can_be_folded() -> None:
    text = f"# one\n# two\n\n# alone\n{FLOW}"
    analysis = Analysis("paper.dcdl", text)
    assert [("# one", True), ("{", False), ("{", False), ('"Write the paper.', False)] == [
        (text[each.span.start : each.span.end].split("\n", maxsplit=1)[0], each.is_comment) for each in folds(analysis)
    ]


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a = {\n  b = 1;\n};\n", "{\n  b = 1;"),
        ("a = {\r\n  b = 1;\r\n  };\r\n", "{\r\n  b = 1;\r"),
        ("a = {\n  b = 1; };\n", "{\n  b = 1; }"),
        ("a = {\n};\n", "{"),
        ("a = [\n  1,\n];\n", "[\n  1,"),
        ('a = "\n  b\n  ";\n', '"\n  b'),
        ('a = "\n  b";\n', '"\n  b"'),
        ("a = {\n  b = 1;\n", "{\n  b = 1;"),
        ("# a\n# b\n", "# a\n# b"),
    ],
)
def test_a_fold_leaves_the_line_that_begins_with_its_end(text: str, hidden: str) -> None:
    (fold,) = folds(Analysis("paper.dcdl", text))
    assert hidden == text[fold.span.start : fold.last]


def test_a_selection_grows_from_the_word_to_everything() -> None:
    analysis, offset = cursor(FLOW.replace("It is written", "It is wri‸tten"))
    text = analysis.source.text
    assert [
        "written",
        "It is written.",
        '"It is written."',
        'condition = "It is written."',
        'condition = "It is written.";',
        ' target = "done"; condition = "It is written."; ',
        '{ target = "done"; condition = "It is written."; }',
        'send = { target = "done"; condition = "It is written."; }',
        'send = { target = "done"; condition = "It is written."; };',
    ] == [text[each.start : each.end] for each in selections(analysis, offset)][:9]


@given(st.sampled_from([*FLOWS, FLOW]), st.data())
def test_selections_grow_strictly_up_to_the_whole_text(text: str, data: st.DataObject) -> None:
    half = text[: data.draw(st.integers(0, len(text)))]
    offset = data.draw(st.integers(0, len(half)))
    found = selections(Analysis("paper.dcdl", half), offset)
    assert Span(0, len(half)) == found[-1]
    assert all(outer.covers(inner) and outer != inner for inner, outer in itertools.pairwise(found))


def test_a_chain_of_any_length_gives_as_many_selections_as_editors_can_be_told_of() -> None:
    text = f"x = {' + '.join(['1'] * 2_000)};"
    found = selections(Analysis("paper.dcdl", text), 4)
    assert (SELECTIONS_MAX, Span(4, 5), Span(0, len(text))) == (len(found), found[0], found[-1])


def test_of_very_many_missing_states_the_first_ones_are_offered() -> None:
    ways = "".join(f'w{at} = {{ target = "m{at}"; condition = "{at}"; }}; ' for at in range(ACTIONS_MAX + 4))
    text = FLOW.replace("send =", f"{ways} send =")
    found = list(missing_states(Analysis("paper.dcdl", text), Span(0, len(text))))
    assert [f"add the state `m{at}`" for at in range(ACTIONS_MAX)] == [each.title for each in found]
