"""The rules of immutability of earlier versions, as the store of each is to hold them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from stateward.store.postgres_rules import SCHEMA

FOLDER: Final = Path(__file__).parent / "rules"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FrozenRule:
    """A trigger of PostgreSQL and the body of the function that it calls; both have the rule's name."""

    name: str
    table: str
    trigger: str
    body: str

    @property
    def held(self) -> tuple[str, str, str]:
        """How a store holds it (`postgres_schema.held_rules`)."""
        return self.trigger, "A", self.body

    def statements(self, schema: str) -> tuple[str, ...]:
        """Give what makes it on a table in `schema`, which is also where unqualified names are looked for."""
        return (
            f"CREATE FUNCTION {self.name}() RETURNS trigger LANGUAGE plpgsql AS $rule${self.body}$rule$",
            self.trigger.replace(f" ON {SCHEMA}.{self.table} ", f" ON {schema}.{self.table} ", 1),
            f"ALTER TABLE {schema}.{self.table} ENABLE ALWAYS TRIGGER {self.name}",
        )


def sqlite_rules(version: int) -> Mapping[str, str]:
    """Give the triggers of SQLite of an earlier version, by their names."""
    found: Mapping[str, str] = _read(version)["sqlite"]
    return found


def postgres_rules(version: int) -> tuple[FrozenRule, ...]:
    """Give the rules of PostgreSQL of an earlier version."""
    return tuple(FrozenRule(name, **parts) for name, parts in _read(version)["postgresql"].items())


def broken_rule(held: Mapping[str, T], expected: Mapping[str, T]) -> str | None:
    """Say in one line which of the expected rules is missing or another one; None when exactly they are held."""
    for name, rule in expected.items():
        if name not in held:
            return f"the rule `{name}` is missing"
        if held[name] != rule:
            return f"the rule `{name}` was altered"
    unknown = sorted(held.keys() - expected.keys())
    return f"there is a rule `{unknown[0]}` of somebody else" if unknown else None


@cache
def _read(version: int) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = json.loads((FOLDER / f"version_{version}.json").read_text("utf-8"))
    return found
