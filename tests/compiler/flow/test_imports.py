"""Flows that import: what is reached, what it is known by, and where what is wrong with it is told."""

import hashlib
import json
from pathlib import Path

import pytest

from stateward.compiler.diagnostics.model import Severity
from stateward.compiler.language.loader import FileTreeLoader, MemoryLoader
from stateward.compiler.limits import FlowLimits
from stateward.compiler.pipeline import Compilation, compile_source
from tests.compiler.flow.sources import GOOD, changed

FLOW = """\
let texts = import "./parts/texts.dcdl";
in
{
    schema_version = 2;
    name = "paper";
    initial = "draft";
    states = {
        draft = {
            instructions = (import "./draft.md").content;
            transitions = { submit = { target = "done"; condition = texts.finished; }; };
        };
        done = { instructions = ""; terminal = true; };
    };
}
"""
FILES = {
    "draft.md": "# Draft\n\nWrite the paper.\n",
    "parts/texts.dcdl": 'finished = (import "../finished.md").content; spare = "Not used.";',
    "finished.md": "The paper is written.",
}


def compiled(source: str = FLOW, files: dict[str, str] | None = None, limits: FlowLimits | None = None) -> Compilation:
    loader = MemoryLoader({**FILES, **(files or {})})
    return compile_source(source.encode(), name="flows/paper.dcdl", slug="paper", loader=loader, limits=limits or FlowLimits())


def told(compilation: Compilation) -> list[tuple[str, str, str]]:
    return [(each.code, each.primary.place.source.name, each.message) for each in compilation.diagnostics]


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_a_flow_of_version_2_says_what_its_files_say() -> None:
    done = compiled()
    assert [] == told(done)
    assert done.definition is not None
    state = done.definition.states[0]
    assert (FILES["draft.md"], FILES["finished.md"]) == (state.instructions, state.transitions[0].condition)


def test_what_is_reached_is_known_by_its_path_from_the_folder_of_the_flow() -> None:
    expected = [(path, text.encode(), digest(text.encode())) for path, text in sorted(FILES.items())]
    assert expected == [tuple(each) for each in compiled().modules]


def test_the_closure_digest_covers_each_path_and_each_content() -> None:
    listed = [[path, digest(text.encode())] for path, text in sorted(FILES.items())]
    canonical = json.dumps(listed, separators=(",", ":")).encode()
    assert digest(canonical) == compiled().closure_digest
    assert compiled().closure_digest != compiled(files={"finished.md": "The paper is written!"}).closure_digest


def test_the_content_digest_covers_the_source_alone() -> None:
    assert digest(FLOW.encode()) == compiled().content_digest == compiled(files={"draft.md": "Write."}).content_digest
    assert compiled().definition_digest != compiled(files={"draft.md": "Write."}).definition_digest


def test_a_flow_that_imports_nothing_has_no_closure() -> None:
    done = compile_source(GOOD.encode(), loader=MemoryLoader(FILES))
    assert (None, (), ()) == (done.closure_digest, done.modules, done.sought)


def test_a_byte_order_mark_and_line_ends_are_kept_in_what_is_reached(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbfWrite.\r\n"
    (tmp_path / "draft.md").write_bytes(data)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "texts.dcdl").write_text('finished = "It is.";')
    done = compile_source(FLOW.encode(), name="paper.dcdl", loader=FileTreeLoader(tmp_path))
    assert data == done.modules[0].content
    assert done.definition is not None
    assert "Write.\r\n" == done.definition.states[0].instructions


def test_a_root_that_is_computed_from_a_module_is_of_the_version_that_it_comes_to() -> None:
    done = compiled('import "./base.dcdl" // { name = "paper"; }', {"base.dcdl": FLOW.replace('"paper"', '"essay"')})
    assert ("paper", ["base.dcdl", *sorted(FILES)]) == (done.flow, [each.path for each in done.modules])


# --- version 1 --------------------------------------------------------------------------------------------------------------------------


def test_a_flow_of_version_1_imports_nothing_whatever_there_is() -> None:
    source = changed(('"Read it."', '(import "./draft.md").content'))
    with_files, without = compiled(source), compile_source(source.encode(), name="flows/paper.dcdl", slug="paper")
    assert [("dcdl_import", "flows/paper.dcdl", "a version-1 flow cannot import")] == told(with_files) == told(without)
    assert ((), ()) == (with_files.modules, with_files.sought)


def test_an_import_that_would_say_the_version_1_is_refused_as_one_of_version_1() -> None:
    done = compiled('import "./base.dcdl"', {"base.dcdl": GOOD})
    assert ["a version-1 flow cannot import"] == [message for code, _, message in told(done) if code == "dcdl_import"]
    assert () == done.modules


# --- what is refused --------------------------------------------------------------------------------------------------------------------


def test_where_nothing_can_be_imported_it_is_said_from_where_it_can() -> None:
    done = compile_source(FLOW.encode(), name="<stdin>")
    assert [("dcdl_import", "a flow that is read from here cannot import")] * 2 == [(each.code, each.message) for each in done.diagnostics]
    assert ("a flow imports files of its own folder and below where it is read from a file, and what is kept with it",) == done.diagnostics[
        0
    ].notes


@pytest.mark.parametrize(
    ("specifier", "message"),
    [
        ("../secret.md", "the path leaves the tree"),
        ("./parts/../../secret.md", "the path leaves the tree"),
        ("/etc/passwd", "the specifier starts with `/`"),
        ("./nowhere.md", "there is no module `nowhere.md`"),
        (f"./{'a' * 513}", "the path of a module has more than 512 bytes"),
    ],
)
def test_a_path_leads_to_a_file_of_the_folder_or_below(specifier: str, message: str) -> None:
    done = compiled(FLOW.replace("./draft.md", specifier))
    assert [message] == [each.message for each in done.diagnostics]


def test_a_module_may_import_from_the_folder_of_the_flow_and_no_further() -> None:
    done = compiled(files={"parts/texts.dcdl": 'finished = (import "../../finished.md").content;'})
    assert [("dcdl_import", "flows/parts/texts.dcdl", "the path leaves the tree")] == told(done)


@pytest.mark.parametrize(("version", "wrong"), [(1, True), (2, False), (3, True)])
def test_a_flow_of_another_version_is_not_imported(version: int, *, wrong: bool) -> None:
    done = compiled(files={"parts/texts.dcdl": f'schema_version = {version}; finished = "It is written.";'})
    expected = [("dcdl_import", "flows/paper.dcdl", f"a flow of version {version} cannot be imported")] if wrong else []
    assert expected == told(done)


def test_a_flow_that_needs_itself_is_a_cycle() -> None:
    done = compiled(FLOW.replace("./draft.md", "./paper.dcdl").replace(".content;", '.states.draft.instructions + "";'))
    assert [("flows/paper.dcdl", "cycle")] == [(each.primary.place.source.name, each.kind) for each in done.diagnostics]


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_flow_and_all_that_it_imports_have_one_bound(more: int, *, fits: bool) -> None:
    files = {"draft.md": "x" * 100, "parts/texts.dcdl": 'finished = "It is.";'}
    bound = len(FLOW.encode()) + sum(len(each) for each in files.values())
    done = compiled(files=files, limits=FlowLimits(closure_bytes=bound - more))
    expected = [] if fits else [f"the flow and what it imports are together larger than {bound - 1:,} bytes"]
    assert expected == [each.message for each in done.diagnostics]


# --- links ------------------------------------------------------------------------------------------------------------------------------


def test_what_a_link_leads_to_is_kept_under_the_path_that_was_written(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "text.md").write_text("Write.")
    (tmp_path / "draft.md").symlink_to("below/text.md")
    source = FLOW.replace('import "./parts/texts.dcdl"', '{ finished = "It is."; }')
    done = compile_source(source.encode(), name="paper.dcdl", loader=FileTreeLoader(tmp_path))
    assert [("draft.md", b"Write.")] == [(each.path, each.content) for each in done.modules]
    kept = MemoryLoader({each.path: each.content.decode() for each in done.modules})
    assert done.canonical == compile_source(source.encode(), name="paper.dcdl", loader=kept).canonical


# --- what is never needed -----------------------------------------------------------------------------------------------------------------


def test_an_import_that_is_never_needed_is_a_warning_and_is_not_kept() -> None:
    never = FLOW.replace("texts.finished", 'match 1 { 1: texts.finished; _: (import "./never.md").content; }')
    done = compiled(never)
    assert [("import_unused", "flows/paper.dcdl", "the import of `./never.md` is never needed")] == told(done)
    assert compiled().closure_digest == done.closure_digest


def test_an_import_under_a_name_that_nobody_uses_is_told_once() -> None:
    done = compiled(f'let spare = (import "./never.md").content; in ({FLOW})')
    assert ["unused_binding"] == [code for code, _, _ in told(done)]


def test_nothing_is_said_to_be_unused_where_something_is_wrong() -> None:
    done = compiled(FLOW.replace("texts.finished", 'texts.finished + match 1 { 1: 1; _: (import "./never.md").content; }'))
    assert ["dcdl_evaluation"] == [code for code, _, _ in told(done)]


# --- diagnostics of modules ---------------------------------------------------------------------------------------------------------------


def test_a_fault_of_the_language_in_a_module_is_shown_there_and_where_it_is_imported() -> None:
    (found,) = compiled(files={"parts/texts.dcdl": "finished = nowhere;"}).diagnostics
    assert ("flows/parts/texts.dcdl", "nowhere") == (
        found.primary.place.source.name,
        found.primary.place.source.slice(found.primary.place.span),
    )
    assert "flows/paper.dcdl" in [each.place.source.name for each in found.secondary]


def test_a_fault_of_the_syntax_in_a_module_is_told_with_the_import_and_hides_no_other() -> None:
    done = compiled(files={"parts/texts.dcdl": 'finished = "It is."; spare = ;', "draft.md": " "})
    assert [("instructions_empty", "flows/draft.md"), ("dcdl_syntax", "flows/parts/texts.dcdl")] == [each[:2] for each in told(done)]
    assert ["imported here"] == [each.text for each in done.diagnostics[1].secondary]


def test_a_text_that_breaks_a_rule_of_flows_is_shown_in_its_file() -> None:
    (found,) = compiled(files={"draft.md": "x" * (32 * 1024 + 1)}).diagnostics
    assert ("instructions_too_large", "flows/draft.md") == (found.code, found.primary.place.source.name)
    assert ["flows/paper.dcdl"] == [each.place.source.name for each in found.secondary]


def test_characters_that_show_nothing_are_found_in_what_is_imported() -> None:
    done = compiled(files={"draft.md": "Write\u202e it."})
    assert [("invisible_character", "flows/draft.md")] == [each[:2] for each in told(done)]


def test_a_warning_in_one_file_is_not_hidden_by_an_error_at_the_same_place_of_another() -> None:
    done = compiled(f"{FLOW[:-2]}    nmae = 1;\n}}\n", files={"draft.md": f"{'x' * 400}\u202e"})
    assert {"invisible_character", "unknown_field"} == {code for code, _, _ in told(done)}
    assert [Severity.WARNING, Severity.ERROR] == [each.severity for each in done.diagnostics]


def test_what_was_looked_at_is_known_whether_it_was_there_or_not() -> None:
    done = compiled(FLOW.replace("./draft.md", "./nowhere.md"))
    assert ("finished.md", "nowhere.md", "parts/texts.dcdl") == done.sought
