"""`stateward flow`: the group of its commands, each imported when it is called."""

import importlib
from typing import Final

import click

_HERE: Final = "stateward.runtime.surfaces.cli.flows"
COMMANDS: Final = {
    "diff": ("comparing", "diff_command", "Show what changed in a flow."),
    "export": ("bundles", "export_command", "Write flows with every revision to a file."),
    "history": ("looking", "history_command", "Show the revisions of a flow, and what was done to it."),
    "import": ("bundles", "import_command", "Take in flows that were exported."),
    "list": ("looking", "list_command", "List the flows of the Workspace."),
    "provenance": ("provenance", "provenance_command", "Show where what a flow reads can come from."),
    "remove": ("acting", "remove_command", "Hide a flow; its revisions stay."),
    "resolve": ("resolving", "resolve_command", "Say what a selector stands for."),
    "restore": ("acting", "restore_command", "Make an old revision current again."),
    "save": ("save", "save_command", "Compile flows and keep each as a new revision."),
    "show": ("looking", "show_command", "Show the source of a flow, or write it to a file."),
    "sync": ("sync", "sync_command", "Bring a folder of flows and the Workspace together."),
}
"""Name, module, attribute and the line that `--help` shows."""


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = COMMANDS.get(cmd_name)
        if found is None:
            return None
        module, attribute, _ = found
        command = getattr(importlib.import_module(f"{_HERE}.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][2]) for name in sorted(COMMANDS)])


@click.group("flow", cls=_LazyGroup)
def flow_group() -> None:
    """Keep flows in the Workspace, with every revision."""
