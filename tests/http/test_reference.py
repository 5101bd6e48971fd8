"""The pages about the service say what is so: their examples run, and their tables are those of the program."""

import json
import re
import subprocess
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from stateward.runtime.engine.tokens import SCOPES, WORKER_SCOPES
from stateward.runtime.ports import BUNDLE_BYTES_MAX, PAGE_MAX
from stateward.runtime.surfaces.cli.serve import PORT, serve_command
from stateward.runtime.surfaces.http.described import document
from stateward.runtime.surfaces.http.parameters import PAGE_USUAL
from stateward.runtime.surfaces.http.problems import TITLES
from stateward.runtime.surfaces.http.service import BODY_SECONDS_MAX, BUNDLES_MAX, HEADER_BYTES_MAX, JSON_BYTES_MAX, REQUESTS_MAX
from stateward.runtime.surfaces.http.serving import GRACE_SECONDS
from tests.cli.program import Place, place
from tests.http.desk import Desk, desk, flow
from tests.http.running import running

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "reference" / "http.md").read_text("utf-8")
GUIDE = (DOCS / "guide" / "sharing-flows.md").read_text("utf-8")
ANYTHING = "…"


def agrees(said: Any, answered: Any) -> bool:
    """Tell whether an answer is what the page says, in which `…` stands for whatever is there."""
    if said == ANYTHING:
        return True
    if isinstance(said, dict):
        more = said.get(ANYTHING) == ANYTHING
        named = {name: value for name, value in said.items() if name != ANYTHING}
        known = isinstance(answered, dict) and all(name in answered and agrees(named[name], answered[name]) for name in named)
        return known and (more or set(named) == set(answered))
    if isinstance(said, list):
        more = bool(said) and said[-1] == ANYTHING
        named_items = said[:-1] if more else said
        long = isinstance(answered, list) and len(answered) >= len(named_items) and (more or len(answered) == len(named_items))
        return long and all(map(agrees, named_items, answered))
    if isinstance(said, str):
        return isinstance(answered, str) and re.fullmatch(re.escape(said).replace(ANYTHING, ".*"), answered, re.DOTALL) is not None
    return bool(said == answered)


def exchanges(page: str) -> list[tuple[str, dict[str, str], str, int, dict[str, str], Any]]:
    """Give the requests of a page with their answers."""
    found = []
    for block in re.findall(r"```http\n(.*?)```", page, re.DOTALL):
        asked, answered = re.split(r"\n(?=[0-9]{3}\n)", block)
        head, _, body = asked.strip().partition("\n\n")
        line, *headers = head.split("\n")
        told, _, data = answered.partition("\n\n")
        status, *told_headers = told.split("\n")
        found.append((line, headers_of(headers), body, int(status), headers_of(told_headers), json.loads(data)))
    return found


def headers_of(lines: list[str]) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in lines)


def test_the_examples_are_answered_as_the_page_says() -> None:
    with desk() as opened:
        for number, (line, headers, body, status, told, data) in enumerate(exchanges(PAGE)):
            if status == 412:  # ben was quicker
                opened.save(flow("As ben would.", "fix-bug"), 1, "fix-bug", name="ben")
            method, path = line.split()
            assert "Bearer …" == headers.pop("Authorization")
            content = json.dumps(filled(json.loads(body), f"{number}.")) if body else ""
            answer = opened.ask(method, path, scopes=("read", "resolve", "write"), headers=headers, content=content)
            assert status == answer.status_code, answer.text
            assert [] == [name for name, value in told.items() if answer.headers.get(name) != value], answer.headers
            assert agrees(data, answer.json()), answer.text


def filled(body: dict[str, Any], text: str) -> dict[str, Any]:
    """Give a body with the source that the page leaves out."""
    return {**body, "source": flow(text, "fix-bug")} if body["source"] == ANYTHING else body


def test_every_operation_is_listed_with_its_parameters(service: Desk) -> None:
    declared = set()
    for path, operations in document(service.app)["paths"].items():
        for method, operation in operations.items():
            query = "&".join(each["name"] for each in operation.get("parameters", ()) if each["in"] == "query")
            declared.add(f"{method.upper()} {path}{'?' if query else ''}{query}")
    assert declared == set(re.findall(r"^\| `((?:GET|PUT|POST|DELETE) [^`]*)` \|", PAGE, re.MULTILINE))


def test_every_operation_is_listed_with_its_scope(service: Desk) -> None:
    rows = re.findall(r"^\| `(\w+) (/v1/[^`?]*)[^`]*` \| `?([\w:<>]+)`?[^|]* \|", PAGE, re.MULTILINE)
    paths = document(service.app)["paths"]
    assert 31 == len(rows)
    for method, path, scope in rows:
        said = paths[path][method.lower()]["description"]
        assert ("Any token." if scope == "any" else f"cope `{scope}`") in said


def test_every_code_is_listed() -> None:
    table = PAGE.partition("## Problems")[2].partition("## Pages")[0]
    listed = [code for row in re.findall(r"^\| (`.*?) \| [0-9]{3} \|", table, re.MULTILINE) for code in re.findall(r"`(\w+)`", row)]
    assert sorted(TITLES) == sorted(listed)


def test_every_scope_and_option_is_listed() -> None:
    for scope in (*SCOPES, *(f"{each}:WORKER" for each in WORKER_SCOPES)):
        assert f"`{scope}`" in PAGE
    options = [option for parameter in serve_command.params for option in parameter.opts if option.startswith("--")]
    assert [] == [option for option in options if not re.search(rf"`{option}[ `]", PAGE)]


def test_the_limits_are_those_of_the_program() -> None:
    said = (
        f"| `--port PORT` | {PORT};",
        f"for at most {GRACE_SECONDS} seconds",
        f"{PAGE_USUAL} unless said otherwise and at most {PAGE_MAX}",
        f"a body over {JSON_BYTES_MAX >> 20} MiB, a bundle over {BUNDLE_BYTES_MAX >> 20} MiB",
        f"for {BODY_SECONDS_MAX:g} seconds",
        f"address and headers over {HEADER_BYTES_MAX >> 10} KiB",
        f"{REQUESTS_MAX} requests are under way, or {BUNDLES_MAX} bundles",
    )
    assert [] == [each for each in said if each not in PAGE]


# --- the guide


def commands(guide: str, *sections: str) -> list[tuple[str, str, str]]:
    """Give who runs what in some sections, and what is printed then."""
    found = []
    for section in sections:
        text = guide.partition(f"## {section}\n")[2].partition("\n## ")[0]
        for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
            for who, command, printed in re.findall(r"^(\w+)\$ (.*)\n((?:(?!\w+\$ ).*\n)*)", block, re.MULTILINE):
                found.append((who, command, printed))
    return found


def looks_like(said: str, printed: str) -> bool:
    """Tell whether lines are those of the guide, however wide their columns are."""
    wanted = [re.escape(" ".join(line.split())).replace(ANYTHING, ".*") for line in said.splitlines()]
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    return len(wanted) == len(lines) and all(map(re.fullmatch, wanted, lines))


@pytest.fixture
def here(tmp_path: Path) -> Place:
    return place(tmp_path)


def test_the_guide_can_be_followed(here: Place, tmp_path: Path) -> None:
    ((_, serving, told),) = commands(GUIDE, "Serve")
    assert "stateward serve" == serving
    ada = tmp_path / "ada"
    ada.mkdir()
    (ada / "paper.dcdl").write_text(flow(), "utf-8")
    with running(here, given="none") as service:
        assert service.process.stdout is not None
        begun = f"began Workspace {service.address}\n"
        all_told = begun + service.process.stdout.readline() + service.process.stdout.readline()
        address = re.search(r"http://\S+", all_told)
        assert address is not None
        assert looks_like(told, all_told.replace(address[0], "http://127.0.0.1:8420"))
        environment = {**here.environment, "PATH": f"{Path(here.command()[0]).parent}:/usr/bin:/bin", "HOME": str(ada)}
        exported = ""
        for who, said, printed in commands(GUIDE, "Give everybody a token", "Use it"):
            command = said.replace("http://127.0.0.1:8420", address[0])
            if command.startswith("curl ") and which("curl") is None:
                continue
            if command.startswith("export "):
                exported = f"umask 077; cp {here.work}/ada.token . ; {command}; "
                continue
            done = subprocess.run(
                ["/bin/sh", "-c", f"{exported if who == 'ada' else ''}{command}"],
                cwd=ada if who == "ada" else here.work,
                env={**environment, "STATEWARD_STORE": str(here.store)} if who == "server" else environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert 0 == done.returncode, done.stderr
            assert looks_like(printed, done.stderr + done.stdout), (command, done.stderr + done.stdout)
