"""Kill the real program, many times, on both databases: `python -m tests.crash --kills 500`.

Tells one story after another, on SQLite and PostgreSQL in turn, until so many kills fell. A story that fails is named by its seed and
told again by `--seed SEED --kills 1`.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.crash.stories import story
from tests.postgres import server

KILLS_A_STORY = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first story; the next one has the next")
    given = parser.parse_args()
    seed, kills = given.seed, 0
    with server() as postgres:
        while kills < given.kills:
            url = postgres.database() if seed % 2 else None
            with tempfile.TemporaryDirectory(prefix="stateward-crash-") as folder:
                try:
                    kills += story(Path(folder), seed, url).tell(KILLS_A_STORY)
                except BaseException:
                    sys.stderr.write(f"the story with seed {seed} failed, on {'PostgreSQL' if url else 'SQLite'}\n")
                    raise
            sys.stdout.write(f"seed {seed}: {kills} kills so far\n")
            sys.stdout.flush()
            seed += 1
    sys.stdout.write(f"{kills} kills in {seed - given.seed} stories, nothing lost and nothing twice\n")


if __name__ == "__main__":
    main()
