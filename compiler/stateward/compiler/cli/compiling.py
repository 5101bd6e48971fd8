"""`stateward compile`: check flows, report, write a definition."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from stateward.compiler.cli.host import (
    STANDARD_INPUT,
    STATUS_USAGE,
    STDIN_NAME,
    TEST_SUFFIX,
    Document,
    Found,
    Host,
    found_at,
    host_of,
    slug_of,
)
from stateward.compiler.cli.output import SHOWN_MAX, fail, json_text, put, say, show_diagnostics
from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.diagnostics.report import Checked, Failure, Report, document, stricter, summary
from stateward.compiler.diagnostics.wording import counted
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX

if TYPE_CHECKING:
    from stateward.compiler.pipeline import Compilation


@click.command("compile")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--output", metavar="FILE", help="Write the definition, as canonical JSON; `-` for standard output.")
@click.option("--format", "form", type=click.Choice(["human", "json"]), default="human", help="How the report is written.")
@click.option("--strict", is_flag=True, help="Take warnings for errors.")
@click.option("--max", "shown_max", type=click.IntRange(min=0), help="Diagnostics to show; 0 for all. 50 for people, all in JSON.")
@STDIN_NAME
@click.pass_context
def compile_command(
    context: click.Context, paths: Sequence[str], output: str | None, form: str, *, strict: bool, shown_max: int | None, stdin_filename: str
) -> None:
    """Check flows and report what is wrong with them.

    PATH is a file, a folder (every *.dcdl below it that is a flow; never *.test.dcdl), a selector such as builtin:coder-review, or `-`.
    """
    host = host_of(context)
    run = _Run()
    for path in dict.fromkeys(paths):
        run.take(path, found_at(host, path, stdin_filename, bytes_max=FLOW_SOURCE_BYTES_MAX))
    checked = [_checked(each.name, compilation, strict=strict) for each, compilation in run.compiled]
    report = Report(checked, [*run.failures, *_written(host, output, run, checked)], run.passed_over)
    err = output == STANDARD_INPUT
    if form == "json":
        say(f"{json_text(document(report), indent=2, err=err)}\n", err=err)
    else:
        found = [each for one in checked for each in one.diagnostics]
        show_diagnostics(found, host, SHOWN_MAX if shown_max is None else shown_max, err=err)
        if checked:
            say(f"{summary(report)}\n", err=err)
    for failure in report.failures if form == "human" or not err else ():  # a document for programs holds them already
        fail(failure)
    context.exit(report.status)


@dataclass
class _Run:
    """What a run of compile has met so far."""

    compiled: list[tuple[Document, "Compilation"]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    passed_over: int = 0
    seen: set[str] = field(default_factory=set)

    def take(self, path: str, found: Found | Failure) -> None:
        """Compile what one argument names; what was met before is not compiled again."""
        if isinstance(found, Failure):
            self.failures.append(found)
            return
        flows = 0
        passed_before = self.passed_over
        for each in found.documents:
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

    def _compile(self, document_: Document) -> None:
        from stateward.compiler.pipeline import compile_source  # noqa: PLC0415 - help needs none of this

        if document_.identity in self.seen:
            return
        self.seen.add(document_.identity)
        compilation = compile_source(document_.data, name=document_.name, slug=document_.slug or slug_of(document_.name))
        self.compiled.append((document_, compilation))


def _is_flow(document_: Document) -> bool:
    from stateward.compiler.flow.recognize import is_flow_source  # noqa: PLC0415 - help needs none of this

    return not document_.name.endswith(TEST_SUFFIX) and is_flow_source(document_.data)


def _no_flow(path: str, passed_over: int) -> Failure:
    passed = f" ({counted(passed_over, 'other file')} passed over)" if passed_over else ""
    return Failure(
        f"no flow in `{path}`{passed}", "a flow is a `*.dcdl` file with `states` or `schema_version`; name the file itself", STATUS_USAGE
    )


def _checked(name: str, compilation: "Compilation", *, strict: bool) -> Checked:
    return Checked(
        file=name,
        flow=compilation.flow,
        content_digest=compilation.content_digest if compilation.flow is not None else None,
        definition_digest=compilation.definition_digest,
        diagnostics=stricter(compilation.diagnostics) if strict else compilation.diagnostics,
    )


def _written(host: Host, output: str | None, run: _Run, checked: Sequence[Checked]) -> list[Failure]:
    """Write the definition where one is asked for and the one flow is without errors."""
    if output is None:
        return []
    if len(checked) > 1:
        return [Failure(f"`--output` takes one flow, and {len(checked)} were named", "compile them one by one", STATUS_USAGE)]
    if run.failures or any(each.number_of(Severity.ERROR) for each in checked):
        return []
    data = run.compiled[0][1].canonical
    assert data is not None, "a flow without errors has a definition"
    if output == STANDARD_INPUT:
        put(data)
        return []
    failed = host.write(output, data, never=[each.path for each, _ in run.compiled if each.path is not None])
    return [failed] if failed is not None else []
