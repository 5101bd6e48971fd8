"""`stateward log`, `stateward attest`, `stateward key`: show, verify and export a log, state what it holds, and keep the keys for it.

Invariants: verifying looks at the whole log and says of each of the three answers by itself; nothing is signed about a log in which
something is wrong; what a statement says is shown only after its signature was checked.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
from rich.table import Table
from rich.text import Text

from stateward.runtime.engine.view import WorkerView
from stateward.runtime.ports import Damaged, TrustedKey
from stateward.runtime.session.acts import read_head
from stateward.runtime.session.entries import Head, reference
from stateward.runtime.session.envelope import ENVELOPE_BYTES_MAX, Envelope, EnvelopeProblem, read_envelope, write_envelope
from stateward.runtime.session.export import definition_line, end_line, entry_line, header_line, pinned_by
from stateward.runtime.session.statement import About, StatementProblem, make_statement, read_statement
from stateward.runtime.session.verification import Anchor, Answer, Verification, gone, verify
from stateward.runtime.surfaces.cli.errors import STATUS_FOUND, STATUS_USAGE, Stop, faults_shown
from stateward.runtime.surfaces.cli.output import emit, emit_json
from stateward.runtime.surfaces.cli.present import plain, show, terminal_console
from stateward.runtime.surfaces.cli.show import chosen, chosen_id, log_show_command, names_a_worker, reads_a_worker
from stateward.runtime.surfaces.cli.writing import write_file
from stateward.runtime.wiring import Keys, Place, Runtime, locate, named_key, program_version, reading, signer_of

VERSION: Final = 1
_STYLES: Final = {Answer.YES: "green", Answer.NO: "red", Answer.UNKNOWN: "yellow"}


class _DefaultGroup(click.Group):
    """A group that takes what is none of its commands for the arguments of `show`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in self.get_help_option_names(ctx)):
            args = ["show", *args]
        return super().parse_args(ctx, args)


# --- log ----------------------------------------------------------------------------------------------------------------------------


@click.group("log", cls=_DefaultGroup)
def log_group() -> None:
    """Show the session log of a Worker: `stateward log [WORKER]` is `stateward log show [WORKER]`."""


log_group.add_command(log_show_command)


@log_group.command("verify")
@reads_a_worker
@click.option("--expect", metavar="HEAD", help="A head that the log had, SEQ:DIGEST, as `status --json` or an answer gave it.")
def verify_command(*, worker: str | None, workdir: Path, store: Place | None, expect: str | None, as_json: bool) -> None:
    """Verify a whole log: is it intact, is it complete, is it anchored.

    Exit status: 0 when nothing is wrong, 1 when something is.
    """
    expected = None if expect is None else _expected(expect)
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        verified = _verified_if_there(runtime, worker, expected)
    if as_json:
        emit_json(_verification_data(verified), indent=2)
    else:
        _show_verification(verified)
    if not verified.is_well:
        raise click.exceptions.Exit(STATUS_FOUND)


def _expected(text: str) -> Head:
    try:
        return read_head(text)
    except ValueError as problem:
        raise Stop(STATUS_USAGE, f"`{text}` is no head: {problem}", "give it as SEQ:DIGEST") from problem


def _verified_if_there(runtime: Runtime, named: str | None, expected: Head | None) -> Verification:
    """Verify the log that was named, also when a witness knows it and the store does not any more."""
    if named is not None and runtime.stored.ends(named) is None:
        deleted = runtime.stored.deleted(named)
        if deleted is not None:
            raise Stop(STATUS_USAGE, f"Worker {named} was deleted at {reference(deleted.seq)}", "name a Worker that is there")
        anchors = _anchors(runtime, named, expected)
        if anchors:
            return gone(named, anchors)
    return _verified(runtime, chosen_id(runtime, named), expected)


def _verified(runtime: Runtime, worker: str, expected: Head | None) -> Verification:
    # The witness first: it is written after the commit, so a log that grows meanwhile is never behind what is asked of it here.
    anchors = _anchors(runtime, worker, expected)
    ends = runtime.stored.ends(worker)
    if ends is None:
        return gone(worker, anchors)
    others = [each for each in reversed(runtime.worker_ids()) if each != worker]
    return verify(worker, ends, runtime.stored.stored(worker, ends.last), runtime.sealer.check, anchors=anchors, origins=others)


def _anchors(runtime: Runtime, worker: str, expected: Head | None) -> list[Anchor]:
    anchors = [] if expected is None else [Anchor(expected, "expected head")]
    try:
        kept = runtime.witness.last(worker)
    except Damaged as problem:
        click.echo(f"warning: {problem.message}", err=True)
        kept = None
    return anchors if kept is None else [*anchors, Anchor(kept, "witness")]


def _show_verification(verified: Verification) -> None:
    rows = Table.grid(padding=(0, 2))
    rows.add_row("Worker", plain(verified.worker))
    rows.add_row("entries", str(verified.entries))
    rows.add_row("intact", Text.assemble(_answer(verified.intact), _intact_note(verified)))
    rows.add_row("complete", Text.assemble(_answer(verified.complete)))
    rows.add_row("anchored", Text.assemble(_answer(verified.anchored), _anchored_note(verified)))
    rows.add_row("seals", _seals(verified))
    parts = [Text.assemble(f"{each.reference}  ", (f"{each.code}  ", "red"), plain(each.message)) for each in verified.findings]
    if verified.further_findings:
        parts.append(Text(f"and {verified.further_findings} more"))
    show(terminal_console(), rows, *parts)


def _answer(answer: Answer) -> tuple[str, str]:
    return str(answer), _STYLES[answer]


def _intact_note(verified: Verification) -> str:
    return f": {len(verified.unknown_keys)} of the keys it is sealed under are not here" if verified.unknown_keys else ""


def _anchored_note(verified: Verification) -> str:
    if verified.rolled_back:
        return ": it was rolled back"
    if not verified.anchors:
        return ": no head of it is kept outside the store"
    return ": " + ", ".join(f"{each.source} at {reference(each.head.seq)}" for each in verified.anchors)


def _seals(verified: Verification) -> str:
    unchecked = verified.entries - verified.sealed - verified.unsealed
    parts = [f"{verified.sealed} of {verified.entries} entries are sealed and check"]
    if verified.unsealed:
        parts.append(f"{verified.unsealed} are not sealed: whoever writes the store could write them anew")
    if verified.redacted:
        parts.append(f"a secret was taken out of {verified.redacted}")
    if unchecked:
        parts.append(f"{unchecked} do not check or cannot be checked")
    return "; ".join(parts)


def _verification_data(verified: Verification) -> dict[str, Any]:
    return {
        "version": VERSION,
        "worker": verified.worker,
        "entries": verified.entries,
        "head": None if verified.head is None else {"seq": verified.head.seq, "digest": verified.head.digest},
        "intact": str(verified.intact),
        "complete": str(verified.complete),
        "anchored": str(verified.anchored),
        "rolled_back": verified.rolled_back,
        "anchors": [{"source": each.source, "seq": each.head.seq, "digest": each.head.digest} for each in verified.anchors],
        "sealed": verified.sealed,
        "unsealed": verified.unsealed,
        "redacted": verified.redacted,
        "unknown_keys": list(verified.unknown_keys),
        "findings": [{"code": str(each.code), "seq": each.seq, "message": each.message} for each in verified.findings],
        "further_findings": verified.further_findings,
    }


@log_group.command("export")
@names_a_worker
@click.option("--output", type=click.Path(path_type=Path, allow_dash=True), default="-", metavar="FILE|-", help="Where to write it.")
def export_command(*, worker: str | None, workdir: Path, store: Place | None, output: Path) -> None:
    """Write a log with its definitions as JSON Lines, which can be verified and folded without the store."""
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        lines = _exported(runtime, chosen_id(runtime, worker))
        _write(output, (each.encode("ascii") for each in lines))


def _exported(runtime: Runtime, worker: str) -> Iterator[str]:
    ends = runtime.stored.ends(worker)
    assert ends is not None, "a listed Worker is there"
    if ends.head is None:
        raise Stop(STATUS_FOUND, f"the log of Worker {worker} has no head", "see `stateward log verify`")
    yield header_line(worker, runtime.location.workspace, ends.base, ends.head)
    pinned: dict[str, None] = {}
    for entry in runtime.sessions.entries(worker, ends.base.seq, ends.head.seq):
        pinned.update(dict.fromkeys(pinned_by(entry)))
        yield entry_line(entry)
    known = {digest: canonical for digest in pinned if (canonical := runtime.sessions.definition(digest)) is not None}
    for digest, canonical in known.items():
        yield definition_line(digest, canonical)
    yield end_line(ends.head.seq - ends.base.seq, len(known))


def _write(output: Path, chunks: Iterable[bytes]) -> None:
    """Write a file whole or not at all, or with `-` to standard output."""
    if str(output) == "-":
        for each in chunks:
            emit(each.decode("utf-8"))
        return
    failed = write_file(str(output), chunks)
    if failed is not None:
        raise Stop(failed.status, failed.message, failed.remedy)


# --- attest -------------------------------------------------------------------------------------------------------------------------


@click.group("attest")
def attest_group() -> None:
    """State what was run, signed, and check such a statement."""


@attest_group.command("create")
@names_a_worker
@click.option("--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="Where to write the statement.")
def create_command(*, worker: str | None, workdir: Path, store: Place | None, output: Path) -> None:
    """Verify a log and write a signed statement about it: an in-toto Statement in a DSSE envelope, signed with Ed25519.

    Nothing is stated about a log in which something is wrong.
    """
    with faults_shown(), reading(locate(workdir, store)) as runtime:
        verified = _verified(runtime, chosen_id(runtime, worker), None)
        if not verified.is_well:
            found = verified.findings[0]
            message = f"the log of Worker {verified.worker} is not well, so nothing is stated about it: {found.reference} {found.message}"
            raise Stop(STATUS_FOUND, message, "see `stateward log verify`")
        statement = _statement(runtime, chosen(runtime, verified.worker), verified)
        envelope = Keys().signed(statement)
    _write(output, (write_envelope(envelope),))
    if str(output) != "-":
        emit(f"stated Worker {verified.worker} up to {reference(_head(verified).seq)}, signed with key {envelope.signatures[0].key_id}\n")


def _head(verified: Verification) -> Head:
    assert verified.head is not None, "a log that is well has a head"
    return verified.head


def _statement(runtime: Runtime, view: WorkerView, verified: Verification) -> bytes:
    about = About(
        worker=view.worker,
        workspace=view.workspace,
        head=_head(verified),
        profile=view.profile,
        verifier=view.verifier,
        isolation=view.isolation,
        self_judged=view.self_judged,
        made=runtime.clock.now(),
        made_by=program_version(),
    )
    return make_statement(about, verified, runtime.sessions.entries(view.worker, 0, about.head.seq))


@attest_group.command("verify")
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--key", "named", type=click.Path(path_type=Path), multiple=True, metavar="FILE", help="A public key in PEM to trust.")
@click.option("--json", "as_json", is_flag=True, help="Write the statement as JSON, for programs.")
def attest_verify_command(path: Path, named: tuple[Path, ...], *, as_json: bool) -> None:
    """Check a statement without a network or a store, and say what it states.

    Trusted are the keys named with --key, and without any the ones of the key folder. Exit status: 0 when a trusted key signed it, 1 when
    none did.
    """
    envelope = _envelope(path)
    with faults_shown():
        trusted = tuple(map(_named_key, named)) if named else Keys().own()
    signer = signer_of(envelope, trusted)
    if signer is None:
        raise Stop(
            STATUS_FOUND, f"`{path}` is not to be trusted: {_unsigned(envelope, trusted)}", "name the signer's public key with `--key FILE`"
        )
    try:
        predicate = read_statement(envelope.payload)
    except StatementProblem as problem:
        raise Stop(STATUS_FOUND, f"`{path}` states nothing about a session: {problem}") from problem
    if as_json:
        trust = {"key": signer.id, "why": signer.why}
        emit_json({"version": VERSION, "trusted": trust, "statement": json.loads(envelope.payload)}, indent=2)
    else:
        _show_statement(signer, predicate)


def _envelope(path: Path) -> Envelope:
    try:
        with path.open("rb") as file:
            return read_envelope(file.read(ENVELOPE_BYTES_MAX + 1))
    except OSError as problem:
        raise Stop(STATUS_USAGE, f"`{path}` cannot be read: {(problem.strerror or 'no file').lower()}", "check the path") from problem
    except EnvelopeProblem as problem:
        raise Stop(STATUS_FOUND, f"`{path}` is no statement: {problem}") from problem


def _named_key(path: Path) -> TrustedKey:
    try:
        return named_key(path)
    except OSError as problem:
        raise Stop(STATUS_USAGE, f"`{path}` cannot be read: {(problem.strerror or 'no file').lower()}", "check the path") from problem
    except ValueError as problem:
        raise Stop(STATUS_USAGE, f"`{path}` is no key to trust: {problem}", "name what `stateward key public` printed") from problem


def _unsigned(envelope: Envelope, trusted: Sequence[TrustedKey]) -> str:
    if not envelope.signatures:
        return "it is not signed"
    ids = {key.id for key in trusted}
    claimed = next((each.key_id for each in envelope.signatures if each.key_id in ids), None)
    if claimed is not None:
        return f"its signature is not one of key {claimed} on what it says"
    return f"none of the {len(trusted)} trusted keys signed it" if trusted else "no key is trusted here"


def _show_statement(signer: TrustedKey, predicate: dict[str, Any]) -> None:
    rows = Table.grid(padding=(0, 2))
    rows.add_row("signed by", plain(signer.id))
    rows.add_row("trusted", plain(f"since {signer.why}"))
    verifier, log = predicate["verifier"], predicate["log"]
    rows.add_row("Worker", plain(str(predicate["worker"])))
    for flow in predicate["flows"]:
        path = " → ".join(str(step["state"]) for step in flow["path"])
        rows.add_row("flow", plain(f"{flow['selector']} revision {flow['flow_revision']}, chosen by {flow['chosen_by']}: {flow['status']}"))
        rows.add_row("definition", plain(str(flow["definition_digest"])))
        rows.add_row("path", plain(path))
    marks = [word for word, set_ in (("self-judged", verifier["self_judged"]), ("a demonstration", predicate["demonstration"])) if set_]
    rows.add_row("judged by", plain(", ".join([str(verifier["kind"]), *marks])))
    rows.add_row("operator acts", str(len(predicate["operator_acts"]) + int(predicate["operator_acts_left_out"])))
    rows.add_row("isolation", plain(str(predicate["isolation"])))
    rows.add_row("log", plain(f"{log['entries']} entries; intact {log['intact']}, complete {log['complete']}, anchored {log['anchored']}"))
    rows.add_row("evidence", plain(", ".join(f"{count} {name}" for name, count in log["evidence"].items() if count)))
    rows.add_row("made", plain(f"{predicate['made']} by {predicate['made_by']}"))
    show(terminal_console(), rows)


# --- key ----------------------------------------------------------------------------------------------------------------------------


@click.group("key")
def key_group() -> None:
    """Keep the keys that seal entries and sign statements."""


@key_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Write JSON, one key a line.")
def key_list_command(*, as_json: bool) -> None:
    """List the keys; none of their secrets is shown."""
    with faults_shown():
        keys = Keys().listed()
    if as_json:
        for each in keys:
            emit_json({"id": each.id, "purpose": each.purpose, "created": each.created, "current": each.current})
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("key", "for", "made", ""):
        table.add_column(name, no_wrap=True)
    for each in keys:
        table.add_row(plain(each.id), each.purpose, plain(each.created), "current" if each.current else "")
    show(terminal_console(), table if keys else Text("no key was made yet; the first entry that is written makes one"))


@key_group.command("rotate")
def rotate_command() -> None:
    """Make a new key that seals and a new one that signs. The others are kept for checking."""
    with faults_shown():
        seal, sign = Keys().rotate()
    emit(f"entries are sealed with {seal} from the next command on, statements signed with {sign}\n")


@key_group.command("command", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGUMENT]...")
def command_command(words: tuple[str, ...]) -> None:
    """Let the key that seals be what PROGRAM prints, such as one that asks a keyring: 32 bytes as hex digits or in base64.

    PROGRAM is named by its whole path and run without a shell. It is run once now, and nothing is changed when it gives no key.
    """
    with faults_shown():
        key_id = Keys().use_command(words)
    click.echo(f"entries are sealed with {key_id} from the next command on")


@key_group.command("public")
@click.argument("key", required=False, metavar="[KEY]")
def public_command(key: str | None) -> None:
    """Print the public half of the key that signs, or of the signing key KEY, as PEM: for whoever is to check statements."""
    with faults_shown():
        pem = Keys().public(key)
    if pem is None:
        raise Stop(STATUS_USAGE, f"no signing key `{key}` is here", "see `stateward key list`")
    emit(pem)
