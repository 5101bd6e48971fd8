"""What holds for all tests."""

from hypothesis import settings

# A test has no time limit: what is loaded late, or a busy machine, would make a limit fail for nothing.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
