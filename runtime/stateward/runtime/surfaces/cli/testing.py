"""`stateward test`: run the tests that lie beside flows.

Invariants: nothing is written, and no Worker is made; a file of tests is told whole, with what its tests cover; a file that cannot be used
counts as failed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import click

from stateward.compiler.cli.host import STATUS_FOUND, STATUS_USAGE, SUFFIX, TEST_SUFFIX, Document, Host, host_of, loader_of, single, slug_of
from stateward.compiler.cli.output import fail, say, show_diagnostics
from stateward.compiler.diagnostics.json import VERSION, diagnostic_json
from stateward.compiler.diagnostics.model import Diagnostic, errors_of
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import counted, listed
from stateward.compiler.language.loader import Loader
from stateward.compiler.limits import FLOW_SOURCE_BYTES_MAX
from stateward.compiler.pipeline import compile_source
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.trial.form import FILE_BYTES_MAX
from stateward.runtime.trial.reading import Unusable, read_tests
from stateward.runtime.trial.running import Coverage, Ran, coverage, run_tests

MISSED_SHOWN_MAX: Final = 20


@click.command("test")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--flow", metavar="PATH", help="The flow that is tested, where it does not lie beside its tests: a file or a selector.")
@click.option("--coverage", "required", type=click.IntRange(0, 100), default=0, metavar="PERCENT", help="Fail below this coverage.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one file of tests a line.")
@click.pass_context
def test_command(context: click.Context, paths: Sequence[str], *, flow: str | None, required: int, as_json: bool) -> None:
    """Run the tests of flows, and say which transitions they take.

    PATH is a file of tests (SLUG.test.dcdl, beside its flow SLUG.dcdl), the flow itself, or a folder with either. Exit status: 0 when all
    passed, 1 when one failed, 2 and 3 for wrong usage and a failing environment.
    """
    host = host_of(context)
    status = 0
    for path in dict.fromkeys(paths):
        for found in _files(host, path, flow):
            if isinstance(found, Failure):
                fail(found)
                status = max(status, found.status)
                continue
            tested = _tested(found, required)
            status = max(status, STATUS_FOUND if tested.failed else 0)
            if as_json:
                emit_json(tested.json())
            else:
                show_diagnostics(tested.diagnostics, host, 0, err=False)
                say(tested.summary())
    context.exit(status)


@dataclass(frozen=True, slots=True)
class _Pair:
    """A file of tests, and the flow that it tests."""

    tests: Document
    flow: Document
    loader: Loader | None
    """What the flow may import; None where it is no file."""


@dataclass(frozen=True, slots=True)
class _Tested:
    """What a file of tests came to."""

    name: str
    ran: tuple[Ran, ...]
    coverage: Coverage
    broken: tuple[Diagnostic, ...]
    """Why nothing was run; empty when the tests were."""
    required: int

    @property
    def diagnostics(self) -> list[Diagnostic]:
        return [*self.broken, *(each.failure for each in self.ran if each.failure is not None)]

    @property
    def percent(self) -> int:
        """Give the share of the transitions that were taken, rounded down; all, where there are none."""
        taken, missed = len(self.coverage.taken), len(self.coverage.missed)
        return 100 * taken // (taken + missed) if taken + missed else 100

    @property
    def failed(self) -> bool:
        return bool(self.diagnostics) or self.percent < self.required

    def summary(self) -> str:
        """Give the closing lines for people."""
        if self.broken:
            return f"{self.name}: no test was run\n"
        failed = sum(each.failure is not None for each in self.ran)
        taken, missed = self.coverage.taken, self.coverage.missed
        told = f"{counted(failed, 'test')} of {len(self.ran)} failed" if failed else f"{counted(len(self.ran), 'test')} passed"
        ways = f"{len(taken)} of {counted(len(taken) + len(missed), 'transition')} taken ({self.percent} %)"
        lines = [f"{self.name}: {told}; {ways}"]
        if missed:
            names = [f"{each.state}.{each.transition}" for each in missed[:MISSED_SHOWN_MAX]]
            more = len(missed) - len(names)
            lines.append(f"  not taken: {listed(names)}" + (f" and {more} more" if more else ""))
        if self.percent < self.required:
            lines.append(f"  {self.required} % were asked for")
        return "\n".join(lines) + "\n"

    def json(self) -> dict[str, Any]:
        """Give it as JSON data."""
        return {
            "version": VERSION,
            "file": self.name,
            "tests": [{"name": each.test.name, "passed": each.failure is None} for each in self.ran],
            "coverage": None
            if self.broken
            else {
                "percent": self.percent,
                "taken": [each._asdict() for each in self.coverage.taken],
                "missed": [each._asdict() for each in self.coverage.missed],
            },
            "diagnostics": [diagnostic_json(each) for each in self.diagnostics],
        }


def _files(host: Host, path: str, flow: str | None) -> Iterator[_Pair | Failure]:
    """Find the files of tests that a path names, each with its flow."""
    named = f"{path.removesuffix(SUFFIX)}{TEST_SUFFIX}" if path.endswith(SUFFIX) and not path.endswith(TEST_SUFFIX) else path
    found = host.find(named, bytes_max=FILE_BYTES_MAX)
    if isinstance(found, Failure):
        yield found
        return
    count = 0
    for each in found.documents:
        if isinstance(each, Failure):
            yield each
        elif each.name.endswith(TEST_SUFFIX):
            count += 1
            yield _paired(host, each, flow)
        elif not found.is_folder:
            count += 1
            yield Failure(f"`{each.name}` is no file of tests", f"name a file that ends in `{TEST_SUFFIX}`", STATUS_USAGE)
    if not count:
        yield Failure(f"there are no tests in `{path}`", f"a file of tests ends in `{TEST_SUFFIX}`", STATUS_USAGE)


def _paired(host: Host, tests: Document, flow: str | None) -> _Pair | Failure:
    place = flow or f"{(tests.path or tests.name).removesuffix(TEST_SUFFIX)}{SUFFIX}"
    found = single(host, place, "", bytes_max=FLOW_SOURCE_BYTES_MAX)
    if isinstance(found, Failure):
        return Failure(f"the flow that `{tests.name}` tests: {found.message}", found.remedy or "name it with `--flow`", found.status)
    return _Pair(tests, found, loader_of(host, found))


def _tested(pair: _Pair, required: int) -> _Tested:
    name, nothing = pair.tests.name, Coverage((), ())
    compilation = compile_source(pair.flow.data, name=pair.flow.name, slug=pair.flow.slug or slug_of(pair.flow.name), loader=pair.loader)
    if compilation.definition is None:
        return _Tested(name, (), nothing, tuple(errors_of(compilation.diagnostics)), required)
    tests = read_tests(name, pair.tests.data, compilation.definition)
    if isinstance(tests, Unusable):
        return _Tested(name, (), nothing, tests.diagnostics, required)
    ran = run_tests(compilation.definition, tests)
    return _Tested(name, ran, coverage(compilation.definition, ran), (), required)
