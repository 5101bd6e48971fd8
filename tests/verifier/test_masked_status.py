"""Whether a command's exit status says how all of it went."""

import pytest

from stateward.runtime.session.browse_status import COMMAND_CHARACTERS_MAX, masked_by

MASKED = {
    "a pipe": ("run-tests | tail -20", "pipeline"),
    "a pipe of both streams": ("run-tests |& tail", "pipeline"),
    "a pipe without blanks": ("run-tests|tail", "pipeline"),
    "an or": ("run-tests || true", "`||`"),
    "a sequence": ("run-tests; echo ok", "last of several"),
    "two lines": ("run-tests\necho ok", "last of several"),
    "the background": ("run-tests &", "background"),
    "the background, then another": ("run-tests & wait", "background"),
    "a negation": ("! run-tests", "`!`"),
    "a pipe inside another shell": ("bash -c 'run-tests | tail'", "pipeline"),
    "a pipe inside another shell inside another": ("""sh -c "bash -c 'run-tests || true'" """, "`||`"),
    "a pipe on another machine": ("ssh host 'run-tests | tail'", "pipeline"),
    "a pipe after quotes": ("echo 'a' | cat", "pipeline"),
    "a pipe after a quote that does not end": ("echo 'a | cat", "pipeline"),
    "an escaped quote before a pipe": (r"echo \' | cat \'", "pipeline"),
    "pipefail that is taken back": ("set -o pipefail && set +o pipefail && run-tests | tail", "pipeline"),
    "only errexit": ("set -e; run-tests | tail", "pipeline"),
    "only pipefail": ("set -o pipefail; run-tests; echo ok", "last of several"),
    "a trap": ("set -e; trap 'exit 0' EXIT; run-tests", "last of several"),
    "arguments for a shell": (["bash", "-lc", "run-tests | tail"], "pipeline"),
    "a redirection and a pipe": ("run-tests 2>&1 | tee log", "pipeline"),
}
PLAIN = [
    "run-tests",
    "  run-tests -q ;\n",
    "cd project && run-tests",
    "run-tests 2>&1",
    "run-tests &> log",
    "run-tests >| log",
    "echo 'a | b; c || d'",
    'grep "a;b" file',
    r"grep a\|b file",
    "run-tests \\\n  -q",
    "set -euo pipefail; run-tests | tail",
    "set -o pipefail && run-tests | tail",
    "set -e\nbuild\nrun-tests",
    ["run-tests", "a | b"],
    ["bash", "-lc", "run-tests"],
    "",
]


@pytest.mark.parametrize(("command", "why"), MASKED.values(), ids=MASKED)
def test_a_status_that_may_hide_a_failure_is_marked_with_the_reason(command: str | list[str], why: str) -> None:
    assert why in (masked_by(command) or "")


@pytest.mark.parametrize("command", PLAIN)
def test_the_status_of_a_plain_command_is_its_own(command: str | list[str]) -> None:
    assert masked_by(command) is None


def test_a_command_that_is_too_long_to_look_at_is_marked() -> None:
    assert masked_by("x" * COMMAND_CHARACTERS_MAX) is None
    assert "too long" in (masked_by("x" * (COMMAND_CHARACTERS_MAX + 1)) or "")


@pytest.mark.parametrize("text", ['"' * 60_000, "'\\" * 30_000, "sh '" * 15_000, '"\\' * 30_000])
def test_no_command_takes_long_to_look_at(text: str) -> None:
    assert masked_by(text) in {None, *map(masked_by, ("a | b", "a; b"))}
