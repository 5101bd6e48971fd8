"""The guide to variables and guards shows what is said: its commands are run, one after the other, on its flow."""

import re
from pathlib import Path

from stateward.compiler.formatting.printer import format_source
from stateward.compiler.source import Source
from tests.cli.program import place
from tests.cli.test_flow_guide import DOCS, carried_out, fits, steps

GUIDE = (DOCS / "guide" / "variables-and-guards.md").read_text("utf-8")
SOURCE = next(block for block in re.findall(r"```\n(.*?)```", GUIDE, re.DOTALL) if "schema_version" in block)


def test_every_command_of_the_guide_says_what_is_shown(tmp_path: Path) -> None:
    here = place(tmp_path)
    (here.work / "tidy.dcdl").write_text(SOURCE, "utf-8")
    for number, (_, command, shown) in enumerate(steps(GUIDE), start=1):
        ended = carried_out(here, command, {})
        assert fits(shown, ended.out + ended.err), f"command {number}, `{command}`, says:\n{ended.out}{ended.err}"


def test_the_flow_of_the_guide_stands_in_canonical_form() -> None:
    assert SOURCE == format_source(Source.from_text("tidy.dcdl", SOURCE))
