"""Evaluating a text in tests, and saying in few words what was found and where."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from stateward.compiler.diagnostics.model import Diagnostic, Label
from stateward.compiler.language.data import Data, PlainData, plain
from stateward.compiler.language.evaluation import Evaluation
from stateward.compiler.language.loader import Loader, MemoryLoader
from stateward.compiler.language.reporting import path_text
from stateward.compiler.limits import LIMITS, Limits
from stateward.compiler.source import Source
from stateward.compiler.syntax.parser import parse

MAIN = "main.dcdl"


@dataclass(frozen=True)
class Evaluated:
    """A text, its data, and all that was reported."""

    evaluation: Evaluation
    data: Data
    diagnostics: tuple[Diagnostic, ...]

    @property
    def value(self) -> PlainData:
        """The plain value; only of texts without a fault."""
        assert not self.diagnostics, told(self)
        return plain(self.data)


def evaluation_of(
    text: str,
    files: Mapping[str, str] | None = None,
    *,
    loader: Loader | None = None,
    limits: Limits = LIMITS,
    roots: Collection[str] = (),
) -> Evaluation:
    """Begin the evaluation of a sound text."""
    source = Source.from_text(MAIN, text)
    parsed = parse(source)
    assert not parsed.diagnostics, parsed.diagnostics
    return Evaluation(source, parsed.module, loader=loader or MemoryLoader({**(files or {}), MAIN: text}), limits=limits, roots=roots)


def evaluated(text: str, files: Mapping[str, str] | None = None, *, loader: Loader | None = None, limits: Limits = LIMITS) -> Evaluated:
    """Evaluate a sound text and materialize it."""
    evaluation = evaluation_of(text, files, loader=loader, limits=limits)
    data = evaluation.data(evaluation.root)
    return Evaluated(evaluation, data, tuple(evaluation.diagnostics))


def written(label: Label) -> str:
    """Give the text a label covers, with its file where that is not the main one."""
    source = label.place.source
    text = source.slice(label.place.span)
    return text if source.name == MAIN else f"{source.name}: {text}"


def told(found: Evaluated) -> list[str]:
    """Give each fault as `kind: message`."""
    return [f"{each.kind}: {each.message}" for each in found.diagnostics]


def kinds(found: Evaluated) -> list[str | None]:
    """Give the kinds of the faults."""
    return [each.kind for each in found.diagnostics]


def story(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    """Give the texts a diagnostic points at, the primary one first, each with what is said about it."""
    return [(written(label), label.text) for label in (diagnostic.primary, *diagnostic.secondary)]


def located(found: Evaluated) -> list[tuple[str, str]]:
    """Give each fault as the path it was met on and the text it points at."""
    return [(path_text(each.path), written(each.primary)) for each in found.diagnostics]
