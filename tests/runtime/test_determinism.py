"""The same happens in every process: no order of hashing decides anything."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from stateward.runtime.core.events import RejectionCode, TransitionCheckRejected
from tests.runtime.engines import Desk
from tests.runtime.judgements import MET

PROCESSES = 8
AMBIGUOUS = """
from tests.runtime.flows import FORK
from tests.runtime.histories import begun
from tests.runtime.judgements import MET
history = begun(FORK)
history.request("done")
print(history.answer({"z": MET, "x": MET}))
"""


def output_with(hash_seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", AMBIGUOUS], check=True, capture_output=True, text=True, env=environment, cwd=root)
    return done.stdout


def test_two_conditions_met_are_refused_with_the_same_words_in_every_process() -> None:
    with ThreadPoolExecutor(4) as threads:
        outputs = set(threads.map(output_with, range(PROCESSES)))
    (output,) = outputs
    assert "2 conditions are met: `x` and `z`" in output


def test_the_reason_for_refusing_them_is_in_the_log() -> None:
    desk = Desk()
    desk.request("done", {"z": MET, "x": MET})
    rejected = [each.event for each in desk.engine.events(desk.worker)][-1]
    assert isinstance(rejected, TransitionCheckRejected)
    assert (RejectionCode.MULTIPLE_CONDITIONS_MET, "2 conditions are met: `x` and `z`") == (rejected.code, rejected.message)
