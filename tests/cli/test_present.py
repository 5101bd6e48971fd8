"""How values look in a terminal."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from rich.console import Console

from stateward.runtime.engine.view import LoggedEntry
from stateward.runtime.session.chain import link_all
from stateward.runtime.session.entries import GENESIS, Actor, ActorClass, Kind, NewEntry
from stateward.runtime.session.evidence import EvidenceClass
from stateward.runtime.session.payloads import OPAQUE
from stateward.runtime.surfaces.cli.present import log_shown

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("between", "times"),
    [(timedelta(hours=1), ["12:00:00", "13:00:00"]), (timedelta(days=1), ["2026-03-01 12:00:00", "2026-03-02 12:00:00"])],
)
def test_a_log_of_several_days_tells_them(between: timedelta, times: list[str]) -> None:
    new = (NewEntry(Kind.NOTE, Actor(ActorClass.HOST, "hook"), NOON + step * between, b"{}") for step in range(2))
    entries = [LoggedEntry(each, EvidenceClass.CLAIM, OPAQUE, "", (), set_aside=False) for each in link_all("w", GENESIS, new)]
    console = Console(file=StringIO(), width=120)
    with console.capture() as captured:
        console.print(log_shown(entries))
    assert times == [line[11 : 11 + len(times[0])] for line in captured.get().splitlines()[1:]]
