"""A flow of sixty states, written by a program: four tracks of work between a common beginning and a common end.

It stands for large flows as people write them: long chains, loops of repair, ways back to the beginning, ends that many states lead to.
"""

from collections.abc import Iterator, Mapping
from typing import Final

NAME: Final = "sixty-states"
_TRACKS: Final = ("defect", "feature", "upkeep", "incident")
_TRACK: Final[Mapping[str, Mapping[str, str]]] = {
    "scoped": {"plan": "planned", "reject": "/rejected"},
    "planned": {"start": "started"},
    "started": {"draft": "drafted", "give_up": "/abandoned"},
    "drafted": {"test": "tested"},
    "tested": {"pass": "reviewed", "fail": "repaired"},
    "repaired": {"test_again": "tested", "give_up": "/abandoned"},
    "reviewed": {"approve": "approved", "object": "reworked"},
    "reworked": {"review_again": "reviewed", "start_over": "planned"},
    "approved": {"document": "documented"},
    "documented": {"merge": "merged"},
    "merged": {"integrate": "/integrating"},
}
"""The states of each track; a target that begins with a stroke lies outside of it."""
_BEGIN: Final[Mapping[str, Mapping[str, str]]] = {
    "received": {"triage": "triaged", "reject": "rejected"},
    "triaged": {f"is_{track}": f"{track}_scoped" for track in _TRACKS},
}
_END: Final[Mapping[str, Mapping[str, str]]] = {
    "integrating": {"build": "built", "conflict": "conflicting"},
    "conflicting": {"resolve": "integrating", "triage_again": "triaged"},
    "built": {"package": "packaged", "broken": "conflicting"},
    "packaged": {"stage": "staged"},
    "staged": {"rehearse": "rehearsed", "unstage": "packaged"},
    "rehearsed": {"approve_release": "releasing", "find_fault": "integrating"},
    "releasing": {"release": "observed", "roll_back": "rolled_back"},
    "rolled_back": {"stage_again": "staged", "give_up": "abandoned"},
    "observed": {"confirm": "released", "roll_back": "rolled_back", "hold": "held"},
    "held": {"hold_on": "held", "confirm": "released"},
    "released": {"tell": "announced"},
}


def source() -> str:
    """Write the flow."""
    states = {**_BEGIN, **_tracks(), **_END}
    ends = ("announced", "rejected", "abandoned")
    lines = ["schema_version = 1;", f'name = "{NAME}";', 'initial = "received";', "states = {"]
    for state, ways in states.items():
        lines += [f"    {state} = {{", f'        instructions = "Do what {state} asks for.";', "        transitions = {"]
        for transition, target in ways.items():
            lines.append(f'            {transition} = {{ target = "{target}"; condition = "It is shown that {transition} is right."; }};')
        lines += ["        };", "    };"]
    lines += [f'    {end} = {{ instructions = ""; terminal = true; }};' for end in ends]
    return "\n".join([*lines, "};", ""])


def _tracks() -> dict[str, dict[str, str]]:
    return dict(state for track in _TRACKS for state in _track(track))


def _track(track: str) -> Iterator[tuple[str, dict[str, str]]]:
    for state, ways in _TRACK.items():
        yield f"{track}_{state}", {way: to[1:] if to.startswith("/") else f"{track}_{to}" for way, to in ways.items()}
