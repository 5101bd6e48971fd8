"""Who writes what nobody outside the engine did."""

from typing import Final

from stateward.runtime.session.entries import Actor, ActorClass

ENGINE: Final = Actor(ActorClass.ENGINE, "in_process")
