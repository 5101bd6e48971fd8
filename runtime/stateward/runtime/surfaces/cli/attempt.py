"""`stateward explain-attempt`: what a verifier was given, read and concluded, and what the runtime made of it. Only reads.

Invariant: what is told of the conversation is what its transcript holds; where the digest in the log is another, that is said.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, assert_never

import click
from rich.console import RenderableType
from rich.text import Text

from stateward.compiler.diagnostics.wording import counted
from stateward.runtime.core.events import (
    Account,
    Citation,
    EntryCitation,
    FileCitation,
    Judgement,
    Part,
    TransitionCheckPassed,
    TransitionCheckRejected,
)
from stateward.runtime.engine.attempts import Explained
from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Damaged
from stateward.runtime.profile import VerifierKind
from stateward.runtime.session.answers import ANSWER
from stateward.runtime.session.chain import time_text
from stateward.runtime.session.entries import reference
from stateward.runtime.session.event_codec import EVENT
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.options import STORE, WORKDIR
from stateward.runtime.surfaces.cli.output import emit_json
from stateward.runtime.surfaces.cli.present import WORDS, event_line, indented, part_shown, plain, show, terminal_console
from stateward.runtime.verifier.transcript import Asked, Missed, Record, Replied, Transcript, encode, transcript_digest
from stateward.runtime.wiring import Place, Runtime, locate, reading

VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Passed:
    """What went between the runtime and a program that judges."""

    what: str
    text: str


@dataclass(frozen=True, slots=True)
class _Attempt:
    worker: str
    id: str
    explained: Explained
    records: Sequence[Record | Passed]
    transcript_digest: str

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        resolved = self.explained.resolved
        return resolved.judgements if isinstance(resolved, TransitionCheckPassed | TransitionCheckRejected) else ()

    @property
    def account(self) -> Account | None:
        return None if self.explained.resolved is None else self.explained.resolved.account

    @property
    def is_kept(self) -> bool | None:
        """Whether the transcript is the one whose digest the log holds; None where the log holds none."""
        account = self.account
        return None if account is None or not account.transcript_digest else account.transcript_digest == self.transcript_digest


@click.command("explain-attempt")
@click.argument("attempt")
@WORKDIR
@STORE
@click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")
def explain_attempt_command(attempt: str, workdir: Path, store: Place | None, *, as_json: bool) -> None:
    """Show what a verifier was given, read and concluded in an attempt, and what the runtime made of it.

    ATTEMPT is its id, as `stateward status` and every answer name it.
    """
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        found = _found(runtime, attempt)
    if as_json:
        emit_json(_data(found), indent=2)
    else:
        show(terminal_console(), *_shown(found))


def _found(runtime: Runtime, attempt: str) -> _Attempt:
    damaged: Damaged | None = None
    for worker in reversed(runtime.worker_ids()):
        try:
            explained = runtime.engine.explain(worker, attempt)
        except Damaged as fault:  # it may be one of another Worker
            damaged = fault
            continue
        if explained is not None:
            return _Attempt(worker, attempt, explained, *_transcript(runtime, worker, attempt))
    if damaged is not None:
        raise damaged
    raise Stop(STATUS_USAGE, f"no Worker of this Workspace has an attempt `{attempt}`", "see `stateward status` and `stateward log`")


def _transcript(runtime: Runtime, worker: str, attempt: str) -> tuple[Sequence[Record | Passed], str]:
    """Give what is kept of the conversation, and its digest."""
    view = runtime.engine.view(worker)
    if isinstance(view, WorkerView) and view.verifier == VerifierKind.COMMAND:
        kept = runtime.transcripts.records(worker, attempt)
        texts = [Passed(what, each.decode("utf-8", "replace")) for what, each in zip(("given", "answered"), kept, strict=False)]
        return texts, transcript_digest(kept)
    transcript = Transcript(runtime.transcripts, worker, attempt)
    return transcript.records, transcript.digest


# --- for people -----------------------------------------------------------------------------------------------------------------------


def _shown(found: _Attempt) -> Iterator[RenderableType]:
    requested, asked = found.explained.requested, found.explained.asked
    yield Text.assemble("attempt ", (found.id, "bold"), f" of Worker {found.worker}")
    yield Text.assemble(
        "in ", (requested.state, "bold"), f", visit {requested.visit}, asked in {asked.reference} at {time_text(asked.time)}"
    )
    yield Text.assemble(("claimed: ", "bold"), plain(requested.reason))
    if found.explained.parts:
        yield Text.assemble("\n", ("what the runtime found by itself", "bold"))
    for part in found.explained.parts:
        yield indented(part_shown(part))
    yield Text.assemble("\n", ("what the verifier was given and read", "bold"))
    if not found.records:
        yield Text("  nothing is kept: a person or a script judged, or nothing was asked yet", "dim")
    for record in found.records:
        yield from map(indented, _record_shown(record))
    if found.is_kept is False:
        yield Text("  this is not the conversation whose digest the log holds", "red")
    yield Text.assemble("\n", ("what it concluded", "bold"))
    for judgement in found.judgements:
        yield indented(_judgement_shown(judgement))
    yield Text.assemble("\n", ("what the runtime made of it", "bold"))
    yield from map(indented, _resolved_shown(found))


def _record_shown(record: Record | Passed) -> Iterator[RenderableType]:
    match record:
        case Asked(at=at, model=model, opening=opening, returned=returned):
            yield Text.assemble((f"asked {model} at {at}", "dim"))
            for part in opening[:-1]:
                yield indented(plain(part))
            if opening:
                yield indented(Text(f"tools: {', '.join(name for name, *_ in json.loads(opening[-1]))}", "dim"))
            for each in returned:
                yield Text.assemble((f"{each.name} gave", "dim"), (" a refusal" if each.refused else "", "yellow"))
                yield indented(plain(each.text))
        case Replied(reply=reply):
            if reply.prose:
                yield indented(plain(reply.prose))
            for call in reply.calls:
                yield Text.assemble(("called ", "dim"), (call.name, "bold"), " ", plain(call.arguments))
        case Passed(what=what, text=text):
            yield Text(what, "dim")
            yield indented(plain(text))
        case Missed(mishap=mishap, message=message):
            yield Text.assemble((f"no reply, {mishap}: ", "yellow"), plain(message))
        case _:
            assert_never(record)


def _judgement_shown(given: Judgement) -> Text:
    word, style = WORDS[given.verdict]
    text = Text.assemble((given.transition, "bold"), "  ", (word, style), ": ", plain(given.rationale))
    for each in given.missing:
        text.append("\n  missing: ", "bold").append_text(plain(each))
    for citation in given.citations:
        text.append("\n  cites ", "dim").append_text(plain(_cited(citation)))
    if given.checked is not given.verdict or given.note:
        word, style = WORDS[given.checked]
        text.append("\n  checked: ", "bold").append(word, style).append_text(plain(f", {given.note}" if given.note else ""))
    return text


def _cited(citation: Citation) -> str:
    match citation:
        case EntryCitation(entry):
            return entry
        case FileCitation(path=path, first_line=first, last_line=last, quote=quote):
            return f"{path}, lines {first} to {last}: {quote}"


def _resolved_shown(found: _Attempt) -> Iterator[RenderableType]:
    resolved, answered = found.explained.resolved, found.explained.answered
    if resolved is None or answered is None:
        yield Text("the attempt is open", "yellow")
        return
    yield Text.assemble(event_line(resolved), (f"  in {answered.reference}", "dim"))
    account = found.account
    if account is None:
        return
    if account.usage is not None:
        used = account.usage
        yield Text(f"{counted(used.requests, 'request')}, {used.input_tokens} tokens in, {used.output_tokens} out")
    if account.model:
        yield plain(f"judged by {account.model}, prompt {account.prompt_digest}")


# --- for programs -----------------------------------------------------------------------------------------------------------------------


def _data(found: _Attempt) -> dict[str, Any]:
    explained = found.explained
    return {
        "version": VERSION,
        "worker": found.worker,
        "attempt": found.id,
        "requested": {
            "entry": explained.asked.reference,
            "time": time_text(explained.asked.time),
            "event": EVENT.write(explained.requested),
        },
        "parts": list(map(_part_data, explained.parts)),
        "transcript": {
            "digest": found.transcript_digest,
            "is_the_one_of_the_log": found.is_kept,
            "records": list(map(_record_data, found.records)),
        },
        "resolved": None if explained.resolved is None else EVENT.write(explained.resolved),
        "resolved_in": None if explained.answered is None else reference(explained.answered.seq),
        "told": None if explained.told is None else ANSWER.write(explained.told),
    }


def _part_data(part: Part) -> Any:
    return {
        "transition": part.transition,
        "kind": str(part.kind),
        "name": part.name,
        "verdict": str(part.verdict),
        "missing": list(part.missing),
        "entry": reference(part.entry) if part.entry else None,
    }


def _record_data(record: Record | Passed) -> Any:
    if isinstance(record, Passed):
        return {"kind": record.what, "text": record.text}
    return json.loads(encode(record))
