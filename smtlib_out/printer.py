"""pySMT formulas as SMT-LIB 2.6 text: plain (no let), exact, the same text for the same formula.

pySMT's own printer writes rationals that strict parsers refuse; this one writes `(/ 1.0 3.0)`.
"""

from fractions import Fraction

from pysmt import operators as op
from pysmt.fnode import FNode

from fairbox.encoder.errors import FormulaError
from fairbox.encoder.names import symbol_token

OPERATORS: dict[int, str] = {
    op.AND: "and",
    op.OR: "or",
    op.NOT: "not",
    op.IMPLIES: "=>",
    op.IFF: "=",
    op.ITE: "ite",
    op.EQUALS: "=",
    op.LE: "<=",
    op.LT: "<",
    op.PLUS: "+",
    op.MINUS: "-",
    op.TIMES: "*",
    op.TOREAL: "to_real",
}
"""The operators that are printed; pySMT itself rewrites `>`, `>=` and division by a constant into these."""

_RELATIONS = frozenset([op.EQUALS, op.LE, op.LT])
_REMEMBERED_LENGTH = 400
"""Atoms up to this length are remembered; a longer one is a term of its own that rarely comes again."""

# On the stack of `Printer.print`: a remembered node and where its text began.
_Mark = tuple[FNode, int]


class Printer:
    """Prints formulas and remembers the text of their atoms, so that clauses over known atoms cost little.

    One printer serves any number of formulas, of any environments; it grows with the number of different
    atoms and literals it has seen.
    """

    def __init__(self) -> None:
        self._known: dict[FNode, str] = {}

    def print(self, formula: FNode) -> str:
        """The formula or term as SMT-LIB text.

        Raises FormulaError for an operator outside Boolean structure and linear arithmetic, naming it, and
        for a symbol whose name or sort cannot be written.
        """
        known = self._known
        pieces: list[str] = []
        stack: list[FNode | str | _Mark] = [formula]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                pieces.append(item)
                continue
            if isinstance(item, tuple):
                node, start = item
                self._remember(node, start, pieces)
                continue
            text = known.get(item)
            if text is None:
                text = self._open(item, pieces, stack)
            pieces.append(text)
        return "".join(pieces)

    def assertion(self, formula: FNode) -> str:
        """`(assert …)` and a line break."""
        return f"(assert {self.print(formula)})\n"

    def declaration(self, symbol: FNode) -> str:
        """`(declare-fun …)` and a line break."""
        return f"(declare-fun {self.print(symbol)} () {sort_name(symbol)})\n"

    def _open(self, node: FNode, pieces: list[str], stack: list[FNode | str | _Mark]) -> str:
        """The first piece of a node's text; what follows it goes on the stack."""
        operator = OPERATORS.get(node.node_type())
        if operator is None:
            return self._known.setdefault(node, leaf_text(node))
        arguments = node.args()
        if node.node_type() in _RELATIONS or (len(arguments) == 1 and arguments[0] in self._known):
            stack.append((node, len(pieces)))
        stack.append(")")
        for argument in reversed(arguments):
            stack.append(argument)
            stack.append(" ")
        return f"({operator}"

    def _remember(self, node: FNode, start: int, pieces: list[str]) -> None:
        text = "".join(pieces[start:])
        pieces[start:] = [text]
        if len(text) <= _REMEMBERED_LENGTH:
            self._known[node] = text


def leaf_text(node: FNode) -> str:
    """A symbol or constant as SMT-LIB text; FormulaError names any other operator."""
    kind = node.node_type()
    if kind == op.SYMBOL:
        sort_name(node)
        return symbol_token(node.symbol_name())
    if kind == op.BOOL_CONSTANT:
        return "true" if node.constant_value() else "false"
    if kind == op.INT_CONSTANT:
        return int_text(node.constant_value())
    if kind == op.REAL_CONSTANT:
        return real_text(node.constant_value())
    raise refusal(node)


def sort_name(symbol: FNode) -> str:
    """`Bool`, `Int` or `Real`; FormulaError for any other sort."""
    sort = str(symbol.symbol_type())
    if sort not in ("Bool", "Int", "Real"):
        raise FormulaError(
            f"symbol {symbol.symbol_name()!r} has sort {sort}; scripts hold Bool, Int and Real symbols only"
        )
    return sort


def int_text(value: int) -> str:
    """`5`, `(- 5)`."""
    return str(value) if value >= 0 else f"(- {-value})"


def real_text(value: Fraction) -> str:
    """`2.0`, `(- 2.0)`, `(/ 1.0 3.0)`, `(- (/ 1.0 3.0))`: every parser takes these for Reals."""
    magnitude = abs(value)
    text = f"{magnitude.numerator}.0"
    if magnitude.denominator != 1:
        text = f"(/ {text} {magnitude.denominator}.0)"
    return text if value >= 0 else f"(- {text})"


def refusal(node: FNode) -> FormulaError:
    """The error for a node whose operator is not one of `OPERATORS`."""
    name = op.op_to_str(node.node_type())
    known = ", ".join(dict.fromkeys(OPERATORS.values()))
    return FormulaError(
        f"operator {name} cannot be written; scripts hold quantifier-free linear formulas over {known}"
    )
