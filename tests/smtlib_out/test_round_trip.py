"""Reading undoes writing, and the text means what the formula means."""

import random
from fractions import Fraction
from pathlib import Path

import pytest
import z3
from hypothesis import given
from pysmt.environment import Environment
from pysmt.fnode import FNode
from pysmt.typing import INT, REAL

from fairbox.encoder.errors import FormulaError
from fairbox.encoder.names import symbol_token
from fairbox.smtlib_out.header import Header
from fairbox.smtlib_out.reader import read_script
from fairbox.smtlib_out.writer import save_script, session_script
from tests.smtlib_out.formulas import corpus, formulas, manager, nested_ite


@given(formulas())
def test_reading_undoes_writing(case: tuple[Environment, FNode]) -> None:
    environment, formula = case
    script = read_script(session_script([formula]), environment)
    assert script.assertions == (formula,)
    assert script.formula is formula
    assert set(script.symbols) == environment.fvo.get_free_variables(formula)


@given(formulas())
def test_a_new_environment_gives_the_same_text(case: tuple[Environment, FNode]) -> None:
    text = session_script([case[1]])
    again = read_script(text)
    assert again.environment is not case[0]
    assert session_script(again.assertions) == text


@given(formulas())
def test_the_text_means_what_the_formula_means(case: tuple[Environment, FNode]) -> None:
    environment, formula = case
    (parsed,) = z3.parse_smt2_string(session_script([formula])) or [z3.BoolVal(True)]
    constants = {c.decl().name(): c for c in _constants(parsed)}
    chance = random.Random(0)
    for _ in range(5):
        values = {
            symbol: _value(environment, symbol, chance)
            for symbol in environment.fvo.get_free_variables(formula)
        }
        ours = environment.simplifier.simplify(environment.substituter.substitute(formula, values))
        pairs = [
            (constants[symbol.symbol_name()], _z3_value(value))
            for symbol, value in values.items()
            if symbol.symbol_name() in constants
        ]
        theirs = z3.simplify(z3.substitute(parsed, *pairs))
        assert ours.is_bool_constant()
        assert z3.is_true(theirs) if ours.is_true() else z3.is_false(theirs)


def _value(environment: Environment, symbol: FNode, chance: random.Random) -> FNode:
    m = environment.formula_manager
    number = Fraction(chance.randint(-12, 12), chance.randint(1, 3))
    if symbol.symbol_type() == INT:
        return m.Int(round(number))
    return m.Real(number) if symbol.symbol_type() == REAL else m.Bool(number > 0)


def _z3_value(value: FNode) -> z3.ExprRef:
    constant = value.constant_value()
    if value.is_bool_constant():
        return z3.BoolVal(constant)
    return z3.IntVal(constant) if value.is_int_constant() else z3.RealVal(str(constant))


def _constants(term: z3.ExprRef) -> list[z3.ExprRef]:
    stack, seen, found = [term], set(), []
    while stack:
        node = stack.pop()
        if node.get_id() in seen:
            continue
        seen.add(node.get_id())
        if z3.is_const(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            found.append(node)
        stack.extend(node.children())
    return found


@pytest.mark.parametrize("name", corpus())
def test_the_corpus_comes_back_from_files(name: str, tmp_path: Path) -> None:
    _, assertions = corpus()[name]
    path = tmp_path / "script.smt2"
    save_script(path, ["all of it", *assertions])
    environment = Environment()
    normal = [environment.formula_manager.normalize(formula) for formula in assertions]
    assert list(read_script(path, environment).assertions) == normal


def test_metadata_and_projection_come_back() -> None:
    m = manager()
    p, q, r = m.Symbol("p!10", INT), m.Symbol("p!9", INT), m.Symbol("free", REAL)
    header = Header(
        'of "m.json" (50%)\nsecond line', 'a licence; "quoted"', status="unsat", projection=(p, q)
    )
    script = read_script(session_script([m.LT(p, q)], header=header, symbols=[r, q, p]), m.env)
    assert script.projection == (p, q)
    assert script.symbols == (r, q, p)
    assert script.logic == "QF_LIRA"
    assert script.info == {
        "smt-lib-version": "2.6",
        "source": 'of "m.json" (50%)\nsecond line',
        "license": 'a licence; "quoted"',
        "category": "industrial",
        "status": "unsat",
        "fairbox-projection": "(p!10 p!9)",
    }


def test_an_empty_script_is_true() -> None:
    script = read_script("")
    assert script.assertions == script.symbols == script.projection == ()
    assert (script.logic, script.info) == (None, {})
    assert script.formula.is_true()


def test_a_deep_formula_comes_back() -> None:
    m = manager()
    r = m.Symbol("r", REAL)
    formula = m.LE(nested_ite(m, 5000, lambda level: m.LT(r, m.Real(level))), r)
    assert read_script(session_script([formula]), m.env).assertions == (formula,)


def test_scripts_of_other_writers_are_read() -> None:
    text = (
        "; a comment\r\n(set-option :produce-models true)\r\n(set-logic QF_LRA)\r\n"
        "(declare-const |a b| Real)\r\n"
        "(define-fun twice ((z Real)) Real (* 2 z))\r\n"
        "(assert (let ((s (twice |a b|))) (>= s 1 )))\r\n(check-sat)\r\n(get-model)\r\n(exit)\r\n)not read("
    )
    script = read_script(text)
    m = script.environment.formula_manager
    x = m.get_symbol("a b")
    assert script.assertions == (m.LE(m.Real(1), m.Times(m.Real(2), x)),)
    assert script.logic == "QF_LRA"


HEAD = "(set-logic QF_LIRA)\n(declare-fun a () Bool)\n(declare-fun i () Int)\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "(assert (or a b))\n", r"line 4: 'b' is neither declared"),
        (HEAD + "(assert b)", r"line 4: 'b' is neither declared"),
        (HEAD + "(assert (foo a))", r"line 4: 'foo' is neither declared nor an operator"),
        (HEAD + "(assert i)", r"line 4: i is a term, not a formula"),
        (HEAD + "(assert (and a i))", r"line 4: .*one formula in SMT-LIB 2"),
        (HEAD + "(assert (< a i))", r"line 4: .*one formula in SMT-LIB 2"),
        (HEAD + "(assert (or a\n", r"line 5: .*stream"),
        (HEAD + "(assert a))", r"line 4: .*'\)'"),
        (HEAD + "(assert (= i |a", r"line 4: "),
        (HEAD + "(declare-fun a () Int)", r"line 4: .*redefine symbol 'a'"),
        (HEAD + "(declare-fun x () Word)", r"line 4: .*Word"),
        (HEAD + "(declare-fun |5| () Int)", r"line 4: symbol name '5' reads as a number"),
        (HEAD + "(frobnicate)", r"line 4: frobnicate"),
        (HEAD + "(push 1)(assert a)(check-sat)(pop 1)", "pop.* makes the script incremental"),
        (HEAD + "(check-sat)\n(check-sat)", "goes on after check-sat"),
        (HEAD + "(check-sat)\n(assert a)", "goes on after check-sat"),
        (HEAD + "(check-sat-assuming (a))", "check-sat-assuming.* incremental"),
        (HEAD + "(set-info :fairbox-projection |(a z)|)", "projection symbol 'z' is not declared"),
        (HEAD + "(set-info :fairbox-projection |a|)", "projection 'a' is not a list"),
        ("(set-logic QF_ODD)", "line 1: logic QF_ODD is unknown; use one of QF_UF"),
        ("not a script", "line 1: "),
        ("(assert (/ 1 0))", "line 1: "),
    ],
)
def test_bad_scripts_are_refused_with_place_and_reason(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormulaError, match=f"^script, line|{message}") as caught:
        read_script(text)
    assert "\n" not in str(caught.value)
    path = tmp_path / "bad.smt2"
    path.write_text(text)
    with pytest.raises(FormulaError, match=message) as caught:
        read_script(path)
    assert str(caught.value).startswith(f"{path}, line ")


def test_sorts_of_the_environment_hold() -> None:
    m = manager()
    m.Symbol("x", REAL)
    with pytest.raises(FormulaError, match="redefine symbol 'x'"):
        read_script("(declare-fun x () Int)", m.env)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FormulaError, match=r"cannot read .*nothing: No such file"):
        read_script(tmp_path / "nothing")
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormulaError, match=r"cannot read .*binary: .*check that it is an SMT-LIB file"):
        read_script(binary)


def test_names_are_tokens_of_the_text() -> None:
    m = manager()
    text = session_script([m.Symbol("a b")])
    assert f"(declare-fun {symbol_token('a b')} () Bool)" in text
