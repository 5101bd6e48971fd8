"""Which citations of a verifier's results name something that was captured.

An entry resolves when it lies at or before the capture and was not set aside, by its reference as it is written everywhere. Lines of
a file resolve only against what a verifier was shown of the Workdir; none of today's verifiers is shown any, so none resolves.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from stateward.runtime.core.events import Citation, EntryCitation, FileCitation, Judgement
from stateward.runtime.core.instance import Aside, is_aside
from stateward.runtime.session.entries import reference

_REFERENCE: Final = re.compile(r"E([0-9]{8,18})")


def unresolved(judgements: Iterable[Judgement], capture: int, aside: Sequence[Aside] = ()) -> frozenset[Citation]:
    """Give the citations that name nothing that counts; `capture` is the number of the last captured entry."""
    cited = {each for judgement in judgements for each in judgement.citations}
    return frozenset(each for each in cited if not _resolves(each, capture, aside))


def _resolves(citation: Citation, capture: int, aside: Sequence[Aside]) -> bool:
    match citation:
        case EntryCitation(entry):
            found = _REFERENCE.fullmatch(entry)
            if found is None or entry != reference(seq := int(found[1])):
                return False
            return 1 <= seq <= capture and not is_aside(aside, seq)
        case FileCitation():
            return False
