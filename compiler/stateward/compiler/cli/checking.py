"""One run over all that was named: what is found, compiled, mended and written, as a report.

Invariants: what was met before is not compiled again; a source is written only with `fix`, and only where the mended text is better; what
could not be looked at or written is a failure in the report, and the rest is checked all the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

from stateward.compiler.cli.host import (
    SELECTORS,
    STANDARD_INPUT,
    STATUS_USAGE,
    TEST_SUFFIX,
    Document,
    Found,
    Host,
    found_at,
    loader_of,
    slug_of,
)
from stateward.compiler.cli.output import difference, put, say
from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.diagnostics.report import NOT_MENDABLE, Checked, Failure, Fixed, Mendable, Report, stricter, without
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX

if TYPE_CHECKING:
    from stateward.compiler.pipeline import Compilation
    from stateward.compiler.source import Source

PROGRESS_EVERY: Final = 25
"""Sources after which a person who looks on is told how many there were."""
TRIALS_MAX: Final = 50
"""Sources of which it is found out how much could be mended."""
_CLEAR: Final = "\r\x1b[K"


class Asked(NamedTuple):
    """What a run of compile is to do."""

    paths: Sequence[str]
    stdin_name: str
    output: str | None = None
    strict: bool = False
    allowed: frozenset[str] = frozenset()
    """Codes of warnings that are accepted."""
    fix: bool = False
    """Whether sources are mended and written."""
    diff: bool = False
    """Whether sources are mended and the difference is printed."""
    unsafe: bool = False
    """Whether they are mended by changes that may not be what was meant, too."""
    trial: bool = False
    """Whether to find out how much could be mended."""


class Done(NamedTuple):
    """One source that was compiled."""

    document: Document
    compilation: "Compilation"
    fixed: tuple[Fixed, ...] = ()
    mendable: Mendable = NOT_MENDABLE
    left_out: int = 0


def check(host: Host, asked: Asked) -> Report:
    """Do all that is asked for but to tell it."""
    run = _Run(host, asked)
    for path in dict.fromkeys(asked.paths):
        run.take(path, found_at(host, path, asked.stdin_name, bytes_max=FLOW_SOURCE_BYTES_MAX))
    run.progress.end()
    checked = [_checked(each, asked) for each in run.done]
    failures = [*run.failures, *_written(host, asked.output, run, checked)]
    return Report(checked, failures, run.passed_over, tuple(dict.fromkeys(path for each in run.done for path in _sought(each))))


def _sought(done: Done) -> Iterator[str]:
    """Give the files that a source imports, whether they are there or not."""
    if done.document.path is not None:
        folder = PurePath(done.document.path).parent
        yield from (str(folder / each) for each in done.compilation.sought)


@dataclass
class _Progress:
    """How far a run is, for a person who waits for it: a line on standard error that is written over."""

    is_shown: bool
    number: int = 0

    def step(self) -> None:
        """Count one more source."""
        self.number += 1
        if self.is_shown and self.number % PROGRESS_EVERY == 0:
            say(f"{_CLEAR}looked at {counted(self.number, 'file')}", err=True, coloured=True)

    def end(self) -> None:
        """Take the line away again."""
        if self.is_shown and self.number >= PROGRESS_EVERY:
            say(_CLEAR, err=True, coloured=True)


class _Run:
    """What a run has met so far."""

    def __init__(self, host: Host, asked: Asked) -> None:
        self.host = host
        self.asked = asked
        self.done: list[Done] = []
        self.failures: list[Failure] = []
        self.passed_over = 0
        self.progress = _Progress(host.look(err=True).live)
        self._seen: set[str] = set()
        self._trials = 0

    def take(self, path: str, found: Found | Failure) -> None:
        """Compile what one argument names; what was met before is not compiled again."""
        if isinstance(found, Failure):
            self.failures.append(found)
            return
        flows = 0
        passed_before = self.passed_over
        for each in found.documents:
            self.progress.step()
            if isinstance(each, Failure):
                self.failures.append(each)
                flows += 1
            elif found.is_folder and not _is_flow(each):
                self.passed_over += 1
            else:
                flows += 1
                self._compile(each)
        if not flows:
            self.failures.append(_no_flow(path, self.passed_over - passed_before))

    def _compile(self, document: Document) -> None:
        if document.identity in self._seen:
            return
        self._seen.add(document.identity)
        done = Done(document, self._compiled(document, document.data))
        if self.asked.fix or self.asked.diff:
            done = self._mended(done)
        self.done.append(self._tried(done) if self.asked.trial and done.compilation.diagnostics else done)

    def _tried(self, done: Done) -> Done:
        """Find out how much of a source could be mended, for the first few that are at fault."""
        from stateward.compiler.cli.mending import mendable  # noqa: PLC0415 - a check of sound flows needs none of this

        self._trials += 1
        if self._trials > TRIALS_MAX:
            return done
        return done._replace(
            mendable=mendable(self._told(done.compilation), lambda source: self._told(self._compiled(done.document, source)))
        )

    def _compiled(self, document: Document, source: "bytes | Source") -> "Compilation":
        from stateward.compiler.pipeline import compile_source  # noqa: PLC0415 - help needs none of this

        slug = document.slug or slug_of(document.name)
        return compile_source(source, name=document.name, slug=slug, loader=loader_of(self.host, document))

    def _told(self, compilation: "Compilation") -> "Compilation":
        """Leave out what is accepted."""
        return replace(compilation, diagnostics=without(compilation.diagnostics, self.asked.allowed))

    def _mended(self, done: Done) -> Done:
        """Mend a source, and write it or show what would be written."""
        from stateward.compiler.cli.mending import left_out, mend  # noqa: PLC0415 - a check needs none of this

        document = done.document
        mended = mend(done.compilation, lambda source: self._compiled(document, source), unsafe=self.asked.unsafe)
        left = left_out(mended.compilation, unsafe=self.asked.unsafe)
        if not mended.made:
            return done._replace(left_out=left)
        if self.asked.diff:
            assert done.compilation.source is not None, "what is no text offers no fixes"
            assert mended.compilation.source is not None, "it was mended as a text"
            say(difference(safe(document.name), done.compilation.source.text, mended.compilation.source.text, "fixed"))
        else:
            failed = self._rewritten(document, mended.data)
            if failed is not None:
                self.failures.append(failed)
                return done
        return Done(document, mended.compilation, mended.made, left_out=left)

    def _rewritten(self, document: Document, data: bytes) -> Failure | None:
        if document.path is None:
            remedy = "`--diff` shows what would be changed"
            return Failure(f"`{document.name}` is no file, and is left as it is", remedy, STATUS_USAGE)
        return self.host.rewrite(document.path, data, expected=document.data)


def _is_flow(document: Document) -> bool:
    from stateward.compiler.flow.recognize import is_flow_source  # noqa: PLC0415 - help needs none of this

    return not document.name.endswith(TEST_SUFFIX) and is_flow_source(document.data)


def _no_flow(path: str, passed_over: int) -> Failure:
    passed = f" ({counted(passed_over, 'other file')} passed over)" if passed_over else ""
    return Failure(
        f"no flow in `{path}`{passed}", "a flow is a `*.dcdl` file with `states` or `schema_version`; name the file itself", STATUS_USAGE
    )


def _checked(done: Done, asked: Asked) -> Checked:
    compilation = done.compilation
    told = without(compilation.diagnostics, asked.allowed)
    return Checked(
        file=done.document.name,
        flow=compilation.flow,
        content_digest=compilation.content_digest if compilation.flow is not None else None,
        definition_digest=compilation.definition_digest,
        diagnostics=stricter(told) if asked.strict else told,
        fixed=done.fixed,
        allowed=len(compilation.diagnostics) - len(told),
        mendable=done.mendable,
        left_out=done.left_out,
        closure_digest=compilation.closure_digest if compilation.flow is not None else None,
        modules=tuple((each.path, each.digest) for each in compilation.modules) if compilation.flow is not None else (),
    )


def _written(host: Host, output: str | None, run: _Run, checked: Sequence[Checked]) -> list[Failure]:
    """Write the definition where one is asked for and the one flow is without errors."""
    if output is None:
        return []
    if len(checked) > 1:
        return [Failure(f"`--output` takes one flow, and {len(checked)} were named", "compile them one by one", STATUS_USAGE)]
    if run.failures or any(each.number_of(Severity.ERROR) for each in checked):
        return []
    data = run.done[0].compilation.canonical
    assert data is not None, "a flow without errors has a definition"
    if output == STANDARD_INPUT:
        put(data)
        return []
    failed = host.write(output, data, never=[each.document.path for each in run.done if each.document.path is not None])
    return [failed] if failed is not None else []


def unwatchable(paths: Sequence[str]) -> Failure | None:
    """Say what of all that was named cannot be watched."""
    for path in paths:
        if path == STANDARD_INPUT or path.startswith(SELECTORS):
            return Failure(f"`{path}` cannot be watched", "`--watch` follows files and folders", STATUS_USAGE)
    return None
