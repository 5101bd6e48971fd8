"""Which states are reached from which, over the ways of a flow as names. A plain search; nothing here knows what a way asks for."""

from collections.abc import Collection, Iterable, Mapping


def reached(ways: Mapping[str, Iterable[str]], starts: Iterable[str], without: Collection[str] = ()) -> set[str]:
    """Give the states that are entered from some, these too, by ways that enter none of others; what has no ways is no state."""
    found = {each for each in starts if each in ways and each not in without}
    waiting = list(found)
    while waiting:
        for target in ways[waiting.pop()]:
            if target not in found and target in ways and target not in without:
                found.add(target)
                waiting.append(target)
    return found
