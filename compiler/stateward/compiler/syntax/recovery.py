"""Parsing on after a token that does not fit: what is said, what is tried, what is skipped.

Invariants: every step takes a token or ends the parse, so that there is an end; the steps and the faults are counted, and after so many
the rest of the text is left alone; a part that was skipped is a `Bad` node in the tree.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from stateward.compiler.syntax import keys, operands, separators
from stateward.compiler.syntax.automaton import FINISHED, Automaton
from stateward.compiler.syntax.brackets import Balanced
from stateward.compiler.syntax.builders import mended_names
from stateward.compiler.syntax.faults import FAULTS_MAX, Fault
from stateward.compiler.syntax.mends import Asked, Mend
from stateward.compiler.syntax.spot import CLOSING, Construct, Spot
from stateward.compiler.syntax.tables import END
from stateward.compiler.syntax.tokens import CLOSERS, ERROR
from stateward.compiler.syntax.tree import Bad, Field, Key, Module, Object

STEPS_MAX: Final = 1_000
LINE_TOKENS_MAX: Final = 8
"""Tokens before a fault that are searched for `//`."""
DEPTHS_TRIED_MAX: Final = 50
"""States that are taken off the stack one by one in looking for where a broken part began."""
_WAYS: Final = ((ERROR,), (ERROR, "SEMICOLON"), (ERROR, "SEMICOLON", "IN", ERROR))
"""What may stand for a broken part, the last two where a field or a binding was broken off, and with it the body of a `let`."""
_ASKED: Final[tuple[Asked, ...]] = tuple(chain(operands.ASKED[:1], keys.ASKED, operands.ASKED[1:], separators.ASKED))


def _with_merge(spot: Spot, fault: Fault) -> Fault:
    """Say what `//` is where one stands before a word on the line that broke: it may have been meant to begin a comment."""
    offset = -1
    while offset > -LINE_TOKENS_MAX and spot.same_line(offset):
        if spot.kind_at(offset) == "MERGE" and spot.kind_at(offset + 1) == "NAME":
            return replace(fault, notes=(*fault.notes, "`//` merges two values; a comment begins with `#`"))
        offset -= 1
    return fault


class Recovery:
    """A parse that goes on to the end of the text whatever it holds."""

    def __init__(self, automaton: Automaton, balanced: Balanced) -> None:
        self.automaton = automaton
        self.balanced = balanced
        self.kinds = [*balanced.tokens.kinds, END]
        self.faults: list[Fault] = []
        self.left_over: int | None = None
        """Where the first token ends that stands after the expression of a module."""
        self._doubted: set[int] = set()
        """Brackets that were not meant, so that nothing is said of what stands in them."""
        self._quiet: set[int] = set()
        """Tokens at which nothing more is said, as it would only follow from what was said last."""

    def module(self, at: int) -> Module | None:
        """Parse on from token `at`; None when too much is wrong, or something stands after the expression of the module."""
        for _ in range(STEPS_MAX):
            at = self.automaton.run(self.kinds, at)
            if at == FINISHED:
                return self._unbraced(self.automaton.values[-1])
            if self.automaton.is_too_deep or len(self.faults) >= FAULTS_MAX:
                return None
            spot = Spot(self.automaton, self.balanced, self.kinds, at)
            at = self._step(spot)
            if at < 0:
                return None
        return None

    def _unbraced(self, module: Module) -> Module:
        """Take the braces off again that were put around fields."""
        body = module.body
        if not self.balanced.is_loose or not isinstance(body, Object):
            return module
        broken = body.broken + mended_names(body.fields)
        return Module(module.start, module.end, Object(body.start, body.end, body.fields, body.rest, False, broken))

    def _step(self, spot: Spot) -> int:
        """Deal with a token that does not fit; gives the token to go on with, or -1."""
        mend = next(mend for mend in (asked(spot) for asked in _ASKED) if mend)
        quiet = spot.is_reported or spot.at in self._quiet or spot.opener in self._doubted
        if spot.is_in_doubt:
            self._doubted.add(spot.opener)
        if not quiet:
            self.faults.append(_with_merge(spot, mend.fault))
        if spot.construct is Construct.LONE and self.automaton.accepts([END]):
            return self._ended(spot)
        at = self._mended(spot, mend)
        if at is None:
            return self._skipped(spot, spot.end() if mend.to_end else spot.sync())
        # After something was put in, the next token follows from the same slip where it does not fit either.
        self._quiet = {at, at + 1} if mend.insert[-1:] in {("EQUAL",), (ERROR,)} else {at}
        return at

    def _ended(self, spot: Spot) -> int:
        """Leave alone what stands after the expression of a module; the expression counts if it ends as one of the author's would."""
        self.left_over = spot.span().end
        if spot.kind_at(-1) != "RBRACE":
            return -1
        return len(self.kinds) - 1

    def _mended(self, spot: Spot, mend: Mend) -> int | None:
        """Do as a mend says, or give None where that does not fit."""
        if mend == Mend(mend.fault, to_end=mend.to_end):
            return None
        if mend.grow:
            return self._grown(spot, mend.grow)
        at = spot.at + mend.skip
        dropped = self._begun(spot) if mend.back else mend.drop
        goes_on = mend.replace or self.kinds[at]
        if not mend.skip and not self.automaton.accepts([*mend.insert, goes_on], dropped):
            return None
        if mend.insert and not self.automaton.accepts(mend.insert, dropped):
            return None
        self._drop(dropped)
        for kind in mend.insert:
            self.automaton.feed(kind, Bad(spot.gap, spot.gap) if kind == ERROR else at)
        if mend.replace:
            self.automaton.feed(mend.replace, at)
            at += 1
        return at

    def _grown(self, spot: Spot, count: int) -> int:
        """Let the name before the token reach over more tokens; it may have been made a key already."""
        tokens = self.balanced.tokens
        end = tokens.ends[spot.at - 1] = tokens.ends[spot.at + count - 1]
        last = self.automaton.values[-1]
        if isinstance(last, Key):
            self.automaton.values[-1] = Key(last.start, end, tokens.text[last.start : end], last.quoted)
        return spot.at + count

    def _begun(self, spot: Spot) -> int:
        """Count the states of the key that was begun."""
        most = len(self.automaton.states) - spot.base
        return next((count for count in range(1, most + 1) if self.automaton.accepts(["NAME"], count)), 0)

    def _drop(self, count: int) -> None:
        if count:
            del self.automaton.states[-count:], self.automaton.values[-count:]

    def _skipped(self, spot: Spot, sync: int) -> int:
        """Put a `Bad` in the place of the part that is broken, up to token `sync`, where its construct goes on."""
        self._quiet = {sync, sync + 1} if spot.construct in {Construct.PAREN, Construct.PARAMETERS} else {sync}
        if self._kept(spot, sync) or self._spoiled(spot, sync):
            return sync
        found = self._way_on(spot, self.kinds[sync])
        if not found:
            return sync + 1 if self.kinds[sync] != END else -1
        dropped, way = found
        start, end = spot.gap, spot.gap
        if sync > spot.at:
            start, end = spot.span().start, self.balanced.tokens.ends[sync - 1]
        if dropped:
            start = spot.start_of(self.automaton.values[-dropped])
        self._drop(dropped)
        for kind in way:
            self.automaton.feed(kind, Bad(start, end) if kind == ERROR else sync)
            start = end
        return sync

    def _kept(self, spot: Spot, sync: int) -> bool:
        """Keep a value that ends in braces of the author's, whatever stands after it, if the construct can go on then."""
        if spot.kind_at(-1) != "RBRACE" or spot.span(-1).start == spot.span(-1).end:
            return False
        kind = self.kinds[sync]
        if self.automaton.accepts([kind]):
            return True
        if not self.automaton.accepts(["SEMICOLON", kind]):
            return False
        self.automaton.feed("SEMICOLON", sync)
        return True

    def _spoiled(self, spot: Spot, sync: int) -> bool:
        """Take the value of a field that was thought complete for a part of what is broken, if the construct can go on then."""
        last = self.automaton.values[-1] if self.automaton.values else None
        field = last[-1] if isinstance(last, list) else last
        if not isinstance(field, Field) or spot.kind_at(-1) == "SEMICOLON" or not self.automaton.accepts([self.kinds[sync]]):
            return False
        end = max(spot.gap, self.balanced.tokens.ends[sync - 1])
        spoiled = Field(field.start, end, field.path, Bad(field.value.start, end))
        if isinstance(last, list):
            last[-1] = spoiled
        else:
            self.automaton.values[-1] = spoiled
        return True

    def _between_brackets(self, most: int) -> Iterator[int]:
        """Count states that can be taken off the stack, up to `most`, without a half of a pair of brackets staying there."""
        symbols, states = self.automaton.tables.symbols, self.automaton.states
        closed = tried = 0
        for dropped in range(most + 1):
            symbol = symbols[states[-dropped]] if dropped else ""
            closed += (symbol in CLOSING) - (symbol in CLOSERS)
            if closed <= 0 and (tried <= DEPTHS_TRIED_MAX or dropped == most):
                tried += 1
                yield dropped

    def _way_on(self, spot: Spot, kind: str) -> tuple[int, tuple[str, ...]] | None:
        """Find how much to take off the stack, and what to put there, so that a token of a kind fits."""
        automaton = self.automaton
        most = len(automaton.states) - spot.base
        for dropped in self._between_brackets(most):
            action = automaton.tables.actions[automaton.states[-1 - dropped]].get(ERROR)
            # A reduction completes what stands before the broken part; what was dropped in part cannot be completed.
            if action is not None and (action >= 0 or not dropped):
                for way in _WAYS:
                    if automaton.accepts([*way, kind], dropped):
                        return dropped, way
        return None
