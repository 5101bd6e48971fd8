"""What the tree must look like: sizes, places, and words that do not belong into it."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNTRACKED = {".venv", "build", "dist", "__pycache__", ".hypothesis", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".import_linter_cache"}
PARTS = ("compiler", "runtime", "store", "resources")
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
FUNCTION_LINES_MEDIAN_MAX = 10

LIBRARIES = {
    "lark": ("compiler/stateward/compiler/syntax/parser.py",),
    "networkx": ("compiler/stateward/compiler/flow/graph.py", "compiler/stateward/compiler/drawing/"),
    "re2": ("compiler/stateward/compiler/predicates/patterns.py", "runtime/stateward/runtime/workdir/patterns.py"),
    "rfc8785": (),
    "sqlmodel": ("store/",),
    "sqlalchemy": ("store/",),
    "sqlite3": ("store/",),
    "cryptography": ("store/",),
    "pydantic_ai": ("runtime/stateward/runtime/verifier/model_calls.py", "runtime/stateward/runtime/surfaces/agents/pydantic_ai.py"),
    "langgraph": ("runtime/stateward/runtime/surfaces/agents/langgraph.py",),
    "langchain_core": ("runtime/stateward/runtime/surfaces/agents/langgraph.py",),
    "httpx2": ("runtime/stateward/runtime/verifier/model_calls.py", "runtime/stateward/runtime/remote/wire.py"),
    "fastapi": ("runtime/stateward/runtime/surfaces/http/",),
    "starlette": ("runtime/stateward/runtime/surfaces/http/", "runtime/stateward/runtime/surfaces/mcp/over_http.py"),
    "uvicorn": ("runtime/stateward/runtime/surfaces/http/",),
    "structlog": ("runtime/stateward/runtime/surfaces/http/",),
    "alembic": ("store/stateward/store/migrations/",),
    "lsprotocol": ("compiler/stateward/compiler/editor/",),
    "openai": (),
    "pygments": ("compiler/stateward/compiler/syntax/pygments_lexer.py",),
    "pygls": ("compiler/stateward/compiler/editor/",),
    "opentelemetry": ("runtime/stateward/runtime/wiring/observing.py",),
    "mcp": ("runtime/stateward/runtime/surfaces/mcp/",),
    "mcp_types": ("runtime/stateward/runtime/surfaces/mcp/",),
    "uuid_utils": ("runtime/stateward/runtime/wiring/system.py",),
    "click": ("compiler/stateward/compiler/cli", "runtime/stateward/runtime/surfaces/"),
    "rich": ("compiler/stateward/compiler/cli", "runtime/stateward/runtime/surfaces/"),
    "ctypes": ("runtime/stateward/runtime/workdir/beneath.py", "runtime/stateward/runtime/surfaces/cli/flows/folder.py"),
    "subprocess": ("runtime/stateward/runtime/workdir/processes.py",),
    "pickle": (),
}
"""A library and the only places of the product that may import it."""


def tracked() -> list[Path]:
    """Give what git keeps, whoever owns the checkout; from a source distribution, what it holds."""
    if not (ROOT / ".git").exists():
        return [path for path in ROOT.rglob("*") if path.is_file() and not UNTRACKED & {*path.relative_to(ROOT).parts}]
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listing = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def sources(*roots: str) -> list[Path]:
    return sorted(path for root in roots for path in (ROOT / root).rglob("*.py"))


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", (node.end_lineno or node.lineno) - node.lineno + 1


@cache
def imported(path: Path) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return frozenset(names)


def test_no_file_hides_the_other_portions_of_the_namespace() -> None:
    assert [] == [str(path) for part in PARTS for path in (ROOT / part / "stateward").glob("__init__.py")]


def test_no_file_is_too_long() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text("utf-8").splitlines()) for path in sources(*PARTS, "tests", "benchmarks", "editors")
    }
    assert {} == {name: lines for name, lines in lengths.items() if lines > FILE_LINES_MAX}


def test_no_function_is_too_long_and_most_are_short() -> None:
    lengths = dict(each for path in sources(*PARTS, "benchmarks") for each in functions(path))
    assert {} == {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES_MAX}
    assert median(lengths.values()) <= FUNCTION_LINES_MEDIAN_MAX


@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_a_library_is_known_in_its_own_place_only(library: str) -> None:
    users = [path.relative_to(ROOT).as_posix() for path in sources(*PARTS) if library in imported(path)]
    assert [] == [user for user in users if not user.startswith(LIBRARIES[library] or "\0")]


def test_nothing_names_a_machine_or_a_registry() -> None:
    forbidden = re.compile(r"(?<![A-Za-z0-9_.-])/(?:work|root)/|pypi\.org|pythonhosted\.org|npmjs\.(?:com|org)")
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", "replace")
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in forbidden.finditer(text) if path != Path(__file__).resolve()]
    assert [] == found


def test_no_test_waits_by_sleeping() -> None:
    waiting = re.compile(r"\btime\.sleep\(|\basyncio\.sleep\([1-9]")
    here = Path(__file__).resolve()
    assert [] == [str(path) for path in sources("tests") if path != here and waiting.search(path.read_text("utf-8"))]
