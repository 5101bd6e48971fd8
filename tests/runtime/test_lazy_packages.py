"""Packages whose names are imported when they are first asked for."""

import ast
import importlib
from pathlib import Path
from types import ModuleType

import pytest

import stateward.runtime.ports
import stateward.runtime.wiring

PACKAGES = [stateward.runtime.ports, stateward.runtime.wiring]


def _declared(package: ModuleType) -> dict[str, str]:
    """What a type checker is told: each name with its module."""
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(Path(str(package.__file__)).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("stateward."):
            found |= {str(each.asname): str(node.module) for each in node.names}
    return found


@pytest.mark.parametrize("package", PACKAGES, ids=lambda each: each.__name__)
def test_what_a_package_gives_is_what_it_says_that_it_gives(package: ModuleType) -> None:
    declared = _declared(package)
    assert declared == package._PLACES
    for name, module in declared.items():
        assert getattr(importlib.import_module(module), name) is getattr(package, name)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda each: each.__name__)
def test_a_name_that_a_package_does_not_have_is_missing_as_usual(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = package.no_such_name
