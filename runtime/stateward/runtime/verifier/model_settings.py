"""Which model judges, as it is asked. Values alone: nothing here is looked up.

Invariant: what is stated of a model, in the log and elsewhere, holds no secret.
"""

import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

NAME_CHARACTERS_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Model:
    """A model of a provider that is known by name, or behind an address that speaks as OpenAI does."""

    name: str
    provider: str = ""
    """As pydantic-ai names it: `openai`, `anthropic`, …; empty where there is a `url`."""
    url: str = ""
    """Where the model is asked, up to and with the version: `https://models.example.org/v1`."""
    streamed: bool = False
    temperature: float | None = None

    def __post_init__(self) -> None:
        if not 0 < len(self.name) <= NAME_CHARACTERS_MAX:
            raise ValueError(f"the name of a model has 1 to {NAME_CHARACTERS_MAX} characters")
        if bool(self.provider) == bool(self.url):
            raise ValueError("a model has either a provider or a url")
        if self.url:
            _require_plain(self.url)

    @property
    def named(self) -> str:
        """How people name it."""
        return f"{self.provider or self.url}:{self.name}"

    @property
    def stated(self) -> str:
        """What it is told to keep to, as JSON."""
        return json.dumps({"streamed": self.streamed, "temperature": self.temperature}, sort_keys=True)


def _require_plain(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("the url of a model begins with http:// or https:// and names a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("the url of a model holds neither a name, a password, a query nor a fragment")
