"""Flows to draw: by hand, in shapes that are hard to draw, and at random from a seed."""

import random
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from stateward.compiler.flow.definition import CompiledFlowDefinition, CompiledState, CompiledTransition
from stateward.compiler.flow.lower import CANCEL_CONDITION
from stateward.compiler.pipeline import compile_source
from stateward.resources.catalog import builtins

Ways = Mapping[str, Mapping[str, str]]
"""For each state where its transitions lead; the first state is the initial one."""

REVIEW: Final[Ways] = {
    "implement": {"submit": "review"},
    "review": {"approve": "complete", "request-changes": "fix"},
    "fix": {"resubmit": "review", "try-again": "fix"},
    "complete": {"finish": "done", "reopen": "fix"},
    "done": {},
}


def definition(name: str, ways: Ways) -> CompiledFlowDefinition:
    cancel = CompiledTransition(id="$cancel", target="$cancelled", condition=CANCEL_CONDITION, synthetic=True)
    states = [
        CompiledState(
            id=state,
            instructions="…",
            terminal=not out,
            transitions=(*_authored(out), cancel) if out else (),
        )
        for state, out in ways.items()
    ]
    end = CompiledState(id="$cancelled", instructions="", terminal=True, transitions=())
    return CompiledFlowDefinition(schema_version=1, name=name, initial=next(iter(ways)), states=(*states, end))


def _authored(out: Mapping[str, str]) -> list[CompiledTransition]:
    return [CompiledTransition(id=id_, target=target, condition="…", synthetic=False) for id_, target in out.items()]


def built_in() -> dict[str, CompiledFlowDefinition]:
    compiled = {each.slug: compile_source(each.content, name=each.path, slug=each.slug).definition for each in builtins()}
    return {slug: found for slug, found in compiled.items() if found is not None}


def chain(length: int) -> Ways:
    return {**{f"s{at}": {"on": f"s{at + 1}"} for at in range(length - 1)}, f"s{length - 1}": {}}


def fan(width: int) -> Ways:
    ends = {f"target_{at}": {} for at in range(width)}
    return {"hub": {f"way_{at}": f"target_{at}" for at in range(width)}, **ends}


def ring(length: int) -> Ways:
    """Give a ring that can be left at each state, and loops on each."""
    around = {f"s{at}": {"on": f"s{(at + 1) % length}", "again": f"s{at}", "out": "end"} for at in range(length)}
    return {**around, "end": {}}


def dense(size: int) -> Ways:
    """Let each state lead to every other, itself too."""
    return {**{f"s{at}": {f"t{to}": f"s{to}" for to in range(size)} | {"end": "end"} for at in range(size)}, "end": {}}


def ladder(length: int) -> Ways:
    """Let each state lead on, back by one, back to the beginning and, in several ways, to one of two ends."""
    steps: dict[str, dict[str, str]] = {}
    for at in range(length):
        back = {"back": f"s{max(at - 1, 0)}", "restart": "s0"}
        steps[f"s{at}"] = {"on": f"s{at + 1}" if at + 1 < length else "done", **back, "fail": "failed", "fail_otherwise": "failed"}
    return {**steps, "done": {}, "failed": {}}


def long_names(size: int) -> Ways:
    name = "a_state_whose_name_tells_everything_there_is_to_tell_of_it-and_more"
    states = [f"{name}_{at}" if at % 2 else "W" * 100 + str(at) for at in range(size)]
    out = {state: {"to_the_next_of_the_states_that_are_declared_in_this_flow" * 2: after} for state, after in pairwise(states)}
    return {**out, states[-1]: {}}


def wide_names(size: int) -> Ways:
    states = [f"状態その{at}_レビュー待ち" + "長" * at for at in range(size)]
    out = {state: {"承認する": after, "差し戻し": states[0]} for state, after in pairwise(states)}
    return {**out, states[-1]: {}}


def at_random(size: int, seed: int, more: float = 0.5) -> Ways:
    """Give a flow in which every state is reached, with so many more edges a state that lead anywhere."""
    choose = random.Random(seed)  # noqa: S311 - a flow is no secret
    ways: dict[str, dict[str, str]] = {f"state_{at}": {} for at in range(size)}
    for at in range(1, size):
        ways[f"state_{choose.randrange(max(0, at - 6), at)}"][f"to_{at}"] = f"state_{at}"
    for number in range(int(size * more)):
        ways[f"state_{choose.randrange(size)}"][f"way_{number}"] = f"state_{choose.randrange(size)}"
    return ways


SHAPES: Final[Mapping[str, Ways]] = {
    "one state": {"only": {}},
    "review": REVIEW,
    "chain of 60": chain(60),
    "fan of 32": fan(32),
    "ring of 12": ring(12),
    "dense 9": dense(9),
    "ladder of 20": ladder(20),
    "long names": long_names(8),
    "wide names": wide_names(8),
    "60 at random": at_random(60, 1),
    "60 with many edges": at_random(60, 2, 1.5),
    "only loops": {"s": {f"again_{at}": "s" for at in range(31)} | {"end": "end"}, "end": {}},
    "one that nothing leads to": {"a": {"on": "end", "again": "a"}, "lost": {"on": "a", "out": "lost_too"}, "lost_too": {}, "end": {}},
    "only ways back": {"a": {"on": "c"}, "b": {"back": "a"}, "c": {"to_b": "b", "end": "end"}, "end": {}},
}
