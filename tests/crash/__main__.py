"""Kill the real program, many times, on both databases: `python -m tests.crash --kills 500`.

Tells one story after another, on SQLite and PostgreSQL in turn, until so many kills fell. A story that fails is named by its seed and
told again by `--seed SEED --kills 1`. `--story saving` kills whoever saves, removes and brings flows, and now and then the server;
`--story migrating` whoever migrates a store that an older version wrote.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from tests.crash.migrating import migrating_story
from tests.crash.saving import saving_story
from tests.crash.stories import story
from tests.postgres import Server, server

KILLS_A_STORY = 12


def run(folder: Path, seed: int, postgres: Server) -> int:
    """A scripted run that is killed and resumed."""
    return story(folder, seed, postgres.database() if seed % 2 else None).tell(KILLS_A_STORY)


def saving(folder: Path, seed: int, postgres: Server) -> int:
    """A Workspace that is killed while it changes."""
    mortal = postgres if postgres.folder is not None and seed % 2 else None
    return saving_story(postgres.database() if seed % 2 else folder / "store.db", seed, mortal).tell(KILLS_A_STORY)


def migrating(folder: Path, seed: int, postgres: Server) -> int:
    """A store of an older version whose migration is killed."""
    return migrating_story(folder, seed, postgres if seed % 2 else None).tell(KILLS_A_STORY)


STORIES = {"run": run, "saving": saving, "migrating": migrating}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0, help="of the first story; the next one has the next")
    parser.add_argument("--story", choices=STORIES, default="run")
    given = parser.parse_args()
    seed, kills = given.seed, 0
    with server() as postgres:
        while kills < given.kills:
            with tempfile.TemporaryDirectory(prefix="stateward-crash-") as folder:
                try:
                    kills += STORIES[given.story](Path(folder), seed, postgres)
                except BaseException:
                    sys.stderr.write(f"the story with seed {seed} failed, on {'PostgreSQL' if seed % 2 else 'SQLite'}\n")
                    raise
            sys.stdout.write(f"seed {seed}: {kills} kills so far\n")
            sys.stdout.flush()
            seed += 1
    sys.stdout.write(f"{kills} kills in {seed - given.seed} stories, nothing lost and nothing twice\n")


if __name__ == "__main__":
    main()
