"""Texts as the core measures, cuts and shows them. Sizes count UTF-8 bytes; half a surrogate pair counts three and never fails."""

from stateward.runtime.core.limits import PATH_BYTES_MAX, SHOWN_CHARACTERS_MAX


def size_of(text: str) -> int:
    """Give the size of a text in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def cut(text: str, bytes_max: int) -> str:
    """Give the longest beginning of a text that fits, cut between two characters."""
    if size_of(text) <= bytes_max:
        return text
    data = text.encode("utf-8", "surrogatepass")
    end = bytes_max
    while end > 0 and data[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return data[:end].decode("utf-8", "surrogatepass")


def is_unicode(text: str) -> bool:
    """Tell whether a text can be written as UTF-8: it holds no half of a surrogate pair."""
    return text.isascii() or not any("\ud800" <= each <= "\udfff" for each in text)


def is_blank(text: str) -> bool:
    """Tell whether a text says nothing."""
    return not text.strip()


def shown(text: str, characters_max: int = SHOWN_CHARACTERS_MAX) -> str:
    """Give a foreign text fit to stand in one line of a message: in backticks, bounded, what cannot be seen escaped."""
    seen = visible(text[:characters_max])
    return f"`{seen}…`" if len(text) > characters_max else f"`{seen}`"


def visible(text: str) -> str:
    """Give a text as one line of characters that can be seen; the others are escaped."""
    return text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def path_shown(path: object) -> str:
    """Give a path fit to stand in a message, whole: a part of one leads nowhere."""
    return shown(str(path), PATH_BYTES_MAX)


def reason(fault: OSError) -> str:
    """Give what the system says of a fault, as a part of a line."""
    return (fault.strerror or type(fault).__name__).lower()


def listed(names: tuple[str, ...]) -> str:
    """Join names in backticks: "`a`, `b` and `c`"."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
