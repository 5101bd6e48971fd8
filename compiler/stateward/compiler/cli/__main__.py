"""The authors' commands over standard input alone: `python -m stateward.compiler.cli`."""

import click

from stateward.compiler.cli.compiling import compile_command
from stateward.compiler.cli.evaluating import eval_command
from stateward.compiler.cli.explaining import explain_command
from stateward.compiler.cli.formatting import fmt_command
from stateward.compiler.cli.graphing import graph_command


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Compile, draw, format and evaluate what comes by standard input; explain what is said of it."""


for _command in (compile_command, explain_command, graph_command, fmt_command, eval_command):
    main.add_command(_command)

if __name__ == "__main__":
    main(prog_name="python -m stateward.compiler.cli")
