"""What holds for all tests."""

import gc
import os
import signal
import sys

import pytest
from hypothesis import settings

# Assertions of the contracts show their values like those of test modules. Said here, before anything imports them.
pytest.register_assert_rewrite("tests.contracts")

# A shell that starts the tests in the background has them ignore interruptions, and so would every program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Compiled modules are kept, as they are where the program is installed: it is started hundreds of times.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What is made while tests are collected stays until the end: it is not looked through for garbage again and again.
gc.disable()

# A test has no time limit: what is loaded late, or a busy machine, would make a limit fail for nothing.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()
