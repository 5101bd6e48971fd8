"""The hosts of agents: by what each is found in a project, and which files it reads.

Invariant: what a run of `init` writes for one host is not taken for a sign of another.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from stateward.resources import folder
from stateward.runtime.surfaces.cli.init.blocks import MARKDOWN, taken
from stateward.runtime.surfaces.cli.init.entries import CLAUDE_HOOKS, CODEX_HOOKS, Hook, hook_entry, server_entry
from stateward.runtime.surfaces.cli.init.json_text import Value
from stateward.runtime.surfaces.cli.init.pieces import CodexFile, HooksFile, Piece, SectionFile, ServersFile, SkillFile
from stateward.runtime.surfaces.cli.init.project import Project

HOSTS: Final = ("claude", "codex")
SKILLS: Final = ("stateward-work", "stateward-flow")
INSTRUCTIONS: Final = "AGENTS.md"
CLAUDE_INSTRUCTIONS: Final = "CLAUDE.md"
IMPORT: Final = f"@{INSTRUCTIONS}"
_START: Final = "`stateward start SELECTOR "


def hosts_of(project: Project) -> tuple[str, ...]:
    """Find the hosts that work in a project, or for this user."""
    signs = {"claude": _has_claude(project), "codex": _has_codex(project)}
    return tuple(host for host in HOSTS if signs[host])


def _has_claude(project: Project) -> bool:
    return any(project.has(name) for name in (".claude", ".mcp.json", CLAUDE_INSTRUCTIONS))


def _has_codex(project: Project) -> bool:
    home = _codex_home()
    if project.has(".codex") or (home is not None and home.is_dir()):
        return True
    text = project.read(INSTRUCTIONS).text
    return text is not None and taken(text, MARKDOWN, INSTRUCTIONS) is not None


def _codex_home() -> Path | None:
    """Give the folder of Codex for this user; None for a user without a home."""
    named = os.environ.get("CODEX_HOME")
    if named:
        return Path(named)
    try:
        return Path.home() / ".codex"
    except RuntimeError:  # no variable names one, and the system knows none
        return None


def pieces_of(hosts: Sequence[str], words: Sequence[str], profile: str = "") -> tuple[Piece, ...]:
    """Give the files that are written for some hosts; those of Claude Code's own instructions only where they are there."""
    pieces: list[Piece] = []
    if "claude" in hosts:
        pieces += [ServersFile(".mcp.json", words), HooksFile(".claude/settings.json", "claude", words, CLAUDE_HOOKS)]
        pieces += [SkillFile(f".claude/skills/{name}/SKILL.md", skill(name)) for name in SKILLS]
    if "codex" in hosts:
        pieces += [CodexFile(".codex/config.toml", words), HooksFile(".codex/hooks.json", "codex", words, CODEX_HOOKS)]
        pieces += [SkillFile(f".agents/skills/{name}/SKILL.md", skill(name)) for name in SKILLS]
    pieces.append(SectionFile(INSTRUCTIONS, section(profile)))
    if "claude" in hosts:
        pieces.append(SectionFile(CLAUDE_INSTRUCTIONS, IMPORT, unless=IMPORT))
    return tuple(pieces)


def section(profile: str = "") -> str:
    """Give the section of `AGENTS.md`; with a profile, Workers are started under it."""
    text = (folder("plugin") / "section.md").read_text("utf-8")
    return text.replace(_START, f"{_START}--profile {profile} ") if profile else text


def skill(name: str) -> str:
    """Give the text of a skill."""
    return (folder("plugin") / "skills" / name / "SKILL.md").read_text("utf-8")


def plugin_servers() -> Value:
    """Give what `.mcp.json` of the plugin holds."""
    return {"mcpServers": {"stateward": server_entry(("stateward",))}}


def plugin_hooks() -> Value:
    """Give what `hooks/hooks.json` of the plugin holds: a host names the tools of a plugin in another way."""
    hooks = [
        Hook(each.name, each.event, each.seconds, each.matcher and "mcp__(plugin_.*_)?stateward__request_flow_transition")
        for each in CLAUDE_HOOKS
    ]
    return {"hooks": {each.name: [hook_entry(("stateward",), each, "claude")] for each in hooks}}
