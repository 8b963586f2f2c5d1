"""cvc5 parsing by the letter: a session of ours sends nothing that a strict reader refuses."""

from fractions import Fraction

import pytest

from fairbox.encoder.errors import SolverFailure
from fairbox.solvers.cvc5 import BACKEND, backend
from fairbox.solvers.protocols import Answer, Status

SCRIPT = "(set-logic QF_LIRA)\n(declare-const r Real)(declare-const i Int)(declare-const |b b| Bool)"
LOOSE = "(assert (< r (/ 1 3)))"


def test_strict_parsing_refuses_what_lenient_parsing_takes() -> None:
    with BACKEND.open(SCRIPT + LOOSE) as session:
        assert session.check() == Answer(Status.SAT)
    with backend(strict=True).open(SCRIPT + LOOSE) as session, pytest.raises(SolverFailure, match="strict"):
        session.check()


def test_a_dialogue_by_the_letter() -> None:
    symbols = ["r", "i", "|b b|"]
    facts = "(assert (= (* 3.0 r) (- 1.0)))(assert (= i (- 2)))(assert |b b|)"
    with backend(strict=True).open(SCRIPT, seed=3, unsat_assumptions=True) as session:
        session.push()
        session.add(facts)
        answer, values = session.check_values(symbols, 10.0, ["|b b|"])
        assert answer == Answer(Status.SAT)
        assert values == {"r": Fraction(-1, 3), "i": -2, "|b b|": True}
        session.block(symbols)
        assert session.check(10.0) == Answer(Status.UNSAT)
        assert session.check(10.0, ["|b b|"]) == Answer(Status.UNSAT)
        assert set(session.unsat_assumptions()) <= {"|b b|"}
        session.pop()
        assert session.check() == Answer(Status.SAT)
