import pytest
from hypothesis import given
from hypothesis import strategies as st

from stateward.compiler.diagnostics.wording import EDITS_MAX, LISTED_MAX, QUOTED_MAX, character, counted, listed, nearest, quoted


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("reveiw", "review"),
        ("instrutions", "instructions"),
        ("Review", "review"),
        ("ready-for-operator", "ready_for_operator"),
        ("don", "done"),
        ("donee", "done"),
    ],
)
def test_the_name_that_was_meant_is_found(typed: str, meant: str) -> None:
    assert nearest(typed, ["implement", "review", "done", "instructions", "ready_for_operator"]) == meant


@pytest.mark.parametrize("typed", ["", "x", "elsewhere", "review", "r" * 10_000])
def test_nothing_is_offered_where_nothing_is_near(typed: str) -> None:
    assert nearest(typed, ["review", "implement"]) is None


def test_the_first_of_equally_near_names_is_taken() -> None:
    assert nearest("step3", ["step1", "step2"]) == "step1"


def test_the_nearest_wins_over_an_earlier_one() -> None:
    assert nearest("review_b", ["review_cc", "review_a"]) == "review_a"


@pytest.mark.parametrize(("typed", "candidate"), [("a", "b"), (" ", "d"), ("x" * 30, "x" * 20 + "y" * 10)])
def test_a_name_that_has_nothing_or_too_little_in_common_is_not_near(typed: str, candidate: str) -> None:
    assert nearest(typed, [candidate]) is None


def steps(left: str, right: str) -> int:
    """Count the steps between two texts, by the definition of the distance."""
    table = [[at + other for other in range(len(right) + 1)] for at in range(len(left) + 1)]
    for at in range(1, len(left) + 1):
        for other in range(1, len(right) + 1):
            costs = [table[at - 1][other] + 1, table[at][other - 1] + 1, table[at - 1][other - 1] + (left[at - 1] != right[other - 1])]
            if at > 1 and other > 1 and left[at - 2 : at] == right[other - 2 : other][::-1]:
                costs.append(table[at - 2][other - 2] + 1)
            table[at][other] = min(costs)
    return table[-1][-1]


@given(st.text("ab", min_size=1, max_size=16), st.lists(st.text("ab", max_size=18), min_size=1, max_size=4))
def test_what_is_near_is_near_by_the_definition_of_the_distance(name: str, candidates: list[str]) -> None:
    most = min(max(1, len(name) // 3), EDITS_MAX)
    found = nearest(name, candidates)
    distances = [
        steps(name, each) for each in candidates if each != name and steps(name, each) < max(len(name), len(each))
    ]  # fmt: skip
    least = min((each for each in distances if each <= most), default=None)
    assert least == (None if found is None else steps(name, found))


@given(st.text(max_size=12), st.lists(st.text(max_size=12), max_size=6))
def test_what_is_offered_is_a_candidate_and_not_the_name_itself(name: str, candidates: list[str]) -> None:
    found = nearest(name, candidates)
    assert found is None or (found in candidates and found != name)


def test_lists_read_as_sentences() -> None:
    assert [listed(()), listed(("a",)), listed(("a", "b")), listed(("a", "b", "c"), "or")] == [
        "",
        "`a`",
        "`a` and `b`",
        "`a`, `b` or `c`",
    ]


def test_a_long_list_is_cut_and_says_how_much_is_left() -> None:
    names = [f"s{number}" for number in range(LISTED_MAX + 3)]
    assert listed(names).endswith("`s7` and 3 more")


def test_a_long_name_is_cut_in_the_middle() -> None:
    text = quoted("a" * 5_000 + "z")
    assert (len(text), text[:2], text[-2:]) == (QUOTED_MAX + 2, "`a", "z`")


def test_a_name_of_the_greatest_length_is_whole() -> None:
    assert quoted("b" * QUOTED_MAX) == f"`{'b' * QUOTED_MAX}`"


def test_counts_agree_with_their_noun() -> None:
    assert [counted(0, "state"), counted(1, "state"), counted(32_769, "byte")] == ["0 states", "1 state", "32,769 bytes"]


def test_characters_are_named_so_that_they_can_be_found() -> None:
    assert [character(each) for each in (".", " ", "ç", "\u202e", "\t")] == [
        "`.`",
        "a space",
        "U+00E7 LATIN SMALL LETTER C WITH CEDILLA",
        "U+202E RIGHT-TO-LEFT OVERRIDE",
        "U+0009",
    ]
