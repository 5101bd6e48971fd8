"""The command line: one group whose commands are imported when they are called, so that each loads only what it needs.

Exit status: 0 done, 1 the work itself found something wrong, 2 wrong usage or nothing there, 3 the environment failed, 4 a fault of the
program itself, 130 interrupted, 141 nobody reads the output any more.
"""

import errno
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import click

STATUS_INTERRUPTED: Final = 130
STATUS_PIPE_CLOSED: Final = 141
STATUS_BUG: Final = 4
TRACEBACK_VARIABLE: Final = "STATEWARD_TRACEBACK"
"""Set to anything, it lets a fault of the program itself come with its traceback, for a report."""
UNWRITABLE: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What the system says of a stream that takes no more."""

COMMANDS: Final = {
    "attest": ("stateward.runtime.surfaces.cli.prove", "attest_group", "State what was run, signed; check such a statement."),
    "compile": ("stateward.compiler.cli.compiling", "compile_command", "Check flows and report what is wrong with them."),
    "diff": ("stateward.compiler.cli.comparing", "diff_command", "Compare two flows as graphs."),
    "eval": ("stateward.compiler.cli.evaluating", "eval_command", "Evaluate a DCDL file and print its value."),
    "explain": ("stateward.compiler.cli.explaining", "explain_command", "Say what a diagnostic means."),
    "explain-attempt": (
        "stateward.runtime.surfaces.cli.attempt",
        "explain_attempt_command",
        "Show what a verifier was given and concluded.",
    ),
    "flow": ("stateward.runtime.surfaces.cli.flows.group", "flow_group", "Keep flows in the Workspace."),
    "fmt": ("stateward.compiler.cli.formatting", "fmt_command", "Write DCDL files in their one canonical form."),
    "graph": ("stateward.compiler.cli.graphing", "graph_command", "Draw the graph of a flow."),
    "hook": ("stateward.runtime.surfaces.cli.hook", "hook_command", "Take in what the harness of an agent tells, and answer it."),
    "init": ("stateward.runtime.surfaces.cli.init.command", "init_command", "Let coding agents work inside flows, and undo it."),
    "key": ("stateward.runtime.surfaces.cli.prove", "key_group", "Keep the keys that seal and sign."),
    "log": ("stateward.runtime.surfaces.cli.prove", "log_group", "Show, verify or export the session log of a Worker."),
    "lsp": ("stateward.runtime.surfaces.cli.lsp", "lsp_command", "Serve an editor, over the Language Server Protocol."),
    "mcp": ("stateward.runtime.surfaces.cli.mcp", "mcp_command", "Serve the agent of a Worker, over the Model Context Protocol."),
    "new": ("stateward.runtime.surfaces.cli.starting", "new_command", "Write a first flow and its tests."),
    "operate": ("stateward.runtime.surfaces.cli.operate", "operate_group", "Step in: pause, cancel, rewind, fork, delete and more."),
    "paths": ("stateward.compiler.cli.comparing", "paths_command", "List paths that take every transition of a flow."),
    "profile": ("stateward.runtime.surfaces.cli.profile", "profile_group", "Show what Workers may do and who judges them."),
    "ps": ("stateward.runtime.surfaces.cli.overview", "ps_command", "List Workers, and what keeps each where it is."),
    "replay": ("stateward.runtime.surfaces.cli.overview", "replay_command", "Run recorded verdicts through another flow."),
    "request": ("stateward.runtime.surfaces.cli.request", "request_command", "Ask to leave the current state."),
    "run": ("stateward.runtime.surfaces.cli.run", "run_command", "Work through a flow at the terminal."),
    "serve": ("stateward.runtime.surfaces.cli.serve", "serve_command", "Serve the Workspace over HTTP, for a team."),
    "set": ("stateward.runtime.surfaces.cli.setting", "set_command", "Set variables that the current state writes."),
    "simulate": ("stateward.runtime.surfaces.cli.simulate", "simulate_command", "Walk a flow by hand."),
    "start": ("stateward.runtime.surfaces.cli.start", "start_command", "Start a Worker and show its first state."),
    "status": ("stateward.runtime.surfaces.cli.show", "status_command", "Show where a Worker stands."),
    "store": ("stateward.runtime.surfaces.cli.store", "store_group", "Look after a store: its version, migration, soundness."),
    "test": ("stateward.runtime.surfaces.cli.testing", "test_command", "Run the tests of flows."),
    "token": ("stateward.runtime.surfaces.cli.token", "token_group", "Issue, list and revoke the tokens of a service."),
    "verify": ("stateward.runtime.surfaces.cli.request", "verify_command", "Have the open request of a Worker judged."),
    "watch": ("stateward.runtime.surfaces.cli.watch", "watch_command", "Follow a Worker as it goes on."),
    "why": ("stateward.runtime.surfaces.cli.overview", "why_command", "Say why a Worker stands where it stands."),
}
"""Name, module, attribute and the line that `--help` shows (kept here so that help imports no command)."""


@contextmanager
def _output_watched() -> Iterator[None]:
    """End with a status of its own when whoever read the output has left, and with one clear line when output cannot be written."""
    try:
        yield
        if sys.stdout is not None:  # None when it is closed
            sys.stdout.flush()
    except BrokenPipeError as left:
        _errors().abandon_output()
        raise click.exceptions.Exit(STATUS_PIPE_CLOSED) from left
    except OSError as fault:
        if fault.filename is not None or fault.errno not in UNWRITABLE:
            raise
        raise _errors().output_failed(fault) from fault


def _errors() -> Any:
    return importlib.import_module("stateward.runtime.surfaces.cli.errors")


class _LazyGroup(click.Group):
    def make_context(self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any) -> click.Context:
        with _output_watched():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _output_watched():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = COMMANDS.get(cmd_name)
        if found is None:
            return None
        module, attribute, _ = found
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][2]) for name in sorted(COMMANDS)])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="stateward", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Run an agent through a declared state graph; an independent verifier judges every transition."""
    context.obj = _file_host


def _file_host() -> object:
    """Give the authors' commands their files and selectors; imported when one of them asks."""
    return importlib.import_module("stateward.runtime.surfaces.cli.reading").FileHost()


def _usage_shown(problem: click.UsageError) -> None:
    """Say what is wrong with how a command was called, in the form of every other error line."""
    said, _, hint = problem.format_message().replace("'", "`").rstrip(".").partition(". ")
    command = "stateward" if problem.ctx is None else problem.ctx.command_path
    _errors().Stop(problem.exit_code, said[:1].lower() + said[1:], hint[:1].lower() + hint[1:] or f"see `{command} --help`").show()


def _bug_told(bug: Exception) -> None:
    """Say in a line what was not foreseen and where; what was acknowledged before is in the store."""
    trace = bug.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "" if trace is None else f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"  # noqa: PTH119
    message = f"a fault of stateward itself: {type(bug).__name__}{where}: {bug}"
    _errors().Stop(STATUS_BUG, message, f"report it, with what {TRACEBACK_VARIABLE}=1 prints").show()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    try:
        status = cli.main(args=arguments, prog_name="stateward", standalone_mode=False)
    except click.UsageError as problem:
        _usage_shown(problem)
        status = problem.exit_code
    except click.ClickException as problem:
        problem.show()
        status = problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        status = STATUS_INTERRUPTED
    except Exception as bug:  # whatever was not foreseen ends here, and nowhere before
        if os.environ.get(TRACEBACK_VARIABLE):
            raise
        _bug_told(bug)
        status = STATUS_BUG
    sys.exit(status)
