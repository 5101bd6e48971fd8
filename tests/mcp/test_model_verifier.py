"""An agent's client works through a flow that a model judges: what is rejected, what takes longer than any one call, and a restart."""

from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import anyio
from mcp.client.session import ClientSession

from tests.mcp.desk import REQUEST, client, desk, form, run
from tests.openai_server.server import Handler, Hangs, Json, Says, serving

TEXT = "214 passed\nexit status 0"
CITED = {"path": "result.txt", "first_line": 1, "last_line": 2, "quote": TEXT}
READ = Says((("Read", {"path": "result.txt"}),))
CALLS = 5
"""As many as it takes of 40 seconds each to see the end of a check of three minutes."""


def finish(taken: str, *others: str) -> Says:
    """The model's last call: one way out is met, on what it read; with none named, all that are named after it are not."""
    met = {"transition_id": taken, "verdict": "met", "rationale": "It says so.", "missing": [], "citations": [CITED]}
    return Says((("FinishFlowVerification", {"results": [*([met] if taken else []), *map(_not_met, others)]}),))


def _not_met(transition: str) -> Json:
    missing = ["a recorded run of the tests"] if transition == "submit" else ["a reason for it"]
    return {"transition_id": transition, "verdict": "not_met", "rationale": "Nothing shows it.", "missing": missing, "citations": []}


@dataclass(frozen=True)
class Thinks:
    """A model that thinks until it is let go on."""

    then: Says
    gate: Event = field(default_factory=Event)

    def do(self, handler: Handler, asked: Json) -> None:
        """Wait, and reply."""
        self.gate.wait()
        self.then.do(handler, asked)


async def ask(session: ClientSession, reason: str) -> dict[str, Any]:
    return form(await session.call_tool(REQUEST, {"reason": reason}))


def test_an_agent_works_through_a_flow_that_a_model_judges_with_a_rejection_a_long_check_and_a_restart_within_one(tmp_path: Path) -> None:
    slow = Thinks(finish("submit", "$cancel"))
    steps = [finish("", "submit", "$cancel"), READ, slow, READ, Hangs()]
    after = [finish("approve", "request_changes", "$cancel"), READ, finish("finish", "reopen", "$cancel")]
    with serving(*steps, *after) as book:
        verifier = f'{{ kind = "model"; base_url = "{book.url}"; model = "m"; key_file = "~/key"; }}'
        at = desk(tmp_path, verifier=verifier)
        (at.work / "result.txt").write_text(f"{TEXT}\n")
        (tmp_path / "key").touch(0o600)
        (tmp_path / "key").write_text("sk-1\n")
        at.start("--text", "Ticket 41")
        attempts: list[str] = []

        async def first() -> None:
            async with client(at, "--wait", "0.1") as session:
                rejected = await answered(session, "All tests pass.")
                assert ("stays", ["a recorded run of the tests"]) == (rejected["result"], rejected["verdicts"][0]["missing"])
                long = [await ask(session, "See `result.txt`.") for _ in range(CALLS)]
                assert ({"verifying"}, 1) == ({each["result"] for each in long}, len({each["attempt"] for each in long}))
                slow.gate.set()
                moved = await answered(session, "See `result.txt`.")
                assert ("moved", "review", long[0]["attempt"]) == (moved["result"], moved["state"], moved["attempt"])
                cut_short = await ask(session, "Reviewed.")
                assert "verifying" == cut_short["result"]
                attempts.append(cut_short["attempt"])
                await anyio.to_thread.run_sync(book.hanging.wait)

        async def second() -> None:
            async with client(at) as session:
                moved = await ask(session, "Reviewed.")
                assert ("moved", "complete", attempts[0]) == (moved["result"], moved["state"], moved["attempt"])
                ended = await ask(session, "Done.")
                assert ("moved", "done", "completed") == (ended["result"], ended["state"], ended["status"])

        for part in (first, second):
            run(part)
        assert ([], len(steps) + len(after)) == (book.steps, len(book.asked))
    assert book.asked[4]["messages"] == book.asked[5]["messages"], "what the model had said before the restart is not asked for again"


async def answered(session: ClientSession, reason: str) -> dict[str, Any]:
    """Ask as an agent does: again and again with the same reason, while it is verified."""
    while (asked := await ask(session, reason))["result"] == "verifying":
        pass
    return asked
