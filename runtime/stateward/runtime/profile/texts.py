"""What texts in a profile have to be: lines, names of providers, addresses, paths of keys and programs.

Each function says what keeps a text from being such a one, as the end of a sentence that begins with it, or None. None looks at the
file system or the network.
"""

import re
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from stateward.compiler.diagnostics.wording import character

TEXT_BYTES_MAX: Final = 1024
MODEL_CHARACTERS_MAX: Final = 200
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_LOCAL: Final = "localhost"


def text_fault(text: str) -> str | None:
    """For one line of text."""
    if not text.strip():
        return "is blank"
    if len(text.encode("utf-8", "surrogatepass")) > TEXT_BYTES_MAX:
        return f"has more than {TEXT_BYTES_MAX:,} bytes"
    odd = next((char for char in text if not char.isprintable()), None)
    return None if odd is None else f"holds {character(odd)}"


def name_fault(text: str) -> str | None:
    """For the name of a provider or of a profile."""
    if _NAME.fullmatch(text):
        return None
    return text_fault(text) or "is no name: 1 to 64 of `a` to `z`, digits, `-` and `_`, a letter first"


def model_fault(text: str) -> str | None:
    """For the name of a model."""
    fault = text_fault(text)
    return fault if fault is not None or len(text) <= MODEL_CHARACTERS_MAX else f"has more than {MODEL_CHARACTERS_MAX} characters"


def address_fault(text: str) -> str | None:
    """For the address of a server. What is sent there holds a key, so only this machine is reached without encryption."""
    fault = text_fault(text)
    if fault is not None:
        return fault
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is no address"
    if parts.scheme not in {"http", "https"} or not host:
        return "does not begin with `https://` and a host"
    if "@" in parts.netloc:
        return "holds a user or a password"
    if parts.query or parts.fragment:
        return "holds a `?` or a `#`"
    if parts.scheme == "http" and not _is_this_machine(host):
        return "sends the key over the network in the clear"
    return None


def _is_this_machine(host: str) -> bool:
    try:
        return host == _LOCAL or ip_address(host).is_loopback
    except ValueError:
        return False


def key_path_fault(text: str) -> str | None:
    """For the path of a file with a key."""
    fault = text_fault(text)
    return fault if fault is not None or text.startswith(("/", "~/")) else "does not begin with `/` or `~/`"


def program_fault(text: str) -> str | None:
    """For the path of a program."""
    fault = text_fault(text)
    return fault if fault is not None or text.startswith("/") else "does not begin with `/`"
