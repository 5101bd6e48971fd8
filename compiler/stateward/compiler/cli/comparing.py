"""`stateward paths` and `stateward diff`: a flow's graph walked, and two compared."""

from collections.abc import Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING, assert_never

import click

from stateward.compiler.cli.given import given_flow
from stateward.compiler.cli.host import STATUS_FOUND, STDIN_NAME
from stateward.compiler.cli.output import json_text, say
from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.wording import counted, quoted

if TYPE_CHECKING:
    from stateward.compiler.drawing.differences import Change
    from stateward.compiler.drawing.paths import Walk


@click.command("paths")
@click.argument("path", metavar="PATH")
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
@STDIN_NAME
@click.pass_context
def paths_command(context: click.Context, path: str, *, as_json: bool, stdin_filename: str) -> None:
    """List a smallest set of paths that takes every transition of a flow.

    PATH is a file, a selector such as builtin:coder-review, or `-`. Each path goes from the initial state to an end.
    """
    from stateward.compiler.drawing.paths import covering_walks  # noqa: PLC0415 - help needs none of this

    definition = given_flow(context, path, stdin_filename).definition
    walks = covering_walks(definition)
    if as_json:
        steps = [[step._asdict() for step in walk] for walk in walks]
        say(f"{json_text({'flow': definition.name, 'initial': definition.initial, 'paths': steps}, indent=2)}\n")
        return
    for number, walk in enumerate(walks, start=1):
        say(_walk_shown(number, walk, definition.initial))


def _walk_shown(number: int, walk: "Walk", initial: str) -> str:
    lines = [f"path {number}: {counted(len(walk), 'transition')}", f"  {initial}"]
    width = max((len(step.transition) for step in walk), default=0)
    lines += [f"  -- {step.transition:<{width}} -> {step.target}" for step in walk]
    return "\n".join(lines) + "\n"


@click.command("diff")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one change a line.")
@click.pass_context
def diff_command(context: click.Context, old: str, new: str, *, as_json: bool) -> None:
    """Compare two flows as graphs: states and transitions that came, went, lead elsewhere or are worded otherwise.

    OLD and NEW are files, selectors, or `-`. Exit status: 0 when they are the same, 1 when they differ.
    """
    from stateward.compiler.drawing.differences import changes  # noqa: PLC0415 - help needs none of this

    found = changes(given_flow(context, old).definition, given_flow(context, new).definition)
    for each in found:
        if as_json:
            say(f"{json_text({'change': type(each).__name__.lower(), **each._asdict()})}\n")
        else:
            say("".join(f"{line}\n" for line in _change_shown(each)))
    if not found and not as_json:
        say("the two are the same flow\n")
    context.exit(STATUS_FOUND if found else 0)


def _change_shown(change: "Change") -> Iterator[str]:
    from stateward.compiler.drawing.differences import Came, EndChanged, Renamed, Restated, Retargeted, Reworded, Went  # noqa: PLC0415

    match change:
        case Renamed(what=what, old=old, new=new):
            yield f"~ {what}: {quoted(old)} is {quoted(new)} now"
        case Came(state=state, transition=transition, target=target):
            yield f"+ {_named(state, transition)}{_leading_to(target)}"
        case Went(state=state, transition=transition, target=target):
            yield f"- {_named(state, transition)}{_leading_to(target)}"
        case Retargeted(state=state, transition=transition, old=old, new=new):
            yield f"~ {_named(state, transition)}: leads to {quoted(new)}, not to {quoted(old)}"
        case Reworded(state=state, transition=transition, old=old, new=new):
            yield f"~ {_named(state, transition)}: {'other instructions' if transition is None else 'another condition'}"
            yield from _texts(old, new)
        case EndChanged(state=state, terminal=terminal):
            yield f"~ state {quoted(state)}: {'an end now' if terminal else 'no end any more'}"
        case Restated(part=part, state=state, transition=transition, old=old, new=new):
            yield f"~ {'flow' if state is None else _named(state, transition)}: {part} differs"
            yield from _texts(old, new)
        case _:
            assert_never(change)


def _named(state: str, transition: str | None) -> str:
    return f"state {quoted(state)}" if transition is None else f"transition {quoted(transition)} of state {quoted(state)}"


def _leading_to(target: str | None) -> str:
    return "" if target is None else f", to {quoted(target)}"


def _texts(old: str, new: str) -> Iterator[str]:
    lines = unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
    return (f"    {safe(line)}" for line in lines if not line.startswith(("---", "+++", "@@")))
