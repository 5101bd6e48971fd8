"""The core decides from its inputs alone: a lint over its syntax trees keeps clock, ids, randomness and I/O out."""

import ast
from pathlib import Path

import pytest

import stateward.runtime.core as core

ROOT = Path(core.__path__[0])
FILES = sorted(ROOT.rglob("*.py"))
VALUE_MODULES = {"collections.abc", "dataclasses", "enum", "itertools", "types", "typing"}
OWN = ("stateward.runtime.core", "stateward.compiler.flow.reserved", "stateward.compiler.predicates")
IMPURE_CALLS = {"open", "print", "input", "eval", "exec", "compile", "__import__", "id", "hash", "globals", "vars", "breakpoint"}


def faults_in(source: str) -> list[str]:
    """Say what in a module reaches beyond its inputs."""
    faults: list[str] = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                faults += [each.name for each in names]
            case ast.ImportFrom(module=module, level=level) if level or not (module in VALUE_MODULES or str(module).startswith(OWN)):
                faults.append(str(module))
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                faults.append(f"{name}()")
            case ast.Global() | ast.Nonlocal() | ast.AsyncFunctionDef() | ast.Await() | ast.Try():
                faults.append(type(node).__name__)
            case _:
                pass
    return faults


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_module_of_the_core_reaches_nothing_but_its_inputs(path: Path) -> None:
    assert not faults_in(path.read_text("utf-8"))


def test_the_core_has_the_modules_that_the_lint_is_for() -> None:
    assert {"decide.py", "evolve.py", "replay.py", "judging.py"} <= {path.name for path in FILES}


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import time", "time"),
        ("from datetime import datetime", "datetime"),
        ("from random import random", "random"),
        ("from uuid_utils import uuid7", "uuid_utils"),
        ("from stateward.runtime.ports import Clock", "stateward.runtime.ports"),
        ("from stateward.compiler.pipeline import compile_source", "stateward.compiler.pipeline"),
        ("from . import events", "None"),
        ("def f(): return open('x')", "open()"),
        ("def f():\n    global x", "Global"),
        ("async def f(): ...", "AsyncFunctionDef"),
        ("try:\n    x = 1\nexcept ValueError:\n    x = 2", "Try"),
    ],
)
def test_the_lint_finds_what_it_is_for(source: str, fault: str) -> None:
    assert faults_in(source) == [fault]
