"""The scripted judge: answers out of a file. It proves nothing, and judges only under a profile marked as a demonstration."""

from stateward.runtime.core.events import EntryCitation, FailureCause, Judgement, Verdict
from stateward.runtime.ports import VerificationRequest, VerifierAnswered, VerifierFailed, VerifierOutcome
from stateward.runtime.profile import VerifierKind
from stateward.runtime.verifier.contract import judged
from stateward.runtime.verifier.script import AnswersFile, ScriptedRequest, ScriptedVerdict


class ScriptedVerifier:
    """The port `Verifier` over an answers file."""

    def __init__(self, script: AnswersFile) -> None:
        self._script = script

    @property
    def kind(self) -> str:
        """`scripted`."""
        return VerifierKind.SCRIPTED

    def verify(self, request: VerificationRequest) -> VerifierOutcome:
        """Give what the file says to the attempt of this number."""
        if request.attempt_number > len(self._script.requests):
            message = f"the answers file has {len(self._script.requests)} requests, this is attempt {request.attempt_number}"
            return VerifierFailed(FailureCause.UNAVAILABLE, message)
        scripted = self._script.requests[request.attempt_number - 1]
        if scripted.reason.strip() != request.reason:
            message = f"attempt {request.attempt_number} has another reason than request {request.attempt_number} of the answers file"
            return VerifierFailed(FailureCause.INCONSISTENT, message)
        return VerifierAnswered(_results(scripted, request))


def _results(scripted: ScriptedRequest, request: VerificationRequest) -> tuple[Judgement, ...]:
    """Answer each question, and pass on what the file says of transitions that are none here, for the core to refuse."""
    asked = [each.transition for each in request.questions]
    beside = [name for name in scripted.verdicts if name not in asked]
    return tuple(_result(name, scripted.verdicts.get(name)) for name in (*asked, *beside))


def _result(transition: str, scripted: ScriptedVerdict | None) -> Judgement:
    if scripted is None:
        return judged(transition, Verdict.NOT_MET, "not scripted", ("a verdict in the answers file",))
    return judged(transition, scripted.verdict, scripted.rationale, scripted.missing, map(EntryCitation, scripted.citations))
