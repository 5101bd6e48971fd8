"""A bundle: flows with every revision in one file of JSON Lines. Its form, and how it is written piece by piece.

Invariants: one bundle has one spelling; each line holds the digest of itself and the last one that of all before it, so a changed byte is
found in its line and a missing line by its number; revisions of a flow are there from 1 on, in order, and each has the definition it was
compiled to. Version 1 stays as it is; version 2
is for bundles in which something is imported, and for no others. docs/reference/bundle.md describes it.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, TypeAlias

from stateward.runtime.ports import FlowAct, FlowHistory, Revision
from stateward.runtime.session.chain import digest_of, time_text

FORMAT: Final = "stateward.bundle"
VERSION: Final = 1
WITH_MODULES: Final = 2
"""The version of a bundle in which a revision imports something; no other bundle has it."""
LINE_DIGEST: Final = "line_digest"
"""The last member of every line."""
# The members of each kind of line, in their order, but for that one.
HEADER: Final = ("format", "version", "workspace", "exported", "by")
DEFINITION: Final = ("type", "definition_digest", "canonical")
REVISION: Final = (
    *("type", "slug", "revision", "content_digest", "definition_digest", "compiler", "author", "note", "created"),
    "text",
)
MODULES: Final = "modules"
"""A further member of a revision that imports something."""
REMOVAL: Final = ("type", "slug", "revision", "author", "note", "removed")
END: Final = ("type", "flows", "revisions", "definitions", "bundle_digest")

Members: TypeAlias = Mapping[str, Any]
"""A line, as JSON data."""


@dataclass(frozen=True, slots=True)
class BundleHeader:
    """Where, when and by whom a bundle was made."""

    workspace: str
    """The id of the Workspace."""
    name: str
    exported: datetime
    by: str
    version: int = VERSION


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read, sound in itself."""

    digest: str
    """Of every byte before its last line."""
    header: BundleHeader
    flows: tuple[FlowHistory, ...]


class BundleWriter:
    """Writes the lines of one bundle, in the order in which they are asked for: by slug and number, definitions before their first use."""

    def __init__(self) -> None:
        self._hash = sha256()
        self._slug = ""
        self._flows = 0
        self._revisions = 0
        self.definitions: set[str] = set()
        """Digests of those that were written."""

    def header(self, header: BundleHeader) -> bytes:
        """Write the first line."""
        workspace = {"id": header.workspace, "name": header.name}
        return self._add([FORMAT, header.version, workspace, time_text(header.exported), header.by], HEADER)

    def definition(self, digest: str, canonical: bytes) -> bytes:
        """Write a definition; its first revision follows."""
        self.definitions.add(digest)
        return self._add(["definition", digest, canonical.decode()], DEFINITION)

    def revision(self, revision: Revision) -> bytes:
        """Write a revision with its source."""
        self._flows += revision.slug != self._slug
        self._slug = revision.slug
        self._revisions += 1
        name, content = content_member(revision.content)
        values = ["revision", revision.slug, revision.revision, revision.content_digest, revision.definition_digest]
        values += [revision.compiler, revision.author, revision.note, time_text(revision.created), content]
        names = (*REVISION[:-1], name)
        if not revision.modules:
            return self._add(values, names)
        return self._add([*values, modules_member(revision.modules)], (*names, MODULES))

    def removal(self, slug: str, act: FlowAct) -> bytes:
        """Write that a flow is removed, after its last revision."""
        return self._add(["removal", slug, act.revision, act.author, act.note, time_text(act.created)], REMOVAL)

    def end(self) -> bytes:
        """Write the last line."""
        digest = f"sha256:{self._hash.hexdigest()}"
        return self._add(["end", self._flows, self._revisions, len(self.definitions), digest], END)

    def _add(self, values: list[Any], names: tuple[str, ...]) -> bytes:
        line = _line(dict(zip(names, values, strict=True)))
        self._hash.update(line)
        return line


def content_member(content: bytes) -> tuple[str, str]:
    """Give the name and the value of the member that holds a source: its text, or its bytes where they are no Unicode."""
    try:
        return "text", content.decode("utf-8")
    except UnicodeDecodeError:
        return "base64", b64encode(content).decode("ascii")


def modules_member(modules: Iterable[tuple[str, bytes]]) -> list[dict[str, str]]:
    """Give the value of the member that holds modules, each as its path and its content."""
    return [{"path": path, name: content} for path, data in modules for name, content in [content_member(data)]]


def json_of(members: Members) -> bytes:
    """Write JSON data in its one spelling."""
    return json.dumps(members, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def _line(members: Members) -> bytes:
    """Write a line: its members, and last the digest of what it is without that one."""
    return json_of({**members, LINE_DIGEST: digest_of(json_of(members))}) + b"\n"
