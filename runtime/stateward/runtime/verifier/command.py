"""A program as judge: it is given one request and gives one answer.

Invariants: the program lies outside of the Workdir, and its digest is what the account of an attempt names it by; it runs in an empty
folder of its own, with an environment that holds nothing of ours, without a shell, and is dead when `verify` returns; time, request and
answer are bounded; what it says is read as strictly as a model's call that finishes, and anything else is a failed verification. What it
was given and what it said is kept, so an attempt that was interrupted after its answer does not run it again.

docs/reference/command-verifier.md describes request and answer.
"""

import os
import stat
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from stateward.runtime.core.events import Account, Citation, FailureCause, FileCitation, Judgement
from stateward.runtime.core.texts import path_shown, reason, shown
from stateward.runtime.ports import (
    Transcripts,
    VerificationRequest,
    VerifierAnswered,
    VerifierCancelled,
    VerifierFailed,
    VerifierOutcome,
)
from stateward.runtime.profile import VerifierKind
from stateward.runtime.session.browse import READ_BYTES_MAX, Piece, SessionView, ViewBounds
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import reference
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.session.strict import JsonValue, Malformed, parse, render
from stateward.runtime.verifier.citing import resolved
from stateward.runtime.verifier.declared import ToolRefused
from stateward.runtime.verifier.finish import parse_finish
from stateward.runtime.verifier.held import has_any, held_data
from stateward.runtime.verifier.ledger import Ledger
from stateward.runtime.verifier.model_stop import Stop
from stateward.runtime.verifier.transcript import transcript_digest
from stateward.runtime.workdir.processes import Ended, Ran, run
from stateward.runtime.workdir.shown import Shown
from stateward.runtime.workdir.view import WorkdirView

REQUEST_VERSION: Final = 1
ENTRIES_MAX: Final = 10_000
"""Entries of one request: the newest."""
ENTRIES_BYTES_MAX: Final = 8 * 1024 * 1024
"""Their texts together; older ones are left out, and it says how many."""
PROGRAM_BYTES_MAX: Final = 1024 * 1024 * 1024
SAID_CHARACTERS_MAX: Final = 400
"""Of what a program writes on standard error, in a message."""
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Command:
    """The program that judges."""

    program: Path
    """Its whole path."""
    arguments: tuple[str, ...] = ()
    seconds: float = 300.0
    answer_bytes: int = 4 * 1024 * 1024
    digest: str = ""
    """What its bytes are to be, `sha256:…`; empty where any will do."""

    def __post_init__(self) -> None:
        if not self.program.is_absolute():
            raise ValueError("a program that judges is named by its whole path")
        if self.seconds <= 0 or self.answer_bytes <= 0:
            raise ValueError("a bound of a program that judges is more than 0")


class _Ended(Exception):
    """The verification ends without verdicts."""

    def __init__(self, cause: FailureCause, message: str) -> None:
        super().__init__(message)
        self.cause = cause
        self.message = message


class _GivenUp(Exception):
    """The verification was cancelled."""


class CommandVerifier:
    """The port `Verifier` over a program. Verifies one attempt at a time; `cancel` may be called from any thread."""

    def __init__(
        self,
        command: Command,
        transcripts: Transcripts,
        workdir: Callable[[VerificationRequest], Path | None],
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        """Take the program; `workdir` tells the folder of the work, where there is one. None of the `secrets` is told or kept."""
        self._command, self._transcripts, self._workdir, self._secrets = command, transcripts, workdir, secrets
        self._stop = Stop()

    @property
    def kind(self) -> str:
        """`command`."""
        return VerifierKind.COMMAND

    def cancel(self) -> None:
        """Give the verification up that goes on: the program is killed."""
        self._stop.stop()

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Let the program judge. Raises Fault when what it says cannot be kept; the attempt stays open then."""
        self._stop = Stop()
        ledger = Ledger(len(request.captured))
        digest = ""
        try:
            folder = self._workdir(request)
            digest = self._program_digest(folder)
            judgements = self._judgements(request, folder, ledger, digest)
        except _Ended as ended:
            return VerifierFailed(ended.cause, ended.message, self._account(request, digest))
        except _GivenUp:
            return VerifierCancelled(self._account(request, digest))
        return VerifierAnswered(judgements, self._shown(request, judgements, ledger, folder), self._account(request, digest))

    def _account(self, request: VerificationRequest, digest: str) -> Account:
        records = self._transcripts.records(request.worker, request.attempt)
        return Account(None, f"{self._command.program} {digest}".strip(), "", transcript_digest(records))

    def _program_digest(self, folder: Path | None) -> str:
        """Look the program over, and give its digest."""
        try:
            program = self._command.program.resolve(strict=True)
            if folder is not None and program.is_relative_to(folder.resolve()):
                raise _Ended(FailureCause.UNAVAILABLE, f"the program {path_shown(program)} lies in the Workdir that it is to judge")
            with program.open("rb") as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode) or about.st_size > PROGRAM_BYTES_MAX:
                    raise _Ended(FailureCause.UNAVAILABLE, f"{path_shown(program)} is no program")
                if about.st_mode & _OTHERS_MAY_WRITE:
                    raise _Ended(FailureCause.UNAVAILABLE, f"others may write the program {path_shown(program)}")
                digest = f"sha256:{file_digest(file, 'sha256').hexdigest()}"
        except OSError as problem:
            raise _Ended(FailureCause.UNAVAILABLE, f"{path_shown(self._command.program)} cannot be read: {reason(problem)}") from None
        if self._command.digest not in {"", digest}:
            raise _Ended(FailureCause.UNAVAILABLE, f"the program {path_shown(program)} is not the one that the profile names: {digest}")
        return digest

    def _judgements(self, request: VerificationRequest, folder: Path | None, ledger: Ledger, digest: str) -> tuple[Judgement, ...]:
        given = self._secrets.mask_bytes(render(_request(request, folder, ledger)))
        kept = self._transcripts.records(request.worker, request.attempt)
        if kept and kept[0] != given:
            raise _Ended(FailureCause.INCONSISTENT, "what the program was given before the interruption is not what it would be given now")
        self._keep(request, 1, given)
        output = kept[1] if len(kept) > 1 else self._answer(request, given, folder, digest)
        try:
            return parse_finish(parse(output), request.questions)
        except Malformed as problem:
            raise _Ended(FailureCause.MALFORMED, f"the answer of the program cannot be read: {problem}") from None
        except ToolRefused as refused:
            raise _Ended(refused.cause, f"the answer of the program is refused: {refused}") from None

    def _answer(self, request: VerificationRequest, given: bytes, folder: Path | None, digest: str) -> bytes:
        """Run the program, and keep what it says."""
        ran = self._ran(given)
        match ran.ended:
            case Ended.KILLED_LATE:
                raise _Ended(FailureCause.TIMEOUT, f"the program gave no answer in {self._command.seconds:g} seconds")
            case Ended.KILLED_LOUD:
                raise _Ended(FailureCause.TRUNCATED, f"the answer is over the limit of {self._command.answer_bytes} bytes")
            case Ended.KILLED_HALTED:
                raise _GivenUp
            case Ended.BY_ITSELF:
                pass
        if ran.status != 0:
            said = shown(self._secrets.mask(ran.errors.decode("utf-8", "replace")), SAID_CHARACTERS_MAX)
            raise _Ended(FailureCause.UNAVAILABLE, f"the program ended with status {ran.status} and said {said}")
        if self._program_digest(folder) != digest:
            raise _Ended(FailureCause.INCONSISTENT, "the program was replaced while it ran")
        output = self._secrets.mask_bytes(ran.output)
        self._keep(request, 2, output)
        return output

    def _ran(self, given: bytes) -> Ran:
        command = (str(self._command.program), *self._command.arguments)
        try:
            with TemporaryDirectory(prefix="stateward-judge-") as folder, _halting(self._stop) as halt:
                return run(
                    command,
                    environment={"PATH": os.defpath, "HOME": folder, "TMPDIR": folder, "LC_ALL": "C.UTF-8"},
                    seconds=self._command.seconds,
                    output_bytes=self._command.answer_bytes,
                    given=given,
                    folder=folder,
                    halt=halt,
                )
        except OSError as problem:
            raise _Ended(FailureCause.UNAVAILABLE, f"{path_shown(command[0])} cannot be run: {reason(problem)}") from None

    def _keep(self, request: VerificationRequest, number: int, content: bytes) -> None:
        if not self._transcripts.append(request.worker, request.attempt, number, content):
            raise _Ended(FailureCause.INCONSISTENT, "another process goes on with the attempt")

    def _shown(self, request: VerificationRequest, judgements: tuple[Judgement, ...], ledger: Ledger, folder: Path | None) -> Set[Citation]:
        """Give the citations that hold: entries that it was given whole, and lines of files that read as it quotes them."""
        if folder is not None:
            _look_up(judgements, ledger, folder)
        return resolved(judgements, request.questions, ledger)


@contextmanager
def _halting(stop: Stop) -> Iterator[int]:
    """Give a handle from which can be read once it is to stop."""
    reading, writing = os.pipe()
    try:
        with stop.heard(lambda: _write(writing)):
            yield reading
    finally:
        os.close(reading)
        os.close(writing)


def _write(handle: int) -> None:
    os.write(handle, b"x")


def _look_up(judgements: tuple[Judgement, ...], ledger: Ledger, folder: Path) -> None:
    """Read the lines that are cited: the program looked at the Workdir by itself, and what it quotes is held against ours."""
    try:
        with WorkdirView(folder) as view:
            for cited in {each for judgement in judgements for each in judgement.citations if isinstance(each, FileCitation)}:
                lines = view.read(cited.path, cited.first_line, cited.last_line - cited.first_line + 1)
                if isinstance(lines, Shown):
                    ledger.note_lines(lines)
    except OSError:
        return  # no folder, so no line of it is what is quoted


def _request(request: VerificationRequest, folder: Path | None, ledger: Ledger) -> JsonValue:
    """Give the request as the program reads it, and note what it is shown."""
    entries = _entries(request, ledger)
    return {
        "v": REQUEST_VERSION,
        "worker": request.worker,
        "attempt": request.attempt,
        "attempt_number": request.attempt_number,
        "flow": request.flow,
        "state": request.state,
        "visit": request.visit,
        "instructions": request.instructions,
        "reason": request.reason,
        "questions": [
            {"transition_id": each.transition, "target": each.target, "condition": each.condition, "synthetic": each.synthetic}
            for each in request.questions
        ],
        **(held_data(request) if has_any(request) else {}),
        "workdir": "" if folder is None else str(folder),
        "entries_left_out": len(request.captured) - len(entries),
        "entries": entries,
    }


def _entries(request: VerificationRequest, ledger: Ledger) -> list[JsonValue]:
    view = SessionView(request.captured, request.aside, ViewBounds(read_bytes=READ_BYTES_MAX))
    count, spent = len(request.captured), 0
    entries: list[JsonValue] = []
    for seq in range(count, max(0, count - ENTRIES_MAX), -1):
        piece = view.read(reference(seq))
        spent += len(piece.text.encode("utf-8", "surrogatepass"))
        if spent > ENTRIES_BYTES_MAX:
            break
        ledger.note_entry(piece)
        entries.append(_entry(piece))
    return entries[::-1]


def _entry(piece: Piece) -> JsonValue:
    seen = piece.seen
    return {
        "entry": seen.reference,
        "time": time_text(seen.time),
        "kind": seen.kind,
        "from": str(seen.actor_class),
        "assurance": str(seen.assurance),
        "evidence": str(seen.evidence),
        "aside": seen.aside,
        "tool": seen.tool,
        "masked": seen.masked,
        "withheld": seen.withheld,
        "text": piece.text,
        "cut": piece.end < piece.total,
    }
