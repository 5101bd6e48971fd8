"""What is installed: the built wheel in an empty environment, used from another folder."""

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path, PurePath

import pytest

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("compiler", "runtime", "store", "resources")
DATA = ("flows", "plugin", "profiles", "prompts")
"""What ships as data."""
ABOUT = ("tests", "editors", "benchmarks", "docs", "requirements", "Makefile", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that holds the wheel; its dependencies are read from the present environment, so no network is needed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    present = next(path for path in map(Path, sys.path) if path.name == "site-packages")
    # A line of a .pth file adds that folder and does not read the .pth files in it, so the checkout stays out of sight.
    (packages / "dependencies.pth").write_text(f"{present}\n", "utf-8")
    return folder


def test_the_source_distribution_holds_what_builds_and_checks_it_and_nothing_else(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = [PurePath(*PurePath(each).parts[1:]) for each in archive.getnames()]
    tops = {name.parts[0] for name in names if name.parts}
    assert {*PARTS, *ABOUT, ".gitignore", "PKG-INFO"} == tops
    assert [] == [name for name in names if name.suffix == ".pyc"]


def test_a_wheel_from_the_source_distribution_holds_what_the_checkout_has(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = {
        path.relative_to(ROOT / part).as_posix()
        for part in PARTS
        for path in (ROOT / part / "stateward").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    shipped = (path for each in DATA for path in (ROOT / "resources" / each).rglob("*") if path.is_file())
    expected |= {f"stateward/{path.relative_to(ROOT).as_posix()}" for path in shipped}
    assert expected == held


def test_the_wheel_installs_one_package_and_nothing_with_a_generic_name(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {"stateward"} == {top for top in tops if not top.endswith(".dist-info")}


def test_the_wheel_holds_the_data_and_the_type_marks(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {f"stateward/{part}/py.typed" for part in ("compiler", "runtime", "store", "resources")}
    expected |= {"stateward/resources/flows/coder-review.dcdl", "stateward/resources/flows/manifest.json"}
    assert expected <= names


def test_a_builtin_flow_compiles_from_another_folder(environment: Path, tmp_path: Path) -> None:
    command = [str(environment / "bin" / "stateward"), "compile", "builtin:coder-review"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (0, "checked 1 flow: no problems\n", "") == (done.returncode, done.stdout, done.stderr)
    assert [] == list(tmp_path.iterdir())


def test_the_installed_package_is_the_one_of_the_wheel(environment: Path, tmp_path: Path) -> None:
    code = "import stateward.compiler as c; print(c.__file__)"
    command = [str(environment / "bin" / "python"), "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(environment.resolve())
