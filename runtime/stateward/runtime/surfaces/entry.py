"""Where the installed program begins: hooks, which come at every use of a tool, are answered before a command line is loaded.

Invariant: what is answered here is answered as the command line would; any other call, and any that is not plainly a hook's, goes there.
"""

import gc
import os
import sys


def main() -> None:
    """Run the program and exit with its status."""
    if sys.argv[1:2] == ["hook"]:
        gc.disable()  # it ends before there is anything worth collecting
        _hook(sys.argv[2:])
    from stateward.runtime.surfaces.cli import main as command_line  # noqa: PLC0415 -- a hook does not need it

    command_line()


def _hook(arguments: list[str]) -> None:
    """Answer a hook and exit, where it is plainly called."""
    from stateward.runtime.surfaces.hooks.called import STATUS_NOTICED, plainly_called, run  # noqa: PLC0415 -- only hooks need it

    called = plainly_called(arguments, os.environ)
    if called is None:
        return
    try:
        status = run(called)
    except KeyboardInterrupt:
        status = STATUS_NOTICED
    except Exception as bug:  # noqa: BLE001 -- whatever was not foreseen is one line, and keeps no host from going on
        sys.stderr.write(f"stateward hook {called.event}: a fault of stateward itself: {type(bug).__name__}: {bug}\n")
        status = STATUS_NOTICED
    # The store is closed and what was told is out. Taking the interpreter apart would cost as much as all that was done here.
    os._exit(status)
