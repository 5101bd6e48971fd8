"""Guards with types: what each operator takes, what is proved, what a choice leaves out, what is folded."""

import pytest

from stateward.compiler.diagnostics.model import Diagnostic
from stateward.compiler.language.evaluation import ObjectShape
from stateward.compiler.predicates.constraints import Anything, EntriesOf, Family, Matching, OfType
from stateward.compiler.predicates.guards import NODES_MAX, ROOTS, And, Compare, Compute, Fits, Guard, If, Lit, Not, Or, Ref, parts_of
from stateward.compiler.predicates.schema import AllOf, Exactly
from tests.compiler.language.evaluated import evaluation_of, story
from tests.compiler.language.guarded import TYPES, Declarations, guard_of, typed

FLAG, OTHER, COUNT, FEW = Ref(("vars", "flag")), Ref(("vars", "other")), Ref(("vars", "count")), Ref(("vars", "few"))
TEXT, SIZE, ANY = Ref(("vars", "text")), Ref(("vars", "size")), Ref(("vars", "any"))
INT = AllOf((OfType(Family.INT),))
UNKNOWN = AllOf((Anything(),))


def faults(text: str, types: Declarations = TYPES) -> list[Diagnostic]:
    guard, evaluation = typed(text, types)
    assert guard is None
    return evaluation.diagnostics


def messages(text: str, types: Declarations = TYPES) -> list[str]:
    return [f"{each.kind}: {each.message}" for each in faults(text, types)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vars.flag", FLAG),
        ("input.flag && known.count", And((Ref(("input", "flag")), Ref(("known", "count"))))),
        ("visits.draft > 1 || spent.exceeded", Or((Compare(">", Ref(("visits", "draft")), Lit(1)), Ref(("spent", "exceeded"))))),
        ("!vars.flag", Not(FLAG)),
        ("vars.flag == vars.other", Compare("==", FLAG, OTHER)),
        ("vars.count != 1.5", Compare("!=", COUNT, Lit(1.5))),
        ("vars.rate == vars.count", Compare("==", Ref(("vars", "rate")), COUNT)),
        ('vars.text == "a"', Compare("==", TEXT, Lit("a"))),
        ("vars.number >= vars.few", Compare(">=", Ref(("vars", "number")), FEW)),
        ("vars.count + vars.rate < 2", Compare("<", Compute("+", COUNT, Ref(("vars", "rate"))), Lit(2))),
        ("-vars.count * 2 < 2 - 3", Compare("<", Compute("*", Compute("-", Lit(0), COUNT), Lit(2)), Lit(-1))),
        ('vars.record.name == "a"', Compare("==", Ref(("vars", "record", "name")), Lit("a"))),
        ('vars.record.parts."x-y" == 1', Compare("==", Ref(("vars", "record", "parts", "x-y")), Lit(1))),
        ("match vars.any.deep { true: true; _: false; }", Fits(Ref(("vars", "any", "deep")), Exactly(True))),
        ("let over = (n: Int, most: Int) => n > most; in over(vars.count, 3)", Compare(">", COUNT, Lit(3))),
        ("(vars.few as Int & >= 0) == 1", Compare("==", FEW, Lit(1))),
        (
            "(vars.record as { name = String; parts = {...Int}; }).parts.x == 1",
            Compare("==", Ref(("vars", "record", "parts", "x")), Lit(1)),
        ),
        ("((vars.count + 1) as Int) == 1", Compare("==", Compute("+", COUNT, Lit(1)), Lit(1))),
        (
            '((match vars.flag { true: "a"; false: "b"; }) as String & /^[ab]$/) == "a"',
            Compare("==", If(FLAG, Lit("a"), Lit("b")), Lit("a")),
        ),
    ],
)
def test_an_operator_takes_operands_of_its_types(text: str, expected: Guard) -> None:
    assert expected == guard_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!vars.count", "logic needs true or false, and this is the Int `vars.count`"),
        ("vars.flag && vars.text", "logic needs true or false, and this is the String `vars.text`"),
        ("vars.any || vars.flag", "logic needs true or false, and this is `vars.any` of any type"),
        ("true && vars.count + 1", "logic needs true or false, and this is an Int"),
        ("vars.flag > 1", "only numbers have an order, and this is the Bool `vars.flag`"),
        ("vars.text < vars.count", "only numbers have an order, and this is the String `vars.text`"),
        ("vars.list + 1 > 2", "arithmetic needs numbers, and this is the Array `vars.list`"),
        ("-vars.record > 2", "arithmetic needs numbers, and this is the Object `vars.record`"),
        ("visits.draft && true", "logic needs true or false, and this is the Int `visits.draft`"),
        ("known.flag > 0", "only numbers have an order, and this is the Bool `known.flag`"),
        ('vars.count == "1"', 'the Int `vars.count` and the String `"1"` cannot be compared'),
        ("vars.count == true", "the Int `vars.count` and the Bool `true` cannot be compared"),
        ("1 == vars.flag", "the Int `1` and the Bool `vars.flag` cannot be compared"),
        ("vars.any == 1", "`vars.any` of any type and the Int `1` cannot be compared"),
        ("vars.list == vars.list", "the Array `vars.list` and the Array `vars.list` cannot be compared"),
        ("vars.number == vars.text", "the number `vars.number` and the String `vars.text` cannot be compared"),
        ("vars.count + 1 == vars.flag", "an Int and the Bool `vars.flag` cannot be compared"),
        ("vars.count", "a guard comes to a Bool, and this is the Int `vars.count`"),
        ("vars.any", "a guard comes to a Bool, and this is `vars.any` of any type"),
        ("1 + 2", "a guard comes to a Bool, and this is the Int `3`"),
        ("vars.count.x", "`vars.count` is an Int and has no fields"),
    ],
)
def test_an_operator_refuses_operands_of_other_types(text: str, expected: str) -> None:
    assert [f"type_mismatch: {expected}"] == messages(text)


def test_a_literal_of_another_type_shows_where_the_variable_is_declared() -> None:
    (fault,) = faults('vars.count == "1"')
    assert [
        ('vars.count == "1"', "not comparable"),
        ("vars.count", "the Int `vars.count`"),
        ('"1"', 'the String `"1"`'),
        ("declared.dcdl: count", "declared here"),
    ] == story(fault)


def test_all_operands_are_judged_and_none_that_only_follows() -> None:
    assert [
        "type_mismatch: only numbers have an order, and this is the Bool `vars.flag`",
        "type_mismatch: logic needs true or false, and this is the String `vars.text`",
        "unresolved_identifier: no variable is named `nope`",
    ] == messages("(vars.flag > 1 || vars.text) && !(vars.nope + 1 > 2)")


@pytest.mark.parametrize(
    ("text", "message", "at", "help_"),
    [
        ("vars.flg", "no variable is named `flg`", "flg", "did you mean `flag`?"),
        ("known.cuont", "no variable is named `cuont`", "cuont", "did you mean `count`?"),
        ("input.limt > 1", "no input is named `limt`", "limt", "did you mean `limit`?"),
        ("visits.reviw > 1", "no state is named `reviw`", "reviw", "did you mean `review`?"),
        ("vars.record.nam == 1", "`vars.record` has no field `nam`", "nam", "did you mean `name`?"),
        ("vars.zzzzzz", "no variable is named `zzzzzz`", "zzzzzz", None),
        ("vars.limit > 1", "no variable is named `limit`", "limit", "did you mean `input.limit`?"),
        ("input.count > 1", "no input is named `count`", "count", "did you mean `vars.count`?"),
        ("visits.count > 1", "no state is named `count`", "count", "did you mean `vars.count`?"),
        ("known.limit", "no variable is named `limit`", "limit", None),
        ("count > 1", "`count` is not defined", "count", "did you mean `vars.count`?"),
        ("variables.count > 1", "`variables` is not defined", "variables", "did you mean `vars`?"),
        ("inputs.flag", "`inputs` is not defined", "inputs", "did you mean `input`?"),
        ("(vars.count as int) > 1", "`int` is not defined", "int", "did you mean `Int`?"),
        ("limit > 1", "`limit` is not defined", "limit", "did you mean `input.limit`?"),
        ("vars.count == null", "`null` is not defined", "null", "write `known.<variable>` to ask whether there is a value"),
    ],
)
def test_an_undeclared_name_is_told_with_the_nearest_one(text: str, message: str, at: str, help_: str | None) -> None:
    (fault,) = faults(text)
    assert ("unresolved_identifier", message, help_) == (fault.kind, fault.message, fault.help)
    assert at == story(fault)[0][0]


def test_what_failed_elsewhere_is_passed_over() -> None:
    failed = Declarations({"gone": None, "flag": TYPES.variables["flag"]}, lossy=("input", "vars", "visits"))
    assert [[], [], [], [], []] == [
        messages(f"{each} > 1", failed) for each in ("vars.gone", "vars.new", "input.new", "visits.new", "known.new && 1")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(vars.count as Int & > 3) > 4", "`vars.count` does not provably meet `Int & > 3`"),
        ("(vars.count as Float) > 4", "`vars.count` does not provably meet `Float`"),
        ("vars.any as Bool", "`vars.any` does not provably meet `Bool`"),
        ("(vars.record as { name = Int; ...Unknown }).parts.x > 1", "`vars.record` does not provably meet `{ name = Int; ...Unknown }`"),
        ("(vars.count * 2 as Int & >= 0) > 1", "an Int does not provably meet `Int & >= 0`"),
        ('let f = (n: String) => n == "a"; in f(vars.count)', "`vars.count` does not provably meet `String`"),
    ],
)
def test_an_obligation_that_is_not_proved_is_refused(text: str, expected: str) -> None:
    assert [f"constraint_violation: {expected}"] == messages(text)


def test_an_obligation_of_a_parameter_is_told_with_the_call() -> None:
    (fault,) = faults('let f = (n: String) => n == "a"; in f(vars.count)')
    assert [
        ("vars.count", "not provably narrower"),
        ("String", "this demand"),
        ("declared.dcdl: count", "declared here"),
        ("f(vars.count)", "called here"),
    ] == story(fault)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("match vars.flag { true: vars.count > 1; false: vars.other; }", If(FLAG, Compare(">", COUNT, Lit(1)), OTHER)),
        ("match vars.flag { false: vars.other; _: vars.count > 1; }", If(Not(FLAG), OTHER, Compare(">", COUNT, Lit(1)))),
        ('match vars.size { "small": vars.flag; "large": vars.other; }', If(Compare("==", SIZE, Lit("small")), FLAG, OTHER)),
        (
            'match vars.text { "a": vars.flag; /b/: true; _: vars.other; }',
            If(Compare("==", TEXT, Lit("a")), FLAG, If(Fits(TEXT, AllOf((Matching("b"),))), Lit(True), OTHER)),
        ),
        (
            "match vars.few { 0: vars.flag; 1: vars.other; 2: true; }",
            If(Compare("==", FEW, Lit(0)), FLAG, If(Compare("==", FEW, Lit(1)), OTHER, Lit(True))),
        ),
        (
            "match vars.count { Int & > 3: vars.flag; < 0: vars.other; _: true; }",
            If(Compare(">", COUNT, Lit(3)), FLAG, If(Compare("<", COUNT, Lit(0)), OTHER, Lit(True))),
        ),
        ("match vars.count { Int: vars.flag; _: vars.other; }", If(Fits(COUNT, UNKNOWN), FLAG, Lit(False))),
        ("match visits.draft { _: vars.flag; }", FLAG),
        (
            "match vars.count + 1 { _: vars.flag; }",
            If(Compare("==", Compute("+", COUNT, Lit(1)), Compute("+", COUNT, Lit(1))), FLAG, Lit(False)),
        ),
        (
            "match vars.number { Int: vars.flag; 4.5: vars.other; _: true; }",
            If(Fits(Ref(("vars", "number")), INT), FLAG, If(Fits(Ref(("vars", "number")), Exactly(4.5)), OTHER, Lit(True))),
        ),
        (
            'match vars.any { "a": vars.flag; {...Int}: vars.other; _: true; }',
            If(Fits(ANY, Exactly("a")), FLAG, If(Fits(ANY, AllOf((EntriesOf(INT),))), OTHER, Lit(True))),
        ),
        ('(match vars.flag { true: "a"; _: vars.text; }) == "a"', Compare("==", If(FLAG, Lit("a"), TEXT), Lit("a"))),
        (
            'match (match vars.flag { true: "a"; false: "b"; }) { "a": vars.other; "b": vars.count > 1; }',
            If(Compare("==", If(FLAG, Lit("a"), Lit("b")), Lit("a")), OTHER, Compare(">", COUNT, Lit(1))),
        ),
    ],
)
def test_a_choice_asks_for_each_pattern_until_nothing_is_left(text: str, expected: Guard) -> None:
    assert expected == guard_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("match vars.flag { true: true; }", "match_failure: no arm fits `false`"),
        ('match vars.size { "small": true; }', 'match_failure: no arm fits `"large"`'),
        ("match vars.few { 1: true; }", "match_failure: no arm fits `0` and `2`"),
        ("match vars.few { > 0: true; }", "match_failure: no arm fits `0`"),
        ('match vars.text { "a": true; }', "match_failure: the arms do not provably fit every value of the String `vars.text`"),
        ("match vars.count { > 0: true; <= 0: false; }", "match_failure: the arms do not provably fit every value of the Int `vars.count`"),
        ('match vars.count { "a": true; _: false; }', 'type_mismatch: the pattern `"a"` fits no Int'),
        ("match vars.rate { 1: true; _: false; }", "type_mismatch: the pattern `1` fits no Float"),
        ('match vars.size { "smal": true; _: false; }', 'type_mismatch: the pattern `"smal"` fits no value of the String `vars.size`'),
        ("match vars.few { 0: true; > 2: false; _: true; }", "type_mismatch: the pattern `> 2` fits no value of the Int `vars.few`"),
        ("match vars.flag { true: 1; false: true; }", "type_mismatch: the arms come to the Int `1` and the Bool `true`"),
        (
            "match vars.flag { true: vars.list; false: vars.list; }",
            "type_mismatch: an arm that is chosen at run time comes to a scalar of one type, and this is the Array `vars.list`",
        ),
        (
            "match vars.flag { true: vars.any; false: true; }",
            "type_mismatch: an arm that is chosen at run time comes to a scalar of one type, and this is `vars.any` of any type",
        ),
        (
            'match (match vars.flag { true: "a"; _: vars.text; }) { /a/: true; _: false; }',
            "type_mismatch: the pattern `/a/` can be asked only of what is read, not of what is computed",
        ),
    ],
)
def test_a_choice_that_leaves_something_out_or_mixes_types_is_refused(text: str, expected: str) -> None:
    assert expected in messages(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vars.flag && false", Lit(False)),
        ("vars.flag || true", Lit(True)),
        ("vars.flag && true", FLAG),
        ("vars.flag || false", FLAG),
        ("true && vars.flag && (vars.other && known.flag)", And((FLAG, OTHER, Ref(("known", "flag"))))),
        ("!!vars.flag", FLAG),
        ("vars.flag || !vars.flag", Or((FLAG, Not(FLAG)))),
        ("vars.flag && !vars.flag", And((FLAG, Not(FLAG)))),
        ("vars.flag && vars.flag", And((FLAG, FLAG))),
        ("vars.count == vars.count", Compare("==", COUNT, COUNT)),
        ("vars.count * 0 == 0", Compare("==", Compute("*", COUNT, Lit(0)), Lit(0))),
        ("match vars.flag { true: true; false: false; }", FLAG),
        ("match vars.flag { true: false; false: true; }", Not(FLAG)),
        ("match vars.flag { true: true; false: true; }", If(FLAG, Lit(True), Lit(True))),
        ("match vars.flag && false { true: vars.other; false: vars.count > 1; }", Compare(">", COUNT, Lit(1))),
        ("1 < 2", Lit(True)),
        ("!(vars.flag && false)", Lit(True)),
    ],
)
def test_only_what_holds_whatever_is_missing_is_folded(text: str, expected: Guard) -> None:
    assert expected == guard_of(text)


def test_what_is_folded_away_is_typed_all_the_same() -> None:
    assert ["type_mismatch: logic needs true or false, and this is the Int `vars.count`"] == messages("vars.count && false")


def test_a_guard_has_a_most_of_nodes() -> None:
    arms = " ".join(f"{at}: vars.flag && vars.other;" for at in range(36))
    guard = guard_of(f"match vars.count {{ {arms} _: vars.flag; }}")
    assert 253 == sum(1 for _ in parts_of(guard))
    assert [f"limit: the guard has more than {NODES_MAX} nodes"] == messages(
        f"match vars.count {{ {arms} 36: vars.flag && vars.other; _: vars.flag; }}"
    )


def test_a_long_chain_costs_no_recursion() -> None:
    chain = "!" * (NODES_MAX - 1) + "vars.flag"
    assert Not(FLAG) == guard_of(chain)
    assert 128 == len(guard_of(" && ".join(["vars.flag"] * 128)).operands)  # type: ignore[union-attr]  # a conjunction


def test_a_fault_that_guards_share_is_told_once() -> None:
    evaluation = evaluation_of("late = vars.nope > 1; a = late && vars.flag; b = late || vars.flag;", roots=ROOTS)
    shape = evaluation.shape(evaluation.root)
    assert isinstance(shape, ObjectShape)
    assert [None, None] == [evaluation.guard(shape.fields[name].cell, TYPES, (name,)) for name in ("a", "b")]
    assert [("no variable is named `nope`", ("a",))] == [(each.message, each.path) for each in evaluation.diagnostics]
