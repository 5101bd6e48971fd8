"""Hooks: what the harness of an agent reports, and how it is told to go on.

Invariants: a hook never ends in a traceback and never breaks its host: what cannot be done is said in one line; nothing here loads a
library; what the host sends is bounded, and its texts are kept as they were written.
"""
