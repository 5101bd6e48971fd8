"""A folder of sources in memory, and sources to be put into it."""

from stateward.runtime.engine.folders import FileProblem
from stateward.runtime.session.chain import digest_of

SOURCE = """schema_version = 1;
name = "%(name)s";
initial = "write";
states = {
    write = {
        instructions = "Write %(text)s";
        transitions = { ready = { target = "done"; condition = "It is written."; }; };
    };
    done = { instructions = ""; terminal = true; };
};
"""


def source(text: str = "it.", name: str = "paper") -> bytes:
    return (SOURCE % {"name": name, "text": text}).encode()


class MemoryFolder:
    """The port `SourceFolder` in memory."""

    def __init__(self, **files: bytes | FileProblem) -> None:
        self.files: dict[str, bytes | FileProblem] = dict(files)

    def read(self, name: str) -> bytes | FileProblem | None:
        return self.files.get(name)

    def write_if_unchanged(self, name: str, content: bytes, was: str | None) -> bool | FileProblem:
        there = self.files.get(name)
        if isinstance(there, FileProblem):
            return there
        if was != (None if there is None else digest_of(there)):
            return False
        self.files[name] = content
        return True

    def remove_if_unchanged(self, name: str, was: str) -> bool | FileProblem:
        there = self.files.get(name)
        if isinstance(there, FileProblem):
            return there
        if there is None or was != digest_of(there):
            return False
        del self.files[name]
        return True
