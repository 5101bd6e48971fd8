"""The compiler, loaded where something is compiled and nowhere else: it costs more than all else, and most calls compile nothing."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition
    from stateward.compiler.pipeline import Compilation


def compiled(content: bytes, name: str, slug: str, modules: Iterable[tuple[str, bytes]] = ()) -> "Compilation":
    """Compile a source that is kept under a slug, with the modules that it may import; `name` is how its diagnostics call it."""
    from stateward.compiler.language.loader import KeptLoader  # noqa: PLC0415 -- as the module says
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415

    return compile_source(content, name=name, slug=slug, loader=KeptLoader(dict(modules)))


def canonical_of(definition: "CompiledFlowDefinition") -> bytes:
    """Give the bytes that the digest of a definition covers."""
    from stateward.compiler.flow.canonical import canonical_bytes  # noqa: PLC0415 -- as the module says

    return canonical_bytes(definition)


def diagnostics_of(compilation: "Compilation") -> tuple[Mapping[str, Any], ...]:
    """Give what a compile found, in the form of `compile --format json`."""
    from stateward.compiler.diagnostics.json import diagnostic_json  # noqa: PLC0415 -- as the module says

    return tuple(diagnostic_json(each) for each in compilation.diagnostics)
