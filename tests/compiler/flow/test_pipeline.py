"""The phases together: each independent fault once, and none that only follows from another."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.model import Severity, sort_key
from stateward.compiler.flow.recognize import NO_DCDL, is_flow_source
from stateward.compiler.pipeline import compile_source
from stateward.compiler.source import Source
from tests.compiler.flow.sources import FAULTS, GOOD, changed

SLIPS = {
    "dcdl_evaluation": ('instructions = "Write it."', "instructions = write_it"),
    "unknown_field": ('name = "paper";', 'name = "paper"; licence = "free";'),
    "wrong_type": ("terminal = true", 'terminal = "yes"'),
    "initial_not_found": ('initial = "draft"', 'initial = "nowhere"'),
    "invalid_transition_id": ("submit = ", '"sub mit" = '),
    "transition_target_not_found": ('target = "review"', 'target = "nirgends"'),
    "condition_empty": ('"Something is to be mended."', '" "'),
    "reserved_transition_target": ('target = "draft"', 'target = "$draft"'),
    "instructions_empty": ('"Read it."', '"\t"'),
    "missing_field": ('target = "done"; ', ""),
    "invalid_name": ('"paper"', '"pa per"'),
}
"""Slips in different places, each with the one code that it gives."""


def errors(source: str) -> list[str]:
    return [each.code for each in compile_source(source.encode()).diagnostics if each.severity is Severity.ERROR]


@given(st.sets(st.sampled_from(sorted(SLIPS))))
def test_any_slips_together_give_what_each_gives_alone(codes: set[str]) -> None:
    source = GOOD
    for code in sorted(codes, key=lambda each: each == "invalid_name"):
        old, new = SLIPS[code]
        source = source.replace(old, new)
    assert sorted(errors(source)) == sorted(codes)


@pytest.mark.parametrize("code", SLIPS)
def test_each_slip_alone(code: str) -> None:
    assert errors(changed(SLIPS[code])) == [code]


@given(st.text(max_size=200))
def test_any_text_is_answered(text: str) -> None:
    compilation = compile_source(Source.from_text("any", text))
    has_error = any(each.severity is Severity.ERROR for each in compilation.diagnostics)
    assert (compilation.definition is None) == has_error
    assert list(compilation.diagnostics) == sorted(compilation.diagnostics, key=sort_key)


@given(st.binary(max_size=200))
def test_any_bytes_are_answered(data: bytes) -> None:
    compilation = compile_source(data)
    assert compilation.definition is None
    assert compilation.diagnostics != ()


PIECES = [
    "states",
    "=",
    "{",
    "}",
    ";",
    '"a"',
    "a",
    "transitions",
    "target",
    "terminal",
    "true",
    "1",
    "initial",
    "let x = 1; in",
    "//",
    "&",
    "\n",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.integers(0, len(GOOD)))
def test_a_good_source_with_anything_in_the_middle_is_answered(pieces: list[str], at: int) -> None:
    compilation = compile_source((GOOD[:at] + " ".join(pieces) + GOOD[at:]).encode())
    for diagnostic in compilation.diagnostics:
        place = diagnostic.primary.place
        assert 0 <= place.span.start <= place.span.end <= len(place.source.text)


@pytest.mark.parametrize("code", FAULTS)
def test_the_same_source_gives_the_same_answer(code: str) -> None:
    source = FAULTS[code]
    data = source if isinstance(source, bytes) else source.encode()
    first, second = compile_source(data), compile_source(data)
    told = [(each.code, each.message, each.primary.place.span, each.path, each.states) for each in first.diagnostics]
    assert told == [(each.code, each.message, each.primary.place.span, each.path, each.states) for each in second.diagnostics]


def test_a_source_and_its_bytes_compile_alike() -> None:
    data = b"\xef\xbb\xbf" + GOOD.encode()
    from_bytes, from_source = compile_source(data, name="x"), compile_source(Source.from_bytes("x", data))
    assert from_bytes.content_digest == from_source.content_digest
    given = Source.from_text("x", "nope")
    assert compile_source(given).source is given is compile_source(given).diagnostics[0].primary.place.source
    assert from_bytes.definition == from_source.definition is not None


@pytest.mark.parametrize(
    "edits",
    [
        (),
        (("terminal = true", "terminal = false"),),
        (('target = "done"; ', ""),),
        (('"It is written."', '""'),),
        (("schema_version = 1", "schema_version = 3"),),
    ],
)
def test_a_warning_of_the_parser_hides_nothing(edits: tuple[tuple[str, str], ...]) -> None:
    source = changed(*edits)
    warned = source.replace('"Read it."', '"Read \\d it."')
    assert errors(source) == errors(warned)
    warnings = [each.code for each in compile_source(warned.encode()).diagnostics if each.severity is Severity.WARNING]
    assert warnings == ([] if "schema_version = 3" in source else ["unknown_escape"])


def test_a_warning_in_a_library_makes_no_flow_of_it() -> None:
    assert [is_flow_source(text) for text in (b'{ x = "\\d"; }', b'{ states = "\\d"; }', b'{ x = "\\d }')] == [False, True, True]


def test_a_name_that_is_no_identifier_is_not_compared_with_the_slug() -> None:
    found = compile_source(changed(('"paper"', '"a paper"')).encode(), slug="essay").diagnostics
    assert [each.code for each in found] == ["invalid_name"]


def test_a_warning_about_a_text_that_is_at_fault_anyway_is_left_out() -> None:
    source = changed(("    review = {", '    "re\u202eview" = {'), ('"Read it."', '"Read\u200b it."'))
    found = compile_source(source.encode()).diagnostics
    assert [each.code for each in found if each.code != "transition_target_not_found"] == ["invalid_state_id", "invisible_character"]


def test_one_text_used_in_two_places_says_where_each_fault_was_met() -> None:
    source = (
        'let t = { target = "nope"; condition = "c"; }; in '
        '{ schema_version = 1; name = "x"; initial = "a"; states = {'
        ' a = { instructions = "x"; transitions = { one = t; end = { target = "b"; condition = "d"; }; }; };'
        ' b = { instructions = "x"; transitions = { two = t; end = { target = "c"; condition = "d"; }; }; };'
        ' c = { instructions = ""; terminal = true; }; }; }'
    )
    found = compile_source(source.encode()).diagnostics
    assert [each.notes[-1] for each in found] == ["met at `states.a.transitions.one.target`", "met at `states.b.transitions.two.target`"]


@pytest.mark.parametrize("where", ["used", "unused", "inside a function", "in a chain"])
def test_every_import_is_refused_where_it_is_written(where: str) -> None:
    source = {
        "used": changed(('"Read it."', 'import "t.dcdl".read')),
        "unused": f'let lib = import "lib.dcdl"; in {{\n{GOOD}}}',
        "inside a function": f'let f = (x) => import "lib.dcdl"; in {{\n{GOOD}}}',
        "in a chain": changed(("schema_version = 1", f"schema_version = 1 {'+ 0 ' * 5_000}+ import lib")),
    }[where]
    found = [each for each in compile_source(source.encode()).diagnostics if each.severity is Severity.ERROR]
    assert [(each.code, each.kind) for each in found] == [("dcdl_import", "import")]
    place = found[0].primary.place
    assert place.source.slice(place.span).startswith("import ")


def test_the_word_import_in_a_text_is_no_import() -> None:
    assert errors(changed(('"Read it."', '"Read what you import."'))) == []


HEAVY = ("networkx", "pydantic", "sqlmodel", "sqlalchemy", "pydantic_ai", "rich", "stateward.store", "stateward.runtime")


def _loaded(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env={**os.environ})
    return {name for name in HEAVY if name in done.stdout.split()}


def test_importing_the_pipeline_loads_nothing_heavy() -> None:
    assert _loaded("import stateward.compiler.pipeline") == set()


def test_the_graph_library_is_loaded_for_a_graph_that_is_at_fault_and_for_no_other() -> None:
    compile_it = "from stateward.compiler.pipeline import compile_source\n"
    assert _loaded(f"{compile_it}compile_source(b'{{')") == set()
    assert _loaded(f"{compile_it}compile_source({GOOD.encode()!r})") == set()
    assert _loaded(f"{compile_it}compile_source({FAULTS['unreachable_state'].encode()!r})") == {"networkx"}


def test_the_library_of_the_typed_definition_is_loaded_where_one_is_asked_for() -> None:
    compile_it = f"from stateward.compiler.pipeline import compile_source\ndone = compile_source({GOOD.encode()!r})\n"
    assert _loaded(f"{compile_it}assert done.definition_digest and done.canonical and done.flow") == set()
    assert _loaded(f"{compile_it}assert done.definition") == {"pydantic"}


def test_the_definition_is_loaded_without_the_compiler() -> None:
    script = "import sys\nimport stateward.compiler.flow.definition\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.startswith("stateward.compiler")}
    own = ("", ".flow", ".flow.definition", ".flow.reserved")
    assert {each for each in loaded if ".predicates" not in each} == {f"stateward.compiler{each}" for each in own}


@pytest.mark.parametrize(
    ("data", "notes", "help_"),
    [
        ("x = 1;".encode("utf-16"), ("the file begins with the mark of UTF-16",), "save the file as UTF-8"),
        ("x = 1;".encode("utf-32"), ("the file begins with the mark of UTF-32",), "save the file as UTF-8"),
        ("x = 1;".encode("utf-16-le"), ("the bytes are those of UTF-16 without its mark",), "save the file as UTF-8"),
        ('name = "caf\u00e9";'.encode("utf-16-be"), ("the bytes are those of UTF-16 without its mark",), "save the file as UTF-8"),
        ("x = 1;".encode("utf-32-be"), ("the bytes are those of UTF-32 without its mark",), "save the file as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ("the file holds binary data",), None),
        (b"\x1f\x8b\x08\0\0\0", ("the file holds binary data",), None),
        (b'name = "caf\xe9";', (), "save the file as UTF-8"),
        (b"\x1b[1m\xe9\x1b[0m", (), "save the file as UTF-8"),
    ],
    ids=["UTF-16", "UTF-32", "bare UTF-16", "bare UTF-16 with an accent", "bare UTF-32", "PNG", "gzip", "Latin-1", "Latin-1 with escapes"],
)
def test_bytes_that_are_no_utf8_are_told_for_what_they_are(data: bytes, notes: tuple[str, ...], help_: str | None) -> None:
    (found,) = compile_source(data).diagnostics
    assert (found.code, found.notes, found.help) == ("source_not_utf8", notes, help_)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,2,3\n",
        "#!/bin/sh\nset -e\necho done\n",
        "CREATE TABLE x (a int);\n",
        "digraph G { a -> b; }\n",
        "def f(x):\n  return x\n",
    ],
    ids=["CSV", "shell", "SQL", "DOT", "Python"],
)
def test_a_text_of_another_kind_is_no_flow_source_and_nothing_else(text: str) -> None:
    (found,) = compile_source(text.encode()).diagnostics
    assert (found.code, found.message) == ("dcdl_syntax", "the text is not a Flow source")


def test_a_flow_with_a_fault_at_its_beginning_is_one_all_the_same() -> None:
    (found,) = compile_source(f"-- a flow\n{GOOD}".encode()).diagnostics
    assert found.message != "the text is not a Flow source"


def test_a_kind_that_the_parser_knows_is_named() -> None:
    markdown = "# A flow\n\nThis is some *text* about it, with a [link](x) and `code`.\n\n- one\n- two\n"
    for text in ('{"a": 1}', "<!DOCTYPE html>\n<p>x\n", markdown):
        (found,) = compile_source(text.encode()).diagnostics
        assert found.message.endswith(NO_DCDL)


def test_a_value_is_not_cheaper_for_being_asked_for_part_by_part() -> None:
    doubled = "".join(f"a{at} = {{ x = a{at - 1}; y = a{at - 1}; }}; " for at in range(1, 60))
    parts = " ".join(f"f{at} = a59;" for at in range(60))
    found = compile_source(f"let a0 = {{ q = 1; }}; {doubled}in {{ {parts} }}".encode()).diagnostics
    assert [each.message for each in found if each.kind == "limit"] == ["the value has more than 100,000 nodes"]
