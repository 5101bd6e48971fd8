"""What everything that resolves selectors says of definitions that somebody changed by hand.

A test module for an adapter imports everything here and offers a fixture `kept` as `snapshots` does, and a fixture `put`, which puts bytes
in the place of a stored definition, against all rules, or takes it away.
"""

from collections.abc import Callable
from typing import TypeAlias

import pytest

from stateward.runtime.ports import Damaged
from tests.contracts.snapshots import Kept, resolved

Put: TypeAlias = Callable[[str, bytes | None], None]


@pytest.mark.parametrize(
    "damaged", [b"", b"{}", b"no JSON", b"\xff\xfe", None], ids=["empty", "an object", "no JSON", "no text", "taken away"]
)
def test_a_damaged_definition_is_never_given_and_all_others_are(kept: Kept, put: Put, damaged: bytes | None) -> None:
    digest = kept.save("it.").definition_digest
    kept.save("well.", slug="letter")
    assert digest == resolved(kept, "workspace:paper").definition_digest
    put(digest, damaged)
    with pytest.raises(Damaged):
        kept.snapshots.resolve("workspace:paper")
    assert "workspace:letter" == resolved(kept, "workspace:letter").selector


def test_one_changed_byte_of_a_definition_is_damage(kept: Kept, put: Put) -> None:
    found = resolved_after_saving(kept)
    put(found[0], found[1].replace(b"Write it.", b"Write It."))
    with pytest.raises(Damaged):
        kept.snapshots.resolve("workspace:paper")


def test_a_newer_revision_resolves_although_an_older_one_is_damaged(kept: Kept, put: Put) -> None:
    digest, _ = resolved_after_saving(kept)
    put(digest, b"{}")
    kept.save("more.", 1)
    assert 2 == resolved(kept, "workspace:paper").flow_revision


def resolved_after_saving(kept: Kept) -> tuple[str, bytes]:
    kept.save("it.")
    found = resolved(kept, "workspace:paper")
    return found.definition_digest, found.definition_bytes
