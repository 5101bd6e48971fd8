"""Agents written in Python inside a Worker: what their tools tell them, what is recorded of their own tools, and what keeps them at it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langgraph.graph import END
from pydantic_ai import Agent, FunctionToolset
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from stateward.runtime.core.operating import Verb
from stateward.runtime.engine.channels import EngineWorkerChannel, Judges
from stateward.runtime.engine.hosting import EngineHostChannel
from stateward.runtime.session.entries import Kind
from stateward.runtime.surfaces.agents.inside import Inside, Refused, inside, start_worker
from stateward.runtime.surfaces.agents.langgraph import BLOCKS_MAX, recorded, stop_node, worker_tools
from stateward.runtime.surfaces.agents.pydantic_ai import RecordedToolset, worker_toolset
from stateward.runtime.surfaces.agents.tools import NAMES, Recorder, WorkerTools
from stateward.runtime.wiring import DaemonThreads, NoWorker, ProfileUnusable
from tests.contracts.variables import REFINED
from tests.contracts.work import PROGRAM, Bench, GatedJudge, evidence
from tests.runtime.engines import AGENT, HOST, PERSON, Desk
from tests.runtime.flows import REVIEW
from tests.runtime.guarded import NEEDS
from tests.runtime.judgements import MET


@pytest.fixture
def desk() -> Desk:
    return Desk("review", PROGRAM, AGENT)


@pytest.fixture
def bench(desk: Desk) -> Iterator[Bench]:
    judge = GatedJudge()
    judges = Judges(lambda _: judge, "test", 15.0)
    channel = EngineWorkerChannel(
        desk.engine, desk.worker, AGENT, judges=judges, threads=DaemonThreads(), clock=desk.clock, ids=desk.ids, source_of=lambda _: None
    )
    evidence(desk.engine, desk.worker)
    with closing(channel):
        yield Bench(channel, desk.engine, judge)


@pytest.fixture
def opened(bench: Bench, desk: Desk) -> Inside:
    return Inside(bench.channel, EngineHostChannel(desk.engine, desk.worker, HOST), "s-1")


def written(bench: Bench) -> list[tuple[str, str, str]]:
    page = bench.channel.log(3)
    return [(each.kind, each.actor_class, each.payload) for each in page.entries if each.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT}]


# --- the tools ------------------------------------------------------------------------------------------------------------------------


def test_a_request_waits_in_slices_and_gives_the_answer(bench: Bench) -> None:
    bench.judge.says = {"ready": MET}
    told = asyncio.run(WorkerTools(bench.channel).request_flow_transition("It is written."))
    assert told.startswith("Transition `ready` was taken. The flow is in state `check` now")


def test_a_request_that_takes_longer_than_the_tool_waits_says_so(bench: Bench) -> None:
    bench.judge.gate.clear()
    told = asyncio.run(WorkerTools(bench.channel, 0.0).request_flow_transition("It is written."))
    assert told.startswith("Verifying: attempt ")
    bench.judge.gate.set()


def test_who_is_cancelled_stops_the_verification(bench: Bench) -> None:
    bench.judge.gate.clear()

    async def cancelled() -> None:
        task = asyncio.create_task(WorkerTools(bench.channel).request_flow_transition("It is written."))
        while not bench.judge.asked:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert bench.flow.open is not None
    assert "note" == bench.kinds()[-1]


def test_an_answer_that_comes_while_its_asker_is_cancelled_is_told_by_the_next_request(bench: Bench) -> None:
    bench.judge.gate.clear()
    bench.judge.says = {"ready": MET}
    tools = WorkerTools(bench.channel)

    async def cancelled() -> None:
        task = asyncio.create_task(tools.request_flow_transition("It is written."))
        while not bench.judge.asked:
            await asyncio.sleep(0)
        bench.judge.gate.set()
        while bench.flow.open is not None:  # the loop hears nothing of it
            pass
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert tools.request("It is checked.").startswith("Transition `ready` was taken. The flow is in state `check` now")
    assert 1 == len(bench.judge.asked)


def test_a_refusal_is_told_and_not_raised(bench: Bench) -> None:
    tools = WorkerTools(bench.channel)
    assert "Refused (reason_blank)" in tools.request(" ")
    assert "Refused (record_malformed)" in tools.note("")
    assert "Noted in entry 4." == tools.note("All is well.")


@pytest.fixture
def refining() -> Iterator[Bench]:
    at = Desk("refine", REFINED, AGENT, inputs=NEEDS)
    judge = GatedJudge()
    channel = EngineWorkerChannel(
        at.engine,
        at.worker,
        AGENT,
        judges=Judges(lambda _: judge, "test", 15.0),
        threads=DaemonThreads(),
        clock=at.clock,
        ids=at.ids,
        source_of=lambda _: None,
    )
    with closing(channel):
        yield Bench(channel, at.engine, judge)


def test_variables_are_set_and_what_came_of_it_is_told(refining: Bench) -> None:
    tools = WorkerTools(refining.channel)
    assert "Set `attempts`, `bugs` in entry E00000003." == asyncio.run(tools.set_variables({"attempts": 2, "bugs": False}))
    assert "Refused (variable_misfit)" in tools.assign({"attempts": "two"})
    assert "- `attempts`, which must be: Int & >= 0" in tools.status()


def test_a_model_sets_variables_through_pydantic_ai(refining: Bench) -> None:
    model = scripted(
        ToolCallPart("set_variables", {"values": {"attempts": 3}}),
        ToolCallPart("request_flow_transition", {"reason": "Done."}),
        ToolCallPart("set_variables", {"values": {"bugs": False}}),
        ToolCallPart("request_flow_transition", {"reason": "There are none."}),
        TextPart("ok"),
    )
    asyncio.run(Agent(model, toolsets=[worker_toolset(refining.channel)]).run("Work."))
    assert ("done", "completed", []) == (refining.flow.state, refining.flow.status, refining.judge.asked)


def test_a_graph_sets_variables_through_its_tools(refining: Bench) -> None:
    tools = {each.name: each for each in worker_tools(refining.channel)}
    assert "Set `attempts` in entry E00000003." == tools["set_variables"].invoke({"values": {"attempts": 3}})
    assert "Set `bugs` in entry E00000004." == asyncio.run(tools["set_variables"].ainvoke({"values": {"bugs": True}}))


# --- pydantic-ai ----------------------------------------------------------------------------------------------------------------------


def scripted(*steps: ToolCallPart | TextPart) -> FunctionModel:
    def say(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        return ModelResponse([steps[sum(isinstance(each, ModelResponse) for each in messages)]])

    return FunctionModel(say)


def run_tests(path: str) -> str:
    """Run the tests."""
    if path == "missing":
        raise FileNotFoundError(path)
    return "exit status 0"


def test_the_instructions_of_the_state_reach_the_model_at_each_step(bench: Bench) -> None:
    bench.judge.says = {"ready": MET}
    model = scripted(ToolCallPart("request_flow_transition", {"reason": "Done."}), TextPart("ok"))
    run = asyncio.run(Agent(model, toolsets=[worker_toolset(bench.channel)]).run("Work."))
    told = [each.instructions or "" for each in run.all_messages() if isinstance(each, ModelRequest)]
    assert [REVIEW.state(state).instructions in text for state, text in zip(("implement", "check"), told, strict=True)] == [True, True]


def test_the_tools_that_a_model_is_offered_are_those_of_every_surface(bench: Bench) -> None:
    offered: list[str] = []

    def say(_: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        offered.extend(each.name for each in info.function_tools)
        return ModelResponse([TextPart("ok")])

    asyncio.run(Agent(FunctionModel(say), toolsets=[worker_toolset(bench.channel)]).run("Work."))
    assert list(NAMES) == offered == [each.name for each in worker_tools(bench.channel)]


def test_what_other_tools_do_is_recorded_as_evidence_of_the_host(bench: Bench, opened: Inside) -> None:
    own = RecordedToolset(FunctionToolset([run_tests]), Recorder(opened))
    asyncio.run(Agent(scripted(ToolCallPart("run_tests", {"path": "tests"}, "use-1"), TextPart("ok")), toolsets=[own]).run("Work."))
    assert [
        (Kind.TOOL_CALL, "host", '{"tool_name": "run_tests", "tool_input": {"path": "tests"}}'),
        (Kind.TOOL_RESULT, "host", '{"tool_name": "run_tests", "tool_response": "exit status 0"}'),
    ] == written(bench)


def test_a_tool_that_fails_is_recorded_as_failed_and_still_fails(bench: Bench, opened: Inside) -> None:
    own = RecordedToolset(FunctionToolset([run_tests]), Recorder(opened))
    with pytest.raises(FileNotFoundError):
        asyncio.run(Agent(scripted(ToolCallPart("run_tests", {"path": "missing"}, "use-1")), toolsets=[own]).run("Work."))
    assert '{"tool_name": "run_tests", "error": "FileNotFoundError: missing"}' == written(bench)[-1][2]


# --- LangGraph ------------------------------------------------------------------------------------------------------------------------


def test_an_agent_that_would_stop_is_sent_back_until_the_flow_ends(bench: Bench, desk: Desk) -> None:
    stop = stop_node(bench.channel)
    command = stop({"messages": [HumanMessage("Work.")]})
    assert "agent" == command.goto
    assert command.update is not None
    assert REVIEW.state("implement").instructions in command.update["messages"][0].content
    desk.engine.operate(desk.worker, Verb.CANCEL, "enough", PERSON)
    assert END == stop({"messages": []}).goto


def test_an_agent_that_does_nothing_is_let_go_after_a_few_times_and_the_worker_stays_active(bench: Bench) -> None:
    stop, messages = stop_node(bench.channel), []
    for _ in range(BLOCKS_MAX):
        messages += stop({"messages": messages}).update["messages"]
    assert END == stop({"messages": messages}).goto
    assert "agent" == stop({"messages": [*messages, ToolMessage("ok", tool_call_id="call-1")]}).goto
    assert "active" == bench.flow.status


def test_a_paused_worker_keeps_no_agent(bench: Bench, desk: Desk) -> None:
    desk.engine.operate(desk.worker, Verb.PAUSE, "lunch", PERSON)
    assert END == stop_node(bench.channel)({"messages": []}).goto


@pytest.mark.parametrize("fails", [False, True])
def test_calls_of_a_tool_node_are_recorded(bench: Bench, opened: Inside, *, fails: bool) -> None:
    def execute(_: object) -> ToolMessage:
        if fails:
            raise FileNotFoundError("missing")
        return ToolMessage("exit status 0", tool_call_id="call-1")

    request = SimpleNamespace(tool_call={"id": "call-1", "name": "run_tests", "args": {"path": "tests"}})
    calls: Callable = recorded(Recorder(opened))
    if fails:
        with pytest.raises(FileNotFoundError):
            calls(request, execute)
    else:
        calls(request, execute)
    result = '"error": "FileNotFoundError: missing"' if fails else '"tool_response": {"status": "success", "content": "exit status 0"}'
    assert [
        (Kind.TOOL_CALL, "host", '{"tool_name": "run_tests", "tool_input": {"path": "tests"}}'),
        (Kind.TOOL_RESULT, "host", f'{{"tool_name": "run_tests", {result}}}'),
    ] == written(bench)


# --- opening ---------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_the_only_active_worker_of_a_folder_is_opened_and_several_are_told(folder: Path) -> None:
    first = start_worker("builtin:coder-review", "Ticket 41", folder=folder)
    with inside(session="s-1", folder=folder) as opened:
        assert first == opened.agent.worker == opened.host.worker
        source = opened.agent.source()
        assert source is not None
        assert 'name = "coder-review";' in source
    second = start_worker("builtin:coder-review", "Ticket 42", folder=folder)
    with pytest.raises(NoWorker, match=f"2 Workers of this Workspace are active: {first}, {second}"), inside(session="s-1", folder=folder):
        raise AssertionError("one of them was chosen")


def test_what_cannot_be_started_is_told(folder: Path) -> None:
    with pytest.raises(Refused, match="flow_not_found"):
        start_worker("workspace:nothing", folder=folder)
    assert [] == list(folder.iterdir())
    start_worker("builtin:coder-review", folder=folder)
    with pytest.raises(Refused, match="flow_not_found"):
        start_worker("workspace:nothing", folder=folder)
    with pytest.raises(ProfileUnusable, match="no profile is named `nobody`"):
        start_worker("builtin:coder-review", folder=folder, profile="nobody")
