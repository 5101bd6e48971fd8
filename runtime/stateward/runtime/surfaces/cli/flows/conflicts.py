"""What stands in the way of keeping, restoring or removing a flow, in one sentence, and the one next step."""

from typing import NamedTuple

from stateward.runtime.ports import Conflict
from stateward.runtime.surfaces.cli.flows.shown import author_shown


class Told(NamedTuple):
    """A fact and its remedy."""

    message: str
    remedy: str


def of_a_save(conflict: Conflict, file: str, content_digest: str) -> Told:
    """Say why what a file holds, which has this digest, was not kept."""
    slug, current = conflict.slug, conflict.current
    if current is None:
        return _nothing_there(conflict)
    base = f"`--base {current.revision}`"
    if conflict.removed is not None:
        by = author_shown(conflict.removed.author)
        return Told(f"`{slug}` was removed by {by} at revision {current.revision}", f"bring it back by saving with {base}")
    at = f"`{slug}` is at revision {current.revision} by {author_shown(current.author)}"
    if conflict.base is not None and conflict.base.content_digest == content_digest:
        message = f"{at}, and `{file}` is the same as revision {conflict.base.revision}"
        return Told(message, f"to go back to that one, save with {base}")
    if conflict.base is not None:
        message = f"{at}, and `{file}` was made from revision {conflict.base.revision}"
        return Told(message, f"bring what changed into `{file}`, then save with {base}")
    if conflict.named is not None:
        return Told(f"{at}, and there is no revision {conflict.named} of it", f"compare the two, then save with {base}")
    return Told(f"{at}, and what `{file}` was made from is not known", f"where it is meant to follow that revision, save with {base}")


def of_an_act(conflict: Conflict) -> Told:
    """Say why a flow was not restored or removed."""
    slug, current = conflict.slug, conflict.current
    if current is None:
        return _nothing_there(conflict)
    at = f"`{slug}` is at revision {current.revision} by {author_shown(current.author)}"
    if conflict.removed is not None:
        at = f"`{slug}` was removed by {author_shown(conflict.removed.author)} at revision {current.revision}"
    return Told(f"{at}, not at revision {conflict.named}", f"look at what changed, then say `--base {current.revision}`")


def _nothing_there(conflict: Conflict) -> Told:
    if conflict.named is None:
        return Told(f"no flow `{conflict.slug}` is kept", "see what there is with `stateward flow list`")
    return Told(f"no flow `{conflict.slug}` is kept, so there is no revision {conflict.named} of it", "leave out `--base`")
