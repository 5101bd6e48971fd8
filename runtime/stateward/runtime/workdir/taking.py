"""Take the facts of a Workdir: compare its files with the commit that is checked out, each by its contents.

Invariants: the comparison uses an index of our own, made from the commit, so every file is read and no flag or time of the repository's
index is believed; nothing in the Workdir is written; nothing of what git complains about is passed on.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from stateward.runtime.core.texts import size_of
from stateward.runtime.workdir.beneath import Opener
from stateward.runtime.workdir.dirty import Digester
from stateward.runtime.workdir.facts import (
    Caveat,
    Change,
    ChangeKind,
    FactsUnknown,
    NoWorkTree,
    TakenFacts,
    Upstream,
    WorkdirFacts,
    clean_of,
)
from stateward.runtime.workdir.git import Git, GitFailed, find_git, private_git, write_config
from stateward.runtime.workdir.limits import HIDDEN_LISTED_MAX, NAMED_BYTES_MAX, REF_BYTES_MAX, FactsBounds
from stateward.runtime.workdir.repository import Checkout, NotATop, Repository, Unknown, find_repository
from stateward.runtime.workdir.root import Root, is_outside_name

_KEPT_SETTINGS: Final = ("core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.precomposeunicode", "core.symlinks")
"""Settings of the repository that say what its file system and its line ends are like; they name no program and no file."""
_KEPT_VALUES: Final = frozenset({"true", "false", "input", "lf", "crlf", "native"})
_GITLINK: Final = b"160000"
_HEADS: Final = "refs/heads/"


def facts(root: Path, bounds: FactsBounds | None = None, git: str | None = None, opener: Opener | None = None) -> TakenFacts:
    """Take the facts of a Workdir. Never fails: what cannot be taken is a value that says why.

    `git` is the whole path of the program, by default that of a usual place.
    """
    try:
        root = Path(os.path.realpath(root))
        with find_repository(root) as repository:
            program = git or find_git()
            if program is None:
                return FactsUnknown("git is not installed in a usual place")
            taken = bounds or FactsBounds()
            with private_git(program, taken) as asked, Root.at(root, opener) as opened:
                found = _Taking(root, opened, repository, asked, taken).facts()
                if not os.path.samestat(root.stat(), os.fstat(opened.handle)):
                    return FactsUnknown("the folder was replaced while its facts were taken")
                return found
    except NotATop as problem:
        return NoWorkTree(str(problem))
    except (Unknown, GitFailed) as problem:
        return FactsUnknown(str(problem))
    except OSError as fault:
        return FactsUnknown(f"the facts cannot be taken: {(fault.strerror or 'unknown').lower()}")


@dataclass(slots=True)
class _Taking:
    """One taking of facts."""

    root: Path
    opened: Root
    repository: Repository
    git: Git
    bounds: FactsBounds
    caveats: set[Caveat] = field(default_factory=set)
    settings: Mapping[str, str] = field(default_factory=dict)
    hidden: list[str] = field(default_factory=list)

    def facts(self) -> WorkdirFacts:
        """Take them. Raises Unknown, GitFailed and OSError."""
        self.repository.vet_objects()
        self.settings = self._settings()
        if self.settings.get("core.bare", "false").lower() in {"true", "yes", "on", "1"}:
            raise NotATop("it is a bare repository")
        checkout = self.repository.checkout()
        self._prepare(checkout)
        tracked = self._tracked()
        changes = self._changes(tracked)
        staged = self._staged(checkout)
        self._name(changes, staged)
        if len(changes) > self.bounds.changes:
            raise Unknown(f"more than {self.bounds.changes} files are changed")
        self._note_filters(changes)
        digester = Digester(self.opened, self.bounds.digest_bytes, self.git.deadline)
        dirty = digester.digest(sorted(changes.items()), staged)
        self.caveats |= digester.caveats
        upstream = self._upstream(checkout)
        return WorkdirFacts(
            head=checkout.commit,
            branch=checkout.ref.removeprefix(_HEADS) if checkout.ref else None,
            clean=clean_of(len(changes), frozenset(self.caveats)),
            changed=tuple(Change(path, changes[path]) for path in _first(sorted(changes), self.bounds.changes_listed)),
            changed_count=len(changes),
            dirty_digest=dirty,
            hidden=_first(self.hidden, HIDDEN_LISTED_MAX),
            upstream=upstream,
            caveats=tuple(sorted(self.caveats)),
        )

    def _settings(self) -> Mapping[str, str]:
        """Read the configuration as git spells it: the last value of each name, in a form that no program runs for."""
        settings: dict[str, str] = {}
        for text in self.repository.config():
            said = self.git.ask("config", "--file", "-", "--no-includes", "--list", "-z", given=text)
            for each in _texts(said):
                key, _, value = each.partition("\n")
                settings[key] = value if "\n" in each else "true"
        return settings

    def _prepare(self, checkout: Checkout) -> None:
        """Fill our git directory: which objects, which commit, which settings; and note what the repository's own has besides."""
        if self.settings.get("extensions.refstorage", "files") != "files":
            raise Unknown("the repository keeps its refs in a form that is not read here")
        object_format = self.settings.get("extensions.objectformat", "sha1")
        if object_format not in {"sha1", "sha256"}:
            raise Unknown("the repository names its objects in a way that is not known here")
        kept = {key: value for key in _KEPT_SETTINGS if (value := self.settings.get(key, "").lower()) in _KEPT_VALUES}
        write_config(self.git.folder, kept, object_format=object_format)
        (self.git.folder / "HEAD").write_text(f"{checkout.commit or 'ref: refs/heads/none'}\n", "ascii")
        (self.git.folder / "info" / "exclude").write_bytes(self.repository.excludes())
        shallow = self.repository.shallow()
        if shallow is not None:
            (self.git.folder / "shallow").write_bytes(shallow)
        self.git = self.git.over(self.root, self.repository.objects)
        if checkout.commit is not None:
            self.git.ask("read-tree", checkout.commit)
        self._note(Caveat.ATTRIBUTES, self.repository.has_own_attributes())
        self._note(Caveat.REPLACE_REFS, self.repository.has_replaced_objects())
        self._note(Caveat.FILE_MODES, kept.get("core.filemode") == "false")
        self._note(Caveat.CONVERSIONS, kept.get("core.autocrlf", "false") != "false")

    def _note(self, caveat: Caveat, holds: bool) -> None:
        if holds:
            self.caveats.add(caveat)

    def _tracked(self) -> frozenset[str]:
        """Give the paths that the commit has."""
        said = self.git.ask("ls-files", "--stage", "-z")
        entries = [each.partition(b"\t") for each in said.split(b"\0") if each]
        self._note(Caveat.SUBMODULES, any(head.startswith(_GITLINK) for head, _, _ in entries))
        return frozenset(_text(path) for _, _, path in entries)

    def _changes(self, tracked: frozenset[str]) -> dict[str, ChangeKind]:
        """Compare the work tree with the commit."""
        arguments = ("--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=all", "--no-renames")
        changes: dict[str, ChangeKind] = {}
        ignored: list[str] = []
        for each in _texts(self.git.ask("status", *arguments)):
            match each[0]:
                case "?":
                    changes[each[2:]] = ChangeKind.UNTRACKED
                case "!":
                    ignored.append(each[2:])
                case "1":
                    # "1 XY sub mH mI mW hH hI path", of which the second letter tells of the work tree.
                    _, letters, _, _, _, _, _, _, path = each.split(" ", 8)
                    changes[path] = ChangeKind.DELETED if letters[1] == "D" else ChangeKind.MODIFIED
                case _:
                    raise Unknown("git tells of a change that is not known here")
        self._note_hidden([each for each in ignored if not _is_outside(each)], tracked)
        self._note(Caveat.NESTED_REPOSITORIES, any(each.endswith("/") for each in changes))
        return {path: kind for path, kind in changes.items() if not _is_outside(path)}

    def _note_hidden(self, ignored: Sequence[str], tracked: frozenset[str]) -> None:
        """Find out what is hidden by patterns that are not part of the commit."""
        if not ignored:
            return
        given = b"".join(_bytes(each) + b"\0" for each in ignored)
        said = _texts(self.git.ask("check-ignore", "--no-index", "--verbose", "--non-matching", "-z", "--stdin", given=given))
        # Four texts for each path: the file of the pattern, its line, the pattern, the path; no file for a folder of which all is hidden.
        answers = zip(said[0::4], said[3::4], strict=True)
        self.hidden = sorted(path for source, path in answers if source and source not in tracked)
        self._note(Caveat.EXCLUDES, bool(self.hidden))

    def _staged(self, checkout: Checkout) -> dict[str, bytes]:
        """Compare the repository's index with the commit: for each path that differs, what git says of it."""
        content = self.repository.index()
        self._note(Caveat.INDEX_UNREAD, content is None and checkout.commit is not None)
        if content is None:
            return {}
        index = self.git.folder / "index.theirs"
        index.write_bytes(content)
        try:
            flags = _texts(self.git.ask("ls-files", "-v", "-z", index=index))
            self._note(Caveat.INDEX_FLAGS, any(each[0].islower() or each[0] == "S" for each in flags))
            if checkout.commit is None:
                said = self.git.ask("ls-files", "--stage", "-z", index=index)
                return {_text(path): b"A " + head for each in said.split(b"\0") if each for head, _, path in (each.partition(b"\t"),)}
            raw = self.git.ask("diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", checkout.commit, index=index)
        except GitFailed:
            self._note(Caveat.INDEX_UNREAD, holds=True)
            return {}
        # ":mode mode id id letter", path, and so on.
        pieces = raw.split(b"\0")
        return {_text(path): head[-1:] + b" " + head for head, path in zip(pieces[0::2], pieces[1::2], strict=False)}

    def _name(self, changes: dict[str, ChangeKind], staged: Mapping[str, bytes]) -> None:
        """Tell what is staged from what is not."""
        for path, entry in staged.items():
            if path in changes:
                changes[path] = ChangeKind.ADDED if changes[path] is ChangeKind.UNTRACKED else changes[path]
            elif not _is_outside(path):
                changes[path] = ChangeKind.ADDED if entry.startswith(b"A") else ChangeKind.STAGED

    def _note_filters(self, changes: Mapping[str, ChangeKind]) -> None:
        modified = [path for path, kind in changes.items() if kind is ChangeKind.MODIFIED]
        if modified:
            given = b"".join(_bytes(each) + b"\0" for each in modified)
            said = _texts(self.git.ask("check-attr", "-z", "--stdin", "filter", given=given))
            self._note(Caveat.FILTERS, any(value not in {"unspecified", "unset", "set"} for value in said[2::3]))

    def _upstream(self, checkout: Checkout) -> Upstream | None:
        if checkout.ref is None or not checkout.ref.startswith(_HEADS):
            return None
        branch = checkout.ref.removeprefix(_HEADS)
        remote, merge = (self.settings.get(f"branch.{branch}.{name}", "") for name in ("remote", "merge"))
        ref = merge if remote == "." else _tracking(self.settings.get(f"remote.{remote}.fetch", ""), merge)
        if not ref.startswith("refs/") or ".." in ref or len(ref) > REF_BYTES_MAX:
            return None
        try:
            commit = self.repository.resolve(ref)
        except Unknown:  # whatever is wrong with it, the other facts hold
            commit = None
        ahead, behind = self._apart(checkout.commit, commit)
        return Upstream(ref, commit, ahead, behind)

    def _apart(self, commit: str | None, other: str | None) -> tuple[int | None, int | None]:
        if commit is None or other is None:
            return None, None
        try:
            said = self.git.ask("rev-list", "--count", "--left-right", f"{commit}...{other}")
        except GitFailed:  # a history that is not all here
            return None, None
        ahead, behind = said.split()
        return int(ahead), int(behind)


def _first(paths: Sequence[str], most: int) -> tuple[str, ...]:
    """Give the first paths, as many as may be named."""
    room, named = NAMED_BYTES_MAX, 0
    for path in paths[:most]:
        room -= size_of(path)
        if room < 0:
            break
        named += 1
    return tuple(paths[:named])


def _tracking(spec: str, merge: str) -> str:
    """Give the local ref that a fetch specification stores a remote one in; empty when it stores it nowhere."""
    source, _, target = spec.removeprefix("+").partition(":")
    if source == merge:
        return target
    if source.endswith("*") and target.endswith("*") and merge.startswith(source[:-1]):
        return target[:-1] + merge[len(source) - 1 :]
    return ""


def _is_outside(path: str) -> bool:
    return any(is_outside_name(part) for part in path.split("/"))


def _texts(said: bytes) -> list[str]:
    """Split what git ends with zero bytes."""
    return [_text(each) for each in said.split(b"\0")[:-1]]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
