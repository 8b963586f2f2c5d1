"""What a session may be told: checks of commands and assumptions before a solver sees them."""

import re
from collections.abc import Sequence

from fairbox.encoder.errors import FormulaError
from fairbox.solvers.sexpr import heads, is_balanced, shown, unquoted

# Commands that would answer, or change the levels, behind the session's back. The expression is a fast sieve.
_OWN = (
    "check-",
    "get-",
    "push",
    "pop",
    "reset",
    "exit",
    "echo",
    "block-model",
    "eval",
    "simplify",
    "display",
)
_MAY_BE_OWN = re.compile(rf"\(\s*(?:{'|'.join(_OWN)})")
_SYMBOL = r"(\|[^|]*\||[^\s()|\";]+)"
_LITERAL = re.compile(rf"\s*(?:{_SYMBOL}|\(\s*not\s+{_SYMBOL}\s*\))\s*")

Literal = tuple[str, bool]
"""A Boolean symbol without its bars, and whether it is asserted (not negated)."""


def check_commands(text: str) -> None:
    """Raise FormulaError when text is not complete, or holds a command that is a session's own business.

    A bracket left open would swallow the next question, and the solver would wait for ever.
    """
    if not is_balanced(text):
        raise FormulaError(f"commands are not complete, brackets or quotes do not match: {shown(text)}")
    if _MAY_BE_OWN.search(text):
        for head in heads(text):
            if head.startswith(_OWN):
                raise FormulaError(
                    f"a session takes declarations and assertions; leave out ({head} …), the session does that itself"
                )


def check_assumptions(assumptions: Sequence[str]) -> None:
    """Raise FormulaError when an assumption is not a Boolean symbol or its negation."""
    for text in assumptions:
        literal(text)


def literal(text: str) -> Literal:
    """`p` is ("p", True), `(not |p|)` is ("p", False); FormulaError for anything else."""
    found = _LITERAL.fullmatch(text)
    if found is None:
        raise FormulaError(f"an assumption is a Boolean symbol or (not symbol), not {shown(text)!r}")
    return (unquoted(found[1]), True) if found[1] else (unquoted(found[2]), False)
