"""Modules: how specifiers are read, what loaders let through, circles however they are spelled."""

import os
import socket
from pathlib import Path

import pytest

from stateward.compiler.language.loader import REFUSING, FileTreeLoader, Loader, MemoryLoader, Refused, resolved
from stateward.compiler.predicates.guards import ROOTS
from stateward.compiler.source import Source
from tests.compiler.language.evaluated import MAIN, evaluated, evaluation_of, story, told, written


@pytest.fixture(params=["memory", "files"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> "Tree":
    return Tree(request.param, tmp_path)


class Tree:
    """A loader of each kind over the same files."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.folder = folder

    def of(self, **files: str) -> Loader:
        named = {name.replace("__", "/").replace("_dot_", "."): text for name, text in files.items()}
        if self.kind == "memory":
            return MemoryLoader(named)
        for name, text in named.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return FileTreeLoader(self.folder)


@pytest.mark.parametrize(
    ("specifier", "importer", "path"),
    [
        ("x.dcdl", "lib/main.dcdl", "x.dcdl"),
        ("./x.dcdl", "lib/main.dcdl", "lib/x.dcdl"),
        ("../x.dcdl", "lib/main.dcdl", "x.dcdl"),
        ("lib//./x.dcdl", "main.dcdl", "lib/x.dcdl"),
        ("lib/../x.dcdl", "main.dcdl", "x.dcdl"),
        ("x", "main.dcdl", "x"),
    ],
)
def test_a_specifier_means_one_path(specifier: str, importer: str, path: str) -> None:
    assert path == resolved(specifier, importer)


@pytest.mark.parametrize(
    ("specifier", "message"),
    [
        ("", "the specifier is empty"),
        ("/x.dcdl", "the specifier starts with `/`"),
        ("a\\x.dcdl", "the specifier holds a backslash"),
        ("a\0x", "the specifier holds a NUL"),
        ("c:x.dcdl", "the specifier holds a colon"),
        ("../x.dcdl", "the path leaves the tree"),
        ("lib/../../x.dcdl", "the path leaves the tree"),
        ("./.", "the path names no file"),
        ("lib/..", "the path names no file"),
    ],
)
def test_a_specifier_that_is_no_path_inside_is_refused(specifier: str, message: str) -> None:
    refused = resolved(specifier, "main.dcdl")
    assert isinstance(refused, Refused)
    assert message == refused.message


def test_a_module_is_found_from_the_root_and_from_its_importer(tree: Tree) -> None:
    loader = tree.of(lib__a='import "./b"', lib__b='import "../c"', c='import "lib/d"', lib__d="7")
    assert 7 == evaluated('import "lib/a"', loader=loader).value


def test_what_is_not_there_is_an_error_at_the_import(tree: Tree) -> None:
    found = evaluated('{ a = import "none"; b = import "lib"; }', loader=tree.of(lib__a="1"))
    assert ["import: there is no module `none`"] == told(found)[:1]
    assert ['import "none"', 'import "lib"'] == [written(each.primary) for each in found.diagnostics]
    assert {"dcdl_import"} == {each.code for each in found.diagnostics}


def test_case_is_not_folded(tree: Tree) -> None:
    assert ["import: there is no module `X`"] == told(evaluated("import X", loader=tree.of(x="1")))


def test_a_module_sees_nothing_of_its_importer(tree: Tree) -> None:
    found = evaluated("let x = 5; in import m", loader=tree.of(m="x"))
    assert ["unresolved_identifier: `x` is not defined"] == told(found)


def test_a_diamond_is_no_circle_and_is_read_once(tree: Tree) -> None:
    loader = tree.of(left="import base", right='import "./lib/../base"', base="{ v = 1 / 0; }")
    found = evaluated("{ l = import left; r = import right; }", loader=loader)
    assert ["conflict: division by zero"] == told(found)


def test_a_circle_of_modules_names_them_and_shows_the_imports(tree: Tree) -> None:
    loader = tree.of(a='import "./b"', b='import "sub/../a"')
    found = evaluated("import a", loader=loader)
    assert ["cycle: import cycle `a -> b -> a`"] == told(found)
    assert [('b: import "sub/../a"', "closes the circle"), ('a: import "./b"', "needs `b`")] == story(found.diagnostics[0])[:2]


def test_modules_whose_fields_hold_each_other_are_an_endless_value_that_names_the_imports(tree: Tree) -> None:
    loader = tree.of(a='b = import "./b";', b='a = import "sub/../a";')
    found = evaluated("import a", loader=loader)
    assert ["limit: the value contains itself"] == told(found)
    assert ("import cycle `a -> b -> a`",) == found.diagnostics[0].notes
    assert [('b: import "sub/../a"', "closes the circle"), ('a: import "./b"', "needs `b`")] == story(found.diagnostics[0])[:2]


def test_a_module_whose_field_holds_itself_names_the_import(tree: Tree) -> None:
    found = evaluated("import a", loader=tree.of(a="x = import a;"))
    assert ["limit: the value contains itself"] == told(found)
    assert ("import cycle `a -> a`",) == found.diagnostics[0].notes


def test_a_value_inside_itself_names_no_import_where_there_is_none(tree: Tree) -> None:
    found = evaluated("import a", loader=tree.of(a="x = { y = x; };"))
    assert ["limit: the value contains itself"] == told(found)
    assert () == found.diagnostics[0].notes


def test_a_module_that_imports_itself_is_a_circle(tree: Tree) -> None:
    found = evaluated("import a", loader=tree.of(a="import a"))
    assert ["cycle: import cycle `a -> a`"] == told(found)


def test_modules_may_need_parts_of_each_other(tree: Tree) -> None:
    loader = tree.of(a="x = import b.y; z = 1;", b="y = import a.z;")
    assert {"x": 1, "z": 1} == evaluated("import a", loader=loader).value


def test_a_markdown_file_is_an_object_with_its_text(tree: Tree) -> None:
    text = '# Title\n\n"quoted" { braces\n'
    assert {"content": text} == evaluated('import "notes.md"', loader=tree.of(notes_dot_md=text)).value
    found = evaluated('1 + import "notes.md".content', loader=tree.of(notes_dot_md=text))
    assert ('import "notes.md".content', "not a number") == story(found.diagnostics[0])[0]
    assert f"notes.md: {text}" == written(found.diagnostics[0].secondary[0])


def test_a_fault_in_the_text_of_a_module_is_a_syntax_fault_there(tree: Tree) -> None:
    found = evaluated("{ a = import m; b = 1; }", loader=tree.of(m="{ x = ; }"))
    assert [("dcdl_syntax", "m")] == [(each.code, each.primary.place.source.name) for each in found.diagnostics]


def test_a_module_that_is_not_needed_is_not_read(tree: Tree) -> None:
    assert 5 == evaluated("let x = import none; in 5", loader=tree.of()).value


def test_nothing_is_reached_where_imports_are_refused() -> None:
    found = evaluated("import m", loader=REFUSING)
    assert ["import: imports are not allowed here"] == told(found)


# Files ------------------------------------------------------------------------------------------------------------------------------


def loaded(loader: FileTreeLoader, specifier: str, importer: str = "main.dcdl") -> str:
    """Give the text, or why there is none."""
    answer = loader.load(specifier, importer)
    return answer.text if isinstance(answer, Source) else answer.message


def test_a_link_out_of_the_root_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("1")
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    (root / "twice").symlink_to(root / "out")
    loader = FileTreeLoader(root)
    assert "`out` leads out of the folder" == loaded(loader, "out")
    assert "`folder/secret` leads out of the folder" == loaded(loader, "folder/secret")
    assert "`twice` leads out of the folder" == loaded(loader, "twice")


def test_a_root_that_begins_like_another_folder_does_not_contain_it(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "rooted").mkdir()
    (tmp_path / "rooted" / "x").write_text("1")
    (tmp_path / "root" / "x").symlink_to(tmp_path / "rooted" / "x")
    assert "`x` leads out of the folder" == loaded(FileTreeLoader(tmp_path / "root"), "x")


def test_a_link_inside_is_the_file_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("import b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    found = evaluated("import b", loader=FileTreeLoader(tmp_path))
    assert ["cycle: import cycle `a -> a`"] == told(found)


def test_a_link_to_its_own_folder_makes_no_new_modules(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "a").write_text('import "loop/loop/loop/a"')
    found = evaluated('import "loop/loop/a"', loader=FileTreeLoader(tmp_path))
    assert ["cycle: import cycle `a -> a`"] == told(found)


def test_two_names_of_one_file_are_one_module(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("7")
    os.link(tmp_path / "a", tmp_path / "b")
    loader = FileTreeLoader(tmp_path)
    assert loader.load("a", "") is loader.load("b", "")


def test_a_link_that_leads_to_itself_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "a")
    assert "there is no module `a`" == loaded(FileTreeLoader(tmp_path), "a")


def test_what_is_no_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").write_text("1")
    loader = FileTreeLoader(tmp_path)
    assert "`pipe` is not a file" == loaded(loader, "pipe")
    assert "`folder` is not a file" == loaded(loader, "folder")
    assert "there is no module `a/b`" == loaded(loader, "a/b")
    assert f"there is no module `{'n' * 32}…{'n' * 15}`" == loaded(loader, "n" * 5_000)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b'"\xe9"')
    assert "`latin` is not UTF-8" == loaded(FileTreeLoader(tmp_path), "latin")


def test_a_file_is_read_to_its_exact_limit_and_no_further(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1234")
    assert "1234" == loaded(FileTreeLoader(tmp_path, bytes_max=4), "a")
    found = evaluated("import a", loader=FileTreeLoader(tmp_path, bytes_max=3))
    assert ["limit: the module `a` is larger than 3 bytes"] == told(found)


def test_what_the_system_will_not_open_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "s"))
        assert "`s` cannot be read" == loaded(FileTreeLoader(tmp_path), "s")


def test_files_are_named_as_people_know_their_folder(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "a").write_text("import b")
    (tmp_path / "b").write_text("nope")
    loader = FileTreeLoader(tmp_path, shown="flows")
    source = loader.load("lib/a", "flows/main.dcdl")
    assert isinstance(source, Source)
    assert "flows/lib/a" == source.name
    assert "nope" == loaded(loader, "../b", source.name)


def test_a_byte_order_mark_of_a_file_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf7")
    assert 7 == evaluated("import a", loader=FileTreeLoader(tmp_path)).value


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ('               (import "other")("a")', "(n: Int) => n"),
        ('               (import "other")(vars.x)', "(n: Int default 1) => n"),
        ('let f = (n) => [f(n)]; in (import "other")(f(1))', "let T = [...T]; in (n: T) => n"),
    ],
)
def test_every_place_of_a_fault_in_an_argument_of_an_imported_function_lies_in_its_text(text: str, imported: str) -> None:
    evaluation = evaluation_of(text, {"other": imported}, roots=ROOTS)
    data = evaluation.data(evaluation.root)
    (fault,) = evaluation.diagnostics
    labels = (fault.primary, *fault.secondary)
    assert [] == [label for label in labels if label.place.span.end > len(label.place.source.text)]
    assert MAIN == data.origin.place.source.name
    assert "imported here" in {label.text for label in labels} or fault.primary.place.source.name == MAIN
