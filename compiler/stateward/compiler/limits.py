"""Every limit of the language and of Flow sources, in one table. Limits are counted, never timed.

Each limit accepts its exact value and refuses one more.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one evaluation; the defaults are the documented ones."""

    nesting: int = 500
    """Depth of brackets and of nested expressions in a source."""
    calls: int = 1_000
    """Depth of function calls under way."""
    forcing: int = 1_000
    """Length of a chain of values that wait for each other."""
    steps: int = 500_000
    """Evaluation steps of one evaluation."""
    items: int = 200_000
    """Array items made by one evaluation."""
    nodes: int = 100_000
    """Nodes of one materialized value."""
    module_bytes: int = 1024 * 1024
    """UTF-8 bytes of one module."""
    modules: int = 256
    """Modules imported by one evaluation."""
    modules_bytes: int = 4 * 1024 * 1024
    """UTF-8 bytes of all imported modules together."""
    faults: int = 1_000
    """Faults that one evaluation reports."""


LIMITS: Final = Limits()

FLOW_SOURCE_BYTES_MAX: Final = 256 * 1024
STATES_MAX: Final = 128
TRANSITIONS_MAX: Final = 32
TEXT_BYTES_MAX: Final = 32 * 1024
"""Instructions and conditions, in UTF-8 bytes."""
IDENTIFIER_BYTES_MAX: Final = 128
VARIABLES_MAX: Final = 64
INPUTS_MAX: Final = 64
CHECKS_MAX: Final = 32
DEFAULT_BYTES_MAX: Final = 16 * 1024
"""A default of a variable or an input, as JSON."""
COMMAND_TEXTS_MAX: Final = 64
"""The program of a check and its arguments."""
COMMAND_BYTES_MAX: Final = 8 * 1024
"""Of a command, all its texts together."""
TIMEOUT_SECONDS_MIN: Final = 1
TIMEOUT_SECONDS_MAX: Final = 24 * 60 * 60
TIMEOUT_SECONDS_DEFAULT: Final = 10 * 60
CLOSURE_BYTES_MAX: Final = 1024 * 1024
"""A Flow source with all modules that it imports."""
MODULE_PATH_BYTES_MAX: Final = 512
"""The path of an imported module, seen from the folder of its flow."""
VISITS_MIN: Final = 1
VISITS_MAX: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class FlowLimits:
    """The bounds of one Flow source; the defaults are the documented ones."""

    source_bytes: int = FLOW_SOURCE_BYTES_MAX
    states: int = STATES_MAX
    transitions: int = TRANSITIONS_MAX
    text_bytes: int = TEXT_BYTES_MAX
    variables: int = VARIABLES_MAX
    inputs: int = INPUTS_MAX
    checks: int = CHECKS_MAX
    default_bytes: int = DEFAULT_BYTES_MAX
    closure_bytes: int = CLOSURE_BYTES_MAX
    module_path_bytes: int = MODULE_PATH_BYTES_MAX
    language: Limits = LIMITS


FLOW_LIMITS: Final = FlowLimits()
