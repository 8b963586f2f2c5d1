"""What solvers answer beyond statuses and values: errors, reasons, assumptions, statistics."""

from collections.abc import Iterator, Sequence

from fairbox.encoder.errors import FormulaError, SolverFailure
from fairbox.solvers.commands import literal
from fairbox.solvers.sexpr import Expr, render, shown, string_text

# A word in the solver's own reason, and the reason it stands for. Solvers cancel themselves at their time limit.
_REASONS = (
    ("timeout", "timeout"),
    ("canceled", "timeout"),
    ("memout", "memout"),
    ("memory", "memout"),
    ("incomplete", "incomplete"),
    ("interrupt", "interrupted"),
)


def error_words(reply: Expr) -> str | None:
    """What an `(error "…")` says; None when the reply is none."""
    if not isinstance(reply, list) or not reply or reply[0] != "error":
        return None
    return shown(" ".join(string_text(p) if isinstance(p, str) else render(p) for p in reply[1:]), 400)


def info_text(reply: Expr) -> str:
    """What an answer to `(get-info :keyword)`, which is `(:keyword value)`, gives as its value."""
    words = reply[1] if isinstance(reply, list) and len(reply) == 2 else reply
    return shown(string_text(words) if isinstance(words, str) else render(words))


def standard_reason(reply: Expr) -> str:
    """The answer to `(get-info :reason-unknown)` in one of the words of `Answer`, or the solver's own."""
    text = info_text(reply)
    return next((reason for word, reason in _REASONS if word in text.lower()), text)


def named_assumptions(reply: Expr, given: Sequence[str]) -> list[str]:
    """The answer to `(get-unsat-assumptions)`, each assumption as it was given.

    Raises SolverFailure when it names others.
    """
    known = {literal(text): text for text in given}
    try:
        return [known[literal(render(item))] for item in (reply if isinstance(reply, list) else [reply])]
    except (KeyError, FormulaError) as error:
        raise SolverFailure(
            f"asked which assumptions are unsat, it named others: {shown(render(reply))}"
        ) from error


def counters(reply: Expr) -> dict[str, int | float | str]:
    """The answer to `(get-info :all-statistics)`: `(:name value …)`, or cvc5's list of pairs."""
    items = reply if isinstance(reply, list) else []
    if len(items) == 2 and isinstance(items[1], list):
        return {
            _name(pair[0]): _counter(pair[1])
            for pair in items[1]
            if isinstance(pair, list) and len(pair) == 2
        }
    return {_name(name): _counter(value) for name, value in _pairs(items)}


def _pairs(items: list[Expr]) -> Iterator[tuple[Expr, Expr]]:
    return zip(items[::2], items[1::2], strict=False)


def _name(expr: Expr) -> str:
    return string_text(render(expr)).removeprefix(":")


def _counter(expr: Expr) -> int | float | str:
    text = string_text(render(expr))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
