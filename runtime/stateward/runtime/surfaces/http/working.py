"""Workers as requests reach them: which Worker is named, what the token opens of it, and as whom is acted.

Invariants: what a token opens is looked at before the Worker is, so that nobody learns of one that the token is not for; the class of
who acts follows from the scope, and the name from the token.
"""

from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias

from fastapi import Depends, Path
from starlette.requests import Request

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.engine.attended import Attended
from stateward.runtime.engine.tokens import OPERATE, Access, is_scope
from stateward.runtime.ports import WorkerChannel
from stateward.runtime.remote.forms import ProblemCode
from stateward.runtime.session.entries import Actor, ActorClass, Assurance
from stateward.runtime.surfaces.http.auth import AnyAccess, require
from stateward.runtime.surfaces.http.problems import Problem
from stateward.runtime.surfaces.http.service import service_of

CHANNEL: Final = "http"
_ID: Final = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
WorkerId: TypeAlias = Annotated[str, Path(description="The id of a Worker.", json_schema_extra={"pattern": _ID})]


@dataclass(frozen=True, slots=True)
class Named:
    """A Worker that a request names, and who asks."""

    worker: str
    workers: Attended
    access: Access

    def agent(self) -> WorkerChannel:
        """Give it to its agent. Raises Problem."""
        found = self.workers.agent(self.worker, Actor(ActorClass.AGENT, CHANNEL, self.access.name), self.access.token)
        if isinstance(found, Refusal):
            raise not_done(found)
        return found

    @property
    def sees_all(self) -> bool:
        """Whether values are shown that the state of the Worker does not let its agent see."""
        return self.access.has(OPERATE)

    def host(self, session: str | None) -> Actor:
        """Give as whom the harness of its agent acts."""
        return Actor(ActorClass.HOST, CHANNEL, self.access.name, host_session=session)


def attended(request: Request) -> Attended:
    """Give the Workers of a service. Raises Problem where it attends to none."""
    found = service_of(request).workers
    if found is None:
        raise Problem(404, ProblemCode.ROUTE_NOT_FOUND, "this service attends to no Workers")
    return found


def _scope(kind: str, worker: str) -> str:
    """Give the scope for a Worker; for what is no id of one, a scope that no token has."""
    scope = f"{kind}:{worker}"
    return scope if is_scope(scope) else f"{kind}:<worker>"


def operating(request: Request, access: AnyAccess) -> tuple[Attended, Actor]:
    """Give the Workers to an operator. Raises Problem."""
    require(access, OPERATE)
    return attended(request), Actor(ActorClass.PERSON, CHANNEL, access.name, Assurance.TOKEN)


def working(request: Request, worker: WorkerId, access: AnyAccess) -> Named:
    """Give a Worker to its agent. Raises Problem."""
    require(access, _scope("work", worker))
    return Named(worker, attended(request), access)


def recording(request: Request, worker: WorkerId, access: AnyAccess) -> Named:
    """Give a Worker to the harness of its agent. Raises Problem."""
    require(access, _scope("record", worker))
    return Named(worker, attended(request), access)


def looking(request: Request, worker: WorkerId, access: AnyAccess) -> Named:
    """Give a Worker to whoever may look at it. Raises Problem."""
    if not any(map(access.has, (OPERATE, _scope("record", worker)))):
        require(access, _scope("work", worker))
    return Named(worker, attended(request), access)


Operating = Annotated[tuple[Attended, Actor], Depends(operating)]
Working = Annotated[Named, Depends(working)]
Recording = Annotated[Named, Depends(recording)]
Looking = Annotated[Named, Depends(looking)]


def not_done(refusal: Refusal) -> Problem:
    """Make a problem of what a Worker is refused."""
    status = 404 if refusal.code is RefusalCode.WORKER_NOT_FOUND else 409
    return Problem(status, refusal.code, refusal.message, allowed=refusal.allowed or None)
