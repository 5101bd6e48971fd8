"""`stateward profile`: which profiles there are, and what each comes to, with the layer that each part of it is from. Only reads.

Also gives other commands the profile that a person named.
"""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, assert_never

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from stateward.compiler.diagnostics.text import render
from stateward.runtime.profile import KeyCommand, KeyFile, Profile, terms
from stateward.runtime.profile.form import FIELDS, Field
from stateward.runtime.profile.layers import Layer, Unusable, set_by
from stateward.runtime.profile.places import Broken, Chosen, Places, ProfileUnreadable, Unknown, choose, files_of, names
from stateward.runtime.profile.terms import Commands, Value
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.options import WORKDIR
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import plain, show, terminal_console
from stateward.runtime.surfaces.cli.reading import FileHost
from stateward.runtime.wiring import profile_places

VERSION: Final = 1
PROFILE: Final = click.option("--profile", "profile_name", metavar="NAME", help="What the Worker may do and who judges: a profile's name.")
"""For commands that make Workers, or work with them."""
_UNSAID: Final = "-"


@click.group("profile")
def profile_group() -> None:
    """Show what Workers may do and who judges them."""


@profile_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one profile a line.")
@WORKDIR
def list_command(*, workdir: Path, as_json: bool) -> None:
    """List the profiles that can be chosen: those that ship, and the user's own."""
    with faults_shown():
        places = profile_places(workdir)
        rows = [_row(name, places) for name in names(places)]
    if as_json:
        for row in rows:
            emit_json({"version": VERSION, **row})
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("profile", "judged by", "from"):
        table.add_column(name, no_wrap=True)
    table.add_column("")
    for row in rows:
        remark = plain(row["problem"], "yellow") if row["problem"] else plain(row["about"])
        table.add_row(Text(row["name"]), Text(row["verifier"]), Text(", ".join(row["layers"])), remark)
    show(terminal_console(), table)


def _row(name: str, places: Places) -> dict[str, Any]:
    """Tell of one profile; one that cannot be used is told with what is wrong, and hides none of the others."""
    try:
        found = choose(name, places)
    except ProfileUnreadable as fault:
        return _no_row(name, fault.message)
    match found:
        case Chosen(profile=profile, layers=layers):
            verifier, about = str(profile.verifier), _about(found)
            return {"name": name, "verifier": verifier, "layers": [str(each.layer) for each in layers], "about": about, "problem": ""}
        case Broken(diagnostics=diagnostics):
            place = diagnostics[0].primary.place
            line, _ = place.source.line_column(place.span.start)
            return _no_row(name, f"{place.source.name}:{line}: {diagnostics[0].message}")
        case Unknown(message=message) | Unusable(message=message):
            return _no_row(name, message)
    assert_never(found)


def _no_row(name: str, problem: str) -> dict[str, Any]:
    return {"name": name, "verifier": "", "layers": [], "about": "", "problem": problem}


def _about(chosen: Chosen) -> str:
    """Say what a profile is for, in the words of whoever made it: its role, or where there is none the built-in one."""
    return next(each.about for layer in (Layer.ROLE, Layer.BUILT_IN) for each in chosen.layers if each.layer is layer)


@profile_group.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@WORKDIR
def show_command(*, name: str, workdir: Path, as_json: bool) -> None:
    """Show what a profile comes to, and which layer each part of it is from."""
    with faults_shown():
        places = profile_places(workdir)
        chosen = _chosen(name, places)
    if as_json:
        emit_json(_data(chosen, places), indent=2)
    else:
        show(terminal_console(), *_shown(chosen, places))


def profile_named(name: str, workdir: Path, workspace: str | None = None) -> Profile:
    """Give the profile that a person named for a folder of work, in the Workspace that is known, or that a marker there names.

    Raises Stop with what is wrong, and Fault where a file cannot be read.
    """
    return _chosen(name, profile_places(workdir, workspace)).profile


def _chosen(name: str, places: Places) -> Chosen:
    found = choose(name, places)
    match found:
        case Chosen():
            return found
        case Unknown(message=message, remedy=remedy):
            raise Stop(STATUS_USAGE, message, remedy)
        case Unusable(message=message, remedy=remedy):
            raise Stop(STATUS_FOUND, message, remedy)
        case Broken(diagnostics=diagnostics):
            click.echo(render(diagnostics, FileHost().look(err=True)), err=True, nl=False)
            file = diagnostics[0].primary.place.source.name
            raise Stop(STATUS_FOUND, f"profile `{name}` cannot be used: {file} is not right", "mend what is told above")
    assert_never(found)


def _value(profile: Profile, field: Field) -> Value:
    """Give the value of a field as it is shown: of a command that prints a key only the program, since its words may be secret."""
    key = profile.model.key if profile.model is not None else None
    match field.name:
        case "lease_seconds":
            return int(profile.lease_seconds)
        case "verifier.key_file":
            return key.path if isinstance(key, KeyFile) else ""
        case "verifier.key_command":
            return key.arguments[:1] if isinstance(key, KeyCommand) else ()
        case name:
            return profile.values()[name]


def _fields(chosen: Chosen) -> Iterator[tuple[str, Value, tuple[Layer, ...]]]:
    """Give each field with its value and the layers it is from; of the verifier only what says something."""
    for field in FIELDS.values():
        value = _value(chosen.profile, field)
        if field.section != "verifier" or value not in {"", ()}:
            yield field.name, value, set_by(field, chosen.layers)


def _data(chosen: Chosen, places: Places) -> dict[str, Any]:
    profile = chosen.profile
    return {
        "version": VERSION,
        "name": profile.name,
        "about": _about(chosen),
        "digest": profile.pinned().digest,
        "layers": [{"layer": str(each.layer), "file": each.file, "digest": each.digest} for each in chosen.layers],
        "absent": [{"layer": str(layer), "file": str(file)} for layer, file in _absent(chosen, places)],
        "fields": {
            name: {"value": terms.as_json(value), "set_by": [str(each) for each in layers]} for name, value, layers in _fields(chosen)
        },
    }


def _absent(chosen: Chosen, places: Places) -> Sequence[tuple[Layer, Path]]:
    there = {each.layer for each in chosen.layers}
    return [(layer, file) for layer, file in files_of(chosen.profile.name, places) if layer not in there]


def _shown(chosen: Chosen, places: Places) -> Iterator[RenderableType]:
    yield Text.assemble((chosen.profile.name, "bold"), "  ", plain(_about(chosen)))
    yield Text(f"digest {chosen.profile.pinned().digest}", "dim")
    files = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    files.add_column("layer", no_wrap=True)
    files.add_column("file", overflow="fold")
    absent = dict(_absent(chosen, places))
    there = {each.layer: each.file for each in chosen.layers}
    for layer in Layer:
        if layer in there:
            files.add_row(Text(layer), plain(there[layer]))
        elif layer in absent:
            files.add_row(Text(layer, "dim"), plain(f"{absent[layer]} (not there)", "dim"))
    yield Text("")
    yield files
    yield Text("")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("field", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("from", no_wrap=True)
    for name, value, layers in _fields(chosen):
        table.add_row(Text(name), plain(_worded(value)), Text(", ".join(layers) or _UNSAID, "" if layers else "dim"))
    yield table


def _worded(value: Value) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case str():
            return value
        case Commands(beginnings=beginnings):
            return ", ".join(map(shlex.join, beginnings)) or "none"
        case tuple():
            return ", ".join(value) or "none"
    assert_never(value)
