"""What every judge keeps to: one result for each question, in order, as the core rules on them.

Whether a result makes sense is the core's to say (`core.judging`); a judge that can ask again looks there before it lets go of one.
"""

from collections.abc import Iterable

from stateward.runtime.core.events import Citation, Judgement, Verdict


def judged(transition: str, verdict: Verdict, rationale: str, missing: Iterable[str] = (), citations: Iterable[Citation] = ()) -> Judgement:
    """Make the result for a transition; that it passes the check is not the judge's to say, so `checked` is only its verdict."""
    return Judgement(transition, verdict, verdict, rationale, tuple(missing), tuple(citations))
