"""What the contract of authorities asks and how it takes answers apart."""

from typing import TypeVar

from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.ports import (
    PAGE_MAX,
    FlowAuthority,
    Removed,
    Revision,
    Saved,
)

T = TypeVar("T")

SOURCE = """schema_version = 1;
name = "%(name)s";
initial = "write";
states = {
    write = {
        instructions = "Write %(text)s";
        transitions = { ready = { target = "done"; condition = "It is written."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""


def source(text: str = "it.", name: str = "paper") -> bytes:
    return (SOURCE % {"name": name, "text": text}).encode()


def given(kind: type[T], answer: object) -> T:
    """Take an answer as what it has to be."""
    assert isinstance(answer, kind), answer
    return answer


def kept(authority: FlowAuthority, content: bytes | None = None, base: int | None = None, slug: str = "paper", note: str = "") -> Revision:
    """Save a source as a new revision."""
    content = source(name=slug) if content is None else content
    answer = given(Saved, authority.save(slug, content, base=base, note=note))
    assert answer.created
    return answer.revision


def hidden(authority: FlowAuthority, base: int, slug: str = "paper") -> Removed:
    """Remove a flow."""
    answer = given(Removed, authority.remove(slug, base=base))
    assert answer.created
    return answer


def bundle_of(authority: FlowAuthority, *slugs: str) -> bytes:
    """Give a whole bundle."""
    pieces = authority.export(slugs)
    assert not isinstance(pieces, Refusal), pieces
    return b"".join(pieces)


def texts(authority: FlowAuthority, slug: str = "paper") -> list[bytes]:
    """Give the source of every revision of a flow, from 1 on."""
    return [given(Revision, authority.source(slug, each.revision)).content for each in reversed(authority.history(slug, PAGE_MAX))]


def refused(answer: object, code: RefusalCode) -> Refusal:
    """Take an answer as a refusal that says what is so in one line, and what to do instead."""
    refusal = given(Refusal, answer)
    assert code is refusal.code, refusal
    assert refusal.message.isprintable()
    assert refusal.allowed
    assert all(each.isprintable() for each in refusal.allowed)
    return refusal
