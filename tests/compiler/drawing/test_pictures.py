"""The pictures in the documentation are those that would be drawn today."""

import re
from pathlib import Path

import pytest

from docs.pictures.__main__ import HERE, main, pictures, stale
from docs.pictures.sixty import NAME, source
from stateward.compiler.drawing.theme import Theme
from stateward.compiler.pipeline import compile_source
from stateward.resources.catalog import builtins

ROOT = Path(__file__).resolve().parents[3]


def test_no_picture_is_stale() -> None:
    assert [] == stale(pictures()), "run `python -m docs.pictures`"


def test_every_flow_is_there_in_every_theme() -> None:
    slugs = [*(each.slug for each in builtins()), NAME]
    assert {f"{slug}-{theme}.svg" for slug in slugs for theme in Theme} <= {path.name for path in HERE.glob("*.svg")}


def test_the_generated_flow_has_sixty_states_and_compiles_without_a_word() -> None:
    compilation = compile_source(source().encode(), name=f"{NAME}.dcdl", slug=NAME)
    assert compilation.definition is not None
    assert (60, ()) == (len(compilation.definition.states) - 1, tuple(compilation.diagnostics))


def test_what_is_stale_is_named_and_drawn_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("docs.pictures.__main__.HERE", tmp_path)
    (tmp_path / "old.svg").write_text("<svg/>")
    assert 1 == main(["--check"])
    assert "stale: docs/pictures/old.svg" in capsys.readouterr().out.splitlines()
    assert 0 == main([])
    assert 0 == main(["--check"])
    assert not (tmp_path / "old.svg").exists()


def test_every_picture_that_a_page_shows_is_there() -> None:
    shown = [
        (page, target)
        for page in (ROOT / "docs").rglob("*.md")
        for target in re.findall(r"[\(\"]([^\s\(\)\"]*pictures/[^\s\(\)\"]+\.svg)", page.read_text("utf-8"))
    ]
    assert shown
    assert [] == [(page.name, target) for page, target in shown if not (page.parent / target).exists()]
