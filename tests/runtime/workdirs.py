"""A folder of the work in memory: the port `Workdirs` over texts that a test may change at any time."""

from stateward.runtime.core.events import FileCitation
from stateward.runtime.ports import TreeFacts
from stateward.runtime.session.chain import digest_of
from stateward.runtime.session.strict import JsonValue, render

ROOT = "/the/work"


class TextsWorkdir:
    """Texts by path, at ROOT; a git work tree unless a test says otherwise."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts
        self.is_tree = True
        self.is_readable = True
        self.caveats: tuple[str, ...] = ()
        self.taken = 0

    def facts(self, root: str) -> TreeFacts | None:
        """Take the facts."""
        assert root == ROOT
        self.taken += 1
        if not self.is_tree:
            return None
        digest = digest_of(render([f"{path}: {text}" for path, text in self.texts.items()])) if self.is_readable else ""
        caveats: dict[str, JsonValue] = {"caveats": list(self.caveats)} if self.caveats else {}
        return TreeFacts(digest, render({"clean": None, "files": list(self.texts), "half": "é", **caveats}))

    def shows(self, root: str, cited: FileCitation) -> bool:
        """Compare lines."""
        assert root == ROOT
        lines = self.texts.get(cited.path, "").split("\n")[cited.first_line - 1 : cited.last_line]
        return cited.quote == "\n".join(lines)
