"""What an editor knows of a flow of version 2: its fields, what may be named and read, and where guards count a state."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.editor.analysis import Analysis
from stateward.compiler.editor.completing import complete
from stateward.compiler.editor.finding import definitions, references
from stateward.compiler.editor.hovering import hover
from stateward.compiler.editor.renaming import Refused, rename
from stateward.compiler.editor.symbols import symbols
from stateward.compiler.pipeline import compile_source
from tests.compiler.flow.sources import GOOD_2, changed
from tests.compiler.flow.test_later_mutations import PIECES, SOURCES
from tests.compiler.flow.test_mutations import mutated
from tests.editor.texts import CURSOR, cursor, edited, marked

WORDS = ["let", "match", "import"]
READABLE = ["vars.topic", "vars.attempts", "input.topic", "visits.draft", "visits.review", "visits.done", "spent.exceeded"]
COUNTING = changed(("vars.attempts < 3", "vars.attempts < 3 && visits.review < 9"), of=GOOD_2)


def offered(old: str, new: str) -> list[str]:
    analysis, offset = cursor(changed((old, new), of=GOOD_2))
    return [each.label for each in complete(analysis, offset)]


@pytest.mark.parametrize(
    ("old", "new", "labels"),
    [
        ("inputs = { topic = String; };", "‸", ["inputs"]),
        ('instructions = "Read it.";', "‸", ["instructions", "terminal", "writes", "limits"]),
        ('"done"; checks = ["spelling"]', '"done"; ‸', ["when", "condition", "checks", "otherwise"]),
        ("visits = 5", "‸", ["visits"]),
        ('timeout = "90s"; ', "‸", ["timeout"]),
        ("vars.attempts < 3", "‸", [*READABLE, *WORDS]),
        ('reads = ["topic"]', "reads = [‸]", ["topic", "attempts", *WORDS]),
        ('reads = ["topic"]', 'reads = ["topic", "‸"]', ["topic", "attempts"]),
        ('"done"; checks = ["spelling"]', '"done"; checks = [‸]', ["spelling", *WORDS]),
        ('reads = ["topic"]', "reads = ‸", ['["…"]', *WORDS]),
        ('"first"', "‸", ['"exclusive"', '"first"', *WORDS]),
        ('"90s"', "‸", ['"10m"', *WORDS]),
        ("{ visits = 5; }", "‸", ["{ … }", *WORDS]),
    ],
)
def test_what_is_offered(old: str, new: str, labels: list[str]) -> None:
    assert sorted(labels) == sorted(offered(old, new))


def test_a_text_of_version_1_is_offered_nothing_of_version_2() -> None:
    analysis, offset = cursor("schema_version = 1;\n‸")
    assert [each.label for each in complete(analysis, offset)] == ["name", "initial", "states"]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("wh", "en = vars", "`when`: guard, optional\n\nWhat must hold of variables, inputs and visits; an expression, of which"),
        ("vari", "ables =", "`variables`: constraints by name, optional\n\n"),
        ("lim", "its =", "`limits`: object of limits, optional\n\nWhat may be spent in this state."),
        ("vis", "its = 5", "`visits`: Int, optional\n\nHow often the state may be entered, 1 to 1,000,000."),
        ("sel", "ect =", '`select`: "exclusive" or "first", optional\n\n'),
        ("time", "out =", "`timeout`: duration, optional\n\n"),
        ("comm", "and =", "`command`: array of texts, required\n\n"),
        ("wri", "tes =", "`writes`: array of variable names, optional\n\n"),
        ("schema_", "version", "`schema_version`: Int, required\n\nThe version of this form; 2."),
        (
            "ba",
            "ck = {",
            "transition `back` of state `review`, leads to state `draft`\n\nwhen\n\n```dcdl\nvars.attempts < 3\n```\n\n```text\n",
        ),
        ("acc", "ept = {", "transition `accept` of state `review`, leads to state `done`\n\nchecks `spelling`"),
    ],
)
def test_what_is_told_of_a_field_and_of_a_way_out(before: str, after: str, told: str) -> None:
    found = hover(*cursor(changed((before + after, before + CURSOR + after), of=GOOD_2)))
    assert found is not None
    assert found.markdown[: len(told)] == told


def test_where_a_guard_counts_a_state_it_is_used() -> None:
    analysis, offset = cursor(changed(("    review = {", "    re‸view = {"), of=COUNTING))
    found = marked(analysis, list(references(analysis, offset, declaration=False)))
    assert "visits.⟦review⟧ < 9" in found


def test_a_state_is_renamed_where_a_guard_counts_it() -> None:
    analysis, offset = cursor(changed(("    review = {", "    re‸view = {"), of=COUNTING))
    edits = rename(analysis, offset, "look")
    assert isinstance(edits, list)
    renamed = edited(analysis.source.text, edits)
    assert renamed == COUNTING.replace("    review = {", "    look = {").replace('"review"', '"look"').replace(
        "visits.review", "visits.look"
    )
    assert compile_source(renamed.encode()).errors == 0


def test_a_state_is_not_renamed_where_a_guard_cannot_be_read() -> None:
    analysis, offset = cursor(changed(("    review = {", "    re‸view = {"), ("visits.review < 9", "vars.nothing"), of=COUNTING))
    assert isinstance(rename(analysis, offset, "look"), Refused)


def test_what_is_declared_is_a_symbol_within_its_field() -> None:
    found = {each.name: [below.name for below in each.below] for each in symbols(Analysis("paper.dcdl", GOOD_2)) if each.below}
    assert found == {
        "variables": ["topic", "attempts"],
        "inputs": ["topic"],
        "checks": ["spelling"],
        "draft": ["submit"],
        "review": ["back", "accept"],
    }


NAMED = changed(('"done"; checks = ["spelling"]', '"done"; checks = ["spelling"]; when = known.topic || input.topic == "x"'), of=GOOD_2)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("vars.att", "empts", ["attempts = Int", '"attempts"]', '"attempts"]', "attempts < 3"]),
        ("variables = { to", "pic", ["topic = String; attempts", '"topic", ', '"topic"]', "topic || input"]),
        ("input.to", "pic ==", ["topic = String; };\nchecks", 'topic == "x"']),
        ('"done"; checks = ["spel', 'ling"]', ["spelling = {", '"spelling"]; condition', '"spelling"]; when']),
    ],
)
def test_what_is_declared_is_found_wherever_it_is_named(before: str, after: str, found: list[str]) -> None:
    analysis, offset = cursor(changed((before + after, before + CURSOR + after), of=NAMED))
    text = analysis.source.text
    spans = references(analysis, offset, declaration=True)
    assert found == [text[span.start - (text[span.start - 1] == '"') :][: len(at)] for span, at in zip(spans, found, strict=True)]
    assert spans[:1] == definitions(analysis, offset)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("vars.att", "empts", "variable `attempts`\n\n```dcdl\nInt & >= 0 default 0\n```\n\nset in `draft`\n\nread in `draft`"),
        ("input.to", "pic ==", "input `topic`\n\n```dcdl\nString\n```"),
        ('"done"; checks = ["spel', 'ling"]', "check `spelling`\n\n```text\ncodespell paper.md\n```\n\nrun in `draft`, `review`"),
    ],
)
def test_what_is_declared_is_told_where_it_is_named(before: str, after: str, told: str) -> None:
    found = hover(*cursor(changed((before + after, before + CURSOR + after), of=NAMED)))
    assert found is not None
    assert told == found.markdown


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [("vars.att", "empts", "rounds"), ("vars.att", "empts", "so-many"), ('"done"; checks = ["spel', 'ling"]', "words")],
)
def test_what_is_declared_is_renamed_everywhere(before: str, after: str, new: str) -> None:
    analysis, offset = cursor(changed((before + after, before + CURSOR + after), of=NAMED))
    edits = rename(analysis, offset, new)
    assert isinstance(edits, list)
    old = (before + after).split(".")[-1] if "." in before else "spelling"
    done = compile_source(edited(analysis.source.text, edits).encode())
    assert (old in (done.canonical or b"").decode(), new in (done.canonical or b"").decode()) == (False, True)


@pytest.mark.parametrize(
    ("before", "after", "new", "reason"),
    [
        ("variables = { to", "pic", "theme", "an input gives the variable of its name the first value"),
        ("vars.att", "empts", "topic", "an input gives the variable of its name the first value"),
        ("vars.att", "empts", "a b", "`a b` holds a space; a name has 1 to 128 ASCII letters, digits, `-` and `_`"),
    ],
)
def test_a_name_is_not_renamed_where_that_would_change_the_flow(before: str, after: str, new: str, reason: str) -> None:
    analysis, offset = cursor(changed((before + after, before + CURSOR + after), of=NAMED))
    assert Refused(reason) == rename(analysis, offset, new)


def test_a_root_that_is_bound_is_none() -> None:
    hidden = changed(('"Read it."', '(let vars = { attempts = "Read it."; }; in vars.attempts)'), of=GOOD_2)
    analysis, offset = cursor(changed(("in vars.attempts", "in vars.att‸empts"), of=hidden))
    assert references(analysis, offset, declaration=True) == []


def test_the_form_is_that_of_the_version_that_is_written() -> None:
    forms = [Analysis("paper.dcdl", text).form.names for text in (GOOD_2, "name = 1;", "schema_version = 9;")]
    assert ["variables" in names for names in forms] == [True, False, False]


@given(mutated(SOURCES, PIECES), st.integers(0, 2_000), st.sampled_from(["", "x", "a-b", "review", "let"]))
@settings(max_examples=150)
def test_at_any_place_of_any_text_there_is_an_answer(text: str, at: int, new: str) -> None:
    analysis = Analysis("paper.dcdl", text, "paper")
    offset = min(at, len(analysis.source.text))
    assert all(each.span.start <= each.span.end <= len(analysis.source.text) for each in complete(analysis, offset))
    hover(analysis, offset)
    found = references(analysis, offset, declaration=True)
    assert found == sorted(set(found))
    assert all(span.end <= len(analysis.source.text) for span in definitions(analysis, offset))
    edits = rename(analysis, offset, new)
    if isinstance(edits, list) and edits and analysis.compilation.data is not None:
        assert compile_source(edited(analysis.source.text, edits).encode()).data is not None
