"""The page on the client says what is so: its example runs, and its names, limits and faults are those of the program."""

import re
from pathlib import Path

import pytest

from stateward.runtime import ports
from stateward.runtime.ports import BUNDLE_BYTES_MAX, Fault, FlowAuthority
from stateward.runtime.remote import credentials
from stateward.runtime.remote.address import RemoteUnusable
from stateward.runtime.remote.exchange import JSON_BYTES_MAX, Waits
from stateward.runtime.remote.wire import CONNECTIONS_MAX
from tests.contracts.authority import source
from tests.contracts.snapshots import HERE
from tests.remote.services import running, token_of

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "client.md").read_text("utf-8")


def test_the_example_saves_a_flow_and_resolves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    with running(tmp_path / "store.db", HERE.id) as service:
        monkeypatch.setenv("STATEWARD_TOKEN", token_of(service.store, HERE.id, "ada"))
        code = code.replace("http://127.0.0.1:8123", service.address).replace('Path("flows/paper.dcdl").read_bytes()', repr(source()))
        exec(compile(code, "client.md", "exec"), {})  # noqa: S102 -- the example of the page
    first, second = capsys.readouterr().out.splitlines()
    assert "1" == first
    assert second.startswith("write sha256:")


def test_every_variable_is_named() -> None:
    known = {value for name, value in vars(credentials).items() if name.endswith("_VARIABLE")}
    assert known == set(re.findall(r"^\| `(STATEWARD_[A-Z_]+)` \|", PAGE, re.MULTILINE))


def test_every_operation_is_named() -> None:
    operations = {name for name in dir(FlowAuthority) if not name.startswith("_")} - {"workspace"}
    assert [] == [each for each in operations if f"`{each}`" not in PAGE]


def test_the_limits_are_those_of_the_program() -> None:
    waits = Waits()
    said = (
        f"to connect | {waits.connect:g} seconds",
        f"{waits.silence:g} seconds; {waits.bundle:g} where it is about a bundle",
        f"from when it begins | {waits.whole:g} seconds",
        f"an answer | {JSON_BYTES_MAX >> 20} MiB; a bundle {BUNDLE_BYTES_MAX >> 20} MiB",
        f"connections at a time | {CONNECTIONS_MAX}",
        f"after {waits.again[0]:g} and {waits.again[1]:g} second",
    )
    assert [] == [each for each in said if each not in PAGE]


def test_every_fault_is_one() -> None:
    table = PAGE.partition("## Faults")[2]
    named = {name for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    known = {name: kind for name, kind in {**vars(ports), "RemoteUnusable": RemoteUnusable}.items() if name in named}
    assert named == set(known)
    assert all(issubclass(kind, Fault) for kind in known.values())
