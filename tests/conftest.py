"""What holds for all tests."""

import signal

import pytest
from hypothesis import settings

# Assertions of the contracts show their values like those of test modules. Said here, before anything imports them.
pytest.register_assert_rewrite("tests.contracts")

# A shell that starts the tests in the background has them ignore interruptions, and so would every program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test has no time limit: what is loaded late, or a busy machine, would make a limit fail for nothing.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
