"""Processes that start at once: forked from a server that has imported what they need and opened nothing.

There is one such server in a process of tests, so there is one list of what it imports. Whatever is not in it, or is loaded only when it
is first used, each child loads by itself.
"""

import multiprocessing
from typing import Final

CONTEXT: Final = multiprocessing.get_context("forkserver")

PRELOADED: Final = (
    "stateward.compiler.editor.stdio",
    "stateward.compiler.pipeline",
    "stateward.runtime.surfaces.cli.run",
    "stateward.store.database",
    "stateward.store.flows",
    "stateward.store.leases",
    "stateward.store.migrations.on_postgres",
    "stateward.store.migrations.on_sqlite",
    "stateward.store.postgres_sessions",
    "stateward.store.tokens",
    "stateward.store.transcripts",
    "tests.cases.children",
    "tests.cli.children",
    "tests.editor.children",
    "tests.store.children",
)
CONTEXT.set_forkserver_preload(list(PRELOADED))
