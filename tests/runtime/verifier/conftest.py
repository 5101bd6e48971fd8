"""The contracts' assertions are rewritten like those of test modules, so that a failure shows its values."""

import pytest

pytest.register_assert_rewrite("tests.contracts.verifiers")
