"""Bindings of sessions to Workers, as small files in a folder: the port `Bindings`.

Invariants: a file is one binding and appears whole, readable by its owner alone; its name follows from host and session, of which it gives
nothing away; what is in the place of a binding and is none, or is not private, counts as none and is written over; a folder holds
BINDINGS_MAX of them at most.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from errno import ELOOP
from hashlib import sha256
from pathlib import Path
from typing import Final

from stateward.runtime.ports.bindings import ACTIVE_KEPT_MAX, BINDING_TEXT_BYTES_MAX, BINDINGS_MAX, Binding, BindingsUnusable
from stateward.runtime.session.strict import COUNT, FLAG, TEXT, Form, Malformed, Newer, members, parse, record, render, sequence, versioned
from stateward.store.private import NotPrivate, locked, make_private_folder, read_private, replace_private

FILE_BYTES_MAX: Final = 64 * 1024
SEARCHED_MAX: Final = 64
"""Bindings that are looked at for the one that was kept last in a folder, newest first."""
_SUFFIX: Final = ".json"
_FORM: Final = versioned(
    1,
    record(
        Binding,
        host=TEXT,
        session=TEXT,
        worker=TEXT,
        origin=TEXT,
        folder=TEXT,
        after=COUNT,
        run=COUNT,
        ended=TEXT,
        following=TEXT,
        blocks=COUNT,
        seen=COUNT,
        released=FLAG,
    ),
)
_ACTIVE_NAME: Final = "active"
_ACTIVE: Final[Form[tuple[str, tuple[str, ...]]]] = Form(
    lambda kept: {"v": 1, "mark": kept[0], "workers": list(kept[1])},
    lambda value: _active(members(value, ("v", "mark", "workers"))),
)


class FileBindings:
    """The port `Bindings` over a folder, which is made when something is first kept. Safe to share between processes."""

    def __init__(self, folder: Path) -> None:
        """Take the folder."""
        self._folder = folder

    def find(self, host: str, session: str) -> Binding | None:
        """Give the binding of a session."""
        found = self._read(self._name(host, session))
        return found if found is not None and (found.host, found.session) == (host, session) else None

    def bind(self, binding: Binding) -> Binding:
        """Keep a binding where the session has none."""
        self._require_short(binding)
        with self._changing():
            there = self.find(binding.host, binding.session)
            if there is None:
                self._write(binding)
                self._make_room()
        return there or binding

    def keep(self, binding: Binding) -> None:
        """Keep a binding in the place of the one that the session has."""
        self._require_short(binding)
        with self._changing():
            self._write(binding)
            self._make_room()

    def cleared(self, host: str, folder: str) -> Binding | None:
        """Give the session of that host in that folder that was kept last and from which none goes on: one that was cleared before all."""
        open_ended = [each for each in self._latest() if (each.host, each.folder, each.following) == (host, folder, "")]
        return next((each for each in open_ended if each.ended == "clear"), open_ended[0] if open_ended else None)

    def active(self, mark: str) -> tuple[str, ...] | None:
        """Give the Workers that were active while the store looked like this."""
        try:
            kept, workers = _ACTIVE.read(parse(self._data(_ACTIVE_NAME)))
        except (FileNotFoundError, NotADirectoryError, NotPrivate, Malformed, Newer):
            return None
        return workers if kept == mark else None

    def keep_active(self, mark: str, workers: Sequence[str]) -> None:
        """Remember which Workers are active while the store looks like this."""
        if len(workers) <= ACTIVE_KEPT_MAX:
            with self._changing():
                replace_private(self._folder / _ACTIVE_NAME, render(_ACTIVE.write((mark, tuple(workers)))))

    # --- files ----------------------------------------------------------------------------------------------------------------------

    def _name(self, host: str, session: str) -> str:
        return sha256(render([host, session])).hexdigest() + _SUFFIX

    def _read(self, name: str) -> Binding | None:
        try:
            return _FORM.read(parse(self._data(name)))
        except (FileNotFoundError, NotADirectoryError, NotPrivate, Malformed, Newer):
            return None

    def _data(self, name: str) -> bytes:
        try:
            return read_private(self._folder / name, FILE_BYTES_MAX)
        except (FileNotFoundError, NotADirectoryError, NotPrivate):
            raise
        except OSError as fault:
            if fault.errno == ELOOP:
                raise NotPrivate("it is a link") from fault
            raise self._unusable("read", fault) from fault

    def _require_short(self, binding: Binding) -> None:
        texts = (binding.host, binding.session, binding.worker, binding.origin, binding.folder, binding.ended, binding.following)
        if any(len(each.encode("utf-8", "surrogatepass")) > BINDING_TEXT_BYTES_MAX for each in texts):
            raise ValueError(f"a text of a binding is over the limit of {BINDING_TEXT_BYTES_MAX} bytes")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Let one process at a time change the folder."""
        try:
            make_private_folder(self._folder)
            with locked(self._folder):
                yield
        except OSError as fault:
            raise self._unusable("kept", fault) from fault

    def _write(self, binding: Binding) -> None:
        replace_private(self._folder / self._name(binding.host, binding.session), render(_FORM.write(binding)))

    def _make_room(self) -> None:
        names = [each for each in os.scandir(self._folder) if each.name.endswith(_SUFFIX) or each.name.startswith(".")]
        for each in sorted(names, key=_age)[: max(0, len(names) - BINDINGS_MAX)]:
            Path(each.path).unlink(missing_ok=True)

    def _latest(self) -> Iterator[Binding]:
        try:
            names = [each for each in os.scandir(self._folder) if each.name.endswith(_SUFFIX) and not each.name.startswith(".")]
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as fault:
            raise self._unusable("read", fault) from fault
        for each in sorted(names, key=_age, reverse=True)[:SEARCHED_MAX]:
            found = self._read(each.name)
            if found is not None:
                yield found

    def _unusable(self, doing: str, fault: OSError) -> BindingsUnusable:
        said = (fault.strerror or str(fault)).lower()
        return BindingsUnusable(
            f"the bindings of sessions in {self._folder} cannot be {doing}: {said}", "make the folder private and writable"
        )


def _active(given: dict[str, object]) -> tuple[str, tuple[str, ...]]:
    return TEXT.read(given["mark"]), sequence(TEXT).read(given["workers"])


def _age(entry: "os.DirEntry[str]") -> int:
    try:
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except FileNotFoundError:  # gone meanwhile
        return 0
