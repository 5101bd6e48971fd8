"""Fixes: which go together, what comes of them, and that nothing gets worse by them."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.compiler.cli.mending import COMPILES_MAX, Mended, mend
from stateward.compiler.diagnostics.fixing import Change, applied, offered, together
from stateward.compiler.diagnostics.model import Applicability, Diagnostic, Edit, Fix, Label, Severity, errors_of
from stateward.compiler.pipeline import Compilation, compile_source
from stateward.compiler.source import Place, Source, Span
from tests.compiler.flow.sources import FAULTS, GOOD, SLUG, SLUGS, changed
from tests.compiler.flow.test_cases import CASES
from tests.compiler.flow.test_mutations import PIECES, SOURCES, mutated


def change(*edits: tuple[int, int, str], safe: bool = True) -> Change:
    fix = Fix(
        "change it",
        tuple(Edit(Span(start, end), text) for start, end, text in edits),
        Applicability.SAFE if safe else Applicability.UNSAFE,
    )
    place = Place(SOURCE, Span(edits[0][0], edits[0][1]))
    return Change(Diagnostic("dcdl_syntax", Severity.ERROR, "m", Label(place), fixes=(fix,)), fix)


SOURCE = Source("x", "abcdef")


def mended(text: str | bytes, *, unsafe: bool, slug: str | None = None) -> tuple[Compilation, Mended]:
    def compiled(source: Source | bytes) -> Compilation:
        return compile_source(source, name="paper.dcdl", slug=slug)

    before = compiled(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return before, mend(before, compiled, unsafe=unsafe)


# --- which fixes, and what comes of them ------------------------------------------------------------------------------------------------


def test_changes_are_made_whatever_order_they_come_in() -> None:
    changes = [change((1, 2, "X"), (4, 4, "YY")), change((6, 6, "!")), change((0, 0, ">"))]
    for order in (changes, changes[::-1]):
        assert ">aXcdYYef!" == applied(SOURCE.text, order)


@pytest.mark.parametrize(
    ("first", "second", "go"),
    [
        (change((0, 1, "x")), change((2, 3, "y")), True),
        (change((0, 2, "x")), change((1, 3, "y")), False),
        (change((0, 2, "x")), change((2, 3, "y")), False),
        (change((2, 2, "x")), change((2, 2, "y")), False),
        (change((0, 4, "x")), change((1, 2, "y")), False),
        (change((0, 1, "x"), (5, 6, "z")), change((3, 3, "y")), True),
        (change((0, 1, "x"), (5, 6, "z")), change((5, 5, "y")), False),
    ],
)
def test_edits_that_overlap_or_touch_are_left_for_another_time(first: Change, second: Change, go: bool) -> None:
    assert ([first, second] if go else [first]) == together([first, second])


def test_the_surest_fix_of_a_diagnostic_is_offered_and_none_for_the_eye_alone() -> None:
    place = Place(SOURCE, Span(0, 1))
    kinds = {kind: Fix(kind.value, (Edit(Span(0, 1), "x"),), kind) for kind in Applicability}
    unsafe, safe, display = (kinds[Applicability(name)] for name in ("unsafe", "safe", "display"))

    def titles(*fixes: Fix, unsafe: bool) -> list[str]:
        fault = Diagnostic("dcdl_syntax", Severity.ERROR, "m", Label(place), fixes=fixes)
        return [each.fix.title for each in offered([fault], SOURCE, unsafe=unsafe)]

    assert ["safe"] == titles(display, unsafe, safe, unsafe=True) == titles(display, unsafe, safe, unsafe=False)
    assert (["unsafe"], []) == (titles(display, unsafe, unsafe=True), titles(display, unsafe, unsafe=False))
    assert [] == titles(display, unsafe=True)


def test_a_fix_of_another_source_is_not_offered() -> None:
    other = Source("y", "abcdef")
    assert [] == offered([change((0, 1, "x")).diagnostic], other, unsafe=True)


# --- sources mended ---------------------------------------------------------------------------------------------------------------------

SAFE = {
    "a semicolon left out": ('"Read it.";\n', '"Read it."\n', '"Read it.";\n'),
    "a comma for a semicolon": ('"Read it.";\n', '"Read it.",\n', '"Read it.";\n'),
    "a colon for an equals sign": ("version = 1", "version: 1", "version = 1"),
    "a comment of another language": ('"draft";\n', '"draft"; // where it begins\n', '"draft"; # where it begins\n'),
    "single quotes": ('"Read it."', "'Read it.'", '"Read it."'),
}
"""What was right, what was written, what it is mended to."""


@pytest.mark.parametrize("slip", SAFE)
def test_what_is_certain_is_mended_to_what_was_meant(slip: str) -> None:
    right, wrong, mended_to = SAFE[slip]
    before, after = mended(GOOD.replace(right, wrong, 1), unsafe=False)
    assert before.errors > 0 == after.compilation.errors
    assert GOOD.replace(right, mended_to, 1).encode() == after.data
    assert compile_source(GOOD.encode()).canonical == after.compilation.canonical


UNSAFE = {
    "a near target": ('target = "review"', 'target = "reveiw"'),
    "a near initial state": ('initial = "draft"', 'initial = "drfat"'),
    "a near field": ("initial", "inital"),
    "a text without quotes": ('initial = "draft"', "initial = draft"),
    "a truth in quotes": ("terminal = true", 'terminal = "true"'),
    "a truth of another language": ("terminal = true", "terminal = True"),
    "the name of another flow": ('name = "paper"', 'name = "essay"'),
}


@pytest.mark.parametrize("slip", UNSAFE)
def test_what_was_probably_meant_is_left_to_unsafe_fixes(slip: str) -> None:
    text = changed(UNSAFE[slip])
    before, after = mended(text, unsafe=False, slug=SLUG)
    assert ((), before.content_digest) == (after.made, after.compilation.content_digest)
    _, after = mended(text, unsafe=True, slug=SLUG)
    assert GOOD.encode() == after.data
    assert ["unsafe"] == [each.applicability for each in after.made]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("lines", ["    };\n    review", "        };\n    };\n    done", "    };\n    done"])
def test_braces_that_were_not_closed_are_closed_where_they_should_have_been(lines: str, line_end: str) -> None:
    kept = lines.rsplit("\n", 1)[1]
    text = changed((lines, kept)).replace("\n", line_end)
    _, after = mended(text, unsafe=True)
    assert GOOD.replace("\n", line_end).encode() == after.data


def test_a_file_that_ends_too_early_is_closed() -> None:
    text = GOOD.removesuffix("};\n")
    _, after = mended(text, unsafe=True)
    assert GOOD.removesuffix("\n").encode() == after.data.removesuffix(b"\n")


def test_no_safe_fix_of_a_character_that_was_lost_makes_another_flow() -> None:
    meant = compile_source(GOOD.encode()).canonical
    wrong: list[str] = []
    mended_ = 0
    for at in range(len(GOOD)):
        before, after = mended(GOOD[:at] + GOOD[at + 1 :], unsafe=False)
        if before.errors and not after.compilation.errors:
            mended_ += 1
            wrong += [GOOD[at - 20 : at + 20]] if after.compilation.canonical != meant else []
    assert [] == wrong
    assert 10 <= mended_


def test_of_two_names_that_are_as_near_none_is_taken() -> None:
    text = changed(('target = "review"', 'target = "dane"'), ("done = {", 'dune = { instructions = ""; terminal = true; };\n    done = {'))
    before, after = mended(text, unsafe=True)
    assert ["transition_target_not_found"] == [each.code for each in errors_of(before.diagnostics)][:1]
    assert () == after.made


def test_several_rounds_are_made_where_one_mending_lets_the_next_be_seen() -> None:
    text = changed(('"Read it.";\n', "'Read it.'\n"), ('target = "review"', "target = 'reveiw'"))
    _, after = mended(text, unsafe=True)
    assert GOOD.encode() == after.data


def test_a_safe_fix_leaves_the_definition_as_it_was() -> None:
    text = changed(('"Read it."', '"Read \\d it."'))
    before, after = mended(text, unsafe=False)
    assert before.canonical == after.compilation.canonical


def test_the_mark_and_the_line_ends_of_a_file_stay() -> None:
    data = b"\xef\xbb\xbf" + changed(('target = "review"', 'target = "reveiw"')).replace("\n", "\r\n").encode()
    _, after = mended(data, unsafe=True)
    assert b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode() == after.data


def test_changes_are_told_with_where_they_were_made() -> None:
    _, after = mended(changed(('target = "review"', 'target = "reveiw"'), ("initial", "inital")), unsafe=True)
    assert [("unknown_field", "rename it to `initial`", 3, 1), ("transition_target_not_found", "name `review`", 7, 45)] == [
        (each.code, each.title, each.line, each.column) for each in after.made
    ]


def test_a_change_after_which_there_is_more_wrong_is_not_kept() -> None:
    worse = Fix("spoil it", (Edit(Span(0, 0), "}"),), Applicability.SAFE)
    compilation = compile_source(changed(('initial = "draft"', 'initial = "drfat"')).encode())
    (fault,) = compilation.diagnostics
    spoilt = Compilation(
        compilation.source,
        (Diagnostic(fault.code, fault.severity, fault.message, fault.primary, fixes=(worse,)),),
        compilation.content_digest,
        None,
        None,
    )
    assert Mended(spoilt, ()) == mend(spoilt, compile_source, unsafe=True)


def test_a_change_that_mends_is_kept_beside_one_that_spoils() -> None:
    compilation = compile_source(changed(('initial = "draft"', 'initial = "drfat"'), ('target = "done"', 'target = "dnoe"')).encode())
    first, second = compilation.diagnostics
    worse = Fix("spoil it", (Edit(Span(0, 0), "}"),), Applicability.SAFE)
    spoilt = Diagnostic(first.code, first.severity, first.message, first.primary, fixes=(worse,))
    given_ = Compilation(compilation.source, (spoilt, second), compilation.content_digest, None, None)
    after = mend(given_, compile_source, unsafe=True)
    assert ["name `done`", "name `draft`"] == [each.title for each in after.made]


def test_the_work_is_bounded() -> None:
    compiles = 0

    def never_better(source: Source | bytes) -> Compilation:
        nonlocal compiles
        compiles += 1
        return compilation

    ways = "".join(f't{at} = {{ target = "dnoe{"x" * (at % 2)}"; condition = "c{at}"; }}; ' for at in range(COMPILES_MAX * 2))
    text = f'schema_version = 1; name = "many"; initial = "a"; states = {{ a = {{ instructions = "x"; transitions = {{ {ways} }}; }};\n'
    compilation = compile_source(f'{text}done = {{ instructions = ""; terminal = true; }}; }};'.encode())
    assert () == mend(compilation, never_better, unsafe=True).made
    assert COMPILES_MAX == compiles


@pytest.mark.parametrize("name", [*FAULTS, *CASES])
@pytest.mark.parametrize("unsafe", [False, True])
def test_no_known_fault_gets_worse(name: str, unsafe: bool) -> None:
    source = FAULTS[name] if name in FAULTS else CASES[name]
    _is_no_worse(*mended(source, unsafe=unsafe, slug=SLUGS.get(name, SLUG)), unsafe=unsafe)


@settings(max_examples=60)
@given(mutated(SOURCES, PIECES), st.booleans())
def test_no_source_gets_worse(text: str, unsafe: bool) -> None:
    _is_no_worse(*mended(text, unsafe=unsafe), unsafe=unsafe)


def _is_no_worse(before: Compilation, after: Mended, *, unsafe: bool) -> None:
    def errors(compilation: Compilation) -> Counter[tuple[str, str]]:
        return Counter((each.code, each.message) for each in errors_of(compilation.diagnostics))

    assert after.compilation.errors <= before.errors
    assert Counter() == errors(after.compilation) - errors(before)
    if not after.made:
        assert after.compilation is before
        return
    if before.canonical is not None and not unsafe:
        assert before.canonical == after.compilation.canonical
