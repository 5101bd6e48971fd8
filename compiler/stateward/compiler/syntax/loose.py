"""A broken module without braces, put into braces, so that one set of rules mends both.

Invariants: the braces and the semicolons put in are empty; a semicolon is put in only where the author may leave it out.
"""

from typing import Final

from stateward.compiler.syntax.brackets import Balanced, number_partners
from stateward.compiler.syntax.tokens import OPERAND_ENDS, PARAMETERS, Tokens, starts_field

OUTER_REST: Final = "OUTER_REST"
"""The kind of `...` outside of all brackets, where no rest may stand."""
_NO_FIELD: Final = frozenset(
    {"LBRACE", "LSQB", "LPAR", PARAMETERS, "FLOAT", "REGEX", "MATCH", "MINUS", "NOT", "LT", "GT", "LE", "GE"}
)  # fmt: skip
"""What no author means to begin a field with."""


def seems_loose(balanced: Balanced) -> bool:
    """Tell whether a text that does not parse was to be fields without braces: whether outside of all brackets it has one."""
    kinds = balanced.tokens.kinds
    if not kinds or kinds[0] in _NO_FIELD or (kinds[0] == "LET" and kinds[1:2] != ["EQUAL"]):
        return False
    at = 0 if "EQUAL" in kinds or "COLON" in kinds else len(kinds)
    while at < len(kinds):
        if kinds[at] == "EQUAL" or (kinds[at] == "COLON" and at == 1):
            return True
        at = max(at, balanced.partner[at]) + 1
    return False


def braced(balanced: Balanced) -> Balanced:
    """Put a module without braces into braces."""
    tokens = balanced.tokens
    made = Tokens(tokens.text, comments=tokens.comments, unclosed=tokens.unclosed)
    after_strays = set()
    made.add("LBRACE", tokens.starts[0], tokens.starts[0])
    closer = -1
    open_lets = 0
    in_value = False
    for at, kind in enumerate(tokens.kinds):
        outer_rest = False
        if at > closer:
            closer = balanced.partner[at]
            open_lets = max(0, open_lets + (kind == "LET") - (kind == "IN"))
            if in_value and not open_lets and tokens.kinds[at - 1] in OPERAND_ENDS and starts_field(tokens.kinds, at):
                made.add("SEMICOLON", tokens.ends[at - 1], tokens.ends[at - 1])
            in_value = kind == "EQUAL" or (in_value and kind != "SEMICOLON")
            outer_rest = kind == "ELLIPSIS"
        if at in balanced.after_strays:
            after_strays.add(len(made.kinds))
        made.add(OUTER_REST if outer_rest else kind, tokens.starts[at], tokens.ends[at])
    made.add("RBRACE", tokens.ends[-1], tokens.ends[-1])
    result = Balanced(made, balanced.faults, after_strays=after_strays, is_loose=True)
    number_partners(result)
    return result
