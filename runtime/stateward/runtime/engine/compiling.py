"""The compiler, loaded where something is compiled and nowhere else: it costs more than all else, and most calls compile nothing."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stateward.compiler.flow.definition import CompiledFlowDefinition
    from stateward.compiler.pipeline import Compilation


def compiled(content: bytes, name: str, slug: str) -> "Compilation":
    """Compile a source that is kept under a slug; `name` is how its diagnostics call it. A Workspace keeps the source of a flow alone."""
    from stateward.compiler.language.loader import Refused, RefusingLoader  # noqa: PLC0415 -- as the module says
    from stateward.compiler.pipeline import compile_source  # noqa: PLC0415

    message = "a flow that imports cannot be kept in a Workspace"
    refused = Refused(message, "imports a module", notes=("a Workspace keeps the source of a flow, and no file that it imports",))
    return compile_source(content, name=name, slug=slug, loader=RefusingLoader(refused))


def canonical_of(definition: "CompiledFlowDefinition") -> bytes:
    """Give the bytes that the digest of a definition covers."""
    from stateward.compiler.flow.canonical import canonical_bytes  # noqa: PLC0415 -- as the module says

    return canonical_bytes(definition)


def diagnostics_of(compilation: "Compilation") -> tuple[Mapping[str, Any], ...]:
    """Give what a compile found, in the form of `compile --format json`."""
    from stateward.compiler.diagnostics.json import diagnostic_json  # noqa: PLC0415 -- as the module says

    return tuple(diagnostic_json(each) for each in compilation.diagnostics)
