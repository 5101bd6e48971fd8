"""What callers get: shapes one level deep, data with holes, and where each part came from."""

import pytest

from stateward.compiler.language.data import ArrayData, Hole, ObjectData, Scalar, plain
from stateward.compiler.language.evaluation import ArrayShape, Evaluation, ObjectShape, OtherShape, ScalarShape
from stateward.compiler.source import Place, Source
from stateward.compiler.syntax.parser import parse
from tests.compiler.language.evaluated import MAIN, evaluated, evaluation_of, told


def text_at(place: Place) -> str:
    return place.source.slice(place.span)


def test_a_shape_is_one_level_deep() -> None:
    evaluation = evaluation_of("{ a = 1; b = nope; }")
    shape = evaluation.shape(evaluation.root)
    assert isinstance(shape, ObjectShape)
    assert {"a": "a", "b": "b"} == {name: text_at(field.key) for name, field in shape.fields.items()}
    assert [] == evaluation.diagnostics
    assert isinstance(evaluation.shape(shape.fields["b"].cell, ("b",)), Hole)
    assert [("b",)] == [each.path for each in evaluation.diagnostics]


def test_a_shape_of_each_kind() -> None:
    evaluation = evaluation_of("[1, [2], Int default 3, Int, (x) => x, Int default nope]")
    shape = evaluation.shape(evaluation.root)
    assert isinstance(shape, ArrayShape)
    number, array, default, constraint, function, failed = (evaluation.shape(cell) for cell in shape.items)
    assert isinstance(number, ScalarShape)
    assert isinstance(array, ArrayShape)
    assert isinstance(default, ScalarShape)
    assert (1, 3) == (number.value, default.value)
    assert isinstance(constraint, OtherShape)
    assert isinstance(function, OtherShape)
    assert ("a constraint", "a function") == (constraint.what, function.what)
    assert isinstance(failed, Hole)


def test_data_has_a_hole_for_each_part_that_failed_and_the_rest_is_there() -> None:
    data = evaluated("{ a = 1; b = [2, nope]; c = Int; }").data
    assert isinstance(data, ObjectData)
    assert ["a", "b", "c"] == list(data.fields)
    array = data.fields["b"].value
    assert isinstance(array, ArrayData)
    assert isinstance(array.items[0], Scalar)
    assert isinstance(array.items[1], Hole)
    assert isinstance(data.fields["c"].value, Hole)


def test_data_below_a_path_is_reported_with_the_whole_path() -> None:
    evaluation = evaluation_of("{ a = [Int]; }")
    shape = evaluation.shape(evaluation.root)
    assert isinstance(shape, ObjectShape)
    evaluation.data(shape.fields["a"].cell, ("states", "a"))
    assert ["materialize: `states.a[0]` has no value and no default"] == [f"{each.kind}: {each.message}" for each in evaluation.diagnostics]
    assert [("states", "a", 0)] == [each.path for each in evaluation.diagnostics]


def test_a_value_knows_where_it_was_written_and_the_uses_it_came_through_the_last_first() -> None:
    data = evaluated('let text = "x"; give = (t) => t; in { a = give(text); }').data
    assert isinstance(data, ObjectData)
    origin = data.fields["a"].value.origin
    assert '"x"' == text_at(origin.place)
    assert ["give(text)", "t", "text"] == [text_at(place) for place in origin.through]


def test_the_uses_a_value_came_through_are_bounded() -> None:
    data = evaluated("let f = (n, x) => match n { 0: x; _: f(n - 1, x); }; in f(100, 1)").data
    assert 8 == len(data.origin.through)


def test_a_field_of_a_refined_object_is_still_the_one_that_was_written() -> None:
    data = evaluated('let T = { a = String; b = Int default 2; }; in { a = "x"; } as T').data
    assert isinstance(data, ObjectData)
    assert ['"x"', "2"] == [text_at(field.value.origin.place) for field in data.fields.values()]


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("{ a = ; b = 1 / 0; }", ["conflict: division by zero"]),
        ("{ a = 1; 5; } as { a = String; c = Int; }", ["constraint_violation: the Int `1` is not a String"]),
        ("let o = { a = 1; b ; }; in { x = o.b; y = o.a; z = o as { a = Int; b = Int; }; }", []),
        ("{ a = 1 } as { a = Int; b } ", []),
        ("[1, , nope]", ["unresolved_identifier: `nope` is not defined"]),
        ("1 + (2 +", []),
    ],
)  # fmt: skip
def test_broken_text_is_a_hole_without_a_word(text: str, messages: list[str]) -> None:
    source = Source.from_text(MAIN, text)
    parsed = parse(source)
    assert parsed.diagnostics
    evaluation = Evaluation(source, parsed.module)
    evaluation.data(evaluation.root)
    assert messages == [f"{each.kind}: {each.message}" for each in evaluation.diagnostics]


def test_a_part_of_an_object_that_does_not_fit_leaves_its_other_parts_usable() -> None:
    found = evaluated('let o = { a = "s"; b = 2; } as { a = Int; b = Int; }; in { x = o.b + 1; y = o.a + 1; }')
    assert ['constraint_violation: the String `"s"` is not an Int'] == told(found)
    assert isinstance(found.data, ObjectData)
    assert 3 == plain(found.data.fields["x"].value)


def test_nothing_is_plain_about_a_hole() -> None:
    with pytest.raises(AssertionError):
        plain(evaluated("nope").data)
