"""Headers, logics, order and comments; the same bytes in every process."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pysmt.fnode import FNode
from pysmt.typing import BV8, INT, REAL, FunctionType

from fairbox.encoder.errors import FormulaError, OutputError
from fairbox.smtlib_out.header import Header, survey
from fairbox.smtlib_out.writer import save_script, session_script
from tests.smtlib_out.formulas import corpus, manager

M = manager()
A, N, K, R = M.Symbol("a"), M.Symbol("n", INT), M.Symbol("k", INT), M.Symbol("r", REAL)


def test_a_whole_script(tmp_path: Path) -> None:
    p, q = M.Symbol("p!10", INT), M.Symbol("p!9", INT)
    header = Header("a model", "CC0-1.0", "crafted", "sat", (q, p))
    path = tmp_path / "whole.smt2"
    save_script(path, ["trees of x\nboth of them", M.LT(p, q), "", M.Or(A, M.LE(q, M.Int(-3)))], header)
    assert path.read_bytes().decode() == (
        "(set-info :smt-lib-version 2.6)\n"
        "(set-logic QF_LIA)\n"
        "(set-info :source |a model|)\n"
        '(set-info :license "CC0-1.0")\n'
        '(set-info :category "crafted")\n'
        "(set-info :status sat)\n"
        "(set-info :fairbox-projection |(p!9 p!10)|)\n"
        "(declare-fun a () Bool)\n"
        "(declare-fun p!9 () Int)\n"
        "(declare-fun p!10 () Int)\n"
        "; trees of x\n"
        "; both of them\n"
        "(assert (< p!10 p!9))\n"
        ";\n"
        "(assert (or a (<= p!9 (- 3))))\n"
        "(check-sat)\n"
        "(exit)\n"
    )


def test_a_session_script_ends_with_its_assertions() -> None:
    assert session_script([A]) == (
        "(set-info :smt-lib-version 2.6)\n"
        "(set-logic QF_UF)\n"
        "(set-info :source |fairbox|)\n"
        '(set-info :category "industrial")\n'
        "(set-info :status unknown)\n"
        "(declare-fun a () Bool)\n"
        "(assert a)\n"
    )


@pytest.mark.parametrize(
    ("formulas", "logic"),
    [
        ([], "QF_UF"),
        ([M.TRUE()], "QF_UF"),
        ([A, M.Not(A)], "QF_UF"),
        ([M.LE(N, K)], "QF_LIA"),
        ([M.Equals(M.Int(1), M.Int(2))], "QF_LIA"),
        ([M.LE(R, M.Real(1))], "QF_LRA"),
        ([M.LT(M.Real(1), M.Real(2))], "QF_LRA"),
        ([M.LE(N, K), M.LE(R, R)], "QF_LIRA"),
        ([M.LE(M.ToReal(N), M.Real(Fraction(1, 2)))], "QF_LIRA"),
        ([M.LE(M.Times(M.Int(2), M.Int(3), N), K)], "QF_LIA"),
    ],
)
def test_the_least_logic_is_chosen(formulas: list[FNode], logic: str) -> None:
    assert survey(formulas).logic == logic


def test_declared_sorts_count_for_the_logic() -> None:
    assert survey([A], symbols=[R, A]).logic == "QF_LRA"
    assert survey([A], extra=[M.Plus(R, M.Real(1))]).logic == "QF_LRA"
    assert "(set-logic QF_LIA)" in session_script([A], header=Header(projection=(N,)))


def test_what_comes_later_is_provided_for() -> None:
    text = session_script([A], later=[M.LE(R, M.Real(1)), M.Symbol("b")])
    assert "(set-logic QF_LRA)\n" in text
    assert "(declare-fun b () Bool)\n(declare-fun r () Real)\n(assert a)\n" in text


def test_declarations_follow_the_given_order() -> None:
    assert survey([M.LT(N, K)], symbols=[K, A, N]).symbols == (K, A, N)
    names = ["x!10", "x!9", "b", "x!1"]
    in_order = [s.symbol_name() for s in survey([M.Symbol(name) for name in names]).symbols]
    assert in_order == ["b", "x!1", "x!9", "x!10"]


REFUSED = [
    ([M.Plus(N, K)], {}, "is a term, not a formula"),
    ([M.Ite(A, N, K)], {}, "is a term, not a formula"),
    ([M.LE(M.Times(N, K), N)], {}, "product of n and k is not linear"),
    ([M.LE(M.Times(R, M.Ite(A, M.Real(1), R)), R)], {}, "is not linear"),
    ([M.ForAll([N], M.LE(N, K))], {}, "FORALL"),
    ([M.Equals(M.Symbol("u", BV8), M.Symbol("w", BV8))], {}, r"has sort BV\{8\}"),
    ([M.Function(M.Symbol("f", FunctionType(N.symbol_type(), [INT])), [N])], {}, "FUNCTION"),
    ([M.LT(N, K)], {"symbols": [N]}, "1 symbols are used but not among the given ones, such as 'k'"),
    ([A], {"symbols": [A, A]}, "'a' would be declared twice"),
    ([A], {"symbols": [A, M.Int(1)]}, "1 is not a symbol"),
    ([A], {"header": Header(projection=(M.LE(N, K),))}, "is not a symbol"),
    ([A], {"header": Header(projection=(M.Symbol("a b"),))}, "'a b' is not a simple SMT-LIB symbol"),
    ([A], {"symbols": [A, M.Symbol("a|b")]}, "has a character that SMT-LIB symbols exclude"),
    ([A, manager().Symbol("a", INT)], {}, "term, not a formula"),
    ([A, manager().Symbol("a")], {}, "'a' would be declared twice"),
]


@pytest.mark.parametrize(("formulas", "options", "message"), REFUSED, ids=[m for *_, m in REFUSED])
def test_unfit_input_is_refused(formulas: list[FNode], options: dict[str, Any], message: str) -> None:
    with pytest.raises(FormulaError, match=message):
        session_script(formulas, **options)


def test_nothing_is_left_of_a_refused_script(tmp_path: Path) -> None:
    with pytest.raises(FormulaError):
        save_script(tmp_path / "script.smt2", [M.Plus(N, K)])
    with pytest.raises(OutputError, match="does not exist; create it first"):
        save_script(tmp_path / "none" / "script.smt2", [A])
    assert list(tmp_path.iterdir()) == []


def test_text_outside_ascii_is_escaped() -> None:
    text = session_script(["größer\x00", A], header=Header("modèle|1\\2"))
    assert text.isascii()
    assert "(set-info :source |mod%C3%A8le%7C1%5C2|)" in text
    assert "; gr%C3%B6%C3%9Fer%00\n" in text


_PRINT_CORPUS = """
from tests.smtlib_out.formulas import corpus
from fairbox.smtlib_out.writer import session_script
for name, (answer, formulas) in corpus().items():
    print(session_script([name, *formulas]))
"""


def test_every_process_writes_the_same_bytes() -> None:
    texts = set()
    for seed in ("0", "1", "12345"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])}
        command = [sys.executable, "-c", _PRINT_CORPUS]
        texts.add(subprocess.run(command, env=environment, capture_output=True, check=True).stdout)
    assert len(texts) == 1
    assert texts.pop().decode() == "".join(session_script([n, *f]) + "\n" for n, (_, f) in corpus().items())
