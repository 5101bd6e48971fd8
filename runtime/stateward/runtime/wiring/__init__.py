"""The composition root: the one place that reads clock, ids and environment and puts the adapters together."""

from stateward.runtime.wiring.beginning import is_new as is_new
from stateward.runtime.wiring.beginning import locate as locate
from stateward.runtime.wiring.beginning import locate_or_begin as locate_or_begin
from stateward.runtime.wiring.judging import given_to_a_judge as given_to_a_judge
from stateward.runtime.wiring.judging import judge as judge
from stateward.runtime.wiring.opening import Runtime as Runtime
from stateward.runtime.wiring.opening import reading as reading
from stateward.runtime.wiring.opening import rehearsal as rehearsal
from stateward.runtime.wiring.opening import writing as writing
from stateward.runtime.wiring.places import Location as Location
from stateward.runtime.wiring.places import NoPlace as NoPlace
from stateward.runtime.wiring.places import Place as Place
from stateward.runtime.wiring.places import place_of as place_of
from stateward.runtime.wiring.places import profile_places as profile_places
from stateward.runtime.wiring.proving import Keys as Keys
from stateward.runtime.wiring.proving import named_key as named_key
from stateward.runtime.wiring.proving import signer_of as signer_of
from stateward.runtime.wiring.system import Folders as Folders
from stateward.runtime.wiring.system import SystemClock as SystemClock
from stateward.runtime.wiring.system import ThreadHeartbeat as ThreadHeartbeat
from stateward.runtime.wiring.system import TimeOrderedIds as TimeOrderedIds
from stateward.runtime.wiring.system import account_name as account_name
from stateward.runtime.wiring.system import person_at_terminal as person_at_terminal
from stateward.runtime.wiring.system import program_version as program_version
