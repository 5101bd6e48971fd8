"""Names: where they are declared and used, what they are told to be, and what they are renamed to, or why not."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.finding import definitions, references
from stateward.compiler.editor.hints import hints
from stateward.compiler.editor.hovering import hover
from stateward.compiler.editor.renaming import Refused, Renameable, rename, renameable, spelled
from stateward.compiler.editor.states import Role, States
from stateward.compiler.editor.symbols import Sort, Symbol, matching, symbols
from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.compiler.source import Span
from tests.editor.texts import CURSOR, cursor, edited, marked

ROOT = Path(__file__).resolve().parents[2]
FLOW = """schema_version = 1;
name = "paper";
initial = "draft";
states = {
    draft = {
        instructions = "Write the paper.
Read it aloud.";
        transitions = {
            send = { target = "review"; condition = "It is written."; };
            drop = { target = "done"; condition = "Nobody wants it."; };
        };
    };
    review = {
        instructions = "Read it.";
        transitions = { again = { target = "draft"; condition = "It has a fault."; }; good = { target = "done"; condition = "Fine."; }; };
    };
    done = { instructions = ""; terminal = true; };
    lost = { instructions = ""; terminal = true; };
};
"""
LETS = (
    'let end = "done"; begin = "draft"; in '
    + FLOW.replace("schema_version", "{ schema_version", 1)
    .replace('initial = "draft"', "initial = begin")
    .replace('target = "done"', "target = end")
    .rstrip()
    + " }"
)


def at(text: str, before: str, after: str) -> tuple[Analysis, int]:
    """Put the cursor between two pieces that stand together in the text once."""
    assert text.count(before + after) == 1, (before, after)
    return cursor(text.replace(before + after, before + CURSOR + after))


# --- definition and references ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [('initial = "', "draft"), ('initial = "draft', '"'), ('again = { target = "dr', "aft"), ("    dr", "aft = {")],
)
def test_a_state_is_found_from_every_place_that_names_it(before: str, after: str) -> None:
    analysis, offset = at(FLOW, before, after)
    declared = FLOW.index("draft = {")
    assert [Span(declared, declared + 5)] == definitions(analysis, offset)
    found = marked(analysis, references(analysis, offset, declaration=True))
    assert 3 == found.count("⟦draft⟧") == found.count("⟦")
    assert [found.index(each) for each in ('initial = "⟦draft⟧"', "⟦draft⟧ = {", 'target = "⟦draft⟧"')] == sorted(
        found.index(each) for each in ('initial = "⟦draft⟧"', "⟦draft⟧ = {", 'target = "⟦draft⟧"')
    )
    assert 2 == len(references(analysis, offset, declaration=False))


def test_an_id_that_comes_through_a_name_is_found_where_it_is_spelled_out() -> None:
    analysis, offset = at(LETS, "    do", "ne = {")
    found = marked(analysis, references(analysis, offset, declaration=True))
    assert 'let end = "⟦done⟧"' in found
    assert 2 == found.count("⟦done⟧")


def test_a_bound_name_is_found_from_its_binding_and_its_uses() -> None:
    analysis, offset = at(LETS, "initial = be", "gin")
    assert [Span(LETS.index("begin = "), LETS.index("begin = ") + 5)] == definitions(analysis, offset)
    assert 2 == marked(analysis, references(analysis, offset, declaration=True)).count("⟦begin⟧")


@pytest.mark.parametrize(("before", "after"), [('instructions = "Write', " the"), (";\n    done = {", " instr")])
def test_what_is_no_name_of_the_author_leads_nowhere(before: str, after: str) -> None:
    analysis, offset = at(FLOW, before, after)
    assert ([], []) == (definitions(analysis, offset), references(analysis, offset, declaration=False))


def test_a_text_that_is_half_written_is_read_as_far_as_it_goes() -> None:
    analysis, offset = at(FLOW.replace('"Fine."; }; };', '"Fine."; };'), 'initial = "', "draft")
    assert [each.role for each in States(analysis).of("draft")] == [Role.INITIAL, Role.DECLARED, Role.TARGET]
    assert definitions(analysis, offset)


# --- hover ------------------------------------------------------------------------------------------------------------------------------


def told(text: str, before: str, after: str) -> str:
    found = hover(*at(text, before, after))
    assert found is not None
    return found.markdown


def test_a_state_is_explained_with_its_instructions_and_ways() -> None:
    assert told(FLOW, "    dr", "aft = {") == (
        "state `draft` (initial)\n\n```text\nWrite the paper.\nRead it aloud.\n```\n\n- `send` → `review`\n- `drop` → `done`\n\n1 way in"
    )
    assert told(FLOW, "    lo", "st = {") == "state `lost` (terminal, unreachable)\n\n0 ways in"


def test_a_target_says_where_it_leads_and_a_transition_its_condition() -> None:
    assert told(FLOW, 'send = { target = "re', "view").startswith("Leads to state `review`\n\n```text\nRead it.\n```")
    assert told(FLOW, "se", "nd = {") == "transition `send` of state `draft`, leads to state `review`\n\n```text\nIt is written.\n```"


def test_a_name_is_explained_by_its_value() -> None:
    text = "let one = 1; two = one + one; in let list = [one, two]; in { a = list; }"
    assert told(text, "a = li", "st") == "let `list`\n\n```dcdl\n[1, 2]\n```"
    assert told(text, "one, tw", "o]") == "let `two`\n\n```dcdl\n2\n```"
    assert told("let f = (x) => x; in f(1)", "=> ", "x") == "parameter `x`"


@pytest.mark.parametrize(
    ("text", "shown"), [('let a‸ = 1 ++ "x"; in a', '1 ++ "x"'), ("let a‸ = b; b = a; in a", "b"), ("let a‸ = b; in ", "b")]
)
def test_a_name_that_does_not_evaluate_is_explained_by_what_it_is_bound_to(text: str, shown: str) -> None:
    found = hover(*cursor(text))
    assert found is not None
    assert f"let `a`\n\nis bound to\n\n```dcdl\n{shown}\n```" == found.markdown


def test_a_field_is_explained_by_the_form() -> None:
    assert told(FLOW, "schema_", "version") == "`schema_version`: Int, required\n\nThe version of this form; 1."
    assert told(FLOW, "st", "ates = {") == "`states`: states by id, required\n\nThe states by id, 1 to 128."


def test_the_text_of_an_author_cannot_end_its_fence() -> None:
    text = FLOW.replace("Read it aloud.", "```\\n# not markdown\\n````")
    assert "`````text\nWrite the paper.\n```\n# not markdown\n````\n`````" in told(text, "    dr", "aft = {")


def test_what_stands_in_place_of_an_id_is_shown_on_one_line() -> None:
    text = FLOW.replace("drop = {", '"x\\n\\n[a](b:c)" = {').replace(
        'target = "done"; condition = "N', 'target = "\\n\\n# `"; condition = "N'
    )
    assert "- `x [a](b:c)` → `` # ` ``\n" in told(text, "    dr", "aft = {")
    assert "- `" + "x" * 200 + "` → " in told(FLOW.replace("drop", '"' + "x" * 300 + '"'), "    dr", "aft = {")
    assert told(FLOW.replace("drop", '""'), 'initial = "dr', "aft").count("- ` ` → `done`") == 1


# --- renaming ---------------------------------------------------------------------------------------------------------------------------


def test_a_state_is_renamed_everywhere_and_nothing_else_changes() -> None:
    edits = rename(*at(FLOW, "    dr", "aft = {"), "write-up")
    assert isinstance(edits, list)
    assert edited(FLOW, edits) == FLOW.replace('"draft"', '"write-up"').replace("    draft = {", '    "write-up" = {')


def test_a_state_whose_id_comes_through_a_name_is_renamed_where_it_is_spelled_out() -> None:
    edits = rename(*at(LETS, "    do", "ne = {"), "finished")
    assert isinstance(edits, list)
    assert edited(LETS, edits) == LETS.replace('end = "done"', 'end = "finished"').replace("    done = {", "    finished = {")


def test_a_bound_name_is_renamed_everywhere() -> None:
    edits = rename(*at(LETS, "initial = be", "gin"), "first")
    assert isinstance(edits, list)
    assert edited(LETS, edits) == LETS.replace("begin", "first")


@pytest.mark.parametrize(
    ("text", "before", "after", "new", "reason"),
    [
        (FLOW, "    dr", "aft = {", "review", "there is a state `review` already"),
        (FLOW, "    dr", "aft = {", "a b", "`a b` holds a space; an id has 1 to"),
        (FLOW, "    dr", "aft = {", "", "`` is empty"),
        (FLOW, "    dr", "aft = {", "$cancelled", "`$cancelled` begins with `$`"),
        (FLOW.replace('"Fine."; }; };', '"Fine."; };'), "    dr", "aft = {", "x", "fault of form"),
        (
            FLOW.replace('"draft";\nstates', 'match 1 { 1: "draft"; _: "done"; };\nstates'),
            "    do",
            "ne = {",
            "x",
            "an id is computed at 3:36, and may come to `done`",
        ),
        (FLOW.replace('target = "draft"', 'target = "review" default "draft"'), 'initial = "', "draft", "x", "an id is computed at 15:61"),
        (FLOW.replace('target = "draft"', 'target = "nowhere"'), 'target = "no', "where", "x", "no state is declared as `nowhere`"),
        (LETS.replace('name = "paper"', "name = begin"), "    dr", "aft = {", "x", "`draft` also says something else"),
        (LETS, "let e", "nd =", "begin", "`begin` is bound here already"),
        (LETS, "let e", "nd =", "let", "`let` is no name"),
        ("let a = 1; in let b = 2; in a + b", "let ", "a =", "b", "`b` means something else at a place where the name is used"),
        ("let a = 1; in let b = a; in b + c", "let ", "b =", "c", "`c` means something else"),
        (FLOW.replace('target = "draft"', "target = 7"), 'initial = "', "draft", "x", "what stands at 15:25 could not be read"),
        (FLOW.replace('initial = "draft"', "initial = 7"), "    dr", "aft = {", "x", "what `initial` names could not be read"),
        (FLOW, "st", "ates = {", "x", "`states` is a field, whose name the form gives"),
    ],
)
def test_what_cannot_be_renamed_is_refused_with_the_reason(text: str, before: str, after: str, new: str, reason: str) -> None:
    found = rename(*at(text, before, after), new)
    assert isinstance(found, Refused), found
    assert reason in found.reason


PARTS = FLOW.replace("lost = {", "lost.terminal = true; draft.terminal = false; lost = {").replace(
    'lost = { instructions = ""; terminal = true; };', 'lost.instructions = "";'
)
OVER = FLOW.replace("};\n};", '};\n} // { draft = { instructions = "Write."; terminal = true; }; };').replace("lost = {", "more = {")


@pytest.mark.parametrize("text", [PARTS, OVER])
def test_a_state_that_is_written_in_parts_is_renamed_in_each(text: str) -> None:
    at_key = [found.start() for found in re.finditer(r"\bdraft\b", text)]
    assert 4 == len(at_key)
    for offset in at_key:
        edits = rename(Analysis("paper.dcdl", text), offset, "zebra")
        assert isinstance(edits, list), edits
        assert edited(text, edits) == text.replace("draft", "zebra")


def test_a_target_that_another_is_put_in_place_of_is_renamed_too() -> None:
    text = FLOW.replace("};\n};", '};\n} // { review.transitions.again = { target = "lost"; condition = "It is gone."; }; };')
    edits = rename(*at(text, "    dr", "aft = {"), "zebra")
    assert isinstance(edits, list), edits
    assert edited(text, edits) == text.replace("draft", "zebra")


_IDS = st.sampled_from(["a", "b", "in", "x-1", "9", "paper", "go"])


@st.composite
def written(draw: st.DrawFn) -> str:
    """Write a flow in which the names of everything may be the same, keys are quoted or not, and ids come through names."""
    ids = draw(st.lists(_IDS, min_size=2, max_size=5, unique=True))
    lets = draw(st.lists(st.sampled_from(ids), max_size=2, unique=True))
    names = {id_: f"n{number}" for number, id_ in enumerate(lets)}

    def key(id_: str) -> str:
        return f'"{id_}"' if draw(st.booleans()) else spelled(id_)

    def value(id_: str) -> str:
        return names[id_] if id_ in names and draw(st.booleans()) else f'"{id_}"'

    parts = ["schema_version = 1;", 'name = "paper";', f"initial = {value(ids[0])};", "states = {"]
    for id_, following in pairwise(ids):
        target, way = value(draw(st.sampled_from(ids))), draw(_IDS)
        parts.append(f'# 📝 {id_}\n{key(id_)} = {{ instructions = "📝 {id_}"; transitions = {{')
        parts.append(f'{key(way)} = {{ target = {target}; condition = "{id_}"; }};')
        parts.append(f'next = {{ target = {value(following)}; condition = "é{id_}"; }}; }}; }};')
    parts.append(f'{key(ids[-1])} = {{ instructions = "{ids[-1]}"; terminal = true; }}; }};')
    body = draw(st.sampled_from([" ", "\n", "\r\n"])).join(parts)
    bound = " ".join(f'{name} = "{id_}";' for id_, name in names.items())
    return f"let {bound} in {{ {body} }}" if names else body


def renamed_in(definition: CompiledFlowDefinition, old: str, new: str) -> CompiledFlowDefinition:
    def id_(value: str) -> str:
        return new if value == old else value

    states = tuple(
        state.model_copy(
            update={
                "id": id_(state.id),
                "transitions": tuple(each.model_copy(update={"target": id_(each.target)}) for each in state.transitions),
            }
        )
        for state in definition.states
    )
    return definition.model_copy(update={"initial": id_(definition.initial), "states": states})


@given(written(), st.data())
def test_a_rename_gives_the_same_flow_but_for_the_id(text: str, data: st.DataObject) -> None:
    before = Analysis("paper.dcdl", text, "paper")
    old = before.compilation.definition
    assert old is not None, [each.message for each in before.diagnostics]
    use = data.draw(st.sampled_from([each for each in States(before).uses if each.word is not None]))
    assert use.word is not None
    new_id = data.draw(st.sampled_from(["zebra", "z-1", "let"]))
    edits = rename(before, data.draw(st.integers(use.word.start, use.word.end)), new_id)
    assert isinstance(edits, list), edits
    assert {use.id} == {text[each.span.start : each.span.end].strip('"') for each in edits}
    after = Analysis("paper.dcdl", edited(text, edits), "paper")
    assert renamed_in(old, use.id, new_id) == after.compilation.definition
    back = rename(after, edits[0].span.start + 1, use.id)
    assert isinstance(back, list), back
    assert edited(after.source.text, back).replace('"', "") == text.replace('"', "")


def test_what_is_to_be_renamed_is_shown_without_its_quotes() -> None:
    analysis, offset = at(FLOW, 'initial = "dr', "aft")
    found = renameable(analysis, offset)
    assert isinstance(found, Renameable)
    assert ("draft", "draft") == (found.name, analysis.source.slice(found.span))


FLOWS = [path.read_text("utf-8") for path in sorted(ROOT.glob("resources/flows/*.dcdl"))] + [FLOW, LETS]
NEW = "zebra_9"


@given(st.sampled_from(FLOWS), st.data())
def test_a_rename_changes_the_id_everywhere_and_nothing_else(text: str, data: st.DataObject) -> None:
    before = Analysis("paper.dcdl", text)
    use = data.draw(st.sampled_from([each for each in States(before).uses if each.word is not None]))
    assert use.word is not None
    edits = rename(before, data.draw(st.integers(use.word.start, use.word.end)), NEW)
    assert isinstance(edits, list)
    after = Analysis("paper.dcdl", edited(text, edits))
    old, new = before.compilation.definition, after.compilation.definition
    if old is None:  # `lost` is unreachable
        assert [each.code for each in before.diagnostics] == [each.code for each in after.diagnostics]
        return
    assert new is not None
    assert old.model_dump_json().replace(f'"{use.id}"', f'"{NEW}"') == new.model_dump_json()


# --- symbols and hints ------------------------------------------------------------------------------------------------------------------


def shown(found: tuple[Symbol, ...]) -> list[object]:
    return [(each.name, each.sort.value, shown(each.below)) if each.below else (each.name, each.sort.value) for each in found]


def test_a_flow_is_outlined_with_the_transitions_in_their_states() -> None:
    assert [
        ("schema_version", "field"),
        ("name", "field"),
        ("initial", "field"),
        ("draft", "state", [("send", "transition"), ("drop", "transition")]),
        ("review", "state", [("again", "transition"), ("good", "transition")]),
        ("done", "state"),
        ("lost", "state"),
    ] == shown(symbols(Analysis("paper.dcdl", FLOW)))
    assert [("end", "name"), ("begin", "name")] == shown(symbols(Analysis("paper.dcdl", LETS)))[:2]


def test_a_symbol_is_found_by_some_of_its_letters() -> None:
    found = [(each.name, within) for each, within in matching(symbols(Analysis("paper.dcdl", FLOW)), "RVW")]
    assert [("review", "")] == found
    assert [("drop", "draft")] == [(each.name, within) for each, within in matching(symbols(Analysis("p.dcdl", FLOW)), "dp")]


def test_imports_of_one_file_are_references_of_each_other() -> None:
    analysis, offset = cursor('let a = import "./‸a.dcdl"; in { a = a; b = import "a.dcdl"; c = import "./b.dcdl"; d = import a; }')
    marks = 'let a = ⟦import "./a.dcdl"⟧; in { a = a; b = ⟦import "a.dcdl"⟧; c = import "./b.dcdl"; d = import a; }'
    assert marks == marked(analysis, references(analysis, offset, declaration=True))


PARTS = """initial = "a"; states.a.instructions = "A.";
states.a.transitions.go.target = "b";
states.a.transitions.go.condition = "Done.";
states.b.transitions = { back.target = "a"; back.condition = "No."; };
states = { c = { terminal = true; }; };
states.b.instructions = "B.";
states.c.instructions = "";
"""


def test_parts_of_a_state_that_follow_each_other_are_one_symbol() -> None:
    assert [
        ("initial", "field"),
        ("a", "state", [("go", "transition")]),
        ("b", "state", [("back", "transition")]),
        ("c", "state"),
        ("b", "state"),
        ("c", "state"),
    ] == shown(symbols(Analysis("paper.dcdl", PARTS)))


def test_the_parts_of_a_symbol_lie_in_it_and_beside_each_other() -> None:
    def check(found: Sequence[Symbol]) -> None:
        for each, following in pairwise(found):
            assert each.whole.end <= following.whole.start
        for each in found:
            assert each.whole.covers(each.key)
            assert all(each.whole.covers(below.whole) for below in each.below)
            check(each.below)

    for text in [*FLOWS, PARTS]:
        check([each for each in symbols(Analysis("paper.dcdl", text)) if each.sort is not Sort.NAME])


def test_states_are_remarked_on_where_that_is_asked() -> None:
    analysis = Analysis("paper.dcdl", FLOW)
    whole = Span(0, len(FLOW))
    assert ["begins here, 1 way in", "1 way in", "2 ways in", "unreachable"] == [each.text for each in hints(analysis, whole)]
    assert [] == list(hints(analysis, Span(0, FLOW.index("states"))))


@given(st.sampled_from(FLOWS), st.data())
def test_nothing_that_is_asked_of_a_half_written_text_fails(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(cut, min(len(text), cut + 40)))
    analysis = Analysis("paper.dcdl", text[:cut] + text[end:])
    offset = data.draw(st.integers(max(0, cut - 30), min(cut + 30, len(analysis.source.text))))
    hover(analysis, offset)
    definitions(analysis, offset)
    references(analysis, offset, declaration=True)
    rename(analysis, offset, NEW)
    symbols(analysis)
    list(hints(analysis, Span(0, len(analysis.source.text))))
