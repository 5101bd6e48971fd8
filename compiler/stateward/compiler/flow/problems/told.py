"""Words and labels that several problems share."""

from stateward.compiler.diagnostics.model import Label
from stateward.compiler.diagnostics.wording import listed, quoted
from stateward.compiler.flow.typed import Path
from stateward.compiler.language.data import Origin
from stateward.compiler.source import Place


def came_through(origin: Origin) -> tuple[Label, ...]:
    """Label the nearest use through which a value came from elsewhere; empty when it stands where it is used."""
    if not origin.through:
        return ()
    use = origin.through[0]
    if use.source is origin.place.source and use.span.covers(origin.place.span):
        return ()
    return (Label(use, "comes in here"),)


def owner(path: Path) -> str:
    """Name the object that a path inside `states` leads to: the flow, a check, a state or a transition with its state."""
    match path:
        case ("checks", str(check)):
            return f"check {quoted(check)}"
        case (_, str(state)):
            return f"state {quoted(state)}"
        case (_, str(state), _, str(transition)):
            return f"transition {quoted(transition)} of state {quoted(state)}"
        case _:
            return "the flow"


def standing(path: Path) -> str:
    """Say where something stands directly: in an object, or in the map of an object."""
    match path:
        case (*above, str(holder)) if len(path) % 2:
            return f"{quoted(holder)} of {owner(tuple(above))}" if above else quoted(holder)
        case _:
            return f"{owner(path)} itself"


def declared_in(flow_name: str | None) -> str:
    """Say where a name is missing, in the words of a label."""
    return "not declared in this flow" if flow_name is None else f"not declared in flow {quoted(flow_name)}"


def declares(flow_name: str | None, states: tuple[str, ...]) -> tuple[str, ...]:
    """State which states there are; empty when there are none."""
    if not states:
        return ()
    flow = "the flow" if flow_name is None else f"flow {quoted(flow_name)}"
    return (f"{flow} declares {listed(states)}",)


def did_you_mean(near: str | None) -> str | None:
    """Offer a near name."""
    return f"did you mean {quoted(near)}?" if near is not None else None


def opening(place: Place) -> Place:
    """Narrow a place to its first character, for an object that is to be named but not underlined whole."""
    start = place.span.start
    return Place(place.source, type(place.span)(start, min(start + 1, place.span.end)))
