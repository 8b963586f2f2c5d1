"""Values between Python and SMT-LIB text: exact in both directions, and checked against the symbol's sort."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from fairbox.encoder.errors import SolverFailure
from fairbox.smtlib_out.printer import int_text, real_text
from fairbox.solvers.protocols import Value
from fairbox.solvers.sexpr import Expr, render, shown, unquoted

_DECLARED = re.compile(r"declare-(?:const|fun)\s+(\|[^|]*\||[^\s()|]+)\s*(?:\(\s*\))?\s*(Bool|Int|Real)\s*\)")


def declared_sorts(commands: str) -> dict[str, str]:
    """The sort (Bool, Int or Real) of every constant that SMT-LIB text declares."""
    return {unquoted(name): sort for name, sort in _DECLARED.findall(commands)}


def read_values(reply: Expr, symbols: Sequence[str], sorts: Mapping[str, str]) -> dict[str, Value]:
    """The answer to `(get-value (…symbols…))`, keyed by the symbols as they were asked for.

    Raises SolverFailure when the answer is not about these symbols, in this order, or when something in it
    is no exact value (a symbol the solver left open, an algebraic number).
    """
    if not isinstance(reply, list) or len(reply) != len(symbols):
        raise SolverFailure(f"asked for {len(symbols)} values, the solver said: {shown(render(reply))}")
    values: dict[str, Value] = {}
    for symbol, pair in zip(symbols, reply, strict=True):
        if not isinstance(pair, list) or len(pair) != 2:
            raise SolverFailure(f"asked for the value of {symbol}, the solver said: {shown(render(pair))}")
        name, expr = pair
        if name != symbol and (not isinstance(name, str) or unquoted(name) != unquoted(symbol)):
            raise SolverFailure(
                f"asked for the value of {symbol}, the solver gave that of {shown(render(name))}"
            )
        sort = sorts.get(unquoted(symbol))
        # The usual case first: an enumeration reads thousands of natural numbers a second.
        if sort == "Int" and isinstance(expr, str) and expr.isdecimal() and expr.isascii():
            values[symbol] = int(expr)
        else:
            values[symbol] = read_value(expr, symbol, sort)
    return values


def read_value(expr: Expr, symbol: str, sort: str | None) -> Value:
    """One value; `sort` (None: not declared by name, so as it is printed) says what it has to be."""
    value = _number(expr) if expr not in ("true", "false") else expr == "true"
    if value is None or not _fits(value, sort):
        kind = f"{sort} value" if sort else "value"
        raise SolverFailure(f"the solver gave no {kind} for {symbol}, but: {shown(render(expr))}")
    if sort == "Real":
        return Fraction(value)
    return int(value) if sort == "Int" else value


def _fits(value: Value, sort: str | None) -> bool:
    if sort is None:
        return True
    if isinstance(value, bool) or sort == "Bool":
        return isinstance(value, bool) and sort == "Bool"
    return sort == "Real" or value == int(value)


def _number(expr: Expr) -> int | Fraction | None:
    """A numeral `3`, decimal `1.5`, `(- n)`, `(/ n d)` nested in any way solvers print; None if it is not one."""
    if isinstance(expr, str):
        if expr.isdecimal() and expr.isascii():
            return int(expr)
        whole, dot, rest = expr.partition(".")
        digits = whole + rest
        return Fraction(expr) if dot and whole and rest and digits.isdecimal() and digits.isascii() else None
    if len(expr) == 2 and expr[0] == "-":
        inner = _number(expr[1])
        return None if inner is None else -inner
    if len(expr) == 3 and expr[0] == "/":
        top, bottom = _number(expr[1]), _number(expr[2])
        return None if top is None or not bottom else Fraction(top) / bottom
    return None


def differs(values: Mapping[str, Value]) -> str:
    """The term that says: not all of the symbols have these values (`false` when there are no symbols)."""
    parts = [f"(not {_equals(symbol, value)})" for symbol, value in values.items()]
    if not parts:
        return "false"
    return parts[0] if len(parts) == 1 else f"(or {' '.join(parts)})"


def _equals(symbol: str, value: Value) -> str:
    if isinstance(value, Fraction):
        return f"(= {symbol} {real_text(value)})"
    if isinstance(value, bool):
        return symbol if value else f"(not {symbol})"
    return f"(= {symbol} {int_text(value)})"
