"""An agent sets the variables of its flow over MCP, and is shown what it may see and set."""

from pathlib import Path

from stateward.runtime.surfaces.agents.inside import inside
from tests.mcp.desk import REQUEST, client, desk, form, run, text


def test_an_agent_sets_variables_and_guards_move_its_flow(tmp_path: Path) -> None:
    at = desk(tmp_path)
    worker = at.refine()

    async def calls() -> None:
        async with client(at) as session:
            status = form(await session.call_tool("flow_status", {}))
            assert ["attempts", "files", "title"] == [each["name"] for each in status["writes"]]
            assert {"name": "attempts", "constraint": "Int & >= 0"} == {name: status["writes"][0][name] for name in ("name", "constraint")}
            assert '"minimum": 0' in status["writes"][0]["form"]
            assert ([], "known.title") == (status["reads"], status["ways"][0]["when"])
            done = await session.call_tool("set_variables", {"values": '{"attempts": 2, "title": "The first draft"}'})
            assert {"worker": worker, "names": ["attempts", "title"], "entry": "E00000003"} == form(done)
            assert "Set `attempts`, `title` in entry E00000003." == text(done)
            assert "look" == form(await session.call_tool(REQUEST, {"reason": "Done."}))["state"]
            there = form(await session.call_tool("flow_status", {}))
            assert [("attempts", True, "2"), ("title", True, '"The first draft"')] == [
                (each["name"], each["is_set"], each["holds"]) for each in there["reads"]
            ]
            assert '- `title` holds: "The first draft"' in text(await session.call_tool("flow_status", {}))
            form(await session.call_tool("set_variables", {"values": {"bugs": False}}))
            moved = form(await session.call_tool(REQUEST, {"reason": "There are none."}))
            assert ("moved", "good", "completed") == (moved["result"], moved["transition"], moved["status"])

    run(calls)


def test_what_cannot_be_set_is_told_and_writes_nothing(tmp_path: Path) -> None:
    at = desk(tmp_path)
    at.refine()
    before = at.run("log", "show")

    async def calls() -> None:
        async with client(at) as session:
            for values, said in (
                ("attempts: 2", "set_variables: the argument `values` cannot be read: it is no JSON"),
                ("[1]", "set_variables: the argument `values` cannot be read: it is no object"),
                ('{"attempts": 1, "attempts": 2}', "set_variables: the argument `values` cannot be read: it names a member twice"),
                ("", "Refused (variables_empty): no variable is set."),
                ('{"bugs": true}', "Refused (variable_not_writable): state `work` does not write `bugs`"),
                ('{"attempts": -1}', "Refused (variable_misfit): variable `attempts` cannot hold this"),
                ('{"attempts": "2"}', "Refused (variable_misfit): variable `attempts` cannot hold this"),
            ):
                told = await session.call_tool("set_variables", {"values": values})
                assert (True, said) == (told.is_error, text(told)[: len(said)])
            refused = await session.call_tool("set_variables", {"values": '{"attempts": 1}'}, meta={"agent_id": "agent-7"})
            assert (True, True) == (refused.is_error, text(refused).startswith("a sub-agent (agent-7) may not set variables"))

    run(calls)
    assert before == at.run("log", "show")


def test_a_flow_without_variables_says_so(tmp_path: Path) -> None:
    at = desk(tmp_path)
    at.start()

    async def calls() -> None:
        async with client(at) as session:
            told = await session.call_tool("set_variables", {"values": '{"attempts": 1}'})
            assert (True, True) == (told.is_error, "the flow has no variable `attempts`" in text(told))

    run(calls)


def test_a_flow_is_started_by_an_agent_with_inputs(tmp_path: Path) -> None:
    at = desk(tmp_path, more='agent_selectors = ["workspace:refine"];')
    worker = at.refine()
    at.run("operate", "cancel", worker, "--reason", "enough")

    async def calls() -> None:
        async with client(at, "--worker", worker) as session:
            asked = {"selector": "workspace:refine", "text": ""}
            assert "input_missing" in text(await session.call_tool("submit_flow_input", asked))
            wrong = await session.call_tool("submit_flow_input", {**asked, "inputs": "owls"})
            assert "the argument `inputs` cannot be read: it is no JSON" in text(wrong)
            assert form(await session.call_tool("submit_flow_input", {**asked, "inputs": '{"topic": "cats"}'}))["instance"]

    run(calls)
    assert '"topic":"cats"' in at.run("status", worker, "--json").replace(" ", "").replace("\n", "")


def test_half_a_character_ends_nothing(tmp_path: Path) -> None:
    at = desk(tmp_path)
    worker = at.refine()
    with at.environed(), inside(worker, session="s-1", folder=at.work) as opened:
        opened.agent.set_variables({"title": "x"})
        opened.agent.ask("It is \ud800 done.", 0.0)
        opened.agent.ask("So \ud800 it is.", 30.0)

    async def calls() -> None:
        async with client(at) as session:
            status = await session.call_tool("flow_status", {})
            assert ("look", True) == (form(status)["state"], "So \ufffd it is." in text(status))
            told = await session.call_tool("set_variables", {"values": '{"title": "\\ud800"}'})
            assert (True, True) == (told.is_error, "variable_not_writable" in text(told))
            assert (await session.read_resource("stateward://session/log")).contents

    run(calls)
