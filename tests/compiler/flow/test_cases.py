"""Cases from the field, each as source and whole rendering together."""

import json
from pathlib import Path

import pytest

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.diagnostics.text import Look, render
from stateward.compiler.flow.schema import FLOW, STATE, TRANSITION, Level
from stateward.compiler.pipeline import Compilation, compile_source
from stateward.compiler.source import Span
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled, visible
from tests.compiler.flow.sources import GOOD, changed

SNAPSHOTS = Path(__file__).parent / "snapshots" / "cases"

LONG_STATE = (
    'schema_version = 1;\nname = "long";\ninitial = "write";\nstates = {\n    write = {\n'
    + "".join(f"        # remark {line}\n" for line in range(6, 41))
    + '        instrutions = "Write it.";\n'
    + "".join(f"        # remark {line}\n" for line in range(42, 60))
    + '        transitions = { on = { target = "done"; condition = "Written."; }; };\n    };\n'
    + '    done = { instructions = ""; terminal = true; };\n};\n'
)

CASES: dict[str, str] = {
    "five_faults": """\
schema_version = 1;
name = "five_faults";
initial = "drfat";
states = {
    draft = {
        instrutions = "Write the paper.";
        transitions = {
            submit = { target = "reveiw"; condition = "The paper is written."; };
            again = { target = "draft"; condition = "  "; };
        };
    };
    review = {
        instructions = "Read it.";
        terminal = "false";
        transitions = { accept = { target = "done"; condition = "Fine."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
""",
    "a_target_that_dangles_beside_an_unknown_field": """\
schema_version = 1;
name = "a_target_that_dangles_beside_an_unknown_field";
initial = "a";
states = {
    a = { instructions = "Work."; transitions = { on = { target = "reveiw"; condition = "Worked."; }; }; };
    review = {
        instructions = "Review.";
        reviewer = "somebody else";
        transitions = { on = { target = "done"; condition = "Reviewed."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
""",
    "a_misspelt_field_far_down": LONG_STATE,
    "keys_written_twice": """\
schema_version = 1;
name = "keys_written_twice";
initial = "a";
states = {
    a = {
        instructions = "one";
        instructions = "two";
        transitions = {
            go = { target = "b"; condition = "c"; };
            go = { target = "done"; condition = "d"; };
        };
    };
    b = { instructions = "x"; transitions = { on = { target = "done"; condition = "e"; }; }; };
    b = { instructions = "other"; transitions = { on = { target = "done"; condition = "e"; }; }; };
    done = { instructions = ""; terminal = true; };
};
""",
    "values_that_come_from_elsewhere": """\
let
    to = (t, c) => { target = t; condition = c; };
    base = { instructions = " "; transitions = { go = to("nowhere", "There."); }; };
in
{
    schema_version = 1;
    name = "values_that_come_from_elsewhere";
    initial = "a";
    states = {
        a = base;
        b = base // { transitions.stop = to("done", ""); extra = 3; };
        done = { instructions = ""; terminal = 1 == 1; };
    };
}
""",
    "one_transition_without_its_id": """\
schema_version = 1;
name = "one_transition_without_its_id";
initial = "a";
states = {
    a = {
        instructions = "Work.";
        transitions = { target = "done"; condition = "Worked."; };
    };
    done = { instructions = ""; terminal = true; };
};
""",
    "fields_on_the_wrong_level": """\
schema_version = 1;
name = "fields_on_the_wrong_level";
initial = "a";
instructions = "Be careful.";
state = {
    a = {
        instructions = "Work.";
        condition = "Worked.";
        transition = { on = { target = "don"; condition = "Worked."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
""",
    "two_ids_that_look_the_same": """\
schema_version = 1;
name = "two_ids_that_look_the_same";
initial = "a";
states = {
    a = { instructions = "x"; transitions = { on = { target = "fac\u0327ade"; condition = "c"; }; }; };
    "fa\u00e7ade" = { instructions = "x"; transitions = { on = { target = "done"; condition = "c"; }; }; };
    done = { instructions = ""; terminal = true; };
};
""",
    "two_spellings_of_one_id_declared": """\
schema_version = 1;
name = "two_spellings_of_one_id_declared";
initial = "a";
states = {
    a = {
        instructions = "x";
        transitions = { one = { target = "fac\u0327ade"; condition = "c"; }; two = { target = "fa\u00e7ade"; condition = "d"; }; };
    };
    "fa\u00e7ade" = { instructions = ""; terminal = true; };
    "fac\u0327ade" = { instructions = ""; terminal = true; };
};
""",
    "wrong_types_of_every_kind": """\
schema_version = "1";
name = 5;
initial = ["a"];
states = {
    a = { instructions = { text = "x"; }; terminal = "true"; };
    b = "done";
    c = { instructions = 3; transitions = ["b"]; };
    d = { instructions = "x"; transitions = { on = "a"; off = { target = true; condition = 1.5; }; }; };
};
""",
    "types_and_functions_where_data_belongs": """\
schema_version = Int;
name = String & /^[a-z]+$/;
initial = (x) => x;
states = { a = { instructions = String; terminal = Bool default true; }; };
""",
    "a_root_that_is_no_object": '["a", "b"]\n',
    "an_empty_object": "{}\n",
    "two_parts_that_no_end_can_be_reached_from": """\
schema_version = 1;
name = "two_parts_that_no_end_can_be_reached_from";
initial = "a";
states = {
    a = { instructions = "x"; transitions = { end = { target = "done"; condition = "1"; }; on = { target = "fork"; condition = "2"; }; }; };
    fork = { instructions = "x"; transitions = { b = { target = "b"; condition = "1"; }; d = { target = "d"; condition = "2"; }; }; };
    b = { instructions = "x"; transitions = { on = { target = "c"; condition = "1"; }; }; };
    c = { instructions = "x"; transitions = { on = { target = "b"; condition = "1"; }; }; };
    d = { instructions = "x"; transitions = { again = { target = "d"; condition = "1"; }; }; };
    done = { instructions = ""; terminal = true; };
    lost = { instructions = "x"; transitions = { on = { target = "after"; condition = "1"; }; }; };
    after = { instructions = "x"; transitions = { on = { target = "done"; condition = "1"; }; }; };
};
""",
    "orphans": """\
schema_version = 1;
name = "orphans";
initial = "a";
states = {
    a = { instructions = "Work."; transitions = { on = { target = "done"; condition = "Worked."; }; }; };
    orphan = { instructions = "Wait."; transitions = { on = { target = "done"; condition = "Waited."; }; }; };
    one = { instructions = "Play."; transitions = { on = { target = "two"; condition = "Played."; }; }; };
    two = { instructions = "Rest."; transitions = { on = { target = "one"; condition = "Rested."; }; }; };
    done = { instructions = ""; terminal = true; };
};
""",
    "a_ring_without_an_end": """\
schema_version = 1;
name = "a_ring_without_an_end";
initial = "a";
states = {
    a = { instructions = "Work."; transitions = { on = { target = "b"; condition = "1"; }; }; };
    b = { instructions = "Work."; transitions = { on = { target = "c"; condition = "1"; }; }; };
    c = { instructions = "Work."; transitions = { on = { target = "a"; condition = "1"; }; }; };
};
""",
    "a_ring_beside_a_way_out": """\
schema_version = 1;
name = "a_ring_beside_a_way_out";
initial = "a";
states = {
    a = {
        instructions = "Work.";
        transitions = {
            end = { target = "done"; condition = "Worked."; };
            on = { target = "b"; condition = "Not yet."; };
        };
    };
    b = { instructions = "Work."; transitions = { on = { target = "c"; condition = "1"; }; }; };
    c = { instructions = "Work."; transitions = { on = { target = "b"; condition = "1"; }; }; };
    done = { instructions = ""; terminal = true; };
};
""",
    "a_brace_too_many_at_the_end": f"{{\n{GOOD}}}\n}}\n",
    "a_word_after_the_end": f"{{\n{GOOD}}}\nx\n",
    "a_second_value_after_the_end": f'{{\n{GOOD}}}\nstates = {{ a = {{ instructions = ""; terminal = true; }}; }};\n',
    "a_nul_after_the_end": f"{{\n{GOOD}}}\n\0",
    "a_misspelt_field_on_line_3": GOOD.replace("initial", "inital"),
    "strange_ids": """\
schema_version = 1;
name = "strange_ids";
initial = "ok";
states = {
    ok = {
        instructions = "x";
        transitions = {
            a = { target = "__proto__"; condition = "a"; };
            b = { target = "constructor"; condition = "b"; };
            "a/b" = { target = "a\u202ebc"; condition = "c"; };
            "$cancel" = { target = "$x"; condition = "d"; };
        };
    };
    "a\u202ebc" = { instructions = ""; terminal = true; };
    "a\u200bbc" = { instructions = ""; terminal = true; };
    "__proto__" = { instructions = ""; terminal = true; };
    constructor = { instructions = ""; terminal = true; };
    "$cancelled" = { instructions = ""; terminal = true; };
    "$x" = { instructions = ""; terminal = true; };
    "" = { instructions = ""; terminal = true; };
    "a.b" = { instructions = ""; terminal = true; };
    "a#b" = { instructions = ""; terminal = true; };
    "a>b" = { instructions = ""; terminal = true; };
};
""",
    "habits_from_other_tools": """\
version = 1;
id = "habits_from_other_tools";
start = work;
steps = {
    work = {
        prompt = "Work.";
        final = no;
        on = {
            ready = { next = "done"; when = "Worked."; };
            again = { goto = work; criteria = "To be done again."; };
        };
    };
    done = { description = "Done."; isTerminal = True; };
};
""",
    "a_flow_inside_of_a_field": f"paper = {{\n{GOOD.replace('reveiw', 'review').replace(chr(34) + 'done' + chr(34), 'done')}}};\n",
    "a_level_left_out": """\
schema_version = 1;
name = "a_level_left_out";
initial = "work";
instructions = "Work.";
transitions = { on = { target = "done"; condition = "Worked."; }; };
""",
    "a_way_out_that_stands_in_its_state": """\
schema_version = 1;
name = "a_way_out_that_stands_in_its_state";
initial = "work";
states = {
    work = { instructions = "Work."; target = "done"; condition = nowhere; };
    done = { instructions = ""; terminal = true; };
};
""",
    "nested_too_deep": "{ a = " * 600 + "1" + "; }" * 600 + "\n",
    "a_missing_semicolon": GOOD.replace('"Read it.";\n', '"Read it."\n        # what comes next\n'),
    "an_unfinished_edit": GOOD.replace('"Nothing is to be mended."; };', '"Nothing is to be'),
    "an_import_that_nothing_uses": f'let lib = import "./lib.dcdl"; in {{\n{GOOD}}}\n',
}


def compiled(name: str) -> Compilation:
    return compile_source(CASES[name].encode(), name=f"flows/{name}.dcdl", slug=name)


@pytest.mark.parametrize("name", CASES)
def test_renderings(name: str) -> None:
    source = CASES[name]
    found = compile_source(source.encode(), name=f"flows/{name}.dcdl").diagnostics
    sections = [(f"flows/{name}.dcdl", visible(source)), ("rendering", render(found, Look(width=110)))]
    assert_snapshot(SNAPSHOTS / f"{name}.txt", titled(sections))


def codes(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [each.code for each in diagnostics]


def text_at(diagnostic: Diagnostic) -> str:
    place = diagnostic.primary.place
    return place.source.slice(place.span)


def test_five_faults_are_five_diagnostics_each_at_its_own_text() -> None:
    found = compiled("five_faults").diagnostics
    assert [(each.code, text_at(each)) for each in found] == [
        ("initial_not_found", '"drfat"'),
        ("unknown_field", "instrutions"),
        ("transition_target_not_found", '"reveiw"'),
        ("condition_empty", '"  "'),
        ("wrong_type", '"false"'),
    ]
    assert [each.help for each in found] == [
        "did you mean `draft`?",
        "did you mean `instructions`?",
        "did you mean `review`?",
        None,
        "write `false`",
    ]


def test_a_misspelt_field_is_one_fault_at_its_key_and_its_line() -> None:
    (found,) = compile_source(LONG_STATE.encode()).diagnostics
    place = found.primary.place
    assert (found.code, text_at(found), place.source.line_column(place.span.start)) == ("unknown_field", "instrutions", (41, 9))
    assert found.help == "did you mean `instructions`?"


@pytest.mark.parametrize(("level", "inside"), [(FLOW, ""), (STATE, "review"), (TRANSITION, "accept")])
def test_the_names_listed_as_allowed_are_those_that_are_accepted(level: Level, inside: str) -> None:
    anchor = {"": 'name = "paper";', "review": 'instructions = "Read it.";', "accept": 'target = "done";'}[inside]
    (fault,) = compile_source(changed((anchor, f"{anchor} xyzzy = 1;")).encode()).diagnostics
    listed = fault.notes[0]
    values = {"schema_version": "1", "states": "{}", "transitions": "{}", "terminal": "true"}
    candidates = {*FLOW.names, *STATE.names, *TRANSITION.names, "id", "version", "description", "next", "when"}
    for name in sorted(candidates):
        value = values.get(name, '"x"')
        found = compile_source(changed((anchor, f"{anchor} {name} = {value};")).encode()).diagnostics
        accepted = "unknown_field" not in codes(found)
        assert (f"`{name}`" in listed, name) == (accepted, name)


def test_a_key_written_twice_is_an_error_at_the_second_with_the_first_beside_it() -> None:
    found = compiled("keys_written_twice").diagnostics
    assert [(each.code, each.kind, text_at(each)) for each in found] == [
        ("dcdl_evaluation", "conflict", "instructions"),
        ("dcdl_evaluation", "conflict", "go"),
        ("dcdl_evaluation", "conflict", "b"),
    ]
    for each in found:
        (first,) = each.secondary
        assert first.place.source.slice(first.place.span) == text_at(each)
        assert first.place.span.start < each.primary.place.span.start


@pytest.mark.parametrize(
    ("surplus", "at"), [("}", "}"), ("x", "x"), ('\nstates = { a = { instructions = ""; terminal = true; }; };', "states"), ("\0", "\0")]
)
def test_whatever_follows_the_first_complete_value_is_an_error_there(surplus: str, at: str) -> None:
    source = "{\n" + GOOD + "}\n"
    found = compile_source((source + surplus).encode()).diagnostics
    assert codes(found)[:1] == ["dcdl_syntax"]
    assert found[0].primary.place.span.start == len(source) + surplus.index(at)


@pytest.mark.parametrize("trailing", ["", " ", "\n\n", "\t\r\n", "# the end", "\n# one\n# two\n"])
def test_blanks_and_comments_may_follow(trailing: str) -> None:
    assert compile_source(f"{{\n{GOOD}}}{trailing}".encode()).definition is not None


SAVED = {
    "plain": GOOD.encode(),
    "crlf": GOOD.replace("\n", "\r\n").encode(),
    "mark": b"\xef\xbb\xbf" + GOOD.encode(),
    "mark and crlf": b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(),
}


def test_marks_and_line_ends_do_not_change_the_graph_but_do_change_the_content() -> None:
    compilations = [compile_source(data) for data in SAVED.values()]
    definitions = {each.definition.model_dump_json() for each in compilations if each.definition is not None}
    assert (len(definitions), {len(each.diagnostics) for each in compilations}) == (1, {0})
    assert len({each.content_digest for each in compilations}) == len(SAVED)
    assert len({each.definition_digest for each in compilations}) == 1


@pytest.mark.parametrize("saved", SAVED)
def test_marks_and_line_ends_do_not_move_a_fault(saved: str) -> None:
    (found,) = compile_source(SAVED[saved].replace(b"initial", b"inital")).diagnostics
    place = found.primary.place
    assert (found.code, place.source.line_column(place.span.start), place.span) == (
        "unknown_field",
        (3, 1),
        Span(place.source.text.index("inital"), place.source.text.index("inital") + 6),
    )
    assert place.source.byte_offset(place.span.start) == SAVED[saved].replace(b"initial", b"inital").index(b"inital")


@pytest.mark.parametrize(
    "text",
    ["{" * 100_000, "{a=" * 100_000 + "1" + "}" * 100_000, "-" * 100_000 + "1", "(" * 100_000 + "1" + ")" * 100_000],
    ids=["opened", "nested", "signs", "parentheses"],
)
def test_nesting_without_end_is_one_error_that_names_the_limit(text: str) -> None:
    found = compile_source(text.encode()).diagnostics
    assert [(each.code, each.kind) for each in found][:1] == [("dcdl_syntax", "limit")] or codes(found) == ["source_too_large"]
    assert "500" in found[0].message or "262,144" in found[0].message
    assert len(found) == 1


STRANGE = {
    "turned": ("a\u202ebc", "U+202E RIGHT-TO-LEFT OVERRIDE"),
    "invisible": ("a\u200bbc", "U+200B ZERO WIDTH SPACE"),
    "reserved": ("$cancelled", "is reserved"),
    "dollar": ("$x", "begins with `$`"),
    "empty": ("", "is empty"),
    "long": ("s" * 10_000, "has 10,000 bytes"),
    "slash": ("a/b", "`/`"),
    "dot": ("a.b", "`.`"),
    "hash": ("a#b", "`#`"),
    "greater": ("a>b", "`>`"),
    "composed": ("fa\u00e7ade", "U+00E7 LATIN SMALL LETTER C WITH CEDILLA"),
    "decomposed": ("fac\u0327ade", "U+0327 COMBINING CEDILLA"),
    "null": ("null", ""),
    "proto": ("__proto__", ""),
    "constructor": ("constructor", ""),
    "dunder": ("__class__", ""),
    "minus": ("-", ""),
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_id_is_refused_with_its_reason_or_works_everywhere(name: str) -> None:
    id_, reason = STRANGE[name]
    source = changed(('target = "review"', f"target = {json.dumps(id_, ensure_ascii=False)}"), ("    review = {", f'    "{id_}" = {{'))
    compilation = compile_source(source.encode())
    errors = [each for each in compilation.diagnostics if each.severity == "error" and each.path[:1] == ("states",)]
    if not reason:
        assert compilation.definition is not None
        assert compilation.definition.state(id_).id == id_
        assert json.loads(compilation.definition.model_dump_json())["states"][1]["id"] == id_
        return
    assert compilation.definition is None
    told = [each for each in errors if each.path == ("states", id_)]
    assert [each.code for each in told] == ["reserved_state" if name == "reserved" else "invalid_state_id"]
    assert reason in told[0].message
