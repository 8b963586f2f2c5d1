"""S-expressions and values: what is printed comes back, exactly, and what is no value is none."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder.errors import FormulaError, SolverFailure
from fairbox.smtlib_out.printer import int_text, real_text
from fairbox.solvers.commands import check_commands
from fairbox.solvers.sexpr import heads, is_balanced, is_complete, parse, render, shown, string_text, unquoted
from fairbox.solvers.values import declared_sorts, differs, read_value, read_values

ATOMS = st.one_of(
    st.from_regex(r"[a-z!][a-z0-9!]{0,5}", fullmatch=True),
    st.from_regex(r"[0-9]{1,4}", fullmatch=True),
    st.text('ab ();"\n', max_size=5).map(lambda text: f"|{text}|"),
    st.text("ab ();|\n", max_size=5).map(lambda text: f'"{text}"'),
)
EXPRS = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=4), max_leaves=20)


@given(st.lists(EXPRS, max_size=4))
def test_expressions_survive_printing(exprs: list) -> None:
    text = "\n".join(map(render, exprs))
    assert is_complete(text) and is_balanced(text)
    assert parse(text) == exprs
    assert parse(f" ; a comment (\n{text} ;") == exprs


@given(st.lists(EXPRS.filter(lambda e: isinstance(e, list)), min_size=1, max_size=4), st.data())
def test_a_text_cut_short_inside_a_list_is_not_complete(exprs: list, data: st.DataObject) -> None:
    text = render(exprs)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    assert not is_complete(cut)


def test_brackets_that_do_not_match() -> None:
    for text in ("(a", "a)", "((a)", "(a))"):
        with pytest.raises(SolverFailure, match="S-expression"):
            parse(text)
        assert not is_balanced(text)


def test_heads_are_those_of_the_outermost_level() -> None:
    assert list(heads("(assert (exit)) ; (pop)\n( push 1)(|a b| c)")) == ["assert", "push", "|a b|"]


def test_small_things() -> None:
    assert string_text('"say ""a"" "') == 'say "a" '
    assert string_text("plain") == "plain"
    assert unquoted("|x!1|") == unquoted("x!1") == "x!1"
    assert shown("a\n  b") == "a b"
    assert len(shown("x" * 1000)) == 200


@given(st.integers() | st.fractions())
def test_numbers_survive_printing(value: int | Fraction) -> None:
    (expr,) = parse(real_text(Fraction(value)))
    assert read_value(expr, "r", "Real") == value
    assert isinstance(read_value(expr, "r", "Real"), Fraction)
    if isinstance(value, int):
        (expr,) = parse(int_text(value))
        assert read_value(expr, "i", "Int") == value
        assert isinstance(read_value(expr, "i", "Int"), int)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", Fraction(3, 2)),
        ("(- 1)", -1),
        ("(/ 1.0 3.0)", Fraction(1, 3)),
        ("(/ 1 3)", Fraction(1, 3)),
        ("(- (/ 1 3))", Fraction(-1, 3)),
        ("(/ (- 1) 3)", Fraction(-1, 3)),
        ("(/ (- 1.0) 3.0)", Fraction(-1, 3)),
        ("(- 0.25)", Fraction(-1, 4)),
        ("7", 7),
        ("10000000000000000000000000000000000000001.0", 10**40 + 1),
    ],
)
def test_all_ways_to_print_a_number(text: str, value: Fraction) -> None:
    (expr,) = parse(text)
    for sort in ("Real", None):
        assert read_value(expr, "r", sort) == value


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "(root-obj (+ (^ x 2) (- 2)) 1)",
        "1.41421?",
        "1e3",
        ".5",
        "5.",
        "(/ 1 0)",
        "(- x)",
        "()",
        "-1",
        "٣",
        "_",
    ],
)
def test_what_is_no_exact_value(text: str) -> None:
    (expr,) = parse(text)
    for sort in ("Real", "Int", "Bool", None):
        with pytest.raises(SolverFailure, match="for r, but"):
            read_value(expr, "r", sort)


@pytest.mark.parametrize(
    ("text", "sort"), [("0.5", "Int"), ("true", "Int"), ("false", "Real"), ("1", "Bool")]
)
def test_a_value_of_another_sort(text: str, sort: str) -> None:
    with pytest.raises(SolverFailure, match=sort):
        read_value(text, "x", sort)


def test_values_come_in_the_order_asked_for() -> None:
    (reply,) = parse("((|x| 1)\n (y true)  (|a b| 2.0))")
    sorts = declared_sorts("(declare-fun x () Int)(declare-const |y| Bool) (declare-fun |a b| ( ) Real)")
    assert sorts == {"x": "Int", "y": "Bool", "a b": "Real"}
    assert read_values(reply, ["x", "y", "|a b|"], sorts) == {"x": 1, "y": True, "|a b|": 2}
    for wrong in (["x", "y"], ["y", "x", "|a b|"]):
        with pytest.raises(SolverFailure, match="asked for"):
            read_values(reply, wrong, sorts)


def test_functions_are_no_constants() -> None:
    assert declared_sorts("(declare-fun f (Int) Int)(declare-fun g () (Array Int Int))") == {}


def test_the_blocking_term() -> None:
    assert differs({}) == "false"
    assert differs({"b": True}) == "(not b)"
    assert differs({"b": False, "i": -2}) == "(or (not (not b)) (not (= i (- 2))))"
    assert differs({"r": Fraction(2), "|a b|": Fraction(-1, 3)}) == (
        "(or (not (= r 2.0)) (not (= |a b| (- (/ 1.0 3.0)))))"
    )


def test_a_script_with_questions_is_refused_by_the_command() -> None:
    with pytest.raises(FormulaError, match="check-sat"):
        check_commands("(set-logic QF_LRA)\n(assert true)\n(check-sat)\n(exit)\n")
    check_commands("(define-fun popular () Bool true)(assert (exited (push)))")
