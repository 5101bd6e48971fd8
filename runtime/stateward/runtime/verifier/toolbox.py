"""Everything that one attempt gives a judge: its prompt, its tools, and what makes verdicts of the call that finishes.

Invariants: one ledger for all of them; a `met` whose citations do not bear it is refused a bounded number of times and then passed on as
it is, for the runtime to weaken; the same calls in the same order give the same answers, so that a verification can be gone on with by
making them again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from stateward.runtime.core.events import Citation, FailureCause, Judgement
from stateward.runtime.ports import VerificationRequest
from stateward.runtime.session.browse import SessionView, ViewBounds
from stateward.runtime.session.masking import NO_SECRETS, Secrets
from stateward.runtime.verifier.arguments import refused
from stateward.runtime.verifier.citing import citing_faults, resolved
from stateward.runtime.verifier.declared import ToolDeclaration
from stateward.runtime.verifier.finish import FINISH, parse_finish
from stateward.runtime.verifier.ledger import Ledger
from stateward.runtime.verifier.masked import MaskedWorkdir
from stateward.runtime.verifier.prompt import prompt
from stateward.runtime.verifier.tools import VerifierTools, WorkdirReader, channel_lines

CITING_REFUSALS_MAX: Final = 2
"""How often a finish is refused for its citations."""


class AttemptToolbox:
    """The toolbox of one attempt."""

    def __init__(self, request: VerificationRequest, workdir: WorkdirReader | None, bounds: ViewBounds | None = None) -> None:
        session = SessionView(request.captured, request.aside, bounds)
        self._questions = request.questions
        self._ledger = Ledger(len(request.captured))
        self._tools = VerifierTools(request, session, workdir, self._ledger)
        channels = tuple(channel_lines(session.overview()))
        self._prompt = prompt(request, channels, (*self.declarations, FINISH), with_workdir=workdir is not None)
        self._refusals = 0

    @property
    def system(self) -> str:
        """The standing part of the prompt."""
        return self._prompt.system

    @property
    def user(self) -> str:
        """What this attempt is about."""
        return self._prompt.user

    @property
    def prompt_digest(self) -> str:
        """The digest of the prompt text and the tools."""
        return self._prompt.digest

    @property
    def declarations(self) -> Sequence[ToolDeclaration]:
        """The tools that read, and no others."""
        return self._tools.declarations

    @property
    def finish(self) -> ToolDeclaration:
        """The one call that ends."""
        return FINISH

    def call(self, name: str, arguments: object) -> str:
        """Read something. Raises ToolRefused with what to say to the model."""
        return self._tools.call(name, arguments)

    def finished(self, arguments: object) -> tuple[Judgement, ...]:
        """Make verdicts of the call that ends. Raises ToolRefused with everything that is wrong with it."""
        judgements = parse_finish(arguments, self._questions)
        faults = citing_faults(judgements, self._questions, self._ledger)
        if faults and self._refusals < CITING_REFUSALS_MAX:
            self._refusals += 1
            raise refused(faults, FailureCause.UNVERIFIABLE)
        return judgements

    def shown(self, judgements: Sequence[Judgement]) -> frozenset[Citation]:
        """Give the citations among them that name what was shown in full, word for word, and bear what they are cited for."""
        return resolved(judgements, self._questions, self._ledger)


OpenWorkdir = Callable[[VerificationRequest], AbstractContextManager[WorkdirReader]]
"""Opens the folder of the work of a request."""


@contextmanager
def toolbox(
    request: VerificationRequest, open_workdir: OpenWorkdir | None, bounds: ViewBounds | None = None, secrets: Secrets = NO_SECRETS
) -> Iterator[AttemptToolbox]:
    """Open the toolbox of an attempt, with the folder of the work where the Worker has one. Raises what opening that raises.

    None of the `secrets` is shown in the lines of a file, which can be cited all the same.
    """
    opened: AbstractContextManager[WorkdirReader | None] = nullcontext() if open_workdir is None else open_workdir(request)
    with opened as workdir:
        yield AttemptToolbox(request, None if workdir is None else MaskedWorkdir(workdir, secrets), bounds)
