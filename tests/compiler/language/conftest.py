"""Properties here are not judged by the clock: how long an example takes says nothing of whether it holds."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
