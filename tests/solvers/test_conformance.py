"""What every backend must do, each the same: run over all that are here."""

import math
import os
import signal
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest

from fairbox.encoder.errors import BackendError, FormulaError, SolverFailure
from fairbox.solvers.protocols import Answer, Backend, Capability, Session, Status
from tests.solvers.formulas import EASY_PART, HARD, HEAD
from tests.solvers.processes import eventually, is_running

Open = Callable[..., Session]

SMALL = (
    HEAD + "(declare-const b Bool)(declare-const x Int)(assert (=> b (< x 0)))(assert (=> (not b) (> x 5)))"
)
SAT, UNSAT = Answer(Status.SAT), Answer(Status.UNSAT)


# Answers ---------------------------------------------------------------------------------------------


def test_every_capability_is_there_or_missing_with_a_reason(backend: Backend) -> None:
    assert isinstance(backend, Backend)
    assert backend.capabilities.isdisjoint(backend.missing)
    assert backend.capabilities | set(backend.missing) == set(Capability)
    assert all(backend.missing.values())
    assert Capability.INCREMENTAL in backend.capabilities


def test_the_probe_names_a_version(backend: Backend) -> None:
    probe = backend.probe()
    assert probe.available and probe.why_not is None
    assert probe.version is not None and probe.version[0].isdecimal()


def test_sat_and_unsat(opened: Open) -> None:
    session = opened(SMALL)
    assert session.check() == SAT
    session.add("(assert (= x 3))")
    assert session.check() == UNSAT
    assert session.check() == UNSAT


def test_integers_and_reals_in_one_formula(opened: Open) -> None:
    session = opened(HEAD + "(declare-const i Int)(declare-const r Real)(assert (< (* 2.0 r) 1.0))")
    session.add("(assert (or (and (= i 1) (> r 0.5)) (and (= i 2) (> r 0.25))))")
    answer, values = session.check_values(["i", "r"])
    assert answer == SAT
    assert values["i"] == 2
    assert Fraction(1, 4) < values["r"] < Fraction(1, 2)


def test_a_session_may_be_closed_twice_and_then_says_so(opened: Open) -> None:
    session = opened(SMALL)
    session.close()
    session.close()
    with pytest.raises(BackendError, match="closed"):
        session.check()


# Values ----------------------------------------------------------------------------------------------

HUGE = 10**40
EXACT: dict[str, tuple[str, str, object]] = {
    "i": ("Int", "(= i (- 7))", -7),
    "zero": ("Int", "(= zero 0)", 0),
    "huge": ("Int", f"(= huge {HUGE})", HUGE),
    "third": ("Real", "(= (* 3.0 third) (- 1.0))", Fraction(-1, 3)),
    "whole": ("Real", "(= whole 2.0)", Fraction(2)),
    "|a quoted (name)|": ("Real", "(= |a quoted (name)| (- 1.5))", Fraction(-3, 2)),
    "x!age": ("Int", "(= x!age 41)", 41),
    "fine": ("Real", f"(= (* {HUGE + 1}.0 fine) {HUGE}.0)", Fraction(HUGE, HUGE + 1)),
    "yes": ("Bool", "yes", True),
    "|no;|": ("Bool", "(not |no;|)", False),
}


def test_values_are_exact_and_of_the_symbol_s_sort(opened: Open) -> None:
    script = "".join(f"(declare-fun {n} () {sort})(assert {fact})" for n, (sort, fact, _) in EXACT.items())
    session = opened(HEAD + script)
    assert session.check() == SAT
    values = session.values(list(EXACT))
    assert values == {name: value for name, (_, _, value) in EXACT.items()}
    for name, (_, _, value) in EXACT.items():
        assert type(values[name]) is type(value), name


def test_a_symbol_that_nothing_constrains_still_has_a_value(opened: Open) -> None:
    session = opened(HEAD + "(declare-const b Bool)(declare-const x Int)(declare-const r Real)")
    _, values = session.check_values(["x", "b", "r"])
    assert [type(v) for v in values.values()] == [int, bool, Fraction]


def test_values_need_a_sat_answer(opened: Open) -> None:
    session = opened(SMALL)
    with pytest.raises(SolverFailure, match="sat"):
        session.values(["x"])
    session.add("(assert (= x 3))")
    assert session.check_values(["x"]) == (UNSAT, {})
    with pytest.raises(SolverFailure, match="sat"):
        session.values(["x"])


def test_values_of_the_latest_check_outlive_what_is_added_after_it(opened: Open) -> None:
    session = opened(SMALL)
    session.push()
    session.add("(assert (= x 9))")
    assert session.check() == SAT
    session.pop()
    session.add("(assert b)")
    assert session.values(["x", "b"]) == {"x": 9, "b": False}
    assert session.check_values(["b"]) == (SAT, {"b": True})


# Enumeration -----------------------------------------------------------------------------------------


def test_blocking_enumerates_every_solution_once(opened: Open) -> None:
    session = opened(
        HEAD + "(declare-const |x y| Int)(declare-const b Bool)(declare-const r Real)"
        "(assert (and (<= (- 3) |x y|) (<= |x y| 3)))"
        "(assert (or (= r (/ 1.0 3.0)) (= r (- (/ 1.0 3.0))) (= r 2.0)))"
        "(assert (=> b (> |x y| 0)))(assert (or b (< r 1.0)))"
    )
    symbols = ["|x y|", "b", "r"]
    found = []
    while True:
        answer, values = session.check_values(symbols)
        if answer == UNSAT:
            break
        assert answer == SAT
        found.append(tuple(values.values()))
        session.block(symbols)
    expected = [
        (x, b, r)
        for x, b, r in product(range(-3, 4), (False, True), (Fraction(1, 3), Fraction(-1, 3), Fraction(2)))
        if (not b or x > 0) and (b or r < 1)
    ]
    assert len(found) == len(set(found)) == len(expected)
    assert set(found) == set(expected)


def test_blocking_part_of_the_symbols_projects(opened: Open) -> None:
    session = opened(SMALL + "(assert (and (< (- 50) x) (< x 50)))")
    count = 0
    while session.check() == SAT:
        session.block(["b"])
        count += 1
    assert count == 2


def test_blocking_no_symbols_leaves_nothing(opened: Open) -> None:
    session = opened(SMALL)
    assert session.check() == SAT
    session.block([])
    assert session.check() == UNSAT


# Assumptions and levels ------------------------------------------------------------------------------


def test_assumptions_hold_for_one_check(opened: Open) -> None:
    session = opened(SMALL + "(declare-const |c c| Bool)(assert (=> |c c| b))")
    assert session.check(assumptions=["|c c|", "(not b)"]) == UNSAT
    answer, values = session.check_values(["x", "b"], assumptions=["|c c|"])
    assert answer == SAT
    assert values["b"] is True and values["x"] < 0
    assert session.check_values(["b"], assumptions=["( not b )"]) == (SAT, {"b": False})
    session.add("(assert (= x 7))")
    assert session.check(assumptions=["b"]) == UNSAT
    assert session.check() == SAT


def test_other_assumptions_are_refused(opened: Open) -> None:
    session = opened(SMALL)
    for text in ("(and b b)", "b)", "(not b", "", "b b", "(not (not b))"):
        with pytest.raises(FormulaError, match="assumption"):
            session.check(assumptions=[text])
    assert session.check(assumptions=["b"]) == SAT


def test_unsat_assumptions(backend: Backend, opened: Open) -> None:
    if Capability.UNSAT_ASSUMPTIONS not in backend.capabilities:
        with pytest.raises(BackendError, match="assumptions"):
            opened(SMALL, unsat_assumptions=True)
        return
    session = opened(SMALL + "(declare-const |d| Bool)(declare-const e Bool)", unsat_assumptions=True)
    session.add("(assert (=> |d| (= x 1)))")
    assumed = ["|d|", "e", "(not b)"]
    assert session.check(assumptions=assumed) == UNSAT
    named = session.unsat_assumptions()
    assert "|d|" in named
    assert set(named) <= set(assumed)
    assert session.check(assumptions=named) == UNSAT
    assert session.check(assumptions=["e"]) == SAT
    with pytest.raises(SolverFailure, match="unsat"):
        session.unsat_assumptions()


def test_unsat_assumptions_must_be_asked_for_at_the_start(opened: Open) -> None:
    session = opened(SMALL)
    session.check(assumptions=["b"])
    with pytest.raises(BackendError, match="unsat_assumptions=True"):
        session.unsat_assumptions()


def test_levels_nest_and_take_their_declarations_with_them(opened: Open) -> None:
    session = opened(SMALL)
    session.push()
    session.add("(declare-const y Int)(assert (= y x))(assert b)")
    session.push()
    session.add("(assert (> y 0))")
    assert session.check() == UNSAT
    session.pop()
    answer, values = session.check_values(["x", "y"])
    assert answer == SAT
    assert values["x"] == values["y"] < 0
    session.pop()
    session.push()
    session.add("(declare-const y Real)(assert (= y 0.5))")
    assert session.check_values(["y"]) == (SAT, {"y": Fraction(1, 2)})
    session.pop()
    with pytest.raises(FormulaError, match="pop without push"):
        session.pop()


# Limits ----------------------------------------------------------------------------------------------


def test_a_limit_holds_and_the_session_goes_on(opened: Open) -> None:
    session = opened(HARD)
    session.push()
    start = time.monotonic()
    assert session.check(limit=1.0) == Answer(Status.UNKNOWN, "timeout")
    assert 0.9 < time.monotonic() - start < 2.0
    session.add(EASY_PART)
    assert session.check(limit=10.0) == UNSAT
    session.pop()
    assert session.check(limit=0.1) == Answer(Status.UNKNOWN, "timeout")
    assert time.monotonic() - start < 5.0


def test_no_time_no_answer(opened: Open) -> None:
    session = opened(SMALL)
    for limit in (0, -1.0):
        assert session.check(limit) == Answer(Status.UNKNOWN, "timeout")
    assert session.check(math.inf) == SAT
    with pytest.raises(FormulaError, match="NaN"):
        session.check(math.nan)


def test_a_limit_on_one_check_does_not_stay(opened: Open) -> None:
    session = opened(SMALL)
    assert session.check(limit=0.4) == SAT
    time.sleep(0.5)
    assert session.check() == SAT
    assert session.check(limit=1e9) == SAT


def test_an_interrupt_ends_a_check_soon(opened: Open) -> None:
    until = [math.inf]
    session = opened(HARD, interrupted=lambda: time.monotonic() > until[0])
    session.push()
    session.add(EASY_PART)
    assert session.check() == UNSAT
    session.pop()
    until[0] = time.monotonic() + 0.2
    assert session.check() == Answer(Status.UNKNOWN, "interrupted")
    assert time.monotonic() - until[0] < 0.5
    assert session.check() == Answer(Status.UNKNOWN, "interrupted")
    until[0] = math.inf
    session.add(EASY_PART)
    assert session.check() == UNSAT


def test_ctrl_c_ends_a_check_and_the_session_goes_on(opened: Open) -> None:
    session = opened(HARD)
    timer = threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            session.check(limit=10.0)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 1.5
    session.add(EASY_PART)
    assert session.check() == UNSAT


# Death and errors ------------------------------------------------------------------------------------


def test_a_process_that_dies_between_checks_is_replaced(opened: Open) -> None:
    session = opened(SMALL)
    session.push()
    session.add("(assert b)")
    session.push()
    session.add("(assert (= x 8))")
    assert session.check() == UNSAT
    session.pop()
    pid = session.pid
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not is_running(pid))
    session.add("(assert (= x (- 4)))")
    assert session.check_values(["b", "x"]) == (SAT, {"b": True, "x": -4})
    assert session.pid != pid
    session.pop()
    session.add("(assert (= x 8))")
    assert session.check() == SAT


def test_the_model_of_a_process_that_died_is_gone(opened: Open) -> None:
    session = opened(SMALL)
    assert session.check() == SAT
    pid = session.pid
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not is_running(pid))
    with pytest.raises(SolverFailure, match=r"ended after its answer.*SIGKILL"):
        session.values(["x"])
    assert session.check() == SAT


def test_a_process_that_dies_at_work_is_a_failure_then_replaced(opened: Open) -> None:
    session = opened(HARD)
    killer = threading.Timer(0.3, lambda: os.kill(session.pid, signal.SIGKILL))
    killer.start()
    start = time.monotonic()
    with pytest.raises(SolverFailure, match="SIGKILL"):
        session.check(limit=10.0)
    killer.join()
    assert time.monotonic() - start < 1.5
    session.add(EASY_PART)
    assert session.check() == UNSAT


def test_an_error_is_reported_in_the_solver_s_words_until_its_level_is_gone(opened: Open) -> None:
    session = opened(SMALL)
    session.push()
    session.add("(assert (< nowhere 3))")
    for _ in range(2):
        with pytest.raises(SolverFailure, match=r"error.*nowhere"):
            session.check()
    session.pop()
    assert session.check() == SAT


def test_an_error_of_sorts_is_an_error(opened: Open) -> None:
    session = opened(SMALL)
    session.add("(assert x)")
    with pytest.raises(SolverFailure, match="error"):
        session.check(5.0)


def test_text_that_is_not_complete_is_refused(opened: Open) -> None:
    session = opened(SMALL)
    for text in ("(assert b", "(assert |b)", '(set-info :source "x)', "(assert b))"):
        with pytest.raises(FormulaError, match="complete"):
            session.add(text)
    assert session.check() == SAT


def test_the_session_s_own_commands_are_refused(opened: Open) -> None:
    session = opened(SMALL)
    for text in ("(check-sat)", "(assert b)\n( exit )", "(push 1)", "(get-value (b))", "(reset)"):
        with pytest.raises(FormulaError, match="session"):
            session.add(text)
    assert session.check() == SAT


def test_words_in_comments_and_quotes_are_no_commands(opened: Open) -> None:
    session = opened(SMALL)
    session.add("; (check-sat) and a bracket (\n(set-info :source |(exit) ; ( |)\n(assert b) ; so be it")
    assert session.check_values(["b"]) == (SAT, {"b": True})


# Size, statistics, seeds -----------------------------------------------------------------------------


def test_a_script_of_ten_megabytes(opened: Open) -> None:
    line = "; " + 97 * "x" + "\n"
    session = opened(SMALL + "\n" + line * 100_000 + "(assert (= x 12))")
    assert session.check_values(["x"], limit=30.0) == (SAT, {"x": 12})


def test_many_symbols_at_once(opened: Open) -> None:
    names = [f"|value no. {i}|" for i in range(3000)]
    session = opened(
        HEAD + "".join(f"(declare-const {n} Int)(assert (= {n} {i}))" for i, n in enumerate(names))
    )
    assert session.check_values(names, limit=30.0) == (SAT, {name: i for i, name in enumerate(names)})


def test_statistics(backend: Backend, opened: Open) -> None:
    session = opened(SMALL)
    session.check()
    session.check()
    counters = session.statistics()
    assert counters["session.checks"] == 2
    assert counters["session.starts"] == 1
    assert counters["session.seconds"] > 0
    own = {name for name in counters if not name.startswith("session.")}
    assert bool(own) == (Capability.STATISTICS in backend.capabilities)
    assert session.check() == SAT


def test_any_seed_gives_the_same_answers(opened: Open) -> None:
    for seed in (0, 1, 12345):
        session = opened(SMALL, seed=seed)
        assert session.check() == SAT
        session.add("(assert (= x 0))")
        assert session.check() == UNSAT
