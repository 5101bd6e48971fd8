"""A witness in memory: the port `Witness`, which a test may let know another head."""

from stateward.runtime.session.entries import Head


class HeldWitness:
    """Knows what it was told last, or what a test says."""

    def __init__(self) -> None:
        self.known: dict[str, Head] = {}

    def note(self, worker: str, head: Head) -> None:
        """Keep a head; only forward."""
        if worker not in self.known or self.known[worker].seq < head.seq:
            self.known[worker] = head

    def last(self, worker: str) -> Head | None:
        """Give the head."""
        return self.known.get(worker)

    def contradict(self, worker: str, head: Head) -> None:
        """Say nothing: nobody listens here."""

    def give_up(self, worker: str, lost: Head, head: Head) -> None:
        """Keep a head in place of the one that was given up."""
        if self.known.get(worker) == lost:
            self.known[worker] = head
