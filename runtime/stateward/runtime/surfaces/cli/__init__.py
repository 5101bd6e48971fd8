"""The command line: one group whose commands are imported when they are called, so that each loads only what it needs.

Exit status: 0 done, 1 the work itself found something wrong, 2 wrong usage or nothing there, 3 the environment failed, 130 interrupted,
141 nobody reads the output any more.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Final

import click

STATUS_INTERRUPTED: Final = 130
STATUS_PIPE_CLOSED: Final = 141

COMMANDS: Final = {
    "attest": ("stateward.runtime.surfaces.cli.prove", "attest_group", "State what was run, signed; check such a statement."),
    "compile": ("stateward.compiler.cli", "compile_command", "Check flows and report what is wrong with them."),
    "eval": ("stateward.compiler.cli", "eval_command", "Evaluate a DCDL file and print its value."),
    "flow": ("stateward.runtime.surfaces.cli.flow", "flow_group", "Keep flows in the Workspace."),
    "fmt": ("stateward.compiler.cli", "fmt_command", "Write DCDL files in their one canonical form."),
    "graph": ("stateward.compiler.cli", "graph_command", "Draw the graph of a flow."),
    "key": ("stateward.runtime.surfaces.cli.prove", "key_group", "Keep the keys that seal and sign."),
    "log": ("stateward.runtime.surfaces.cli.prove", "log_group", "Show, verify or export the session log of a Worker."),
    "operate": ("stateward.runtime.surfaces.cli.operate", "operate_group", "Step in: pause, cancel, rewind, fork, delete and more."),
    "ps": ("stateward.runtime.surfaces.cli.overview", "ps_command", "List Workers, and what keeps each where it is."),
    "replay": ("stateward.runtime.surfaces.cli.overview", "replay_command", "Run recorded verdicts through another flow."),
    "run": ("stateward.runtime.surfaces.cli.run", "run_command", "Work through a flow at the terminal."),
    "status": ("stateward.runtime.surfaces.cli.show", "status_command", "Show where a Worker stands."),
    "why": ("stateward.runtime.surfaces.cli.overview", "why_command", "Say why a Worker stands where it stands."),
}
"""Name, module, attribute and the line that `--help` shows (kept here so that help imports no command)."""


class _LazyGroup(click.Group):
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    try:
        status = cli.main(args=arguments, prog_name="stateward", standalone_mode=False)
    except click.ClickException as problem:
        problem.show()
        status = problem.exit_code
    except (click.Abort, KeyboardInterrupt):
        status = STATUS_INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has left; what is still buffered must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = STATUS_PIPE_CLOSED
    sys.exit(status)
