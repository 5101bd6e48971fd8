"""The command `stateward init`.

Invariants: what cannot be done safely is one clear line and nothing is written; a second run changes nothing and says so.
"""

import re
from pathlib import Path
from typing import Any, Final

import click

from stateward.compiler.cli.host import reason
from stateward.runtime.surfaces.cli.errors import STATUS_ENVIRONMENT, STATUS_FOUND, STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.init.entries import words_of
from stateward.runtime.surfaces.cli.init.faults import Unsafe
from stateward.runtime.surfaces.cli.init.hosts import HOSTS, hosts_of
from stateward.runtime.surfaces.cli.init.planning import diff_of, planned, planned_undoing
from stateward.runtime.surfaces.cli.init.project import Change, Project
from stateward.runtime.surfaces.cli.output import emit, emit_json

SCHEMA_VERSION: Final = 1
_PROFILE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@click.command("init")
@click.option("--host", "hosts", multiple=True, type=click.Choice(HOSTS), help="A host; without one, those that are found.")
@click.option("--dir", "folder", type=Path, default=".", metavar="DIR", help="The project; the folder of now, unless said otherwise.")
@click.option("--command", default="stateward", metavar="COMMAND", help="How hosts call stateward, quoted as for a shell.")
@click.option("--profile", default="", metavar="NAME", help="The profile that agents are told to have Workers started under.")
@click.option("--undo", is_flag=True, help="Take out what was written, and nothing else.")
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would be written as a diff.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")
def init_command(folder: Path, *, undo: bool, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Let coding agents work inside flows: write what their hosts read.

    These are hooks and an MCP server for Claude Code (claude) and Codex (codex), a section of AGENTS.md, and two skills.
    """
    try:
        project = Project.at(folder)
        changes = _undoing(project, given["hosts"]) if undo else _writing(project, **given)
        if not dry_run:
            project.apply(changes)
    except Unsafe as problem:
        raise Stop(STATUS_FOUND, problem.message, problem.remedy) from problem
    except OSError as problem:
        raise Stop(STATUS_ENVIRONMENT, f"a file cannot be written: {reason(problem)}; nothing was changed") from problem
    if as_json:
        emit_json(_told(project, changes, dry_run=dry_run))
    else:
        emit(diff_of(changes) or "nothing to change\n" if dry_run else _said(changes, undo=undo))


def _writing(project: Project, hosts: tuple[str, ...], command: str, profile: str) -> list[Change]:
    words = words_of(command)
    if profile and not _PROFILE.fullmatch(profile):
        raise Stop(STATUS_USAGE, f"`{profile}` is no name of a profile", "see `stateward profile list`")
    chosen = tuple(host for host in HOSTS if host in hosts) or hosts_of(project)
    if not chosen:
        raise Stop(STATUS_USAGE, f"no host of agents was found in {project.root}", f"name one: `--host {HOSTS[0]}`")
    return planned(project, chosen, words, profile)


def _undoing(project: Project, hosts: tuple[str, ...]) -> list[Change]:
    if hosts:
        raise Stop(STATUS_USAGE, "`--undo` takes out what was written for all hosts", "leave `--host` out")
    return planned_undoing(project)


def _said(changes: list[Change], *, undo: bool) -> str:
    lines = [f"{change.action} {change.path}" for change in changes if change.action != "unchanged"]
    kept = [f"kept {change.path}: {change.note}\n" for change in changes if change.note]
    if not lines:
        return "".join(kept) + ("nothing to take out\n" if undo else "all is there already; nothing was changed\n")
    if not undo:
        lines.append(
            "next: start a Worker with `stateward start`, then start the agent in this folder; `stateward init --undo` takes this out"
        )
    return "".join(kept) + "\n".join(lines) + "\n"


def _told(project: Project, changes: list[Change], *, dry_run: bool) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "project": str(project.root),
        "written": not dry_run and any(change.action != "unchanged" for change in changes),
        "files": [{"path": change.path, "action": change.action, "diff": diff_of([change])} for change in changes],
    }
