"""Hooks: what the harness of an agent reports, and how it is told to go on.

Invariants: a hook never ends in a traceback and never breaks its host: what cannot be done is said in one line; nothing here loads a
library; what the host sends is bounded, and its texts are kept as they were written.

Values that are only handed on from one function to the next are named tuples here, for a hook makes its classes anew at every use of a
tool, and those of dataclasses cost seven times as much (docs/decisions/what-a-hook-costs.md).
"""
