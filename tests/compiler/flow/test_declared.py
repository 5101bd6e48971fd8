"""What a name that is not declared was probably meant to be, and how much work that may take."""

import pytest

from stateward.compiler.flow.declared import CANDIDATES_MAX, LOOKUPS_MAX, NOTHING_MEANT, Declared, Meant
from stateward.compiler.pipeline import compile_source
from tests.compiler.flow.sources import GOOD


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("reveiw", Meant("review", None)),
        ("cafe\u0301", Meant(None, "café")),
        ("do\u200bne", Meant(None, "done")),
        ("ｄｏｎｅ", Meant(None, "done")),
        ("elsewhere", NOTHING_MEANT),
    ],
)
def test_what_is_meant_is_near_or_looks_the_same(name: str, meant: Meant) -> None:
    assert Declared(("draft", "review", "done", "café")).meant(name) == meant


def test_the_first_of_those_that_look_the_same_is_told() -> None:
    assert Declared(("ﬁx", "fix")).meant("fi\u200bx") == Meant(None, "ﬁx")


def test_so_many_different_names_are_looked_up_and_no_more() -> None:
    names = Declared(("drift",))
    wrong = [f"drift-{chr(0x100 + at)}" for at in range(LOOKUPS_MAX + 1)]
    assert [names.meant(each).near for each in wrong] == ["drift"] * LOOKUPS_MAX + [None]
    assert names.meant(wrong[0]).near == "drift"


def test_a_name_is_compared_with_so_many_ids_and_no_more() -> None:
    ids = tuple(f"{at:03}" + "x" * 40 for at in range(CANDIDATES_MAX + 1))
    last, first_beyond = (each + "y" for each in ids[-2:])
    assert (Declared(ids).meant(last).near, Declared(ids[-1:]).meant(first_beyond).near) == (ids[-2], ids[-1])
    assert Declared(("z",) * CANDIDATES_MAX + ids[-1:]).meant(first_beyond) == NOTHING_MEANT


def test_all_wrong_names_are_told_also_those_that_are_looked_up_no_more() -> None:
    ways = "".join(f't{at} = {{ target = "drift{at}"; condition = "case {at}"; }};\n' for at in range(LOOKUPS_MAX + 20))
    body = f'drift = {{ instructions = "x"; transitions = {{ {ways} }}; }};'
    found = compile_source(f'schema_version = 1; name = "big"; initial = "drift"; states = {{ {body} }};'.encode()).diagnostics
    missing = [each for each in found if each.code == "transition_target_not_found"]
    assert (len(missing), missing[0].help, missing[-1].help) == (LOOKUPS_MAX + 20, "did you mean `drift`?", None)


@pytest.mark.parametrize(
    ("written", "referred"), [("re view", "re_view"), ("review ", "review"), ("$review", "review"), ("prüfen", "prufen")]
)
def test_a_reference_to_what_a_bad_id_will_be_is_not_told_beside_the_id(written: str, referred: str) -> None:
    source = GOOD.replace("    review = {", f'    "{written}" = {{').replace('"review"', f'"{referred}"')
    (found,) = compile_source(source.encode()).diagnostics
    assert (found.code, found.help) == ("invalid_state_id", f"spell it `{referred}`")


def test_an_id_that_is_none_is_not_offered() -> None:
    source = GOOD.replace("    review = {", '    "re view" = {').replace('target = "review"', 'target = "re viev"')
    told = {each.code: each.help for each in compile_source(source.encode()).diagnostics}
    assert told == {"invalid_state_id": "spell it `re_view`", "transition_target_not_found": None}


@pytest.mark.parametrize(
    ("name", "like"), [("flows/paper.dcdl", "paper"), ("a paper", "a-paper"), ("Über", "Uber"), ("$x", "x"), ("…", None)]
)
def test_the_name_of_a_flow_is_spelt_from_its_path_or_its_title(name: str, like: str | None) -> None:
    (found,) = compile_source(GOOD.replace('"paper"', f'"{name}"').encode()).diagnostics
    assert (found.code, found.help) == ("invalid_name", None if like is None else f"spell it `{like}`")


def test_a_state_that_was_renamed_is_asked_about_and_offered_everywhere() -> None:
    source = GOOD.replace("    draft = {", "    compose = {")
    told = compile_source(source.encode()).diagnostics
    assert ["initial_not_found", "transition_target_not_found"] == [each.code for each in told]
    assert {"was it renamed to `compose`?"} == {each.help for each in told}
    assert [("name `compose`",), ("name `compose`",)] == [tuple(fix.title for fix in each.fixes) for each in told]


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([("    draft = {", "    compose = {"), ('target = "done"', 'target = "shelf"')], "two names are missing"),
        ([('target = "review"', 'target = "elsewhere"'), ('"draft"; condition', '"elsewhere"; condition')], "all states are named"),
    ],
)
def test_nothing_is_asked_where_more_than_one_state_may_be_meant(edits: list[tuple[str, str]], why: str) -> None:
    source = GOOD
    for old, new in edits:
        source = source.replace(old, new)
    if why == "all states are named":
        source = source.replace('target = "done"', 'target = "review"; condition = "x"; }; end = { target = "done"')
    assert {None} == {each.help for each in compile_source(source.encode()).diagnostics if each.code.endswith("_not_found")}


def test_a_near_name_goes_before_one_that_may_have_been_renamed() -> None:
    source = GOOD.replace('target = "review"', 'target = "reveiw"')
    assert ["did you mean `review`?"] == [each.help for each in compile_source(source.encode()).diagnostics]
