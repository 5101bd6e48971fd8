"""The key of a model's provider, and the judge that a profile names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stateward.runtime.profile import KeyCommand, KeyFile, ModelSettings, Profile, VerifierBounds, VerifierKind
from stateward.runtime.verifier.command import CommandVerifier
from stateward.runtime.verifier.model_judge import command_verifier, model_caller, model_verifier
from stateward.runtime.verifier.model_keys import KEY_BYTES_MAX, ModelUnusable, read_key
from stateward.runtime.verifier.model_settings import Model
from stateward.store.memory_transcripts import MemoryTranscripts
from tests.runtime.engines import CountingIds, TickingClock
from tests.verifier.boxes import Seconds

KEY = "sk-0123456789"


def key_file(folder: Path, content: bytes = KEY.encode(), mode: int = 0o600) -> Path:
    path = folder / "key"
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("content", [KEY, f"{KEY}\n", f"  {KEY}\r\n"])
def test_the_key_is_the_word_in_a_file(tmp_path: Path, content: str) -> None:
    path = key_file(tmp_path, content.encode())
    assert KEY == read_key(KeyFile(str(path)), tmp_path) == read_key(KeyFile("~/key"), tmp_path)


def test_the_key_is_the_word_that_a_command_prints_and_its_environment_holds_nothing_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATEWARD_SECRET", "x")
    printed = "import os; print('sk-0123456789' if set(os.environ) <= {'PATH', 'HOME', 'LC_ALL', 'LC_CTYPE'} else 'more')"
    assert KEY == read_key(KeyCommand((sys.executable, "-I", "-c", printed)), tmp_path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_can_read_gives_no_key(tmp_path: Path, mode: int) -> None:
    path = key_file(tmp_path, mode=mode)
    with pytest.raises(ModelUnusable, match="others can read or write the key file") as problem:
        read_key(KeyFile(str(path)), tmp_path)
    assert KEY not in str(problem.value) + problem.value.remedy


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "gives nothing"),
        (b" \n", "gives nothing"),
        (b"two words", "something else than one word"),
        (b"two\nlines", "something else than one word"),
        ("schlüssel".encode(), "something else than one word"),
        (b"\x00", "something else than one word"),
        (b"x" * (KEY_BYTES_MAX + 1), f"gives more than {KEY_BYTES_MAX} bytes"),
    ],
)
def test_what_is_not_one_word_is_no_key(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(ModelUnusable, match=said):
        read_key(KeyFile(str(key_file(tmp_path, content))), tmp_path)


def test_what_is_no_file_gives_no_key_and_holds_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name, said in (("pipe", "is no file"), ("missing", "cannot be read: no such file"), ("", "cannot be read|is no file")):
        with pytest.raises(ModelUnusable, match=said):
            read_key(KeyFile(str(tmp_path / name)), tmp_path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("/nothing/there",), "cannot be run: no such file"),
        ((sys.executable, "-c", "import sys; sys.exit(3)"), "ended with status 3"),
        ((sys.executable, "-c", "while True: print('x' * 1000)"), "gives more than"),
    ],
)
def test_a_command_that_fails_gives_no_key(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(ModelUnusable, match=said):
        read_key(KeyCommand(arguments), tmp_path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "", "provider": "openai"}, "the name of a model"),
        ({"name": "m"}, "either a provider or a url"),
        ({"name": "m", "provider": "openai", "url": "https://x/v1"}, "either a provider or a url"),
        ({"name": "m", "url": "ftp://x/v1"}, "begins with http"),
        ({"name": "m", "url": "https://"}, "begins with http"),
        ({"name": "m", "url": "https://a:b@x/v1"}, "holds neither"),
        ({"name": "m", "url": "https://x/v1?key=1"}, "holds neither"),
    ],
)
def test_a_model_that_cannot_be_asked_is_none(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Model(**given)  # type: ignore[arg-type]


def test_a_profile_names_its_judge(tmp_path: Path) -> None:
    settings = ModelSettings("judge-1", base_url="http://127.0.0.1:1/v1", key=KeyFile(str(key_file(tmp_path))))
    bounds = VerifierBounds(turns=3)
    by_model = Profile("p", VerifierKind.MODEL, model=settings, verification=bounds)
    kept = MemoryTranscripts()
    judge = model_verifier(
        by_model, kept, clock=TickingClock(), ids=CountingIds(), elapsed=Seconds().elapsed, open_workdir=None, home=tmp_path
    )
    assert "model" == judge.kind
    by_program = Profile("p", VerifierKind.COMMAND, program=("/bin/cat", "answer"))
    program = command_verifier(by_program, kept, lambda _: None)
    assert (True, "command") == (isinstance(program, CommandVerifier), program.kind)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (ModelSettings("m", base_url="ftp://x"), "the model of the profile cannot be asked"),
        (ModelSettings("m", provider="openai", key=KeyFile("~/missing")), "the key file .* cannot be read"),
    ],
)
def test_a_profile_whose_model_cannot_be_asked_is_told_before_anything_is_begun(tmp_path: Path, settings: ModelSettings, said: str) -> None:
    with pytest.raises(ModelUnusable, match=said):
        model_caller(settings, tmp_path)


def test_without_the_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "stateward.runtime.verifier.model_calls", raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_ai.direct", None)
    with pytest.raises(ModelUnusable, match="a model that judges needs the package") as problem:
        model_caller(ModelSettings("m", base_url="http://x/v1"), tmp_path)
    assert "install `stateward[verifier]`" == problem.value.remedy


def test_nothing_but_what_asks_a_model_loads_the_library_of_models() -> None:
    modules = ["runtime.surfaces.cli", "runtime.wiring", "runtime.engine.worker", "runtime.verifier.model", "runtime.verifier.model_judge"]
    imports = ", ".join(f"stateward.{each}" for each in modules)
    code = f"import sys, {imports}; print([each for each in ('pydantic_ai', 'openai', 'httpx2') if each in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "[]" == found.stdout.strip()
