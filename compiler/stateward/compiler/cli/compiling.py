"""`stateward compile`: check flows, report, mend, write a definition."""

from collections.abc import Sequence

import click

from stateward.compiler.cli.checking import Asked, check, unwatchable
from stateward.compiler.cli.host import SELECTORS, STANDARD_INPUT, STATUS_FOUND, STATUS_USAGE, STDIN_NAME, Host, host_of
from stateward.compiler.cli.output import fail
from stateward.compiler.cli.reporting import FORMS, HUMAN, Telling, tell, tell_difference
from stateward.compiler.diagnostics.codes import CODES
from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.diagnostics.report import Failure
from stateward.compiler.diagnostics.wording import nearest, quoted


@click.command("compile")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--output", metavar="FILE", help="Write the definition, as canonical JSON; `-` for standard output.")
@click.option("--format", "form", type=click.Choice(FORMS), default=HUMAN, help="How the report is written.")
@click.option("--strict", is_flag=True, help="Take warnings for errors.")
@click.option("--allow", "allowed", metavar="CODE", multiple=True, help="Accept a warning; may be given more than once.")
@click.option("--fix", is_flag=True, help="Mend what is certain, in the files themselves.")
@click.option("--diff", is_flag=True, help="Change nothing; show what `--fix` would change.")
@click.option("--unsafe-fixes", "unsafe", is_flag=True, help="With `--fix` or `--diff`: mend by what was probably meant, too.")
@click.option("--watch", "watched", is_flag=True, help="Go on, and check again after each change of a file.")
@click.option("--max", "shown_max", type=click.IntRange(min=0), help="Diagnostics that people are shown; 0 for all. 50 is usual.")
@STDIN_NAME
@click.pass_context
def compile_command(
    context: click.Context,
    *,
    paths: Sequence[str],
    output: str | None,
    form: str,
    allowed: Sequence[str],
    stdin_filename: str,
    strict: bool,
    fix: bool,
    diff: bool,
    unsafe: bool,
    watched: bool,
    shown_max: int | None,
) -> None:
    """Check flows and report what is wrong with them.

    PATH is a file, a folder (every *.dcdl below it that is a flow; never *.test.dcdl), a selector such as builtin:coder-review, or `-`.
    The imports of a file reach the files of its folder and below.
    """
    host = host_of(context)
    are_files = not any(path == STANDARD_INPUT or path.startswith(SELECTORS) for path in paths)
    trial = are_files and not unsafe and not diff and form == HUMAN
    asked = Asked(paths, stdin_filename, output, strict, frozenset(allowed), fix and not diff, diff, unsafe, trial)
    wrong = _wrong_use(asked, form) or (unwatchable(paths) if watched else None)
    if wrong is not None:
        fail(wrong)
        context.exit(wrong.status)
    how = Telling(form, shown_max, err=output == STANDARD_INPUT)
    if watched:
        from stateward.compiler.cli.watching import watch  # noqa: PLC0415 - only `--watch` needs it

        context.exit(watch(host, paths, lambda: _run(host, asked, how)))
    context.exit(_run(host, asked, how)[0])


def _run(host: Host, asked: Asked, how: Telling) -> tuple[int, Sequence[str]]:
    """Check everything once and tell it; gives the exit status, and the files that imports name."""
    report = check(host, asked)
    if asked.diff:
        tell_difference(report)
        return max(report.status, STATUS_FOUND if report.fixed else 0), report.sought
    tell(report, host, how)
    return report.status, report.sought


def _wrong_use(asked: Asked, form: str) -> Failure | None:
    """Say what of the options goes together with nothing."""
    for code in sorted(asked.allowed):
        if code not in CODES:
            near = nearest(code, [each.name for each in CODES.values() if each.severity is Severity.WARNING])
            remedy = f"did you mean `{near}`?" if near is not None else "`stateward explain` lists the codes"
            return Failure(f"no diagnostic has the code {quoted(code)}", remedy, STATUS_USAGE)
        if CODES[code].severity is Severity.ERROR:
            return Failure(f"`{code}` is an error and cannot be allowed", "only warnings can be accepted", STATUS_USAGE)
    if asked.unsafe and not (asked.fix or asked.diff):
        return Failure("`--unsafe-fixes` changes nothing by itself", "add `--fix`, or `--diff` to look first", STATUS_USAGE)
    if asked.diff and (form != HUMAN or asked.output is not None):
        other = "--output" if asked.output is not None else f"--format {form}"
        return Failure(f"`--diff` goes with no `{other}`", "leave one of the two out", STATUS_USAGE)
    return None
