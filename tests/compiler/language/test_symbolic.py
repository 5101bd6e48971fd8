"""Values that are known only at run time: what may be done with them, and what is refused where."""

import pytest

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.language.data import Hole
from stateward.compiler.language.evaluation import ObjectShape, OtherShape
from stateward.compiler.language.residues import Literal, Reference, Residue, parts_of
from stateward.compiler.limits import LIMITS
from stateward.compiler.predicates.constraints import Bounded, ElementsOf, EntriesOf, Family, Matching, OfType
from stateward.compiler.predicates.guards import NODES_MAX, ROOTS
from stateward.compiler.predicates.schema import DEPTH_MAX, AllOf, Exactly, Member, Plain, RecordOf, Schema, TupleOf
from tests.compiler.language.evaluated import evaluated, evaluation_of, story, told

INT, STRING = AllOf((OfType(Family.INT),)), AllOf((OfType(Family.STRING),))
A = RecordOf((Member("a", INT),))
AB = RecordOf((Member("a", INT), Member("b", STRING, "x")))
TWICE = "unsupported_feature: parts of a value are demanded to be of two types"
TAKE = "cannot take `vars.x`, which is known only at run time"
BEYOND = "constraint_violation: the default cannot be held: "


def residue_of(text: str, files: dict[str, str] | None = None) -> Residue:
    """Give the residue of a sound guard."""
    evaluation = evaluation_of(text, files, roots=ROOTS)
    residue = evaluation.residue(evaluation.root)
    assert [] == evaluation.diagnostics
    assert not isinstance(residue, Hole)
    return residue


def refused(text: str) -> list[Diagnostic]:
    """Give the faults of a guard that comes to nothing."""
    evaluation = evaluation_of(text, roots=ROOTS)
    assert isinstance(evaluation.residue(evaluation.root), Hole)
    return evaluation.diagnostics


def refused_story(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Give the message of the only fault of a guard and what it points at."""
    (fault,) = refused(text)
    assert "known_only_at_run_time" == fault.kind
    return fault.message, story(fault)


def written(residue: Residue) -> list[str]:
    """Give the parts of a residue, the whole first."""
    return [
        each.text if isinstance(each, Reference) else str(each.value) if isinstance(each, Literal) else type(each).__name__
        for each in parts_of(residue)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vars.x", ["vars.x"]),
        ('vars."a-b".c', ["vars.a-b.c"]),
        ("input.x", ["input.x"]),
        ("visits.draft > 1", ["Comparison", "visits.draft", "1"]),
        ("known.x || spent.exceeded", ["Junction", "known.x", "spent.exceeded"]),
        ("!vars.x", ["Negation", "vars.x"]),
        ("-vars.x", ["Computation", "0", "vars.x"]),
        ("vars.x && vars.y || true", ["Junction", "Junction", "vars.x", "vars.y", "True"]),
        ("true && vars.x", ["Junction", "True", "vars.x"]),
        ("false && vars.x", ["False"]),
        ("true || vars.x", ["True"]),
        ("vars.x && false", ["Junction", "vars.x", "False"]),
        ('vars.x == "a"', ["Comparison", "vars.x", "a"]),
        ("1.5 != vars.x", ["Comparison", "1.5", "vars.x"]),
        ("vars.x <= vars.y", ["Comparison", "vars.x", "vars.y"]),
        ("1 + 2 + vars.x * 3 - 4 >= 5", ["Comparison", "Computation", "Computation", "3", "Computation", "vars.x", "3", "4", "5"]),
        ("let v = vars; limit = 3; in v.x < limit", ["Comparison", "vars.x", "3"]),
        ("let below = (n: Int, most) => n < most; in below(vars.x, 3)", ["Comparison", "vars.x", "3"]),
        ("(vars.x as Int & >= 0) > 1", ["Comparison", "vars.x", "1"]),
        ("((vars.x + 1) as Int) > 1", ["Comparison", "Obligation", "Computation", "vars.x", "1", "1"]),
        ('match vars.x { "a": true; /^b/: vars.y; _: 1 < 2; }', ["Choice", "vars.x", "True", "vars.y", "True"]),
        ("{ a = vars.x; b = 1; }.a", ["vars.x"]),
        ("({ a = vars.x; b = 1; } // { b = 2; }).a", ["vars.x"]),
        ("({ a = true; } // { a = vars.x; }).a", ["vars.x"]),
        ("({ a = vars.x > 1; } // { a = vars.y; }).a", ["vars.y"]),
        ("({ a = vars.x; } as { a = Int; b = Int default 1; }).a > 0", ["Comparison", "vars.x", "0"]),
        ('import "other"', ["Comparison", "vars.x", "1"]),
        ("1 < 2", ["True"]),
    ],
)
def test_what_is_done_with_a_symbol_is_left_for_the_run(text: str, expected: list[str]) -> None:
    assert expected == written(residue_of(text, {"other": "vars.x > 1"}))


@pytest.mark.parametrize(
    ("text", "what", "primary"),
    [
        ("vars.x / 2 > 1", "`/`", "vars.x / 2"),
        ("2 / vars.x > 1", "`/`", "2 / vars.x"),
        ("vars.x ++ [1]", "`++`", "vars.x ++ [1]"),
        ("[1] ++ vars.x", "`++`", "[1] ++ vars.x"),
        ("vars.x // {}", "`//`", "vars.x // {}"),
        ("{} // vars.x", "`//`", "{} // vars.x"),
        ("({ a = vars.x; } // { a = {}; }).a", "`//`", "{ a = vars.x; } // { a = {}; }"),
        ("vars.x & true", "`&`", "vars.x & true"),
        ("Bool & vars.x", "`&`", "Bool & vars.x"),
        ("({ a = vars.x; } & { a = Bool; }).a", "`&`", "{ a = vars.x; } & { a = Bool; }"),
        ("vars.x default true", "`default`", "vars.x default true"),
        ("Bool default vars.x", "`default`", "Bool default vars.x"),
        ("vars.x as Bool default true", "`default`", "Bool default true"),
        ("3 as (> vars.x)", "a bound", "> vars.x"),
        ("3 as vars.x", "a constraint", "3 as vars.x"),
        ("({ a = 3; } as { ...vars.x }).a", "a constraint", "{ a = 3; } as { ...vars.x }"),
        ("((n: vars.x) => n)(1)", "a constraint", "1"),
        ("match 3 { vars.x: true; _: false; }", "a pattern", "vars.x"),
        ("match vars.y { vars.x: true; _: false; }", "a pattern", "vars.x"),
        ("match { a = vars.x; } { { a = Int; }: true; _: false; }", "a pattern", "{ a = Int; }"),
        ("match vars.y { [...vars.x]: true; _: false; }", "a constraint", "vars.x"),
        ("vars.x(1)", "a call", "vars.x"),
        ("let o = { b = 1; }; in { a = vars.x; a.b = 1; }.a.b", "a field added to it", "vars.x"),
    ],
)
def test_what_needs_the_value_now_is_refused_at_the_use(text: str, what: str, primary: str) -> None:
    message, ((first, label), *_) = refused_story(text)
    assert f"{what} cannot take `vars.x`, which is known only at run time" == message
    assert (primary, "needs the value now") == (first, label)


def test_the_symbol_is_shown_beside_the_use() -> None:
    text = "let limit = 2 * vars.x + 1; in 10 / limit > 1"
    assert [("10 / limit", "needs the value now"), ("vars.x", "known only at run time")] == refused_story(text)[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vars.x && 1", "type_mismatch: logic needs true or false, and this is the Int `1`"),
        ("vars.x && nope", "unresolved_identifier: `nope` is not defined"),
        ("[] || vars.x", "type_mismatch: logic needs true or false, and this is an Array"),
        ('vars.x + "a" > 1', 'type_mismatch: arithmetic needs numbers, and this is the String `"a"`'),
        ("vars.x < true", "type_mismatch: only numbers have an order, and this is the Bool `true`"),
        ("vars.x == [1]", "type_mismatch: a value that is known only at run time and an Array cannot be compared"),
        ("vars.x == Int", "type_mismatch: a value that is known only at run time and a constraint cannot be compared"),
        ("vars.x as ((n) => n)", "unsupported_feature: a function is no type"),
        ("vars.x as Email", "unsupported_feature: the check `Email` is not available"),
        ("match vars.x { 1: [2]; _: true; }", "type_mismatch: an arm that is chosen at run time comes to an Array"),
        ("match vars.x { 1: true; _: vars.y / 0; }", "known_only_at_run_time: `/` cannot take `vars.y`, which is known only at run time"),
        ("match vars.x { ((n) => n): true; _: false; }", "unsupported_feature: a function is no type"),
        ("(vars.x + 1).y", "type_mismatch: what is computed at run time has no fields"),
        ("visits.draft.x", "type_mismatch: `visits.draft` is an Int and has no fields"),
        ("spent.exceded", "unresolved_identifier: `spent` has no field `exceded`"),
        ("vars", "type_mismatch: `vars` alone is no value"),
        ("known && true", "type_mismatch: `known` alone is no value"),
        ("visits > 3", "type_mismatch: `visits` alone is no value"),
        ("input as Int", "type_mismatch: `input` alone is no value"),
        ("match spent { _: true; }", "type_mismatch: `spent` alone is no value"),
        ("Bool", "type_mismatch: a guard comes to a Bool, and this is a constraint"),
        ("{ a = 1; }", "type_mismatch: a guard comes to a Bool, and this is an Object"),
        ("(n) => n", "type_mismatch: a guard comes to a Bool, and this is a function"),
        ('"vars.x > 3"', "type_mismatch: a guard is an expression, not a text"),
    ],
)
def test_what_is_wrong_with_a_guard_whatever_its_symbols_hold_is_told(text: str, expected: str) -> None:
    assert [expected] == [f"{each.kind}: {each.message}" for each in refused(text)]


def test_a_root_alone_says_how_it_is_written() -> None:
    assert ["write `vars.<variable>`", "write `visits.<state>`", "write `spent.exceeded`"] == [
        refused(f"{root} == 1")[0].help for root in ("vars", "visits", "spent")
    ]


def test_a_text_in_place_of_a_guard_loses_its_quotes() -> None:
    assert "write the expression without the quotes" == refused('"vars.x > 3"')[0].help


def test_all_arms_are_searched_for_faults() -> None:
    found = refused("match vars.x { 1: nope; 2: never; _: true; }")
    assert ["`nope` is not defined", "`never` is not defined"] == [each.message for each in found]


def test_data_that_comes_to_a_symbol_is_refused_at_the_field() -> None:
    evaluation = evaluation_of("{ a = 1; b.c = vars.x; d = [2 * vars.y]; }", roots=ROOTS)
    evaluation.data(evaluation.root)
    assert [(("b", "c"), "vars.x"), (("d", 0), "2 * vars.y")] == [(each.path, story(each)[0][0]) for each in evaluation.diagnostics]
    assert {"known_only_at_run_time"} == {each.kind for each in evaluation.diagnostics}


def test_the_shape_of_a_symbol_is_none_of_data() -> None:
    evaluation = evaluation_of("vars.x", roots=ROOTS)
    shape = evaluation.shape(evaluation.root)
    assert isinstance(shape, OtherShape)
    assert "a value that is known only at run time" == shape.what


def test_a_name_that_a_scope_binds_is_no_symbol() -> None:
    assert ["True"] == written(residue_of("let vars = { x = true; }; in vars.x"))


@pytest.mark.parametrize("root", ROOTS)
def test_without_roots_a_root_is_an_unknown_name(root: str) -> None:
    found = evaluated(f"{{ a = {root}; }}")
    assert [f"unresolved_identifier: `{root}` is not defined"] == told(found)


def test_a_guard_of_exactly_the_parts_allowed_is_taken_and_one_more_is_refused() -> None:
    def chain(parts: int) -> str:
        return " && ".join(["vars.x"] * ((parts + 1) // 2)) if parts % 2 else "!" + chain(parts - 1)

    assert NODES_MAX == residue_of(f"!({chain(NODES_MAX - 1)})").size
    (fault,) = refused(chain(NODES_MAX + 1))
    assert ("limit", "the expression has more than 256 parts that are known only at run time") == (fault.kind, fault.message)


def test_doubling_ends_where_it_is_too_large() -> None:
    lets = "".join(f"v{at} = v{at - 1} + v{at - 1}; " for at in range(1, 400))
    (fault,) = refused(f"let v0 = vars.x; {lets} in v399 > 0")
    assert "limit" == fault.kind


def test_a_function_that_calls_itself_at_a_symbol_ends() -> None:
    (fault,) = refused("let f = (n) => match vars.x { true: f(n); _: false; }; in f(1)")
    assert "calls are nested deeper than 1,000" == fault.message


def test_a_reference_has_a_most_of_names() -> None:
    names = ".a" * (DEPTH_MAX - 1)
    assert [f"vars{names}"] == written(residue_of(f"vars{names}"))
    assert ["limit"] == [each.kind for each in refused(f"vars{names}.a")]


def schema_of(text: str) -> "tuple[Schema, Plain | None]":
    evaluation = evaluation_of(text)
    declared = evaluation.schema(evaluation.root)
    assert [] == evaluation.diagnostics
    assert not isinstance(declared, Hole)
    return declared


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Int", (INT, None)),
        ("Int default 3", (INT, 3)),
        ("Int & >= 0 & < 10", (AllOf((OfType(Family.INT), Bounded(">=", 0), Bounded("<", 10))), None)),
        ('String & /^a/ default "ab"', (AllOf((OfType(Family.STRING), Matching("^a"))), "ab")),
        ('"draft"', (Exactly("draft"), None)),
        ("[...Int] default [1, 2]", (AllOf((ElementsOf(INT),)), [1, 2])),
        ("{...String} default {}", (AllOf((EntriesOf(STRING),)), {})),
        ("[Int, String]", (TupleOf((INT, STRING)), None)),
        ('{ a = Int; b = String default "x"; ...Int }', (RecordOf((Member("a", INT), Member("b", STRING, "x")), INT), None)),
        ("let T = { a = Int; }; in { one = T; two = T; }", (RecordOf((Member("one", A), Member("two", A))), None)),
        ('[...{ a = Int; b = String default "x"; }] default [{ a = 1; }]', (AllOf((ElementsOf(AB),)), [{"a": 1, "b": "x"}])),
        ("[...(Int default 3)]", (AllOf((ElementsOf(INT),)), None)),
        ("[...Int] & [...(> 3)]", (AllOf((ElementsOf(AllOf((OfType(Family.INT), Bounded(">", 3)))),)), None)),
    ],
)
def test_a_constraint_is_taken_down_to_a_closed_one(text: str, expected: "tuple[Schema, Plain | None]") -> None:
    assert expected == schema_of(text)


DEEP = "Int"
for _ in range(DEPTH_MAX + 1):
    DEEP = f"[...{DEEP}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Int default "a"', ('constraint_violation: the String `"a"` is not an Int', "Int")),
        ("Int default 9007199254740992", (f"{BEYOND}the Int lies beyond 2^53 - 1", "9007199254740992")),
        ("[...Int] default [1, 9007199254740992]", (f"{BEYOND}at `[1]`, the Int lies beyond 2^53 - 1", "[1, 9007199254740992]")),
        ("9007199254740992", ("constraint_violation: no variable holds an Int beyond 2^53 - 1", "9007199254740992")),
        ("Unknown default Int", ("materialize: `topic` has no value and no default", "Int")),
        ("{ a = Int; } default { a = 1; }", ("unsupported_feature: an Object takes no default", "{ a = 1; }")),
        ("3 default 4", ("unsupported_feature: the Int `3` takes no default", "4")),
        ("vars.x", (f"known_only_at_run_time: a constraint {TAKE}", "vars.x")),
        ("Int default vars.x", (f"known_only_at_run_time: `default` {TAKE}", "Int default vars.x")),
        ("(x) => x", ("unsupported_feature: a function is no type", "(x) => x")),
        ("{ a = [...Email]; }", ("unsupported_feature: the check `Email` is not available", "Email")),
        (
            "[...{ a = Int; }] & [...Int]",
            (TWICE, "[...{ a = Int; }] & [...Int]"),
        ),
        ("let T = { next = T; }; in T", ("cycle: the constraint contains itself", "T")),
        ("let T = [...T]; in T", ("cycle: the constraint contains itself", "T")),
        ("let f = (n) => { x = f(n); }; in f(1)", ("limit: the constraint is nested deeper than 32", "f(n)")),
        (DEEP, ("limit: the constraint is nested deeper than 32", "Int")),
        ("nope", ("unresolved_identifier: `nope` is not defined", "nope")),
    ],
)
def test_what_no_variable_can_have_is_told_where_it_stands(text: str, expected: tuple[str, str]) -> None:
    evaluation = evaluation_of(text, roots=ROOTS)
    assert isinstance(evaluation.schema(evaluation.root, ("topic",)), Hole)
    assert [expected] == [(f"{each.kind}: {each.message}", story(each)[0][0]) for each in evaluation.diagnostics]


def test_a_constraint_is_counted_as_a_tree() -> None:
    lets = "".join(f"v{at} = {{ a = v{at - 1}; b = v{at - 1}; }}; " for at in range(1, 30))
    evaluation = evaluation_of(f"let v0 = Int; {lets} in v29")
    assert isinstance(evaluation.schema(evaluation.root), Hole)
    assert ["the constraint has more than 1,024 parts"] == [each.message for each in evaluation.diagnostics]


def test_all_constraints_of_an_evaluation_have_a_most_of_nodes_together() -> None:
    fields = " ".join(f"f{at} = Int;" for at in range(900))
    evaluation = evaluation_of(f"let T = {{ {fields} }}; in {{ {' '.join(f'v{at} = T;' for at in range(200))} }}")
    shape = evaluation.shape(evaluation.root)
    assert isinstance(shape, ObjectShape)
    made = [evaluation.schema(each.cell) for each in shape.fields.values()]
    assert LIMITS.nodes // 901 == sum(not isinstance(each, Hole) for each in made)
    assert ["the value has more than 100,000 nodes"] == [each.message for each in evaluation.diagnostics]


def test_a_fault_inside_a_constraint_is_told_with_its_path() -> None:
    evaluation = evaluation_of("{ a = [Int, (x) => x]; }")
    assert isinstance(evaluation.schema(evaluation.root, ("variables", "v")), Hole)
    assert [("variables", "v", "a", 1)] == [each.path for each in evaluation.diagnostics]


def test_a_constraint_of_a_symbol_is_told_through_the_call_it_came_by() -> None:
    (fault,) = refused("let f = (n: Email) => n; in f(vars.x)")
    assert [("Email", "no known type"), ("f(vars.x)", "called here")] == story(fault)
