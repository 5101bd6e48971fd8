"""The extension for VS Code: what is packaged, and that it fits together."""

import json
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from editors.package import FILES, FOLDER, ROOT, package

ABOUT = json.loads((FOLDER / "package.json").read_text("utf-8"))
SCRIPTS = sorted(FOLDER.glob("*.js"))
NODE = shutil.which("node")
SPACE = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"


@pytest.fixture(scope="module")
def packaged() -> zipfile.ZipFile:
    """The package, in the place where a user looks for it."""
    return zipfile.ZipFile(package(ROOT / "build"))


def test_the_package_holds_the_extension_and_nothing_else(packaged: zipfile.ZipFile) -> None:
    expected = {"[Content_Types].xml", "extension.vsixmanifest", "extension/LICENSE.txt", *(f"extension/{name}" for name in FILES)}
    assert expected == set(packaged.namelist())
    assert packaged.testzip() is None
    assert [] == [name for name in FILES if packaged.read(f"extension/{name}") != (FOLDER / name).read_bytes()]


def test_every_file_of_the_folder_is_packaged() -> None:
    assert sorted(FILES) == sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    assert package(tmp_path / "a").read_bytes() == package(tmp_path / "b").read_bytes()


def test_the_package_is_named_by_the_version_of_the_project(packaged: zipfile.ZipFile) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"stateward-{version}.vsix" == Path(str(packaged.filename)).name


def test_every_kind_of_file_has_its_type(packaged: zipfile.ZipFile) -> None:
    types = {each.get("Extension") for each in Xml.fromstring(packaged.read("[Content_Types].xml"))}  # noqa: S314 - written by us
    names = {name for name in packaged.namelist() if name != "[Content_Types].xml"}
    assert {Path(name).suffix for name in names} == types


def test_the_manifest_says_what_package_json_says_and_names_files_that_are_there(packaged: zipfile.ZipFile) -> None:
    manifest = Xml.fromstring(packaged.read("extension.vsixmanifest"))  # noqa: S314 - written by us
    identity = manifest.find(f".//{SPACE}Identity")
    assert identity is not None
    assert (ABOUT["name"], ABOUT["version"], ABOUT["publisher"]) == tuple(identity.get(key) for key in ("Id", "Version", "Publisher"))
    properties = {each.get("Id", "").rsplit(".", 1)[1]: each.get("Value") for each in manifest.iter(f"{SPACE}Property")}
    assert ABOUT["engines"]["vscode"] == properties["Engine"]
    assert {each.get("Path") for each in manifest.iter(f"{SPACE}Asset")} <= set(packaged.namelist())


def test_package_json_names_files_that_are_packaged() -> None:
    contributed = ABOUT["contributes"]
    named = [
        ABOUT["main"],
        *(each["path"] for each in contributed["grammars"]),
        *(each["configuration"] for each in contributed["languages"]),
    ]
    assert [] == [name for name in named if name.removeprefix("./") not in FILES]
    for name in FILES:
        if name.endswith(".json"):
            json.loads((FOLDER / name).read_text("utf-8"))


def test_scripts_ask_for_the_editor_for_each_other_and_for_what_comes_with_node() -> None:
    wanted = {found[1] for path in SCRIPTS for found in re.finditer(r"require\(\"([^\"]+)\"\)", path.read_text("utf-8"))}
    own = {f"./{path.stem}" for path in SCRIPTS}
    assert {"vscode", "node:child_process", "node:events"} == wanted - own
    assert own - {"./extension"} == wanted & own


def test_every_command_that_is_offered_is_registered() -> None:
    text = (FOLDER / "extension.js").read_text("utf-8")
    offered = {each["command"] for each in ABOUT["contributes"]["commands"]}
    assert offered == set(re.findall(r"registerCommand\(\"([^\"]+)\"", text))


def test_the_preview_runs_no_script_and_loads_nothing() -> None:
    text = (FOLDER / "preview.js").read_text("utf-8")
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    assert "enableScripts: false, localResourceRoots: []" in text


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_parses(path: Path) -> None:
    done = subprocess.run([str(NODE), "--check", str(path)], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_every_expression_of_the_grammar_and_of_the_configuration_is_one_of_javascript() -> None:
    code = """
    const all = [];
    const walk = (of) => Object.entries(of).forEach(([key, value]) =>
      typeof value === "object" ? walk(value) : /^(match|begin|end|.*Pattern)$/.test(key) && all.push(new RegExp(value, "m")));
    process.argv.slice(1).forEach((path) => walk(JSON.parse(require("fs").readFileSync(path, "utf8"))));
    console.log(all.length > 30);
    """
    paths = [str(FOLDER / name) for name in ("syntaxes/dcdl.tmLanguage.json", "language-configuration.json")]
    done = subprocess.run([str(NODE), "-e", code, *paths], capture_output=True, text=True, check=False)
    assert ("true\n", "") == (done.stdout, done.stderr)
