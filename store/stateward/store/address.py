"""Where a store lies, as a person names it: a file, or the URL of a database of PostgreSQL.

Invariant: what names a store in a message holds no password.
"""

import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlencode, urlsplit, urlunsplit

POSTGRESQL: Final = ("postgresql://", "postgres://")
_SHOWN: Final = ("host", "port", "dbname", "user")
"""Of the settings behind the question mark: those that say which database it is."""


_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_ENCODED: Final = "in its name or password `@`, `/`, `?`, `#` and `:` are written as %40, %2F, %3F, %23 and %3A"


def read_place(text: str) -> Path | str:
    """Read what a person named as a store. Raises ValueError, whose text holds nothing of a URL but its scheme."""
    found = _SCHEME.match(text)
    if found is None:
        return Path(text)
    scheme = f"{found[1].lower()}://"
    if scheme not in POSTGRESQL:
        raise ValueError(f"no store is named by `{scheme}`; name a file, or postgresql://…")
    url = f"{scheme}{text[found.end() :]}"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ValueError(f"the URL of the store cannot be read; {_ENCODED}") from None
    if parts.fragment or parts.netloc.count("@") > 1 or "@" in parts.path or "@" in parts.query or "%00" in url:
        raise ValueError(f"the URL of the store is none; {_ENCODED}")
    return url


def is_url(place: str | Path) -> bool:
    """Whether a place is a database of PostgreSQL."""
    return str(place).startswith(POSTGRESQL)


def place_name(place: str | Path) -> str:
    """Name a place in a message. Raises ValueError for a URL that cannot be read."""
    if not is_url(place):
        return str(place)
    parts = urlsplit(str(place))
    user, at, host = parts.netloc.rpartition("@")
    settings = {name: values for name, values in parse_qs(parts.query).items() if name in _SHOWN}
    return urlunsplit((parts.scheme, f"{user.partition(':')[0]}{at}{host}", parts.path, urlencode(settings, doseq=True, safe="/"), ""))


def without_passwords(text: str, url: str) -> str:
    """Take out of a text what of a URL is no one's to see."""
    parts = urlsplit(url)
    settings = parse_qs(parts.query)
    for secret in (parts.password, *settings.get("password", ()), *settings.get("sslpassword", ())):
        for form in (secret, unquote(secret)) if secret else ():
            text = text.replace(form, "…")
    return text
