"""What people met in neighbouring tools, on the graph and in what is said: whole runs, with source, command and output together.

Each test names its scenario of `tests/conformance/bug_reports.md`; the snapshots are to be read as prose.
"""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stateward.compiler.cli.compiling import compile_command
from stateward.compiler.flow.schema import FLOW, STATE
from stateward.compiler.pipeline import compile_source
from stateward.runtime.surfaces.cli.reading import FileHost
from tests.compiler.diagnostics.snapshots import assert_snapshot, titled, visible

SNAPSHOTS = Path(__file__).parent / "snapshots"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(compile_command, list(arguments), obj=FileHost, prog_name="stateward compile")


def shown(name: str, *files: tuple[str, str]) -> list[Result]:
    """Compile each file by itself and compare sources, commands and outputs with the snapshot of that name."""
    sections: list[tuple[str, str]] = []
    results: list[Result] = []
    for file, text in files:
        Path(file).write_text(text, "utf-8")
        done = run(file)
        results.append(done)
        sections.append((file, visible(text)))
        sections.append((f"$ stateward compile {file}", f"{done.output.rstrip()}\n\nexit status {done.exit_code}"))
    assert_snapshot(SNAPSHOTS / f"{name}.txt", titled(sections))
    return results


def flow(name: str, *states: str) -> str:
    """Write a flow that begins in `a`; a state is `id -> target, target` or, as an end, `id`."""
    return f'schema_version = 1;\nname = "{name}";\ninitial = "a";\nstates = {{\n{"".join(map(_state, states))}}};\n'


def _state(written: str) -> str:
    id_, _, targets = written.partition(" -> ")
    if not targets:
        return f'    {id_} = {{ instructions = ""; terminal = true; }};\n'
    ways = "".join(
        f'            to_{target} = {{ target = "{target}"; condition = "{target.capitalize()} is next."; }};\n'
        for target in targets.split(", ")
    )
    return f'    {id_} = {{\n        instructions = "Work at {id_}.";\n        transitions = {{\n{ways}        }};\n    }};\n'


def told(file: str) -> list[tuple[str, str, list[str]]]:
    """Give code, text and states of each diagnostic."""
    text = Path(file).read_text("utf-8")
    found = json.loads(run(file, "--format", "json").stdout)["files"][0]["diagnostics"]
    data = text.encode()
    spans = [data[each["primary"]["start"]["byte"] : each["primary"]["end"]["byte"]].decode() for each in found]
    return [(each["code"], span, each["states"]) for each, span in zip(found, spans, strict=True)]


# --- the graph --------------------------------------------------------------------------------------------------------------------------


def test_a_state_that_points_into_the_graph_and_is_reached_by_nothing_is_unreachable(here: Path) -> None:
    """S-GRA-1."""
    shown("gra_1", ("orphan.dcdl", flow("orphan", "a -> done", "orphan -> done", "done")))
    assert [("unreachable_state", "orphan", ["orphan"])] == told("orphan.dcdl")


def test_a_pair_of_orphans_that_target_each_other_is_two_states(here: Path) -> None:
    """S-GRA-1."""
    shown("gra_1_pair", ("pair.dcdl", flow("pair", "a -> done", "one -> two", "two -> one", "done")))
    assert [("unreachable_state", "one", ["one", "two"])] == told("pair.dcdl")


def test_a_ring_without_an_end_is_an_error_that_names_all_of_it(here: Path) -> None:
    """S-GRA-2 (i). The synthetic end, to which each state leads, is no way out."""
    shown("gra_2_ring", ("ring.dcdl", flow("ring", "a -> b", "b -> c", "c -> a")))
    assert [("terminal_missing", "states", ["a", "b", "c"])] == told("ring.dcdl")
    Path("ending.dcdl").write_text(flow("ending", "a -> b", "b -> c", "c -> a", "done"))
    assert [("terminal_unreachable", "a", ["a", "b", "c"]), ("unreachable_state", "done", ["done"])] == told("ending.dcdl")


def test_a_ring_beside_a_way_out_names_the_ring_and_nothing_else(here: Path) -> None:
    """S-GRA-2 (ii)."""
    shown("gra_2_beside", ("beside.dcdl", flow("beside", "a -> done, b", "b -> c", "c -> b", "done")))
    assert [("terminal_unreachable", "b", ["b", "c"])] == told("beside.dcdl")


def test_a_dangling_target_hides_no_other_fault_and_draws_no_other_after_it(here: Path) -> None:
    """S-GRA-3."""
    text = flow("dangling", "a -> reveiw", "review -> done", "done")
    text = text.replace('"Work at review.";', '"Work at review.";\n        reviewer = "somebody else";')
    (done,) = shown("gra_3", ("dangling.dcdl", text))
    assert [("transition_target_not_found", '"reveiw"'), ("unknown_field", "reviewer")] == [each[:2] for each in told("dangling.dcdl")]
    assert "help: did you mean `review`?" in done.output


SPECIAL = ("timeout", "denied", "child_ended", "branch", "join_failed")
"""States that are entered in one special way each; in this version every way is a transition with a condition."""


def test_a_state_that_is_entered_in_one_special_way_is_reached(here: Path) -> None:
    """S-GRA-4. The end that the compiler adds is entered by nothing else than what it adds, and is never called unreachable."""
    ends = [f"{each} -> done" for each in SPECIAL]
    text = flow("special", f"a -> done, {', '.join(SPECIAL)}", *ends, "done")
    shown("gra_4", ("special.dcdl", text))
    assert [] == told("special.dcdl")
    definition = compile_source(text.encode()).definition
    assert definition is not None
    assert {"$cancelled"} == {way.target for state in definition.states for way in state.transitions if way.synthetic}


@pytest.mark.parametrize("special", SPECIAL)
def test_without_its_one_way_in_exactly_that_state_is_unreachable(here: Path, special: str) -> None:
    """S-GRA-4."""
    ways = [each for each in SPECIAL if each != special]
    Path("special.dcdl").write_text(flow("special", f"a -> done, {', '.join(ways)}", *(f"{each} -> done" for each in SPECIAL), "done"))
    assert [("unreachable_state", special, [special])] == told("special.dcdl")


# --- what is said -----------------------------------------------------------------------------------------------------------------------

SIXTY_LINES = (
    'schema_version = 1;\nname = "long";\ninitial = "write";\nstates = {\n    write = {\n'
    + "".join(f"        # remark {line}\n" for line in range(6, 41))
    + '        instrutions = "Write it.";\n'
    + "".join(f"        # remark {line}\n" for line in range(42, 64))
    + '        transitions = { on = { target = "done"; condition = "It is written."; }; };\n    };\n'
    + '    done = { instructions = ""; terminal = true; };\n};\n'
)


def test_the_key_alone_is_marked_in_a_long_state_and_all_names_that_are_allowed_are_listed(here: Path) -> None:
    """S-DIA-1."""
    (done,) = shown("dia_1", ("long.dcdl", SIXTY_LINES))
    assert [("unknown_field", "instrutions", [])] == told("long.dcdl")
    assert ("long.dcdl:41:9" in done.output, "help: did you mean `instructions`?" in done.output) == (True, True)
    listed = re.findall(r"`(\w+)`", next(line for line in done.output.splitlines() if "the fields of a state are" in line))
    values = {"terminal": "true", "transitions": "{}", "states": "{}", "schema_version": "1"}
    accepted = []
    for name in sorted({*FLOW.names, *STATE.names, "target", "condition", "description", "id"}):
        source = SIXTY_LINES.replace(
            "        instrutions", f"        {name} = {values.get(name, chr(34) + 'x' + chr(34))};\n        instrutions"
        )
        codes = [each.code for each in compile_source(source.encode()).diagnostics if each.path[-1:] == (name,)]
        accepted += [name] if "unknown_field" not in codes else []
    assert sorted(listed) == accepted


def test_a_missing_semicolon_is_told_at_the_end_of_its_own_line_and_the_rest_is_checked(here: Path) -> None:
    """S-DIA-2."""
    text = flow("semicolon", "a -> b", "b -> dnoe", "done").replace(
        '"Work at a.";\n        transitions', '"Work at a."\n        # where it leads\n        transitions'
    )
    (done,) = shown("dia_2", ("semicolon.dcdl", text))
    lacking = '        instructions = "Work at a."'
    line, column = text.splitlines().index(lacking) + 1, len(lacking) + 1
    assert f"semicolon.dcdl:{line}:{column}\n" in done.output
    assert "a semicolon is missing after the field `instructions`" in done.output
    assert [("dcdl_syntax", ""), ("transition_target_not_found", '"dnoe"')] == [each[:2] for each in told("semicolon.dcdl")]


def test_columns_count_code_points_in_every_form(here: Path) -> None:
    """S-DIA-3, as far as there is no editor: the column is the same in each form, and a fix changes the name alone."""
    line = '    a = { instructions = "é 日 \U0001f600 e\u0301 \t|"; transitions = { on = { target = "dnoe"; condition = "c"; }; }; };'
    text = flow("columns", "a -> done", "done")
    text = re.sub(r"    a = \{.*?\n    \};", lambda _: line, text, count=1, flags=re.DOTALL)
    shown("dia_3", ("columns.dcdl", text))
    row, column = text.splitlines().index(line) + 1, line.index('"dnoe"') + 1
    (found,) = json.loads(run("columns.dcdl", "--format", "json").stdout)["files"][0]["diagnostics"]
    start = found["primary"]["start"]
    assert {"line": row, "column": column, "byte": text.encode().index(b'"dnoe"')} == start
    (result,) = json.loads(run("columns.dcdl", "--format", "sarif").stdout)["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (row, column, column + 6) == (region["startLine"], region["startColumn"], region["endColumn"])
    assert f"columns.dcdl:{row}:{column}: " in run("columns.dcdl", "--format", "line").stdout
    assert f"line={row},endLine={row},col={column},endColumn={column + 6}" in run("columns.dcdl", "--format", "github").stdout
    assert f"columns.dcdl:{row}:{column}\n" in run("columns.dcdl").stdout
    assert 0 == run("columns.dcdl", "--fix", "--unsafe-fixes").exit_code
    assert text.replace('"dnoe"', '"done"') == Path("columns.dcdl").read_text("utf-8")


OTHER_FILES = {
    "data.json": '{\n  "name": "x",\n  "states": [{"id": 1, "next": null}, {"id": 2}]\n}\n',
    "README.md": "# Review\n\nThis flow doesn't start before the text is done: [guide](guide.md).\n\n- write it,\n- read it: twice.\n",
    "empty.dcdl": "",
}


def test_a_file_of_another_kind_is_one_error(here: Path) -> None:
    """S-DIA-4."""
    results = shown("dia_4", *OTHER_FILES.items())
    assert [(1, 1), (1, 1), (1, 1)] == [(done.exit_code, done.output.count("error[")) for done in results]


def test_a_binary_file_is_one_error(here: Path) -> None:
    """S-DIA-4."""
    (here / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0" + bytes(range(256)))
    done = run("image.png")
    assert (1, 1, True) == (done.exit_code, done.stdout.count("error["), "the file holds binary data" in done.stdout)
    assert "" == done.stderr


def test_a_folder_without_a_flow_is_one_error(here: Path) -> None:
    """S-DIA-4."""
    for name, text in OTHER_FILES.items():
        (here / name).write_text(text)
    (here / "empty.dcdl").unlink()
    done = run(".")
    assert (2, "", "error: no flow in `.`") == (done.exit_code, done.stdout, done.stderr.splitlines()[0])
