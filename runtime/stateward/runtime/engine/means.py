"""What the use cases work with: the ports, the profile in force, and what is remembered of Workers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stateward.runtime.engine.folding import Loaded
from stateward.runtime.engine.host_means import HostMeans
from stateward.runtime.engine.view import WorkerView, view_of

if TYPE_CHECKING:
    from stateward.runtime.ports import LeaseStore, Snapshots, Workdirs
    from stateward.runtime.profile import Profile


@dataclass(frozen=True, slots=True)
class Means(HostMeans):
    """The means of one engine."""

    profile: "Profile"
    snapshots: "Snapshots"
    leases: "LeaseStore"
    workdirs: "Workdirs | None"

    def view(self, loaded: Loaded) -> WorkerView:
        """Show a Worker."""
        return view_of(loaded, self.rolled_back(loaded))
