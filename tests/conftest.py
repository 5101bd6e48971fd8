"""What holds for all tests."""

import pytest
from hypothesis import settings

# Assertions of the contracts show their values like those of test modules. Said here, before anything imports them.
pytest.register_assert_rewrite("tests.contracts")

# A test has no time limit: what is loaded late, or a busy machine, would make a limit fail for nothing.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
