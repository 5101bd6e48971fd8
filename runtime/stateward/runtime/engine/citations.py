"""Which citations of a verifier's results name something that was captured.

An entry resolves when it lies at or before the capture, by its reference as it is written everywhere. Lines of a file resolve only
against what a verifier was shown of the Workdir; none of today's verifiers is shown any, so none resolves.
"""

import re
from collections.abc import Iterable
from typing import Final

from stateward.runtime.core.events import Citation, EntryCitation, FileCitation, Judgement
from stateward.runtime.session.entries import reference

_REFERENCE: Final = re.compile(r"E([0-9]{8,18})")


def unresolved(judgements: Iterable[Judgement], capture: int) -> frozenset[Citation]:
    """Give the citations that name nothing; `capture` is the number of the last captured entry."""
    cited = {each for judgement in judgements for each in judgement.citations}
    return frozenset(each for each in cited if not _resolves(each, capture))


def _resolves(citation: Citation, capture: int) -> bool:
    match citation:
        case EntryCitation(entry):
            found = _REFERENCE.fullmatch(entry)
            return found is not None and 1 <= int(found[1]) <= capture and entry == reference(int(found[1]))
        case FileCitation():
            return False
