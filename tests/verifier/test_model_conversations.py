"""Any conversation with a model, killed anywhere: only a call that finishes, alone and sound, is a verdict, and a kill changes nothing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from stateward.runtime.core.events import Verdict
from stateward.runtime.ports import VerifierAnswered, VerifierFailed, VerifierOutcome
from stateward.runtime.verifier.model import TRIES_MAX, Call, CallFailed, ModelBounds
from stateward.runtime.verifier.model_stop import Stop
from stateward.runtime.verifier.transcript import Asked, Ending, Mishap, Replied, Reply, ToolCall, decode
from stateward.store.memory_transcripts import MemoryTranscripts
from tests.contracts.verifiers import request_for
from tests.verifier.boxes import FINISH, Bench, results

TURNS = 5
GOOD = json.dumps(results({"y": Verdict.MET}))
CALLS = {
    "read": ("Read", "{}"),
    "overview": ("ShowOverview", "{}"),
    "no tool": ("Bash", "{}"),
    "no json": ("Read", "{"),
    "finish": (FINISH, GOOD),
    "half": (FINISH, json.dumps({"results": []})),
}
Said = tuple[str, ...] | Mishap | Ending
"""The calls of a reply; or that there is none; or how one without calls ends."""
SAID = st.one_of(
    st.lists(st.sampled_from(sorted(CALLS)), min_size=1, max_size=3).map(tuple), st.sampled_from(Mishap), st.sampled_from(Ending)
)


@dataclass
class Talks:
    """A model that says one thing after the other; what it said once to a conversation, it says to it again."""

    said: Sequence[Said]
    model: str = "test:judge"
    settings: str = "{}"
    asked: list[int] = field(default_factory=list)

    def ask(self, call: Call, stop: Stop) -> Reply:
        """Say what comes at this turn; a mishap is over when it is tried again."""
        turn = len(call.turns)
        self.asked.append(turn)
        said = self.said[turn] if turn < len(self.said) else ("finish",)
        if isinstance(said, Mishap):
            if not said.may_pass or self.asked.count(turn) == 1:
                raise CallFailed(said, str(said))
            said = ("read",)
        if isinstance(said, Ending):
            return Reply((), "", said, 1, 1, f"{turn}", "")
        calls = tuple(ToolCall(f"{turn}-{place}", *CALLS[each]) for place, each in enumerate(said))
        return Reply(calls, "", Ending.DONE, 1, 1, f"{turn}", "")


class Killed(BaseException):
    """The process ends here."""


class Dying(MemoryTranscripts):
    """Dies right after it kept so many records."""

    def __init__(self, lives: int) -> None:
        super().__init__()
        self.lives = lives

    def append(self, worker: str, attempt: str, number: int, content: bytes) -> bool:
        """Keep, and die when it is time."""
        kept = super().append(worker, attempt, number, content)
        self.lives -= 1
        if self.lives == 0:
            raise Killed
        return kept


def bench(said: Sequence[Said], kept: MemoryTranscripts | None = None) -> Bench:
    return Bench(Talks(said), transcripts=kept or MemoryTranscripts(), bounds=ModelBounds(turns=TURNS))


def told(outcome: VerifierOutcome) -> object:
    """What an outcome says, without what it cost."""
    assert isinstance(outcome, VerifierAnswered | VerifierFailed), outcome
    return outcome.judgements if isinstance(outcome, VerifierAnswered) else (outcome.cause, outcome.message)


def finishes(said: Sequence[Said]) -> bool:
    """Whether a sound call that finishes comes alone before anything ends the conversation."""
    for each in [*said, *[("finish",)] * TURNS][:TURNS]:
        if each == ("finish",):
            return True
        if isinstance(each, Ending) or (isinstance(each, Mishap) and not each.may_pass):
            return False
    return False


@settings(deadline=None, max_examples=300)
@given(st.lists(SAID, max_size=TURNS + 1))
def test_only_a_call_that_finishes_alone_and_sound_is_a_verdict(said: list[Said]) -> None:
    at = bench(said)
    outcome = at.verifier.verify(request_for())
    assert finishes(said) is isinstance(outcome, VerifierAnswered)
    records = [decode(each) for each in at.transcripts.records("w", "t")]
    assert sum(isinstance(each, Replied) for each in records) <= TURNS
    assert sum(isinstance(each, Asked) for each in records) <= TURNS * TRIES_MAX
    assert outcome.account is not None
    assert outcome.account.usage is not None
    assert sum(isinstance(each, Asked) for each in records) == outcome.account.usage.requests


@settings(deadline=None, max_examples=300)
@given(st.lists(SAID, max_size=TURNS + 1), st.lists(st.integers(1, 8), min_size=1, max_size=3))
def test_killed_anywhere_and_any_number_of_times_it_comes_to_the_same_and_asks_for_no_reply_again(
    said: list[Said], lives: list[int]
) -> None:
    undisturbed = told(bench(said).verifier.verify(request_for()))
    kept = Dying(0)
    replied: list[int] = []
    outcome: VerifierOutcome | None = None
    for each in [*lives, 0]:
        kept.lives = each
        at = bench(said, kept)
        try:
            outcome = at.verifier.verify(request_for())
        except Killed:
            outcome = None
        assert isinstance(at.caller, Talks)
        assert not set(replied) & set(at.caller.asked)
        replied = list(range(sum(isinstance(decode(record), Replied) for record in kept.records("w", "t"))))
        if outcome is not None:
            break
    assert outcome is not None
    assert undisturbed == told(outcome)
