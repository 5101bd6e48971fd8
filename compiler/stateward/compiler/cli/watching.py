"""Files watched by looking at them again and again: no service of the system is needed, and none is missed.

Invariants: what changes while a run is under way is seen after it; a change is answered once the files have held still between two looks;
what is imported is followed from the run on that first looked for it, also where it was not there.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final

from stateward.compiler.cli.host import Host
from stateward.compiler.cli.output import say
from stateward.compiler.diagnostics.cells import safe
from stateward.compiler.diagnostics.wording import counted, listed

INTERVAL_SECONDS: Final = 0.5
LOOKS_MAX: Final = 20
"""Looks after which a change is answered although the files do not hold still."""
IMPORTED_MAX: Final = 10_000
"""Imported files that are followed."""
_Stamps = Mapping[str, Hashable]


def watch(host: Host, paths: Sequence[str], run: Callable[[], tuple[int, Sequence[str]]]) -> int:
    """Run, and run again after each change of a file that is named or imported; gives the status of the last run, when waiting has ended.

    A run gives its status and the files that imports name.
    """
    imported: Sequence[str] = ()
    while True:
        looks = {path: host.stamps(path) for path in (*paths, *imported)}
        status, sought = run()
        imported = sought[:IMPORTED_MAX]
        followed = (*paths, *imported)
        before = _together(looks[path] if path in looks else host.stamps(path) for path in followed)
        say(f"watching {counted(len(before), 'file')}; Ctrl-C ends it\n", err=True)
        after = _change(host, followed, before)
        if after is None:
            return status
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        say(f"\n{safe(listed(changed))} changed\n\n", err=True)


def _together(looks: Iterable[_Stamps]) -> _Stamps:
    return {name: stamp for look in looks for name, stamp in look.items()}


def _change(host: Host, paths: Sequence[str], before: _Stamps) -> _Stamps | None:
    """Wait for a change; None when waiting has ended."""
    last, looks = before, 0
    while host.wait(INTERVAL_SECONDS):
        now = _together(map(host.stamps, paths))
        looks += now != before
        if now != before and (now == last or looks >= LOOKS_MAX):
            return now
        last = now
    return None
