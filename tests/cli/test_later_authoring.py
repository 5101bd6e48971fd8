"""The commands of authors on a flow of version 2."""

from pathlib import Path

import pytest
from click import Command
from click.testing import CliRunner, Result

from stateward.compiler.cli.comparing import diff_command
from stateward.compiler.cli.graphing import graph_command
from stateward.compiler.formatting.printer import format_source
from stateward.compiler.pipeline import compile_source
from stateward.compiler.source import Source
from stateward.runtime.surfaces.cli.reading import FileHost
from tests.compiler.flow.sources import GOOD_2, changed


def run(command: Command, *args: str, given: str | None = None) -> Result:
    return CliRunner().invoke(command, args, obj=FileHost, input=given)


def test_two_flows_are_told_apart_by_what_decides_and_is_declared(tmp_path: Path) -> None:
    old = tmp_path / "old.dcdl"
    old.write_text(GOOD_2, "utf-8")
    assert run(diff_command, str(old), str(old)).exit_code == 0
    newer = changed(("attempts < 3", "attempts < 4"), ("default 0", "default 1"), of=GOOD_2)
    done = run(diff_command, str(old), "-", given=newer)
    assert (done.exit_code, done.output.splitlines()) == (
        1,
        [
            "~ flow: variable attempts differs",
            "    -Int & >= 0 default 0",
            "    +Int & >= 0 default 1",
            "~ transition `back` of state `review`: when differs",
            "    -vars.attempts < 3",
            "    +vars.attempts < 4",
        ],
    )


@pytest.mark.parametrize("form", ["text", "mermaid", "dot", "svg"])
def test_a_flow_is_drawn(form: str) -> None:
    done = run(graph_command, "-", "--format", form, given=GOOD_2)
    assert (done.exit_code, "review" in done.output, "accept" in done.output) == (0, True, True)


def test_a_formatted_flow_is_the_same_flow() -> None:
    formatted = format_source(Source("paper.dcdl", GOOD_2))
    assert format_source(Source("paper.dcdl", formatted)) == formatted != GOOD_2
    assert compile_source(formatted.encode()).canonical == compile_source(GOOD_2.encode()).canonical
