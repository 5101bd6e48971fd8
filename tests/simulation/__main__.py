"""Try many seeded histories in several processes: `python -m tests.simulation --histories 20000`.

Says how many kept the laws, and the seeds of those that did not; `--first SEED --histories 1` lives one of them again.
"""

import argparse
import os
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor
from time import monotonic

from tests.simulation.world import World, lived

SHOWN_MAX = 5
"""Failing histories whose fault is shown in full."""
CHUNK = 50


def fault_of(seed: int) -> tuple[int, str]:
    """Live a history; give what went wrong, or nothing."""
    try:
        lived(World(seed))
    except Exception:  # noqa: BLE001 -- whatever it is, it is the finding
        return seed, traceback.format_exc()
    return seed, ""


def main() -> int:
    """Run the histories that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--histories", type=int, default=20_000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    started = monotonic()
    with ProcessPoolExecutor(given.processes) as pool:
        seeds = range(given.first, given.first + given.histories)
        found = [each for each in pool.map(fault_of, seeds, chunksize=CHUNK) if each[1]]
    for seed, fault in found[:SHOWN_MAX]:
        sys.stdout.write(f"seed {seed}:\n{fault}\n")
    sys.stdout.write(f"{given.histories} histories in {monotonic() - started:.0f} s, {len(found)} broke a law")
    sys.stdout.write(f": seeds {', '.join(str(seed) for seed, _ in found)}\n" if found else "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
