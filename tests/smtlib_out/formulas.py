"""Random linear formulas with odd names, and a fixed corpus that shows every printed form."""

from collections.abc import Callable
from fractions import Fraction

from hypothesis import strategies as st
from pysmt.environment import Environment
from pysmt.fnode import FNode
from pysmt.formula import FormulaManager
from pysmt.typing import BOOL, INT, REAL

ODD_NAMES = (
    "p!0", "p!10", "x!age", "a b", "x!(", "has;comment", "a\"quote\"", "a'prime", ":keyword", "#b01", "-5",
    "5a", "1e5", "1/2", "assert", "check-sat", "exit", "?x", "~", "$%25", "%41", "pi", "if", "NaN", "lambda",
    "x,y", "{brace}", "[0]", "`tick`", "=x", "x=>y", "sat", "model",
)  # fmt: skip
"""Legal names that trip printers and parsers; simple symbols and such that need bars."""


def manager() -> FormulaManager:
    """The formula manager of a new environment."""
    return Environment().formula_manager


@st.composite
def formulas(draw: st.DrawFn) -> tuple[Environment, FNode]:
    """An environment and a formula over some of its Bool, Int and Real symbols."""
    environment = Environment()
    m = environment.formula_manager
    names = draw(st.permutations(ODD_NAMES))
    sorts = draw(st.sampled_from([(BOOL,), (BOOL, INT), (BOOL, REAL), (INT, REAL), (BOOL, INT, REAL)]))
    symbols = {sort: [m.Symbol(names.pop(), sort) for _ in range(2)] for sort in sorts}
    return environment, draw(_boolean(m, symbols, draw(st.integers(0, 4))))


Symbols = dict[object, list[FNode]]
RATIONALS = st.fractions(max_denominator=50) | st.sampled_from(
    [Fraction(0), Fraction(-1), Fraction(1, 3), Fraction(-7, 2**60), Fraction(2**70), Fraction(0.1)]
)
INTEGERS = st.integers(-9, 9) | st.integers(-(2**70), 2**70)


@st.composite
def _boolean(draw: st.DrawFn, m: FormulaManager, symbols: Symbols, depth: int) -> FNode:
    sorts = [sort for sort in (INT, REAL) if sort in symbols]
    leaves: list[str] = ["relation"] * bool(sorts) + ["symbol"] * (BOOL in symbols) + ["constant"]
    kind = draw(
        st.sampled_from(leaves if depth == 0 else [*leaves[:-1], "and", "or", "not", "=>", "=", "ite"])
    )

    def below() -> FNode:
        return draw(_boolean(m, symbols, depth - 1))

    if kind == "constant":
        return m.Bool(draw(st.booleans()))
    if kind == "symbol":
        return draw(st.sampled_from(symbols[BOOL]))
    if kind == "relation":
        sort = draw(st.sampled_from(sorts))
        left, right = (draw(_term(m, symbols, sort, max(0, depth - 1))) for _ in range(2))
        relation = draw(st.sampled_from([m.LE, m.LT, m.GE, m.GT, m.Equals]))
        return relation(left, right)
    build: dict[str, Callable[[], FNode]] = {
        "and": lambda: m.And([below() for _ in range(draw(st.integers(0, 3)))]),
        "or": lambda: m.Or([below() for _ in range(draw(st.integers(0, 3)))]),
        "not": lambda: m.Not(below()),
        "=>": lambda: m.Implies(below(), below()),
        "=": lambda: m.Iff(below(), below()),
        "ite": lambda: m.Ite(below(), below(), below()),
    }
    return build[kind]()


@st.composite
def _term(draw: st.DrawFn, m: FormulaManager, symbols: Symbols, sort: object, depth: int) -> FNode:
    constant = m.Int(draw(INTEGERS)) if sort == INT else m.Real(draw(RATIONALS))
    casts = ["to_real"] if sort == REAL and INT in symbols else []
    inner = ["+", "-", "*", "ite"] if depth else []
    kind = draw(st.sampled_from(["symbol", "symbol", "constant", *casts, *inner]))

    def below() -> FNode:
        return draw(_term(m, symbols, sort, depth - 1))

    build: dict[str, Callable[[], FNode]] = {
        "constant": lambda: constant,
        "symbol": lambda: draw(st.sampled_from(symbols[sort])),
        "to_real": lambda: m.ToReal(draw(st.sampled_from(symbols[INT]))),
        "+": lambda: m.Plus([below() for _ in range(draw(st.integers(2, 3)))]),
        "-": lambda: m.Minus(below(), below()),
        "*": lambda: m.Times(constant, below()),
        "ite": lambda: m.Ite(draw(_boolean(m, symbols, depth - 1)), below(), below()),
    }
    return build[kind]()


def nested_ite(m: FormulaManager, depth: int, condition: Callable[[int], FNode]) -> FNode:
    """Conditions 0, 1, … in turn, each with its own value, and 0 at the end."""
    term = m.Real(0)
    for level in range(depth):
        term = m.Ite(condition(level), m.Real(level), term)
    return term


def corpus() -> dict[str, tuple[str, list[FNode]]]:
    """Name -> (the answer, the formulas of one script)."""
    return {**_boolean_scripts(), **_arithmetic_scripts(), **_ite_scripts(), **_named_scripts()}


def _boolean_scripts() -> dict[str, tuple[str, list[FNode]]]:
    m = manager()
    a, b = m.Symbol("a"), m.Symbol("p!0!1")
    return {
        "no assertion at all": ("sat", []),
        "only Booleans": ("sat", [m.Iff(a, m.Not(b)), m.Implies(a, b), m.Or(a, b, m.FALSE())]),
        "Boolean contradiction": ("unsat", [m.Iff(a, b), m.Ite(a, m.Not(b), b)]),
    }


def _arithmetic_scripts() -> dict[str, tuple[str, list[FNode]]]:
    m = manager()
    i, j = m.Symbol("x!age", INT), m.Symbol("x!a%20b", INT)
    r, s = m.Symbol("v!0", REAL), m.Symbol('odd (name); "here"', REAL)
    half, third = m.Real(Fraction(1, 2)), m.Real(Fraction(-1, 3))
    huge = m.Real(Fraction(2**80, 3**40))
    minus_two_i = m.Times(m.Int(-2), i)
    return {
        "constants alone": ("unsat", [m.LE(half, m.Real(Fraction(1, 3)))]),
        "integers": ("sat", [m.LE(m.Int(-5), i), m.LT(i, m.Int(-4)), m.Equals(minus_two_i, m.Int(10))]),
        "no integer between": ("unsat", [m.LT(m.Int(3), i), m.LT(i, m.Int(4)), m.Symbol("a")]),
        "reals": ("sat", [m.LT(third, r), m.LT(r, m.Real(0)), m.Equals(s, m.Minus(r, third))]),
        "negative rationals": (
            "unsat",
            [m.Equals(r, third), m.Not(m.Equals(m.Times(m.Real(-3), r), m.Real(1)))],
        ),
        "huge numbers": ("unsat", [m.Equals(r, huge), m.LE(r, m.Real(99_437))]),
        "mixed": ("sat", [m.Equals(r, m.Plus(m.ToReal(i), half)), m.LT(m.Real(7), r), m.LT(i, m.Int(8))]),
        "mixed contradiction": ("unsat", [m.Equals(m.ToReal(j), half), m.LE(r, r)]),
    }


def _ite_scripts() -> dict[str, tuple[str, list[FNode]]]:
    m = manager()
    r = m.Symbol("v!0", REAL)
    deep = nested_ite(m, 300, lambda level: m.LT(r, m.Real(Fraction(-level, 7))))
    flags = [m.Symbol(f"t!{n}") for n in range(12)]
    total = m.Plus([m.Ite(flag, m.Int(2**n), m.Int(-1)) for n, flag in enumerate(flags)])
    even = m.Int(sum(2**n for n in range(0, 12, 2)) - 6)
    return {
        "deep ite": ("sat", [m.Equals(deep, m.Real(150)), m.LE(r, m.Real(0))]),
        "deep ite contradiction": ("unsat", [m.LE(m.Real(300), deep)]),
        "sum of ites": ("sat", [m.Equals(total, even), m.Not(flags[1])]),
        "sum of ites contradiction": ("unsat", [m.LT(total, m.Int(-12))]),
    }


def _named_scripts() -> dict[str, tuple[str, list[FNode]]]:
    plain, inside = manager(), manager()
    return {
        "odd names": ("sat", [plain.Symbol(name) for name in ODD_NAMES]),
        "odd names inside names": (
            "sat",
            [inside.LT(inside.Real(1), inside.Symbol(f"[{name}] = {name}", REAL)) for name in ODD_NAMES],
        ),
    }
