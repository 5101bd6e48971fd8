"""A bundle, read whole and believed in nothing: it is exactly what would be written, or refused with the line that is wrong.

Invariant: what comes out can be kept by every store and run by this program. Version 1 is read for ever.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from json import JSONDecodeError
from typing import Any, Final

from stateward.compiler.flow.definition import CompiledFlowDefinition
from stateward.runtime.core.refusal import Refusal, RefusalCode
from stateward.runtime.core.texts import is_unicode, shown, size_of
from stateward.runtime.engine.bundles import (
    DEFINITION,
    END,
    FORMAT,
    HEADER,
    LINE_DIGEST,
    MODULES,
    REMOVAL,
    REVISION,
    VERSION,
    WITH_MODULES,
    Bundle,
    BundleHeader,
    Members,
    content_member,
    json_of,
    modules_member,
)
from stateward.runtime.engine.compiling import canonical_of
from stateward.runtime.engine.fitness import unfit
from stateward.runtime.engine.limits import (
    BUNDLE_LINE_BYTES_MAX,
    BUNDLE_REVISIONS_MAX,
    DEFINITION_BYTES_MAX,
    NAME_KEPT_BYTES_MAX,
    NOTE_KEPT_BYTES_MAX,
    SOURCE_KEPT_BYTES_MAX,
)
from stateward.runtime.engine.selectors import is_slug
from stateward.runtime.ports import BUNDLE_BYTES_MAX, MODULES_MAX, FlowAct, FlowHistory, NewRevision
from stateward.runtime.ports.flows import ActKind
from stateward.runtime.session.chain import digest_of, time_text
from stateward.runtime.session.closures import closure_digest_of
from stateward.runtime.session.strict import Malformed, parse

HEADER_BYTES_MAX: Final = 64 * 1024
"""Of the first line, also of a newer version."""


class _Problem(ValueError):
    """What is wrong with a line."""


def read_bundle(data: bytes) -> Bundle | Refusal:
    """Read a bundle and check all that it says of itself; a refusal names the line."""
    if len(data) > BUNDLE_BYTES_MAX:
        message = f"the bundle has {len(data)} bytes, more than {BUNDLE_BYTES_MAX}"
        return Refusal(RefusalCode.BUNDLE_TOO_LARGE, message, ("export fewer flows at a time",))
    if not data:
        return Refusal(RefusalCode.BUNDLE_MALFORMED, "the bundle is empty", ("fetch it again", "export it anew"))
    newer = _newer(data)
    if newer is not None:
        return Refusal(RefusalCode.BUNDLE_NEWER, newer, ("take it in with the program that wrote it, or a newer one",))
    reading = _Reading()
    try:
        for line in _split(data):
            reading.take(line)
        return reading.whole()
    except (_Problem, Malformed) as problem:
        message = f"line {reading.lines + 1} of the bundle is wrong: {problem}"
        return Refusal(RefusalCode.BUNDLE_MALFORMED, message, ("fetch it again", "export it anew"))


def _split(data: bytes) -> Iterator[bytes]:
    """Give the lines without their ends."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start, start + BUNDLE_LINE_BYTES_MAX + 1)
        if end < 0 and len(data) - start > BUNDLE_LINE_BYTES_MAX:
            raise _Problem(f"it has more than {BUNDLE_LINE_BYTES_MAX} bytes")
        if end < 0:
            raise _Problem("it is cut")
        yield data[start:end]
        start = end + 1


def _newer(data: bytes) -> str | None:
    """Say that a bundle is of a newer version: whatever else is in its first line, those two members stay."""
    try:
        header = parse(data[: max(data.find(b"\n", 0, HEADER_BYTES_MAX), 0)])
    except Malformed:
        return None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        return None
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version <= WITH_MODULES:
        return None
    return f"the bundle is of version {shown(str(version))[1:-1]}, and this program knows version {WITH_MODULES}"


class _Reading:
    """What was read so far."""

    def __init__(self) -> None:
        self.lines = 0
        """Lines that were taken."""
        self._header: BundleHeader | None = None
        self._digest: str | None = None
        self._imports = False
        """Whether a revision imports something."""
        self._definitions: dict[str, bytes] = {}
        self._named: dict[str, str] = {}
        self._fresh: str | None = None
        """A definition whose first revision has to follow."""
        self._revisions: list[NewRevision] = []
        self._count = 0
        self._flows: list[FlowHistory] = []
        self._hash = sha256()

    def take(self, line: bytes) -> None:
        """Take the next line. Raises Malformed or _Problem."""
        if line.endswith(b"\r"):
            raise _Problem("it ends in CR LF, and lines of a bundle end in LF")
        members = _json(line)
        if not isinstance(members, dict):
            raise _Problem("it is no object")
        own = members.pop(LINE_DIGEST, None)
        if json_of({**members, LINE_DIGEST: own}) != line:
            raise _Problem("it is not spelled as a bundle's lines are")
        if own != digest_of(json_of(members)):
            raise _Problem("it is not what was written")
        if self._digest is not None:
            raise _Problem("it follows the end")
        self._take(members)
        self._hash.update(line + b"\n")
        self.lines += 1

    def _take(self, members: Members) -> None:
        if self._header is None:
            self._header = _header_of(members)
            return
        kind = members.get("type")
        if self._fresh is not None and kind != "revision":
            raise _Problem("no revision follows that has the definition before it")
        match kind:
            case "definition":
                self._take_definition(members)
            case "revision":
                self._take_revision(members)
            case "removal":
                self._take_removal(members)
            case "end":
                self._take_end(members)
            case _:
                raise _Problem("it is of no known type")

    def _take_definition(self, members: Members) -> None:
        _, digest, canonical = _values(members, DEFINITION)
        data = _text(canonical, DEFINITION_BYTES_MAX).encode()
        if digest != digest_of(data):
            raise _Problem("its definition has another digest")
        if digest in self._definitions:
            raise _Problem("its definition was there before")
        self._named[digest] = _sound(data)
        self._definitions[digest] = data
        self._fresh = digest

    def _take_revision(self, members: Members) -> None:
        new = self._revision_of(members)
        number = _whole(members["revision"])
        if self._fresh not in (None, new.definition_digest):
            raise _Problem("it has another definition than the one before it")
        self._fresh = None
        if self._revisions and self._revisions[-1].slug == new.slug:
            expected = len(self._revisions) + 1
        else:
            self._close(None)
            expected = 1
            if self._flows and new.slug <= self._flows[-1].slug:
                raise _Problem(f"flow `{new.slug}` comes after `{self._flows[-1].slug}`")
        if number != expected:
            raise _Problem(f"its revision is {number}, expected {expected}")
        self._revisions.append(new)
        self._count += 1
        if self._count > BUNDLE_REVISIONS_MAX:
            raise _Problem(f"there are more than {BUNDLE_REVISIONS_MAX} revisions")

    def _revision_of(self, members: Members) -> NewRevision:
        held = "text" if "text" in members else "base64"
        names = (*REVISION[:-1], held)
        imports = MODULES in members
        found = _values(members, (*names, MODULES) if imports else names)
        _, slug, _, content_digest, definition_digest, compiler, author, note, created, content = found[: len(names)]
        source = _source(held, content)
        modules = self._modules(members[MODULES], len(source)) if imports else ()
        if content_digest != digest_of(source):
            raise _Problem("its source has another digest")
        definition = self._definitions.get(definition_digest) if isinstance(definition_digest, str) else None
        if definition is None:
            raise _Problem("its definition is not there")
        if _slug(slug) != self._named[definition_digest]:
            raise _Problem(f"flow `{slug}` has the definition of a flow of another name")
        return NewRevision(
            slug=slug,
            content=source,
            content_digest=content_digest,
            definition_digest=definition_digest,
            definition=definition,
            compiler=_text(compiler, NAME_KEPT_BYTES_MAX),
            author=_text(author, NAME_KEPT_BYTES_MAX),
            note=_text(note, NOTE_KEPT_BYTES_MAX),
            created=_time(created),
            modules=modules,
            closure_digest=closure_digest_of(modules),
        )

    def _modules(self, value: object, source_bytes: int) -> tuple[tuple[str, bytes], ...]:
        """Read the modules of a revision."""
        assert self._header is not None
        if self._header.version != WITH_MODULES:
            raise _Problem(f"a bundle of version {self._header.version} holds no modules")
        if not isinstance(value, list) or not value:
            raise _Problem("it has no modules where it says so")
        self._imports = True
        modules = tuple(_module(each) for each in value)
        paths = [path for path, _ in modules]
        if len(paths) > MODULES_MAX or paths != sorted(set(paths)):
            raise _Problem(f"its modules are more than {MODULES_MAX}, or not in the order of their paths")
        if source_bytes + sum(len(content) for _, content in modules) > SOURCE_KEPT_BYTES_MAX:
            raise _Problem(f"its source and its modules have more than {SOURCE_KEPT_BYTES_MAX} bytes")
        if modules_member(modules) != value:
            raise _Problem("its modules are not spelled as in a bundle")
        return modules

    def _take_removal(self, members: Members) -> None:
        _, slug, revision, author, note, removed = _values(members, REMOVAL)
        last = len(self._revisions)
        if not last or self._revisions[-1].slug != slug or _whole(revision) != last:
            raise _Problem("it does not follow the last revision of its flow")
        texts = _text(author, NAME_KEPT_BYTES_MAX), _text(note, NOTE_KEPT_BYTES_MAX)
        assert self._header is not None
        self._close(FlowAct(self._header.workspace, "", 1, ActKind.REMOVED, last, last, *texts, _time(removed)))

    def _take_end(self, members: Members) -> None:
        self._close(None)
        _, *counts, digest = _values(members, END)
        found = [len(self._flows), self._count, len(self._definitions)]
        if any(type(each) is not int for each in counts):
            raise _Problem("a count is no number")
        if counts != found:
            expected = "{} flows, {} revisions and {} definitions".format(*(shown(str(each))[1:-1] for each in counts))
            raise _Problem("{} should be there, and {}, {} and {} are".format(expected, *found))
        if digest != f"sha256:{self._hash.hexdigest()}":
            raise _Problem("it has another digest than the lines before it")
        self._digest = digest

    def _close(self, removed: FlowAct | None) -> None:
        """Take the revisions of one flow as whole."""
        if self._revisions:
            self._flows.append(FlowHistory(self._revisions[0].slug, tuple(self._revisions), removed))
        self._revisions = []

    def whole(self) -> Bundle:
        """Give the bundle. Raises _Problem when its end is not there."""
        if self._header is None or self._digest is None:
            raise _Problem("the end is missing")
        if self._header.version == WITH_MODULES and not self._imports:
            raise _Problem(f"a bundle of version {WITH_MODULES} imports something, and none of its revisions does")
        return Bundle(self._digest, self._header, tuple(self._flows))


def _json(line: bytes) -> object:
    """Read a line. Raises _Problem in our own words: those of the reader are about one text, and mean another line."""
    try:
        return parse(line)
    except Malformed as problem:
        match problem.__context__:
            case JSONDecodeError(pos=at):
                raise _Problem(f"it is no JSON from character {at + 1} on") from problem
            case UnicodeDecodeError(start=at):
                raise _Problem(f"it is no UTF-8 from byte {at + 1} on") from problem
        raise


def _header_of(members: Members) -> BundleHeader:
    if members.get("format") != FORMAT:
        raise _Problem("it is not the first of a bundle")
    _, version, workspace, exported, by = _values(members, HEADER)
    if type(version) is not int or version not in (VERSION, WITH_MODULES):
        raise _Problem(f"its version is none that there is: {shown(str(version))}")
    if not isinstance(workspace, dict) or tuple(workspace) != ("id", "name"):
        raise _Problem("its Workspace has no id and name")
    identity, name = (_text(each, NAME_KEPT_BYTES_MAX) for each in workspace.values())
    return BundleHeader(identity, name, _time(exported), _text(by, NAME_KEPT_BYTES_MAX), version)


def _values(members: Members, names: tuple[str, ...]) -> tuple[Any, ...]:
    if tuple(members) != names:
        raise _Problem(f"its members are not {', '.join(names)}")
    return tuple(members.values())


def _text(value: object, bytes_max: int) -> str:
    if not isinstance(value, str):
        raise _Problem("a text is missing")
    if "\0" in value or not is_unicode(value):
        raise _Problem("a text holds a NUL, or is no Unicode")
    if size_of(value) > bytes_max:
        raise _Problem(f"a text has {size_of(value)} bytes, more than {bytes_max}")
    return value


def _slug(value: object) -> str:
    if not isinstance(value, str) or not is_slug(value):
        raise _Problem(f"{shown(str(value))} cannot be a slug")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Problem("a number is missing")
    return value


def _time(value: object) -> datetime:
    try:
        time = datetime.fromisoformat(value).astimezone(UTC) if isinstance(value, str) and value.endswith("Z") else None
    except (ValueError, OverflowError):
        time = None
    if time is None or time_text(time) != value:
        raise _Problem(f"{shown(str(value))} is no time")
    return time


def _source(held: str, value: object) -> bytes:
    if held == "text":
        if not isinstance(value, str) or not is_unicode(value):
            raise _Problem("its source is no Unicode")
        content = value.encode()
    else:
        try:
            content = b64decode(value, validate=True) if isinstance(value, str) else b""
        except (Base64Error, ValueError) as problem:
            raise _Problem("its source is no base64") from problem
    if len(content) > SOURCE_KEPT_BYTES_MAX:
        raise _Problem(f"its source has more than {SOURCE_KEPT_BYTES_MAX} bytes")
    if content_member(content) != (held, value):
        raise _Problem("its source is not spelled as in a bundle")
    return content


def _module(value: object) -> tuple[str, bytes]:
    """Read a module: its path, and its content as a source is written."""
    held = "text" if isinstance(value, dict) and "text" in value else "base64"
    if not isinstance(value, dict) or tuple(value) != ("path", held):
        raise _Problem("a module is not its path and its content")
    return _text(value["path"], NAME_KEPT_BYTES_MAX), _source(held, value[held])


def _sound(canonical: bytes) -> str:
    """Give the name of a definition. Raises _Problem for what is none, is spelled otherwise, or cannot be run."""
    try:
        definition = CompiledFlowDefinition.model_validate_json(canonical)
    except ValueError as problem:
        raise _Problem("its definition is none that this program knows") from problem
    if canonical_of(definition) != canonical:
        raise _Problem("its definition is not in its canonical form")
    why = unfit(definition)
    if why is not None:
        raise _Problem(f"its definition {why}")
    return definition.name
