"""Profiles: what a Worker may do and who judges it. Chosen when a Worker is created and pinned in its log.

Here are the values, which everything else works with. `form`, `reading`, `layers` and `places` make one out of the files in which
profiles are written; they are imported only where a profile is chosen, since they load the language.
"""

from stateward.runtime.profile.terms import (
    DEFAULT,
    DEMONSTRATION,
    KeyCommand,
    KeyFile,
    KeySource,
    ModelSettings,
    Profile,
    Rights,
    VerifierBounds,
    VerifierKind,
)

__all__ = [
    "DEFAULT",
    "DEMONSTRATION",
    "KeyCommand",
    "KeyFile",
    "KeySource",
    "ModelSettings",
    "Profile",
    "Rights",
    "VerifierBounds",
    "VerifierKind",
]
