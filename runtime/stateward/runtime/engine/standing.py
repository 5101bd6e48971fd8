"""Where a Worker stands, in the values that are shown to those who work inside it, wherever it is kept."""

from stateward.runtime.core.events import Variable
from stateward.runtime.core.flow import Flow, Transition
from stateward.runtime.core.instance import AttemptStatus, Instance, halt_message, hold_message
from stateward.runtime.engine.folding import Loaded
from stateward.runtime.ports.work import FlowStanding, OpenAttempt, Standing, ValueShown, WayOut, Writable
from stateward.runtime.session.answers import Answer


def standing_of(loaded: Loaded, rolled_back: str, self_selectors: tuple[str, ...], last: Answer | None) -> Standing:
    """Say where a Worker stands; `rolled_back` says how its log went back, if it did, and `last` is what was told of its `told_of`."""
    session, instance, definition = loaded.session, loaded.flow.instance, loaded.definition
    return Standing(
        worker=loaded.worker,
        workspace=session.workspace,
        workdir=session.workdir,
        head=loaded.head,
        profile=session.profile.name,
        verifier=session.verifier,
        isolation=session.isolation,
        read_only=loaded.newer or rolled_back,
        self_selectors=self_selectors,
        flow=None if instance is None or definition is None else _flow(instance, definition, last),
    )


def told_of(loaded: Loaded) -> str | None:
    """Give the last attempt, where that was a request to leave the state as it was entered this time."""
    instance = loaded.flow.instance
    last = None if instance is None else instance.last
    if instance is None or last is None or last.status is AttemptStatus.ENTERED or last.attempt.visit != instance.visit:
        return None
    return last.attempt.id


def _flow(instance: Instance, definition: Flow, last: Answer | None) -> FlowStanding:
    here, opened = definition.state(instance.state), instance.attempt
    return FlowStanding(
        instance=instance.id,
        name=definition.name,
        selector=instance.pin.selector,
        revision=instance.pin.flow_revision,
        definition_digest=instance.pin.definition_digest,
        state=here.id,
        instructions=here.instructions,
        ways=tuple(map(_way, here.transitions)),
        visit=instance.visit,
        status=str(instance.status),
        attempts=instance.attempts,
        open=None if opened is None else OpenAttempt(opened.id, opened.reason, opened.requested.seq),
        last=last,
        paused="" if instance.paused is None else f"{instance.paused.by}: {instance.paused.reason}",
        held="" if instance.held is None else hold_message(instance.held),
        halted="" if instance.halted is None else halt_message(instance.halted),
        reads=tuple(_read(name, instance.variables.get(name)) for name in here.reads),
        writes=_writes(definition, here.writes) if here.writes else (),
    )


def _way(way: Transition) -> WayOut:
    if way.guard is None:
        return WayOut(way.id, way.target, way.condition, way.synthetic, "", way.checks, way.otherwise)
    from stateward.compiler.predicates.text import guard_text  # noqa: PLC0415 - most flows have no guards

    return WayOut(way.id, way.target, way.condition, way.synthetic, guard_text(way.guard), way.checks, way.otherwise)


def _read(name: str, variable: Variable | None) -> ValueShown:
    return ValueShown(name, is_set=False) if variable is None else ValueShown(name, is_set=True, holds=variable.value)


def _writes(definition: Flow, names: tuple[str, ...]) -> tuple[Writable, ...]:
    from stateward.compiler.predicates.json_schema import json_schema  # noqa: PLC0415 - most flows write nothing
    from stateward.compiler.predicates.text import schema_text  # noqa: PLC0415 - as above

    declared = {each.name: each.schema for each in definition.declared_variables}
    return tuple(Writable(each, schema_text(declared[each]), json_schema(declared[each])) for each in names)
