"""`stateward token`: who may ask a service, and what for.

Invariants: the text of a token is printed once, when it is issued, alone on standard output; nothing else ever shows it.
"""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table
from rich.text import Text

from stateward.runtime.engine.tokens import TOKEN_START, Issued, is_expired, issue, problem_of
from stateward.runtime.ports import PAGE_MAX, StoredToken
from stateward.runtime.session.chain import time_text
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.options import STORE, WORKDIR, spoken
from stateward.runtime.surfaces.cli.output import emit, emit_json
from stateward.runtime.surfaces.cli.present import plain, show, terminal_console
from stateward.runtime.wiring import Place, SystemClock, TimeOrderedIds, account_name, locate, locate_or_begin
from stateward.runtime.wiring.serving import keeping_tokens, new_secret

VERSION: Final = 1
"""Of what programs are told; it changes only when a field changes its meaning or goes away."""
DAYS_MAX: Final = 3660
_UNITS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DURATION: Final = re.compile(r"([1-9][0-9]{0,5})([hdw])")
_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs: one object a line.")
_KEEP: Final = "this is the only time that it is shown; keep it in a file that only its user can read"


def _duration(_context: click.Context, _parameter: click.Parameter, given: str | None) -> timedelta | None:
    if given is None:
        return None
    found = _DURATION.fullmatch(given)
    duration = timedelta() if found is None else int(found[1]) * _UNITS[found[2]]
    if not timedelta() < duration <= timedelta(days=DAYS_MAX):
        raise click.BadParameter(f"give hours, days or weeks such as 12h, 30d or 8w, at most {DAYS_MAX}d")
    return duration


@click.group("token")
def token_group() -> None:
    """Issue, list and revoke the tokens of a service."""


@token_group.command("issue")
@click.option("--name", required=True, type=spoken, help="Whoever shows the token acts under this name.")
@click.option(
    "--scope",
    "scopes",
    required=True,
    multiple=True,
    type=spoken,
    metavar="SCOPE",
    help="read, write, resolve, work:WORKER, record:WORKER, verify or operate; may be given more than once.",
)
@click.option("--expires", "duration", callback=_duration, metavar="TIME", help="How long it is good: 12h, 30d, 8w; for ever without it.")
@_JSON
@WORKDIR
@STORE
def issue_command(
    *, name: str, scopes: tuple[str, ...], duration: timedelta | None, as_json: bool, workdir: Path, store: Place | None
) -> None:
    """Issue a token, and print it for the only time."""
    now = SystemClock().now()
    problem = problem_of(name, scopes)
    if problem is not None:  # what is refused begins no Workspace
        raise Stop(STATUS_USAGE, problem.message, problem.help)
    with faults_shown(), keeping_tokens(locate_or_begin(workdir, store), write=True) as (workspace, tokens):
        issued = issue(
            tokens,
            workspace,
            token=TimeOrderedIds().new(),
            secret=new_secret(),
            name=name,
            scopes=scopes,
            issuer=account_name(),
            now=now,
            expires=None if duration is None else now + duration,
        )
    assert isinstance(issued, Issued), "a token that is not refused is issued"
    if as_json:
        emit_json({**_data(issued.token, now), "token": issued.secret})
        return
    until = "for ever" if issued.token.expires is None else f"until {issued.token.expires.isoformat(timespec='seconds')}"
    click.echo(f"issued token {issued.token.id} to {name}, for {', '.join(issued.token.scopes)}, {until}; {_KEEP}", err=True)
    emit(f"{issued.secret}\n")


@token_group.command("list")
@_JSON
@WORKDIR
@STORE
def list_command(*, as_json: bool, workdir: Path, store: Place | None) -> None:
    """List the tokens of the Workspace, oldest first, also those that are no good any more."""
    found: list[StoredToken] = []
    with faults_shown(), keeping_tokens(locate(workdir, store), write=False) as (workspace, tokens):
        while page := tokens.listed(workspace, PAGE_MAX, found[-1].id if found else ""):
            found += page
    now = SystemClock().now()
    if as_json:
        for each in found:
            emit_json(_data(each, now))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("token", "name", "scopes", "issued", "by", "good"):
        table.add_column(column, no_wrap=column == "token")
    for each in found:
        row = (
            plain(each.name),
            plain(", ".join(each.scopes)),
            Text(f"{each.created:%Y-%m-%d %H:%M}"),
            plain(each.issuer),
            _good(each, now),
        )
        table.add_row(Text(each.id), *row)
    show(terminal_console(), table if found else Text("no token was issued; `stateward token issue --name NAME --scope read` issues one"))


@token_group.command("revoke")
@click.argument("token", metavar="ID", type=spoken)
@_JSON
@WORKDIR
@STORE
def revoke_command(*, token: str, as_json: bool, workdir: Path, store: Place | None) -> None:
    """Revoke a token by its id: it is good no more from now on."""
    now = SystemClock().now()
    if token.strip().startswith(TOKEN_START):
        raise Stop(STATUS_USAGE, "what was given is a token itself, and one is revoked by its id", "see the ids in `stateward token list`")
    with faults_shown(), keeping_tokens(locate(workdir, store), write=True) as (workspace, tokens):
        revoked = tokens.revoke(workspace, token, now)
    if revoked is None:
        raise Stop(STATUS_USAGE, f"there is no token `{token}` in this Workspace", "see `stateward token list`")
    assert revoked.revoked is not None, "it was revoked now or before"
    if as_json:
        emit_json(_data(revoked, now))
    elif revoked.revoked < now:
        emit(f"nothing changed: token {revoked.id} was revoked {revoked.revoked.isoformat(timespec='seconds')}\n")
    else:
        emit(f"revoked token {revoked.id}\n")


def _good(token: StoredToken, now: datetime) -> Text:
    """Say until when a token is good."""
    if token.revoked is not None:
        return Text(f"revoked {token.revoked:%Y-%m-%d %H:%M}", style="red")
    if token.expires is None:
        return Text("for ever")
    if is_expired(token, now):
        return Text(f"expired {token.expires:%Y-%m-%d %H:%M}", style="yellow")
    return Text(f"until {token.expires:%Y-%m-%d %H:%M}")


def _data(token: StoredToken, now: datetime) -> dict[str, Any]:
    state = "revoked" if token.revoked is not None else "expired" if is_expired(token, now) else "good"
    return {
        "version": VERSION,
        "id": token.id,
        "name": token.name,
        "scopes": list(token.scopes),
        "issuer": token.issuer,
        "created": time_text(token.created),
        "expires": None if token.expires is None else time_text(token.expires),
        "revoked": None if token.revoked is None else time_text(token.revoked),
        "state": state,
    }
