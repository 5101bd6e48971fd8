"""`stateward init`, as a user calls it: what it writes, what it refuses, and that it takes out what it put in."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stateward.resources import folder
from stateward.runtime.surfaces.cli import COMMANDS, cli
from stateward.runtime.surfaces.cli.errors import Stop
from stateward.runtime.surfaces.cli.init import entries
from stateward.runtime.surfaces.cli.init.command import init_command
from stateward.runtime.surfaces.cli.init.hosts import HOSTS, SKILLS, pieces_of, plugin_hooks, plugin_servers
from stateward.runtime.surfaces.cli.reading import FileHost
from stateward.runtime.surfaces.hooks import called as hooks
from tests.cli.program import STATEWARD, Place

DOCS = Path(__file__).resolve().parents[2] / "docs"
ALL = ("--host", "claude", "--host", "codex")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project of a user who has no host."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    made = tmp_path / "project"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def init(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["init", *arguments])


def done(*arguments: str) -> str:
    result = init(*arguments)
    assert result.exception is None, result.exception
    return result.output


def tree(folder: Path) -> dict[str, bytes | str | None]:
    """What a folder holds: files by their bytes, links by where they lead, folders as None."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


def filled(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


# --- what is written -------------------------------------------------------------------------------------------------------------------


def test_claude_code_gets_hooks_for_all_it_tells_of(project: Path) -> None:
    done("--host", "claude")
    settings = json.loads((project / ".claude/settings.json").read_text())
    said = {name: (groups[0].get("matcher"), groups[0]["hooks"][0]["command"]) for name, groups in settings["hooks"].items()}
    assert {
        "SessionStart": (None, "stateward hook session-start --format claude"),
        "UserPromptSubmit": (None, "stateward hook user-prompt --format claude"),
        "PreToolUse": ("mcp__stateward__request_flow_transition", "stateward hook pre-tool --format claude"),
        "PostToolUse": (None, "stateward hook post-tool --format claude"),
        "PostToolUseFailure": (None, "stateward hook post-tool --format claude"),
        "Stop": (None, "stateward hook stop --format claude"),
        "PreCompact": (None, "stateward hook pre-compact --format claude"),
        "SessionEnd": (None, "stateward hook session-end --format claude"),
    } == said


def test_both_hosts_get_the_mcp_server(project: Path) -> None:
    done(*ALL)
    claude = json.loads((project / ".mcp.json").read_text())["mcpServers"]["stateward"]
    codex = tomllib.loads((project / ".codex/config.toml").read_text())["mcp_servers"]["stateward"]
    assert {"type": "stdio", "command": "stateward", "args": ["mcp"]} == claude
    assert {"command": "stateward", "args": ["mcp"], "env_vars": list(entries.VARIABLES)} == codex


def test_codex_gets_hooks_for_what_it_documents(project: Path) -> None:
    done("--host", "codex")
    said = json.loads((project / ".codex/hooks.json").read_text())["hooks"]
    assert ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreCompact"] == list(said)
    assert "stateward hook stop --format codex" == said["Stop"][0]["hooks"][0]["command"]


def test_the_hooks_that_are_written_are_ones_that_the_program_has() -> None:
    written = {hook.event for hook in (*entries.CLAUDE_HOOKS, *entries.CODEX_HOOKS)}
    assert set(hooks.EVENTS) == entries.EVENTS == written
    assert ("claude", "codex") == hooks.HOSTS


def test_only_the_hosts_that_are_found_get_files(project: Path) -> None:
    filled(project, {"CLAUDE.md": "# Ours\n"})
    done()
    assert not (project / ".codex").exists()
    assert (project / ".mcp.json").exists()


def test_what_was_written_for_one_host_is_no_sign_of_another(project: Path) -> None:
    filled(project, {"CLAUDE.md": "# Ours\n"})
    done()
    assert "all is there already; nothing was changed\n" == done()


@pytest.mark.parametrize("sign", [".codex/config.toml", "AGENTS.md", "../home/.codex/config.toml"])
def test_codex_is_found_in_the_project_and_for_the_user(project: Path, sign: str) -> None:
    filled(project, {sign: ""})
    done()
    assert (project / ".codex/hooks.json").exists()


def test_without_any_host_one_has_to_be_named(project: Path) -> None:
    assert 0 != init().exit_code
    assert {} == tree(project)


def test_claude_is_made_to_read_the_section_where_it_has_a_text_of_its_own(project: Path) -> None:
    filled(project, {"CLAUDE.md": "# Ours"})
    done("--host", "claude")
    assert "# Ours\n\n<!-- stateward:begin folders=0 -->\n@AGENTS.md\n<!-- stateward:end -->" == (project / "CLAUDE.md").read_text()


@pytest.mark.parametrize("text", ["See\n@AGENTS.md\n", "  @AGENTS.md"])
def test_a_text_that_imports_the_section_already_stays(project: Path, text: str) -> None:
    filled(project, {"CLAUDE.md": text})
    done("--host", "claude")
    assert text == (project / "CLAUDE.md").read_text()


def test_a_profile_stands_in_what_agents_are_told(project: Path) -> None:
    done("--host", "claude", "--profile", "strict")
    assert "`stateward start SELECTOR --profile strict --text TEXT`" in (project / "AGENTS.md").read_text()
    assert 0 != init("--host", "claude", "--profile", "a b").exit_code


# --- the command -----------------------------------------------------------------------------------------------------------------------


def test_a_command_is_quoted_so_that_a_shell_takes_it_as_it_is(project: Path) -> None:
    done(*ALL, "--command", "'/opt/my tools/stateward' --x 'a;b'")
    words = ["/opt/my tools/stateward", "--x", "a;b"]
    settings = json.loads((project / ".claude/settings.json").read_text())
    assert [*words, "hook", "stop", "--format", "claude"] == shlex.split(settings["hooks"]["Stop"][0]["hooks"][0]["command"])
    server = tomllib.loads((project / ".codex/config.toml").read_text())["mcp_servers"]["stateward"]
    assert (words[0], [*words[1:], "mcp"]) == (server["command"], server["args"])
    assert "all is there already; nothing was changed\n" == done(*ALL, "--command", "'/opt/my tools/stateward' --x 'a;b'")
    done("--undo")
    assert {} == tree(project)


@pytest.mark.parametrize(
    "command", ["", "'stateward", "stateward\nrm", "${HOME}/stateward", "`stateward`", "python -m thing", "'' stateward"]
)
def test_a_command_that_hosts_would_not_take_as_it_is_is_refused(project: Path, command: str) -> None:
    assert 1 == init(*ALL, "--command", command).exit_code
    assert {} == tree(project)


# --- what is there stays ---------------------------------------------------------------------------------------------------------------

FOREIGN = {
    ".mcp.json": '{"mcpServers":{"other":{"command":"other","env":{"A":"1"}}}}',
    ".claude/settings.json": '{\n\t"permissions": { "allow": ["Bash(ls:*)"] },\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": '
    '[{"type": "command", "command": "say done"}]}\n\t\t],\n\t\t"PreToolUse": []\n\t}\n}',
    ".codex/config.toml": 'model = "x"\n[mcp_servers.other]\ncommand = "other"',
    ".codex/hooks.json": "{ }\r\n",
    "AGENTS.md": "# Project\r\n\r\nText\r\n",
    "CLAUDE.md": "",
    ".claude/skills/mine/SKILL.md": "mine",
}


def test_what_was_there_stays_byte_for_byte_around_ours(project: Path) -> None:
    filled(project, FOREIGN)
    done(*ALL)
    settings = (project / ".claude/settings.json").read_text()
    assert settings.startswith('{\n\t"permissions": { "allow": ["Bash(ls:*)"] },\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": ')
    said = json.loads(settings)
    assert ["say done", "stateward hook stop --format claude"] == [each["hooks"][0]["command"] for each in said["hooks"]["Stop"]]
    servers = (project / ".mcp.json").read_text()
    assert '{"mcpServers":{"other":{"command":"other","env":{"A":"1"}}, "stateward": { "type": "stdio", ' in servers
    assert "\n" not in servers
    assert b"\n" not in (project / "AGENTS.md").read_bytes().replace(b"\r\n", b"")


def test_undoing_gives_the_project_back_as_it_was(project: Path) -> None:
    filled(project, FOREIGN)
    (project / ".agents").mkdir()
    before = tree(project)
    done(*ALL)
    assert before != tree(project)
    done("--undo")
    assert before == tree(project)
    assert "nothing to take out\n" == done("--undo")


def test_undoing_leaves_what_came_afterwards(project: Path) -> None:
    done(*ALL)
    servers = json.loads((project / ".mcp.json").read_text())
    servers["mcpServers"]["later"] = {"command": "later"}
    (project / ".mcp.json").write_text(json.dumps(servers, indent=4))
    (project / "AGENTS.md").write_text("# Title\n\n" + (project / "AGENTS.md").read_text() + "\nMore\n")
    filled(project, {".codex/rules": "x"})
    done("--undo")
    assert {".mcp.json", "AGENTS.md", ".codex", ".codex/rules"} == set(tree(project))
    assert {"mcpServers": {"later": {"command": "later"}}} == json.loads((project / ".mcp.json").read_text())
    assert "# Title\n\nMore\n" == (project / "AGENTS.md").read_text()


def test_what_others_reformatted_is_still_ours(project: Path) -> None:
    done(*ALL)
    for name in (".mcp.json", ".claude/settings.json", ".codex/hooks.json"):
        path = project / name
        path.write_text(json.dumps(json.loads(path.read_text()), separators=(",", ":"), sort_keys=True))
    assert "all is there already; nothing was changed\n" == done(*ALL)
    done("--undo")
    assert {".mcp.json", ".claude", ".claude/settings.json", ".codex", ".codex/hooks.json"} >= set(tree(project))
    assert "stateward" not in (project / ".claude/settings.json").read_text()


def test_a_skill_that_somebody_changed_is_kept_and_told(project: Path) -> None:
    done("--host", "claude")
    path = project / ".claude/skills/stateward-work/SKILL.md"
    changed = path.read_text().replace("# Work", "# My work")
    path.write_text(changed)
    kept = "kept .claude/skills/stateward-work/SKILL.md: it was changed since stateward wrote it\n"
    assert kept in done("--host", "claude")
    assert kept in done("--undo")
    assert changed == path.read_text()


# --- bringing up to date ---------------------------------------------------------------------------------------------------------------


def test_entries_of_an_older_release_are_brought_up_to_date_where_they_stand(project: Path) -> None:
    done(*ALL)
    wanted = tree(project)
    settings = project / ".claude/settings.json"
    old = json.loads(settings.read_text())
    old["hooks"]["Stop"][0]["hooks"][0]["command"] = "stateward hook stop --format claude"
    old["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 5
    old["hooks"]["SubagentStop"] = old["hooks"]["Stop"]
    settings.write_text(json.dumps(old, indent=2) + "\n")
    section = project / "AGENTS.md"
    section.write_text("<!-- stateward:begin folders=0 -->\nold\n<!-- stateward:end -->\n")
    config = project / ".codex/config.toml"
    config.write_text('# stateward:begin folders=3\n[mcp_servers.stateward]\ncommand = "stateward"\n# stateward:end\n')
    done(*ALL)
    assert config.read_text().startswith("# stateward:begin folders=3\n")
    config.write_bytes(wanted[".codex/config.toml"])  # type: ignore[arg-type]  # a file has bytes
    assert wanted == tree(project)


def test_what_somebody_added_to_our_server_stays(project: Path) -> None:
    text = '{"mcpServers": {"stateward": {"command": "/old/stateward", "args": ["mcp"], "env": {"STATEWARD_WORKER": "w"}}}}'
    filled(project, {".mcp.json": text})
    done("--host", "claude")
    server = json.loads((project / ".mcp.json").read_text())["mcpServers"]["stateward"]
    assert ("stateward", {"STATEWARD_WORKER": "w"}) == (server["command"], server["env"])


def test_options_that_somebody_added_to_ours_stay(project: Path) -> None:
    done("--host", "claude")
    settings, servers = project / ".claude/settings.json", project / ".mcp.json"
    settings.write_text(settings.read_text().replace("hook stop --format claude", "hook stop --format claude --blocks 5"))
    servers.write_text(servers.read_text().replace('"mcp"', '"mcp", "--wait", "20"'))
    assert "all is there already; nothing was changed\n" == done("--host", "claude")
    done("--host", "claude", "--command", "uv run stateward")
    assert "uv run stateward hook stop --format claude --blocks 5" in settings.read_text()
    assert ["run", "stateward", "mcp", "--wait", "20"] == json.loads(servers.read_text())["mcpServers"]["stateward"]["args"]
    done("--undo")
    assert {} == tree(project)


def test_a_byte_order_mark_stays(project: Path) -> None:
    filled(project, {".mcp.json": "\ufeff{}", "AGENTS.md": "\ufeff# Ours\n"})
    before = tree(project)
    done("--host", "claude")
    assert (project / ".mcp.json").read_bytes().startswith(b'\xef\xbb\xbf{"mcpServers"')
    done("--undo")
    assert before == tree(project)


# --- what is refused -------------------------------------------------------------------------------------------------------------------

UNSAFE = {
    "broken": (".mcp.json", '{"a": ', "`.mcp.json` is no JSON from line 1 column 7 on"),
    "empty": (".mcp.json", "", "`.mcp.json` is empty, which is no JSON"),
    "blank": (".claude/settings.json", " \n", "`.claude/settings.json` is empty, which is no JSON"),
    "a comma too many": (".mcp.json", '{"a": 1,}', "`.mcp.json` is no JSON from line 1 column 9 on"),
    "comment": (".claude/settings.json", '{\n  // mine\n  "a": 1}', "`.claude/settings.json` has a comment in line 2, which JSON has not"),
    "list": (".mcp.json", "[]", "`.mcp.json` holds no JSON object"),
    "nan": (".mcp.json", '{"a": NaN}', "`.mcp.json` is no JSON that is read everywhere: `NaN` is no value"),
    "deep": (".mcp.json", '{"a":' + "[" * 80 + "]" * 80 + "}", "`.mcp.json` is nested more than 64 deep"),
    "very deep": (".mcp.json", "[" * 200_000, "`.mcp.json` is nested more than 64 deep"),
    "wrong member": (".mcp.json", '{"mcpServers": []}', "`mcpServers` in `.mcp.json` is no object"),
    "wrong event": (".claude/settings.json", '{"hooks": {"Stop": {}}}', "`Stop` in `.claude/settings.json` is no array"),
    "twice": (".mcp.json", '{"mcpServers": {}, "mcpServers": {}}', "`.mcp.json` has `mcpServers` twice in one object"),
    "another server": (
        ".mcp.json",
        '{"mcpServers": {"stateward": {"command": "x"}}}',
        "`.mcp.json` has another MCP server named `stateward`",
    ),
    "mixed group": (
        ".claude/settings.json",
        '{"hooks": {"Stop": [{"hooks": [{"command": "stateward hook stop --format claude"}, {"command": "x"}]}]}}',
        "`.claude/settings.json` has a hook of stateward in one group with others",
    ),
    "broken TOML": (".codex/config.toml", "a = \n", "`.codex/config.toml` is no TOML, line 1 column 5"),
    "a key twice": (".codex/config.toml", "a = 1\na = 2\n", "`.codex/config.toml` is no TOML: a name is given twice, line 2 column 6"),
    "a table twice": (".codex/config.toml", "[a]\n[a]\n", "`.codex/config.toml` is no TOML: a name is given twice, line 2 column 3"),
    "very deep TOML": (".codex/config.toml", "a = " + "[" * 100_000, "`.codex/config.toml` is nested more than 64 deep"),
    "a long number in TOML": (".codex/config.toml", "a = " + "9" * 5_000, "`.codex/config.toml` is no TOML"),
    "inline table": (".codex/config.toml", "mcp_servers = {}", "a table cannot be put into `.codex/config.toml`"),
    "another server in TOML": (
        ".codex/config.toml",
        "[mcp_servers.stateward]\nurl = 'x'",
        "`.codex/config.toml` has another MCP server named `stateward`",
    ),
    "unpaired": ("AGENTS.md", "<!-- stateward:begin -->\n", "`AGENTS.md` has markers of stateward that do not pair up"),
    "turned round": ("AGENTS.md", "<!-- stateward:end -->\n<!-- stateward:begin -->\n", "`AGENTS.md` has markers of stateward"),
    "a skill of the name": (".claude/skills/stateward-work/SKILL.md", "mine", "`.claude/skills/stateward-work/SKILL.md` is there already"),
    "a file for a folder": (".agents", "", "there can be no `.agents/skills/stateward-work/SKILL.md`: `.agents` is no folder"),
}


@pytest.mark.parametrize("name", UNSAFE)
def test_what_cannot_be_edited_safely_is_refused_and_nothing_is_written(project: Path, name: str) -> None:
    path, text, said = UNSAFE[name]
    filled(project, {path: text})
    before = tree(project)
    result = CliRunner().invoke(cli, ["init", *ALL], standalone_mode=False)
    assert isinstance(result.exception, Stop)
    assert said == result.exception.message[: len(said)]
    assert 1 == result.exception.status
    assert before == tree(project)


def test_bytes_that_are_no_text_a_long_file_and_a_pipe_are_refused(project: Path) -> None:
    for spoil in (
        lambda path: path.write_bytes(b"\xff"),
        lambda path: path.write_bytes(b" " * (1024 * 1024 + 1)),
        os.mkfifo,
        lambda path: path.mkdir(),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to(path.name),
    ):
        path = project / "AGENTS.md"
        spoil(path)
        assert 1 == init("--host", "claude").exit_code
        assert ["AGENTS.md"] == list(tree(project))
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_link_that_leaves_the_project_is_refused(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / ".claude").symlink_to(outside)
    assert 1 == init("--host", "claude").exit_code
    assert {} == tree(outside)
    assert [".claude"] == list(tree(project))


def test_a_link_in_the_project_is_followed_and_stays_and_two_names_are_one_file(project: Path) -> None:
    filled(project, {"AGENTS.md": "# Ours\n"})
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    before = tree(project)
    done("--host", "claude")
    assert (project / "CLAUDE.md").is_symlink()
    assert 1 == (project / "AGENTS.md").read_text().count("stateward:begin")
    done("--undo")
    assert before == tree(project)


def test_a_read_only_file_is_refused_only_where_it_would_change(project: Path) -> None:
    done("--host", "claude")
    settings = project / ".claude/settings.json"
    settings.chmod(0o444)
    assert "all is there already; nothing was changed\n" == done("--host", "claude")
    assert 1 == init("--undo").exit_code
    assert (project / ".mcp.json").exists()


def test_a_file_with_a_second_name_is_refused(project: Path) -> None:
    filled(project, {"AGENTS.md": "# Ours\n"})
    (project / "other.md").hardlink_to(project / "AGENTS.md")
    assert 1 == init("--host", "claude").exit_code


def test_undoing_is_not_kept_back_by_a_file_that_init_never_wrote(project: Path) -> None:
    done("--host", "codex")
    filled(project, {".claude/settings.json": "{broken", ".mcp.json": "[]"})
    done("--undo")
    assert {".claude", ".claude/settings.json", ".mcp.json"} == set(tree(project))


def test_undoing_names_no_host(project: Path) -> None:
    assert 2 == init("--undo", "--host", "claude").exit_code


def test_a_file_keeps_its_mode(project: Path) -> None:
    filled(project, {".mcp.json": "{}"})
    (project / ".mcp.json").chmod(0o600)
    done("--host", "claude")
    assert 0o600 == (project / ".mcp.json").stat().st_mode & 0o777


# --- showing ---------------------------------------------------------------------------------------------------------------------------


def test_a_dry_run_shows_a_diff_and_writes_nothing(project: Path) -> None:
    filled(project, {"CLAUDE.md": "# Ours"})
    before = tree(project)
    shown = done("--dry-run", "--host", "claude")
    assert before == tree(project)
    assert "--- /dev/null\n+++ b/.mcp.json\n@@ -0,0 +1,11 @@\n+{\n" in shown
    assert "--- a/CLAUDE.md\n+++ b/CLAUDE.md\n@@ -1 +1,5 @@\n-# Ours\n\\ No newline at end of file\n+# Ours\n" in shown
    done("--host", "claude")
    assert "nothing to change\n" == done("--dry-run", "--host", "claude")
    assert "--- a/.mcp.json\n+++ /dev/null\n" in done("--dry-run", "--undo")


def test_a_diff_cannot_act_on_a_terminal(project: Path) -> None:
    filled(project, {"CLAUDE.md": "\x1b]0;x\x07\n"})
    assert "\x1b" not in done("--dry-run", "--host", "claude")


def test_programs_get_json(project: Path) -> None:
    told = json.loads(done("--host", "claude", "--json"))
    assert (1, True, str(project)) == (told["schema_version"], told["written"], told["project"])
    assert ["created"] * 5 == [each["action"] for each in told["files"]]
    assert not json.loads(done("--host", "claude", "--json"))["written"]


def in_a_shell(place: Place, command: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    """Run a command as a host does, which finds the program by its path."""
    environment = {**place.environment, "PATH": f"{STATEWARD.parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", command], cwd=place.work, env=environment, capture_output=True, text=True, check=False, **more)


def test_the_installed_program_writes_a_hook_that_keeps_an_agent_at_work(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.work.mkdir()
    ended = place.process("init", "--host", "claude")
    assert (0, "") == (ended.status, ended.err)
    place.done("start", "builtin:single-step", "--text", "Ticket 41")
    settings = json.loads((place.work / ".claude/settings.json").read_text())
    told = {"session_id": "s1", "hook_event_name": "Stop", "cwd": str(place.work), "stop_hook_active": False}
    stopped = in_a_shell(place, settings["hooks"]["Stop"][0]["hooks"][0]["command"], input=json.dumps(told))
    assert "" == stopped.stderr
    assert "block" == json.loads(stopped.stdout)["decision"]


def test_the_agent_in_the_guide_works_against_the_server(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.work.mkdir()
    place.done("start", "builtin:single-step", "--text", "Ticket 41")
    (program,) = re.findall(r"```python\n(.*?)```", (DOCS / "guide/agents.md").read_text("utf-8"), re.DOTALL)
    said = in_a_shell(place, shlex.join([sys.executable, "-c", program]))
    assert "is in state `work` (visit 1) of flow `single-step`." in said.stdout, said.stderr
    assert "waits for a person to judge it." in said.stdout


# --- the texts -------------------------------------------------------------------------------------------------------------------------


def texts() -> dict[str, str]:
    plugin = folder("plugin")
    named = {name: (plugin / "skills" / name / "SKILL.md").read_text("utf-8") for name in SKILLS}
    return {"section": (plugin / "section.md").read_text("utf-8"), **named}


@pytest.mark.parametrize("name", ["section", *SKILLS])
def test_commands_that_the_texts_name_exist(name: str) -> None:
    named = set(re.findall(r"`stateward ([a-z-]+)(?: ([a-z]+)(?=[ `]))?", texts()[name]))
    assert named
    for command, sub in named:
        assert command in COMMANDS
        arguments = [command, sub, "--help"] if sub else [command, "--help"]
        assert 0 == CliRunner().invoke(cli, arguments).exit_code, arguments


def test_the_flows_in_the_skill_compile_without_a_diagnostic_and_are_canonical(tmp_path: Path) -> None:
    first, second = re.findall(r"```dcdl\n(.*?)```", texts()["stateward-flow"], re.DOTALL)
    for name, flow in (("fix-a-bug", first), ("until-clean", second)):
        path = tmp_path / f"{name}.dcdl"
        path.write_text(flow, "utf-8")
        ended = CliRunner().invoke(cli, ["compile", "--strict", "--format", "line", str(path)], obj=FileHost())
        assert (0, "") == (ended.exit_code, ended.stdout)
        assert flow == CliRunner().invoke(cli, ["fmt", "-"], input=flow, obj=FileHost()).stdout


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_begins_as_hosts_want_it(name: str) -> None:
    _, head, body = texts()[name].split("---\n", 2)
    said = dict(line.split(": ", 1) for line in head.splitlines())
    assert {"name", "description"} == set(said)
    assert name == said["name"]
    assert len(said["description"]) <= 1024
    assert body.startswith("\n# ")


def test_the_plugin_holds_what_init_writes() -> None:
    plugin = folder("plugin")
    assert plugin_servers() == json.loads((plugin / ".mcp.json").read_text("utf-8"))
    assert plugin_hooks() == json.loads((plugin / "hooks" / "hooks.json").read_text("utf-8"))
    said = json.loads((plugin / ".claude-plugin" / "plugin.json").read_text("utf-8"))
    assert ("stateward", version("stateward")) == (said["name"], said["version"])
    assert set(SKILLS) == {each.name for each in (plugin / "skills").iterdir()}


def test_the_plugin_waits_for_its_own_transition_tool() -> None:
    said = json.loads((folder("plugin") / "hooks" / "hooks.json").read_text("utf-8"))
    matcher = said["hooks"]["PreToolUse"][0]["matcher"]
    assert re.fullmatch(matcher, "mcp__plugin_stateward_stateward__request_flow_transition")
    assert re.fullmatch(matcher, "mcp__stateward__request_flow_transition")
    assert not re.fullmatch(matcher, "mcp__other__request_flow_transition")


# --- the pages -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["guide/agents.md", "reference/init.md"])
def test_commands_that_the_pages_name_exist(page: str) -> None:
    named = set(re.findall(r"(?:^\s*|`)stateward ([a-z-]+)", (DOCS / page).read_text("utf-8"), re.MULTILINE))
    assert named >= {"init", "mcp"}
    assert set() == named - set(COMMANDS)


def test_the_page_names_each_file_option_and_hook() -> None:
    page = (DOCS / "reference" / "init.md").read_text("utf-8")
    files = {piece.path for piece in pieces_of(HOSTS, ("stateward",)) if not piece.path.endswith("SKILL.md")}
    options = {option for parameter in init_command.params for option in parameter.opts}
    events = {hook.name for hook in (*entries.CLAUDE_HOOKS, *entries.CODEX_HOOKS)}
    assert [] == [name for name in {*files, *events, *entries.VARIABLES} if f"`{name}`" not in page]
    assert [] == [option for option in options if f"`{option}" not in page]
