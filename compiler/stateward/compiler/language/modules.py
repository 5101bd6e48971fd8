"""Modules: the root, and those that imports bring in, each loaded and parsed once however it is reached.

Invariants: a module sees nothing of its importer; it is read when it is first needed and not before; the limits on the number of modules
and on their bytes are spent before a text is parsed.
"""

from stateward.compiler.diagnostics.model import Diagnostic, errors_of
from stateward.compiler.diagnostics.wording import quoted
from stateward.compiler.language.faults import Fault, Kind
from stateward.compiler.language.loader import Loader, Refused
from stateward.compiler.language.machine import Machine
from stateward.compiler.language.names import wait
from stateward.compiler.language.values import AnyValue, Cell, ModuleContext, Scope, Task, Use, through
from stateward.compiler.limits import Limits
from stateward.compiler.source import Place, Source, Span
from stateward.compiler.syntax.parser import parse
from stateward.compiler.syntax.tree import Field, Import, Key, Module, Object, StringLit

MARKDOWN = ".md"
CONTENT = "content"


class Modules:
    """All modules of one evaluation."""

    def __init__(self, loader: Loader, limits: Limits, diagnostics: list[Diagnostic]) -> None:
        self._loader = loader
        self._limits = limits
        self._diagnostics = diagnostics
        self._cells: dict[str, Cell] = {}
        self._answers: dict[tuple[str, str], Source | Refused] = {}
        self._bytes = 0
        self.imported: list[ModuleContext] = []
        """What was brought in, in the order in which it was needed."""
        self.broken: list[tuple[Source, Span]] = []
        """Where the syntax of it is at fault."""

    def root(self, source: Source, tree: Module) -> Cell:
        """Take in the root module."""
        return self._taken(source, tree, None)

    def evaluate(self, machine: Machine, node: Import, scope: Scope) -> AnyValue | Task:
        """Evaluate an import expression."""
        importer = scope.module.source.name
        asked = (importer, node.specifier)
        answer = self._answers.get(asked)
        if answer is None:
            answer = self._answers[asked] = self._loader.load(node.specifier, importer)
        if isinstance(answer, Refused):
            return machine.fail(_refused(answer, node, scope), node, scope)
        cell = self._cells.get(answer.name)
        if cell is None:
            fault = self._too_much(answer, node, scope)
            if fault is not None:
                return machine.fail(fault, node, scope)
            cell = self._loaded(answer, Use(node, scope))
        if cell.value is not None:
            return through(cell.value, scope.module.source, node)
        return wait(machine, cell, node, scope)

    def _too_much(self, source: Source, node: Import, scope: Scope) -> Fault | None:
        """Spend what a module costs; the root is not an imported one."""
        limits = self._limits
        size = source.byte_offset(len(source.text))
        self._bytes += size
        if len(self._cells) > limits.modules:
            message = f"more than {limits.modules:,} modules are imported"
        elif size > limits.module_bytes:
            message = f"the module {quoted(source.name)} is larger than {limits.module_bytes:,} bytes"
        elif self._bytes > limits.modules_bytes:
            message = f"the imported modules are together larger than {limits.modules_bytes:,} bytes"
        else:
            return None
        return Fault(Kind.LIMIT, message, Place(scope.module.source, node.span), "one module too many")

    def _loaded(self, source: Source, use: Use) -> Cell:
        if source.name.endswith(MARKDOWN):
            return self._taken(source, _document(source), use)
        parsed = parse(source, self._limits)
        self._diagnostics.extend(parsed.diagnostics)
        self.broken += ((source, each.primary.place.span) for each in errors_of(parsed.diagnostics))
        return self._taken(source, parsed.module, use)

    def _taken(self, source: Source, tree: Module, use: Use | None) -> Cell:
        module = ModuleContext(source, tree, use)
        cell = Cell(tree.body, Scope(module))
        self._cells[source.name] = cell
        if use is not None:
            self.imported.append(module)
        return cell


def _document(source: Source) -> Module:
    """Make the tree that a Markdown file stands for: an object with its text."""
    whole = Span(0, len(source.text))
    at = whole.start, whole.end
    content = Field(*at, (Key(*at, CONTENT, quoted=False),), StringLit(*at, source.text))
    return Module(*at, Object(*at, (content,), None, braced=True))


def _refused(refused: Refused, node: Import, scope: Scope) -> Fault:
    kind = Kind.LIMIT if refused.is_limit else Kind.IMPORT
    return Fault(kind, refused.message, Place(scope.module.source, node.span), refused.label, notes=refused.notes)
