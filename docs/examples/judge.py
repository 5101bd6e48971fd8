"""A judge for the examples: a program that looks at what the host recorded, and at nothing else.

It believes no claim. A way out is met when the last result of one tool, as the host recorded it, holds one text. See
docs/reference/command-verifier.md for what such a program is given and answers.
"""

import json
import sys

WANTED = {
    "submit": ("run_tests", "exit status 0"),
    "approve": ("review", "no findings"),
    "finish": ("commit", "1 file changed"),
}
"""For each way out of `coder-review`, a tool and what it has to have said."""


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    results = [each for each in request["entries"] if each["kind"] == "tool_result" and each["evidence"] == "host"]
    json.dump({"results": [judged(each["transition_id"], results) for each in request["questions"]]}, sys.stdout)


def judged(transition: str, results: list[dict[str, object]]) -> dict[str, object]:
    """Judge one way out."""
    tool, text = WANTED.get(transition, ("", ""))
    found = [each for each in results if each["tool"] == tool]
    if found and text in str(found[-1]["text"]):
        return met(transition, f"The last recorded result of `{tool}` says: {text}.", found[-1])
    return {
        "transition_id": transition,
        "verdict": "not_met",
        "rationale": "Nothing that the host recorded shows it.",
        "missing": [f"a recorded result of `{tool}` that says: {text}" if tool else "a record that shows it"],
        "citations": [],
    }


def met(transition: str, rationale: str, entry: dict[str, object]) -> dict[str, object]:
    """Answer that a condition is met, on that entry."""
    return {"transition_id": transition, "verdict": "met", "rationale": rationale, "missing": [], "citations": [{"entry": entry["entry"]}]}


main()
