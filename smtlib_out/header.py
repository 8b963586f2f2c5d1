"""The head and foot of a script: metadata, the logic it needs, declarations, check-sat."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pysmt import operators as op
from pysmt.fnode import FNode

from fairbox.encoder.errors import FormulaError
from fairbox.encoder.names import is_simple, natural_key, printable
from fairbox.smtlib_out.printer import OPERATORS, leaf_text, refusal, sort_name

Status = Literal["sat", "unsat", "unknown"]

FOOTER = "(check-sat)\n(exit)\n"
PROJECTION = ":fairbox-projection"
"""The info that names the symbols a solution is about; every solver accepts it, unlike a new command."""

_CONSTANTS = frozenset([op.BOOL_CONSTANT, op.INT_CONSTANT, op.REAL_CONSTANT])
_TERMS = frozenset([op.INT_CONSTANT, op.REAL_CONSTANT, op.PLUS, op.MINUS, op.TIMES, op.TOREAL])
_LOGIC = {  # (Int occurs, Real occurs) -> logic
    (False, False): "QF_UF",
    (True, False): "QF_LIA",
    (False, True): "QF_LRA",
    (True, True): "QF_LIRA",
}
LOGICS = tuple(_LOGIC.values())
"""The logics a script of fairbox can need."""


@dataclass(frozen=True)
class Header:
    """What a script says about itself.

    `status` is the known answer; `projection` the symbols (not terms) whose values make up a solution, in the
    order they are named. Text fields may hold anything: what SMT-LIB excludes is written as `%XX`.
    """

    source: str = "fairbox"
    license: str | None = None
    category: str = "industrial"
    status: Status = "unknown"
    projection: tuple[FNode, ...] = ()


@dataclass(frozen=True)
class Survey:
    """What the formulas of one script need: its logic, and every symbol in the order of declaration."""

    logic: str
    symbols: tuple[FNode, ...]


def survey(
    formulas: Iterable[FNode], *, extra: Iterable[FNode] = (), symbols: Sequence[FNode] | None = None
) -> Survey:
    """The logic and the symbols of a script that asserts `formulas`, and may come to hold `extra` too.

    Declared are `symbols` in the order given (also those that no formula uses), or without them the symbols
    that occur, in natural order of their names. The logic is the least of QF_UF, QF_LIA, QF_LRA and QF_LIRA
    that has the sorts that occur. `extra` are formulas, terms or symbols. Raises FormulaError for a formula
    that is not of Boolean sort, what is not linear, a symbol missing from `symbols`, a symbol that cannot be
    written, and two symbols of one name.
    """
    formulas = list(formulas)
    for formula in formulas:
        if not _is_boolean(formula):
            raise FormulaError(f"{_short(formula)} is a term, not a formula; only formulas can be asserted")
    used: dict[FNode, None] = {}
    sorts: set[str] = set()
    for node in _nodes([*formulas, *extra]):
        _check_operator(node)
        kind = node.node_type()
        if kind == op.SYMBOL:
            used[node] = None
        elif kind in (op.INT_CONSTANT, op.REAL_CONSTANT):
            sorts.add("Int" if kind == op.INT_CONSTANT else "Real")
    declared = _declared(used, symbols)
    sorts.update(map(sort_name, declared))
    return Survey(_LOGIC["Int" in sorts, "Real" in sorts], declared)


def header_text(header: Header, logic: str) -> str:
    """The `set-info` and `set-logic` lines."""
    lines = [
        "(set-info :smt-lib-version 2.6)",
        f"(set-logic {logic})",
        f"(set-info :source |{printable(header.source)}|)",
    ]
    if header.license is not None:
        lines.append(f"(set-info :license {_string(header.license)})")
    lines.append(f"(set-info :category {_string(header.category)})")
    lines.append(f"(set-info :status {header.status})")
    if header.projection:
        lines.append(f"(set-info {PROJECTION} |({' '.join(map(_projected, header.projection))})|)")
    return "\n".join(lines) + "\n"


def _string(text: str) -> str:
    return '"' + printable(text).replace('"', '""') + '"'


def _projected(symbol: FNode) -> str:
    """The name of a symbol inside the bars of the projection, where no bars of its own can stand."""
    _check_symbol(symbol)
    name: str = symbol.symbol_name()
    if not is_simple(name):
        raise FormulaError(
            f"projection symbol {name!r} is not a simple SMT-LIB symbol; build its name with symbol_name"
        )
    return name


def _nodes(formulas: Iterable[FNode]) -> Iterator[FNode]:
    """Every different node, each once, in an order that depends on the formulas alone."""
    seen: set[FNode] = set()
    for formula in formulas:
        stack = [formula]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            yield node
            stack.extend(reversed(node.args()))


def _is_boolean(node: FNode) -> bool:
    while node.node_type() == op.ITE:
        node = node.arg(1)
    if node.node_type() == op.SYMBOL:
        return sort_name(node) == "Bool"
    # Operators that are not known are refused later, by name.
    return node.node_type() not in _TERMS


def _check_operator(node: FNode) -> None:
    kind = node.node_type()
    if kind == op.TIMES:
        factors = [factor for factor in node.args() if factor.node_type() not in _CONSTANTS]
        if len(factors) > 1:
            raise FormulaError(
                f"the product of {' and '.join(map(_short, factors))} is not linear; "
                "a script holds linear arithmetic only, so at most one factor may be other than a constant"
            )
    elif kind not in OPERATORS and kind not in _CONSTANTS and kind != op.SYMBOL:
        raise refusal(node)


def _short(node: FNode) -> str:
    text = str(node)
    return text if len(text) <= 60 else text[:57] + "..."


def _declared(used: dict[FNode, None], symbols: Sequence[FNode] | None) -> tuple[FNode, ...]:
    for symbol in (*used, *(symbols or ())):
        _check_symbol(symbol)
    if symbols is None:
        declared = tuple(_in_natural_order(used))
    else:
        declared = tuple(symbols)
        missing = _in_natural_order(used.keys() - set(declared))
        if missing:
            raise FormulaError(
                f"{len(missing)} symbols are used but not among the given ones, such as "
                f"{missing[0].symbol_name()!r}; add them to `symbols` or leave it out"
            )
    names = [symbol.symbol_name() for symbol in declared]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormulaError(f"symbol {twice!r} would be declared twice; names must be unique in a script")
    return declared


def _check_symbol(symbol: FNode) -> None:
    if symbol.node_type() != op.SYMBOL:
        raise FormulaError(f"{_short(symbol)} is not a symbol; only symbols are declared and projected")
    leaf_text(symbol)


def _in_natural_order(symbols: Iterable[FNode]) -> list[FNode]:
    return sorted(symbols, key=lambda symbol: natural_key(symbol.symbol_name()))
