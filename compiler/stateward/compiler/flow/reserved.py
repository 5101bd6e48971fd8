"""The names that belong to the compiler: the way out that every flow has, and the end to which it leads."""

from typing import Final

CANCEL_TRANSITION: Final = "$cancel"
CANCELLED_STATE: Final = "$cancelled"
