"""`stateward simulate`: walk a flow by hand, to see how it feels before anybody works in it.

Invariants: nothing is written and no Worker is made; the runtime's own rules say what comes of the verdicts; every step can be taken back.
"""

from typing import Final

import click
from rich.text import Text

from stateward.compiler.cli.given import given_flow
from stateward.compiler.diagnostics.wording import listed, nearest
from stateward.runtime.core.events import Verdict
from stateward.runtime.core.refusal import Refusal
from stateward.runtime.surfaces.cli.errors import STATUS_USAGE, Stop
from stateward.runtime.surfaces.cli.output import emit
from stateward.runtime.surfaces.cli.present import indented, parts_of, plain, refusal_shown, show, terminal_console
from stateward.runtime.surfaces.cli.start import refused
from stateward.runtime.surfaces.cli.terminal import is_terminal, read_line
from stateward.runtime.surfaces.cli.values import INPUTS, Typed, values_of
from stateward.runtime.trial.machine import Moved, Stayed, Trial, begin

_MARKS: Final = {"": Verdict.MET, "!": Verdict.NOT_MET, "?": Verdict.INDETERMINATE}
_HELP: Final = (
    "the names of the transitions whose conditions are met; `name?` for one that could not be checked;"
    " Enter for none; `undo`; `path` for the way so far; `quit`"
)
_SET: Final = "set "
STEPS_MAX: Final = 10_000


@click.command("simulate")
@click.argument("path", metavar="PATH")
@INPUTS
@click.pass_context
def simulate_command(context: click.Context, path: str, inputs: tuple[Typed, ...]) -> None:
    """Walk a flow at the terminal: say which conditions are met, and see where it leads.

    PATH is a file, or a selector such as builtin:coder-review. Nothing is kept.
    """
    if not is_terminal():
        raise Stop(
            STATUS_USAGE, "verdicts are typed, and standard input is no terminal", "run it in a terminal, or write tests and use `test`"
        )
    definition = given_flow(context, path).definition
    begun = begin(definition, values_of(inputs, definition.declared_inputs))
    if isinstance(begun, Refusal):
        raise refused(begun)
    _Walk(begun).whole()


class _Walk:
    """One walk."""

    def __init__(self, trial: Trial) -> None:
        self._trials = [trial]
        self._way: list[str] = [trial.state.id]
        self._console = terminal_console()

    @property
    def _now(self) -> Trial:
        return self._trials[-1]

    def whole(self) -> None:
        """Walk until the person leaves."""
        emit(f"{_HELP}\n")
        self._show_state()
        while len(self._trials) < STEPS_MAX:
            emit("end> " if self._now.is_over else "met> ")
            line = read_line()
            if not line:
                emit("\n")
                return
            word = line.decode("utf-8", "replace").strip()
            if word in {"quit", "q", "exit"}:
                return
            self._take(word)

    def _take(self, word: str) -> None:
        if word in {"undo", "u"}:
            self._undo()
        elif word in {"path", "p"}:
            emit(f"{' -> '.join(filter(None, self._way))}\n")
        elif word in {"help", "h"}:
            emit(f"{_HELP}\n")
        elif self._now.is_over:
            emit("the flow has ended; `undo` goes back, `quit` leaves\n")
        elif word.startswith(_SET):
            self._set(word.removeprefix(_SET).strip())
        else:
            self._ask(word)

    def _set(self, given: str) -> None:
        """Set a variable; what is wrong with it is said."""
        name, sign, text = given.partition("=")
        if not sign:
            emit(f"`{plain(given)}` is no NAME=VALUE\n")
            return
        try:
            answer = self._now.set(values_of((Typed(name.strip(), text.strip()),), self._now.definition.declared_variables))
        except Stop as problem:
            emit(f"{plain(problem.message)}\n")
            return
        if isinstance(answer, Refusal):
            show(self._console, *refusal_shown(answer))
            return
        self._trials.append(answer)
        self._way.append("")  # no step of the way, and one that can be taken back
        show(self._console, Text(f"set {name.strip()}", "green"))

    def _undo(self) -> None:
        if len(self._trials) == 1:
            emit("this is the beginning\n")
            return
        self._trials.pop()
        self._way.pop()
        self._show_state()

    def _ask(self, word: str) -> None:
        verdicts = self._verdicts(word)
        if verdicts is None:
            return
        checks = self._checks
        on_ways = {name: verdict for name, verdict in verdicts.items() if name not in checks}
        trial, outcome = self._now.ask(on_ways, checks={name: verdict for name, verdict in verdicts.items() if name in checks})
        match outcome:
            case Moved(transition, state):
                self._trials.append(trial)
                self._way.append(state)
                show(self._console, Text(f"by {transition} to {state}", "green"))
                self._show_state()
            case Stayed(_, message):
                show(self._console, Text(f"stayed: {message}", "yellow"))

    def _verdicts(self, word: str) -> dict[str, Verdict] | None:
        """Read what was typed; None where it names no transition, which is said."""
        known = [*(each.id for each in self._now.state.transitions), *self._checks]
        verdicts: dict[str, Verdict] = {}
        for part in word.replace(",", " ").split():
            name = part.rstrip("!?")
            verdict = _MARKS.get(part[len(name) :])
            if name not in known or verdict is None:
                near = nearest(name, known)
                meant = f"; did you mean `{near}`?" if near is not None else f"; there are {listed(known)}"
                emit(f"`{plain(part)}` is no transition of this state{meant}\n")
                return None
            verdicts[name] = verdict
        return verdicts

    @property
    def _checks(self) -> tuple[str, ...]:
        """Give the checks of the state whose names are none of its transitions."""
        ways = self._now.state.transitions
        return tuple(dict.fromkeys(name for each in ways for name in each.checks if name not in {way.id for way in ways}))

    def _show_state(self) -> None:
        state = self._now.state
        status = f" ({self._now.instance.status.value})" if self._now.is_over else ""
        show(self._console, Text.assemble(("state ", "dim"), (state.id, "bold"), status))
        if state.instructions.strip():
            show(self._console, indented(state.instructions))
        for each in state.transitions:
            show(self._console, Text.assemble("  ", (each.id, "cyan"), f" -> {each.target}"))
            for name, text in parts_of(each):
                show(self._console, indented(Text.assemble((f"{name} ", "dim"), plain(text))))
            if each.condition and not each.synthetic:
                show(self._console, indented(each.condition))
        for name in state.writes:
            show(self._console, Text.assemble("  may be set: ", (name, "cyan")))
