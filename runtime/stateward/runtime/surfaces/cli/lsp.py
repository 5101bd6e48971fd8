"""`stateward lsp`: the language server, which an editor starts and speaks with over standard input and output."""

from typing import Final

import click

from stateward.runtime.surfaces.cli.errors import STATUS_ENVIRONMENT, Stop

LIBRARIES: Final = frozenset({"attrs", "cattrs", "lsprotocol", "pygls"})
"""What comes with the extra `author`."""


@click.command("lsp")
@click.option("--stdio", is_flag=True, help="Speak over standard input and output; the only way there is, named by some editors.")
def lsp_command(stdio: bool) -> int:
    """Serve an editor: it starts this command and speaks the Language Server Protocol with it."""
    del stdio
    try:
        from stateward.compiler.editor.stdio import serve  # noqa: PLC0415 -- comes with an extra
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in LIBRARIES:
            raise
        raise Stop(STATUS_ENVIRONMENT, f"serving editors needs the package {missing.name}", "install `stateward[author]`") from missing
    return serve()
