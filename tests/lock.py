"""The lock files: written from `pyproject.toml`, and checked against it without a network.

A lock's first line holds a fingerprint of what it was resolved from, so a forgotten `make lock` is found by a test.
"""

import hashlib
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
LOCKS: Final = {"run": "build", "dev": "dev", "fuzz": "fuzz"}
"""Lock name and the dependency group it holds beside the package's own dependencies."""
HEADER: Final = "# Written by `make lock` from pyproject.toml. Fingerprint of what it was resolved from: "


def path(name: str) -> Path:
    """Give the path of a lock file."""
    return ROOT / "requirements" / f"{name}.lock"


def fingerprint() -> str:
    """Give the digest of everything in pyproject.toml that a resolution depends on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    inputs = [project["project"]["requires-python"], project["project"]["dependencies"], project["dependency-groups"]]
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def write() -> None:
    """Resolve anew and write every lock file; each holds the versions of the one before it."""
    constraints: list[str] = []
    for name, group in LOCKS.items():
        command = [str(Path(sys.executable).with_name("uv")), "pip", "compile", "pyproject.toml", "--group", group, "--universal"]
        command += ["--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate", "--no-emit-index-url", *constraints]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{path(name).relative_to(ROOT)} was not written; why is said above")
        path(name).write_text(f"{HEADER}{fingerprint()}\n{done.stdout}", "utf-8")
        constraints = ["--constraints", str(path(name))]
        print(f"wrote {path(name).relative_to(ROOT)}")


if __name__ == "__main__":
    if sys.argv[1:] != ["write"]:
        sys.exit("usage: python -m tests.lock write")
    write()
