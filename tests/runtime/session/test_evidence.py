"""The class of evidence of every kind of entry from every actor."""

from datetime import UTC, datetime
from itertools import product

import pytest

from stateward.runtime.session.chain import link
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Kind, NewEntry
from stateward.runtime.session.evidence import evidence_class, is_admissible

TABLE = """
                 engine      host        agent       verifier    person      policy
session_started  diagnostic  diagnostic  diagnostic  diagnostic  diagnostic  diagnostic
user_input       diagnostic  host        claim       diagnostic  operator    diagnostic
extension        engine      diagnostic  claim       claim       claim       diagnostic
tool_result      claim       host        claim       diagnostic  diagnostic  diagnostic
assistant_message diagnostic  claim       claim       diagnostic  diagnostic  diagnostic
tool_call        diagnostic  claim       claim       diagnostic  diagnostic  diagnostic
note             diagnostic  claim       claim       diagnostic  claim       diagnostic
checkpoint       diagnostic  diagnostic  diagnostic  diagnostic  diagnostic  diagnostic
run_started      diagnostic  diagnostic  diagnostic  diagnostic  diagnostic  diagnostic
run_ended        diagnostic  diagnostic  diagnostic  diagnostic  diagnostic  diagnostic
worker_stopped   diagnostic  diagnostic  diagnostic  diagnostic  diagnostic  diagnostic
operator_act     diagnostic  diagnostic  diagnostic  diagnostic  operator    diagnostic
rewound          diagnostic  diagnostic  diagnostic  diagnostic  operator    diagnostic
inherited        diagnostic  diagnostic  diagnostic  diagnostic  diagnostic  diagnostic
rollback_accepted diagnostic  diagnostic  diagnostic  diagnostic  operator    diagnostic
redacted         diagnostic  diagnostic  diagnostic  diagnostic  operator    diagnostic
"""
HEADER, *ROWS = [line.split() for line in TABLE.strip().splitlines()]
CELLS = [(row[0], actor, cell) for row in ROWS for actor, cell in zip(HEADER, row[1:], strict=True)]


@pytest.mark.parametrize(("kind", "actor", "expected"), CELLS)
def test_an_entry_has_the_class_of_the_table(kind: str, actor: str, expected: str) -> None:
    assert expected == evidence_class(kind, ActorClass(actor))


def test_the_table_names_every_kind_and_every_actor() -> None:
    assert set(product(Kind, ActorClass)) == {(Kind(kind), ActorClass(actor)) for kind, actor, _ in CELLS}


@pytest.mark.parametrize("actor", ActorClass)
@pytest.mark.parametrize("kind", ["telemetry", "published", "", "USER_INPUT"])
def test_a_kind_that_is_not_known_counts_for_nothing(kind: str, actor: ActorClass) -> None:
    expected = "diagnostic"
    assert expected == evidence_class(kind, actor)


@pytest.mark.parametrize(
    ("kind", "actor", "expected"),
    [
        (Kind.TOOL_RESULT, ActorClass.HOST, True),
        (Kind.USER_INPUT, ActorClass.PERSON, True),
        (Kind.SESSION_STARTED, ActorClass.ENGINE, False),
        (Kind.EXTENSION, ActorClass.ENGINE, True),
        (Kind.TOOL_RESULT, ActorClass.ENGINE, False),
        (Kind.EXTENSION, ActorClass.PERSON, False),
        ("note", ActorClass.PERSON, False),
    ],
)
def test_only_what_the_engine_the_host_or_an_operator_recorded_counts(kind: str, actor: ActorClass, expected: bool) -> None:
    entry = link("w", GENESIS, NewEntry(kind, Actor(actor, "in_process"), datetime(2026, 1, 1, tzinfo=UTC), b"host and operator"))
    assert expected is is_admissible(entry)
