"""What can still be said of a source whose brackets do not pair, or in which a string is never closed.

What stands in what is a guess then: a missing brace moves all that follows one level up or down. So only faults are told that hold on
whatever level their text stands; the others are found when the damage is mended.
"""

from collections.abc import Iterable

from stateward.compiler.flow.problems import Problem
from stateward.compiler.flow.problems.declaring import NameTwice, NoDuration, UnknownSelection, VisitsOutOfBounds
from stateward.compiler.flow.problems.meaning import InvalidIdentifier, Reserved, TextBlank, TextTooLarge
from stateward.compiler.flow.problems.shape import LaterFields, UnknownField, UnsupportedVersion, WrongType
from stateward.compiler.flow.problems.source import ImportRefused
from stateward.compiler.limits import Limits
from stateward.compiler.source import Source
from stateward.compiler.syntax.brackets import balance
from stateward.compiler.syntax.lexer import scan


def nesting_is_known(source: Source, limits: Limits) -> bool:
    """Tell whether all brackets pair and all strings are closed."""
    tokens = scan(source.text, limits.nesting)
    return not tokens.unclosed and tokens.stopped is None and not balance(tokens).faults


def on_any_level(problems: Iterable[Problem]) -> list[Problem]:
    """Give the problems that hold on whatever level their text stands."""
    return [problem for problem in problems if _holds(problem)]


def _holds(problem: Problem) -> bool:
    match problem:
        case UnknownField():
            return problem.near is not None
        case WrongType():
            return problem.wanted != "object"
        case TextBlank():
            return problem.code == "condition_empty"
        case InvalidIdentifier() | Reserved() | TextTooLarge() | UnsupportedVersion() | ImportRefused():
            return True
        case LaterFields() | NoDuration() | UnknownSelection() | VisitsOutOfBounds() | NameTwice():
            return True
        case _:
            return False
