"""What the printer writes, form by form."""

from fractions import Fraction

import pytest
from pysmt.environment import Environment
from pysmt.fnode import FNode
from pysmt.typing import BOOL, BV8, INT, REAL, STRING, ArrayType, FunctionType

from fairbox.encoder.errors import FormulaError
from fairbox.smtlib_out.printer import Printer
from tests.smtlib_out.formulas import nested_ite

M = Environment().formula_manager
A, B, C = (M.Symbol(name) for name in "abc")
N, K = M.Symbol("n", INT), M.Symbol("k", INT)
R, S = M.Symbol("x!r", REAL), M.Symbol("x s", REAL)

FORMS = [
    (M.TRUE(), "true"),
    (M.FALSE(), "false"),
    (A, "a"),
    (S, "|x s|"),
    (M.Int(0), "0"),
    (M.Int(5), "5"),
    (M.Int(-5), "(- 5)"),
    (M.Int(-(2**70)), "(- 1180591620717411303424)"),
    (M.Real(0), "0.0"),
    (M.Real(2), "2.0"),
    (M.Real(-1), "(- 1.0)"),
    (M.Real(Fraction(1, 3)), "(/ 1.0 3.0)"),
    (M.Real(Fraction(-1, 3)), "(- (/ 1.0 3.0))"),
    (M.Real(Fraction(0.1)), "(/ 3602879701896397.0 36028797018963968.0)"),
    (M.And(A, B, C), "(and a b c)"),
    (M.And(), "true"),
    (M.Or(A), "a"),
    (M.Or(A, M.Not(B)), "(or a (not b))"),
    (M.Implies(A, B), "(=> a b)"),
    (M.Iff(A, B), "(= a b)"),
    (M.Ite(A, B, C), "(ite a b c)"),
    (M.Equals(N, M.Int(1)), "(= n 1)"),
    (M.LE(N, K), "(<= n k)"),
    (M.GE(N, K), "(<= k n)"),
    (M.LT(R, M.Real(2)), "(< x!r 2.0)"),
    (M.GT(R, S), "(< |x s| x!r)"),
    (M.Plus(N, K, M.Int(1)), "(+ n k 1)"),
    (M.Minus(N, K), "(- n k)"),
    (M.Times(M.Int(-1), N), "(* (- 1) n)"),
    (M.Div(R, M.Real(3)), "(* x!r (/ 1.0 3.0))"),
    (M.ToReal(N), "(to_real n)"),
    (M.Ite(A, M.Real(1), R), "(ite a 1.0 x!r)"),
]


@pytest.mark.parametrize(("formula", "text"), FORMS, ids=[text for _, text in FORMS])
def test_each_node_has_its_form(formula: FNode, text: str) -> None:
    assert Printer().print(formula) == text


def test_a_printer_that_remembers_prints_the_same() -> None:
    printer = Printer()
    first = [printer.print(formula) for formula, _ in FORMS]
    assert first == [printer.print(formula) for formula, _ in FORMS] == [text for _, text in FORMS]
    assert printer.print(M.Or(formula for formula, text in FORMS if text in ("a", "(not b)", "(= n 1)")))


def test_lines() -> None:
    printer = Printer()
    assert printer.assertion(M.Not(A)) == "(assert (not a))\n"
    assert printer.declaration(S) == "(declare-fun |x s| () Real)\n"
    assert [printer.declaration(symbol) for symbol in (A, N)] == [
        "(declare-fun a () Bool)\n",
        "(declare-fun n () Int)\n",
    ]


def test_one_printer_keeps_environments_apart() -> None:
    # Nodes of different environments have equal ids.
    printer, others = Printer(), [Environment().formula_manager for _ in range(3)]
    formulas = [m.LE(m.Symbol(f"s{n}", INT), m.Int(n)) for n, m in enumerate(others)]
    assert [printer.print(f) for f in formulas] == [f"(<= s{n} {n})" for n in range(3)]


def test_depth_is_no_limit() -> None:
    levels = 5000
    text = Printer().print(nested_ite(M, levels, lambda level: M.LT(R, M.Real(level))))
    assert text.startswith(f"(ite (< x!r {levels - 1}.0) {levels - 1}.0 (ite ")
    assert text.endswith("(ite (< x!r 0.0) 0.0 0.0" + ")" * levels)


def test_depth_in_conditions_is_no_limit() -> None:
    formula = A
    for level in range(3000):
        formula = M.LE(M.Ite(formula, M.Int(level), N), K)
    text = Printer().print(M.Not(formula))
    assert text.count("(") == text.count(")") == 2 * 3000 + 1


REFUSED = [
    (M.ForAll([N], M.LE(N, K)), "FORALL"),
    (M.Exists([N], M.LE(N, K)), "EXISTS"),
    (M.Equals(M.Symbol("u", BV8), M.BV(1, 8)), "BV"),
    (M.BVULT(M.BV(0, 8), M.BV(1, 8)), "BV_ULT"),
    (M.Function(M.Symbol("f", FunctionType(INT, [INT])), [N]), "FUNCTION"),
    (M.Select(M.Symbol("m", ArrayType(INT, INT)), N), "ARRAY_SELECT"),
    (M.Equals(M.Symbol("t", STRING), M.String("s")), "String"),
    (M.Div(R, S), "DIV"),
    (M.Pow(R, M.Real(2)), "POW"),
]


@pytest.mark.parametrize(("formula", "operator"), REFUSED, ids=[name for _, name in REFUSED])
def test_other_operators_are_refused_by_name(formula: FNode, operator: str) -> None:
    with pytest.raises(FormulaError, match=operator):
        Printer().print(formula)
    with pytest.raises(FormulaError, match=operator):
        Printer().print(M.And(A, M.Not(formula)) if formula.is_quantifier() else formula)


def test_a_name_smt_lib_has_taken_is_refused() -> None:
    with pytest.raises(FormulaError, match="'and' is a word of SMT-LIB itself"):
        Printer().print(M.Or(A, M.Symbol("and", BOOL)))
