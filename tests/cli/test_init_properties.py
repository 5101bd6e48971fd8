"""Over whatever a project has: `init` and its undoing give the files back as they were, and a second `init` changes nothing."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.runtime.surfaces.cli.init.entries import CLAUDE_HOOKS, CODEX_HOOKS
from stateward.runtime.surfaces.cli.init.hosts import HOSTS, IMPORT, section
from stateward.runtime.surfaces.cli.init.pieces import CodexFile, HooksFile, Piece, SectionFile, ServersFile
from stateward.runtime.surfaces.cli.init.planning import planned, planned_undoing
from stateward.runtime.surfaces.cli.init.project import Change, Project

WORDS = ("stateward",)
SERVERS = ServersFile(".mcp.json", WORDS)
HOOKS = HooksFile(".claude/settings.json", "claude", WORDS, CLAUDE_HOOKS)
CONFIG = CodexFile(".codex/config.toml", WORDS)
SECTION = SectionFile("AGENTS.md", section())

# --- JSON, with every layout that somebody may have given it ------------------------------------------------------------------------------

SPACES = st.text(" \t\r\n", max_size=3)
KEYS = st.sampled_from(['"a"', '"b\\u0022"', '"{["', '"hooks "', '"Stop"', '"x,y"'])
SCALARS = st.sampled_from(["1", "-0.5e3", "true", "null", '""', '"]}"', '"\\\\"', '"é\\n"', '"// no"'])


def spaced(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(SPACES, part, SPACES).map("".join)


def an_object(members: st.SearchStrategy[list[tuple[str, str]]]) -> st.SearchStrategy[str]:
    def written(given: tuple[list[tuple[str, str]], str]) -> str:
        inside = ",".join(f"{given[1]}{key}{given[1]}:{value}" for key, value in given[0])
        return f"{{{inside or given[1]}}}"

    return st.tuples(members, SPACES).map(written)


def an_array(elements: st.SearchStrategy[list[str]]) -> st.SearchStrategy[str]:
    return st.tuples(elements, SPACES).map(lambda given: f"[{','.join(given[0]) or given[1]}]")


def members(keys: st.SearchStrategy[str], values: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.tuples(keys, spaced(values)), max_size=3, unique_by=lambda member: member[0])


VALUES = st.recursive(SCALARS, lambda inner: an_object(members(KEYS, inner)) | an_array(st.lists(spaced(inner), max_size=2)), max_leaves=4)
GROUPS = VALUES | st.sampled_from(
    [
        '{"hooks": [{"type": "command", "command": "stateward log show"}]}',
        '{"hooks":[{"command":"other hook stop --format claude"}]}',
        '{ "matcher": "Bash", "hooks": [ ] }',
    ]
)
EVENTS = st.sampled_from([json.dumps(hook.name) for hook in CLAUDE_HOOKS] + ['"Notification"'])
HOOK_MEMBERS = members(EVENTS, an_array(st.lists(spaced(GROUPS), max_size=2)))
SERVER_MEMBERS = members(st.sampled_from(['"other"', '"stateward2"']), VALUES)
KNOWN = st.fixed_dictionaries({}, optional={'"mcpServers"': an_object(SERVER_MEMBERS), '"hooks"': an_object(HOOK_MEMBERS)})


def _together(given: tuple[list[tuple[str, str]], dict[str, str]]) -> list[tuple[str, str]]:
    return [*given[0], *given[1].items()]


FILES = spaced(an_object(st.tuples(members(KEYS, VALUES), KNOWN).map(_together).flatmap(st.permutations)))

# --- other texts --------------------------------------------------------------------------------------------------------------------------

LINES = st.lists(st.sampled_from(["# Title", "", " ", "text", "@AGENTS.md", "<!-- other -->", "é", "```"]), max_size=5)
ENDS = st.sampled_from(["\n", "\r\n"])
TEXTS = st.tuples(LINES, ENDS, st.booleans()).map(lambda given: given[1].join(given[0]) + given[1] * given[2])
TABLES = st.lists(
    st.sampled_from(["[a]\nb = 1", "# note", "", '[mcp_servers.x]\ncommand = "y"', 's = """\n# x\n"""']), max_size=3, unique=True
)
TOML = st.tuples(TABLES, ENDS, st.booleans()).map(lambda given: ("\n".join(given[0]) + "\n" * given[2]).replace("\n", given[1]))


def comes_back(piece: Piece, text: str | None) -> None:
    put = piece.put(text, 2)
    assert put == piece.put(put, 0)
    assert text == piece.take(put)


@settings(max_examples=150)
@given(FILES)
def test_a_file_of_servers_comes_back(text: str) -> None:
    comes_back(SERVERS, text)


@settings(max_examples=150)
@given(FILES)
def test_a_file_of_hooks_comes_back(text: str) -> None:
    comes_back(HOOKS, text)


@given(FILES)
def test_a_file_that_holds_servers_and_hooks_gives_each_back_whatever_is_taken_first(text: str) -> None:
    both = HOOKS.put(SERVERS.put(text, 0), 0)
    assert text == SERVERS.take(HOOKS.take(both) or "")
    assert text == HOOKS.take(SERVERS.take(both) or "")


@given(FILES)
def test_what_a_file_says_besides_ours_is_the_same(text: str) -> None:
    before, after = json.loads(text), json.loads(SERVERS.put(text, 0))
    del after["mcpServers"]["stateward"]
    assert {"mcpServers": {}, **before} == after


@given(TEXTS)
def test_a_text_comes_back(text: str) -> None:
    comes_back(SECTION, text)
    comes_back(SectionFile("CLAUDE.md", IMPORT, unless=IMPORT), text)


@given(TOML)
def test_a_configuration_comes_back(text: str) -> None:
    comes_back(CONFIG, text)


@pytest.mark.parametrize("piece", [SERVERS, HOOKS, CONFIG, SECTION, HooksFile(".codex/hooks.json", "codex", WORDS, CODEX_HOOKS)])
def test_a_file_that_was_made_goes_again(piece: Piece) -> None:
    comes_back(piece, None)


@given(FILES)
def test_another_command_takes_the_place_of_the_one_before(text: str) -> None:
    other = HooksFile(HOOKS.path, "claude", ("uv", "run", "stateward"), CLAUDE_HOOKS)
    assert text == HOOKS.take(HOOKS.put(other.put(text, 0), 0))
    assert 8 == other.put(HOOKS.put(text, 0), 0).count("uv run stateward hook ")


# --- whole projects -----------------------------------------------------------------------------------------------------------------------

PROJECTS = st.fixed_dictionaries(
    {},
    optional={
        ".mcp.json": FILES,
        ".claude/settings.json": FILES,
        ".codex/hooks.json": FILES,
        ".codex/config.toml": TOML,
        "AGENTS.md": TEXTS,
        "CLAUDE.md": TEXTS,
        ".claude/skills/mine/SKILL.md": TEXTS,
        ".agents/skills/": st.just(""),
        ".claude/": st.just(""),
        ".codex/": st.just(""),
    },
)


def tree(folder: Path) -> dict[str, bytes | None]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def in_project(files: dict[str, str], act: Callable[[Project], None]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for path, text in files.items():
            place = folder / path
            (place if path.endswith("/") else place.parent).mkdir(parents=True, exist_ok=True)
            if not path.endswith("/"):
                place.write_bytes(text.encode())
        act(Project.at(folder))


def put_all(project: Project, hosts: tuple[str, ...] = HOSTS) -> list[Change]:
    changes = planned(project, hosts, WORDS, "")
    project.apply(changes)
    return [change for change in changes if change.action != "unchanged"]


@settings(max_examples=60)
@given(PROJECTS, st.sampled_from([("claude",), ("codex",), HOSTS]))
def test_a_project_comes_back_and_a_second_time_changes_nothing(files: dict[str, str], hosts: tuple[str, ...]) -> None:
    def act(project: Project) -> None:
        before = tree(project.root)
        put_all(project, hosts)
        after = tree(project.root)
        assert [] == put_all(project, hosts)
        assert after == tree(project.root)
        project.apply(planned_undoing(project))
        assert before == tree(project.root)

    in_project(files, act)


def test_a_file_that_changes_while_the_others_are_written_stops_everything() -> None:
    def act(project: Project) -> None:
        changes = planned(project, HOSTS, WORDS, "")
        (project.root / "AGENTS.md").write_text("now")
        before = tree(project.root)
        with pytest.raises(ValueError, match="was changed just now"):
            project.apply(changes)
        assert before == tree(project.root)

    in_project({"CLAUDE.md": "text"}, act)


@pytest.mark.parametrize("blocked", [".codex", ".claude/skills", "AGENTS.md"])
def test_a_step_that_fails_undoes_those_before_it(blocked: str) -> None:
    def act(project: Project) -> None:
        changes = planned(project, HOSTS, WORDS, "")
        place = project.root / blocked
        place.parent.mkdir(exist_ok=True)
        place.symlink_to("/dev/null")
        before = tree(project.root)
        with pytest.raises((OSError, ValueError)):
            project.apply(changes)
        assert before == tree(project.root)

    in_project({".mcp.json": "{}", "CLAUDE.md": "text"}, act)


def test_a_place_that_is_taken_in_the_last_moment_is_not_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    def act(project: Project) -> None:
        changes = planned(project, HOSTS, WORDS, "")
        before = tree(project.root)
        monkeypatch.setattr(Project, "_require_same", lambda project, change: None)
        late = project.root / "AGENTS.md"
        late.write_text("late")
        with pytest.raises(FileExistsError):
            project.apply(changes)
        assert {**before, "AGENTS.md": b"late"} == tree(project.root)

    in_project({".mcp.json": "{}", "CLAUDE.md": "text"}, act)
