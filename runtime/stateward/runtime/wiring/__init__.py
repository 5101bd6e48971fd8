"""The composition root: the one place that reads clock, ids and environment and puts the adapters together.

Each name is imported from its module when it is first asked for, so that a command loads only what it works with.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from stateward.runtime.remote.address import RemoteUnusable as RemoteUnusable
    from stateward.runtime.wiring.beginning import is_new as is_new
    from stateward.runtime.wiring.beginning import locate as locate
    from stateward.runtime.wiring.beginning import locate_or_begin as locate_or_begin
    from stateward.runtime.wiring.channels import NoWorker as NoWorker
    from stateward.runtime.wiring.channels import agent_channel as agent_channel
    from stateward.runtime.wiring.channels import worker_channel as worker_channel
    from stateward.runtime.wiring.flows import Authority as Authority
    from stateward.runtime.wiring.flows import authority as authority
    from stateward.runtime.wiring.judging import given_to_a_judge as given_to_a_judge
    from stateward.runtime.wiring.judging import judge as judge
    from stateward.runtime.wiring.lean import active_workers as active_workers
    from stateward.runtime.wiring.lean import host_channel as host_channel
    from stateward.runtime.wiring.opening import Runtime as Runtime
    from stateward.runtime.wiring.opening import reading as reading
    from stateward.runtime.wiring.opening import rehearsal as rehearsal
    from stateward.runtime.wiring.opening import writing as writing
    from stateward.runtime.wiring.places import Location as Location
    from stateward.runtime.wiring.places import NoPlace as NoPlace
    from stateward.runtime.wiring.places import Place as Place
    from stateward.runtime.wiring.places import place_of as place_of
    from stateward.runtime.wiring.places import profile_places as profile_places
    from stateward.runtime.wiring.profiles import ProfileUnusable as ProfileUnusable
    from stateward.runtime.wiring.profiles import in_force as in_force
    from stateward.runtime.wiring.profiles import profile_of_name as profile_of_name
    from stateward.runtime.wiring.proving import Keys as Keys
    from stateward.runtime.wiring.proving import named_key as named_key
    from stateward.runtime.wiring.proving import signer_of as signer_of
    from stateward.runtime.wiring.reaching import client_of as client_of
    from stateward.runtime.wiring.reaching import server_named as server_named
    from stateward.runtime.wiring.system import DaemonThreads as DaemonThreads
    from stateward.runtime.wiring.system import Folders as Folders
    from stateward.runtime.wiring.system import SystemClock as SystemClock
    from stateward.runtime.wiring.system import ThreadHeartbeat as ThreadHeartbeat
    from stateward.runtime.wiring.system import TimeOrderedIds as TimeOrderedIds
    from stateward.runtime.wiring.system import account_name as account_name
    from stateward.runtime.wiring.system import person_at_terminal as person_at_terminal
    from stateward.runtime.wiring.system import program_version as program_version

_PLACES: Final = {
    "RemoteUnusable": "stateward.runtime.remote.address",
    "is_new": "stateward.runtime.wiring.beginning",
    "locate": "stateward.runtime.wiring.beginning",
    "locate_or_begin": "stateward.runtime.wiring.beginning",
    "NoWorker": "stateward.runtime.wiring.channels",
    "active_workers": "stateward.runtime.wiring.lean",
    "agent_channel": "stateward.runtime.wiring.channels",
    "host_channel": "stateward.runtime.wiring.lean",
    "worker_channel": "stateward.runtime.wiring.channels",
    "Authority": "stateward.runtime.wiring.flows",
    "authority": "stateward.runtime.wiring.flows",
    "given_to_a_judge": "stateward.runtime.wiring.judging",
    "judge": "stateward.runtime.wiring.judging",
    "Runtime": "stateward.runtime.wiring.opening",
    "reading": "stateward.runtime.wiring.opening",
    "rehearsal": "stateward.runtime.wiring.opening",
    "writing": "stateward.runtime.wiring.opening",
    "Location": "stateward.runtime.wiring.places",
    "NoPlace": "stateward.runtime.wiring.places",
    "Place": "stateward.runtime.wiring.places",
    "place_of": "stateward.runtime.wiring.places",
    "profile_places": "stateward.runtime.wiring.places",
    "ProfileUnusable": "stateward.runtime.wiring.profiles",
    "in_force": "stateward.runtime.wiring.profiles",
    "profile_of_name": "stateward.runtime.wiring.profiles",
    "Keys": "stateward.runtime.wiring.proving",
    "named_key": "stateward.runtime.wiring.proving",
    "signer_of": "stateward.runtime.wiring.proving",
    "client_of": "stateward.runtime.wiring.reaching",
    "server_named": "stateward.runtime.wiring.reaching",
    "DaemonThreads": "stateward.runtime.wiring.system",
    "Folders": "stateward.runtime.wiring.system",
    "SystemClock": "stateward.runtime.wiring.system",
    "ThreadHeartbeat": "stateward.runtime.wiring.system",
    "TimeOrderedIds": "stateward.runtime.wiring.system",
    "account_name": "stateward.runtime.wiring.system",
    "person_at_terminal": "stateward.runtime.wiring.system",
    "program_version": "stateward.runtime.wiring.system",
}
"""The module of each name."""

if not TYPE_CHECKING:  # a checker is to miss a name that is none

    def __getattr__(name: str) -> object:
        """Give a name of one of the modules, which is imported then."""
        module = _PLACES.get(name)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(module), name)
        globals()[name] = value
        return value
