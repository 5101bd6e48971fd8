"""A process that judges one attempt by a model and says what came of it: `python -m tests.verifier.judging URL STORE`."""

import sys
from pathlib import Path

from stateward.runtime.core.events import Verdict
from stateward.runtime.ports import VerifierAnswered
from stateward.runtime.verifier.model_calls import LibraryCaller
from stateward.runtime.verifier.model_settings import Model
from stateward.store.database import open_store
from tests.contracts.verifiers import request_for
from tests.verifier.boxes import Bench


class Moved(LibraryCaller):
    """A model whose server has another port each time it is started."""

    @property
    def model(self) -> str:
        """Its name, the same over restarts."""
        return "test:judge-1"


def main(url: str, path: str) -> None:
    sys.stdin.readline()
    with open_store(Path(path), write=True) as store:
        outcome = Bench(Moved(Model("judge-1", url=url), None), transcripts=store.transcripts).verifier.verify(request_for())
    assert isinstance(outcome, VerifierAnswered), outcome
    assert outcome.account is not None
    assert outcome.account.usage is not None
    met = " ".join(each.transition for each in outcome.judgements if each.verdict is Verdict.MET)
    print(f"met {met}; {outcome.account.usage.requests} requests")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
