"""The library for HTTP comes with an extra: what asks no service does without it, and what asks one says what is missing."""

import subprocess
import sys

import pytest

from stateward.runtime.remote.address import RemoteUnusable
from tests.remote.asking import access, client_of

WITHOUT = """
import sys
import stateward.runtime.wiring
import stateward.runtime.remote.reach
print([name for name in ("httpx2", "httpcore2", "h11", "fastapi", "uvicorn") if name in sys.modules])
"""


def test_nothing_is_loaded_before_a_service_is_asked() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], check=True, capture_output=True, text=True)
    assert "[]\n" == done.stdout


def test_what_is_missing_is_named_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "stateward.runtime.remote.wire", raising=False)
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(RemoteUnusable) as fault:
        client_of(access("http://127.0.0.1:9"))
    assert ("asking a service needs the package that brings `httpx2`", "install `stateward[client]`") == (
        fault.value.message,
        fault.value.remedy,
    )
