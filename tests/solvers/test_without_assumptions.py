"""A program without check-sat-assuming still takes assumptions: as assertions on a level of their own."""

from dataclasses import replace

from fairbox.solvers.protocols import Answer, Capability, Status
from fairbox.solvers.z3 import BACKEND
from tests.solvers.formulas import HARD

BARE = replace(
    BACKEND, capabilities=BACKEND.capabilities - {Capability.ASSUMPTIONS, Capability.UNSAT_ASSUMPTIONS}
)
SCRIPT = "(set-logic QF_LIRA)(declare-const b Bool)(declare-const x Int)(assert (=> b (= x 1)))"


def test_assumptions_by_push_and_pop() -> None:
    with BARE.open(SCRIPT) as session:
        assert session.check_values(["x"], assumptions=["b"]) == (Answer(Status.SAT), {"x": 1})
        session.block(["x"])  # outside the level of the assumption
        assert session.check(assumptions=["b"]) == Answer(Status.UNSAT)
        assert session.check(assumptions=["(not b)"]) == Answer(Status.SAT)
        session.push()
        session.add("(assert b)")
        assert session.check() == Answer(Status.UNSAT)
        session.pop()
        assert session.check() == Answer(Status.SAT)


def test_levels_are_right_after_a_limit() -> None:
    with BARE.open(HARD) as session:
        assert session.check(0.2, ["p0_1"]).reason == "timeout"
        session.add("(assert (not p0_1))")
        session.push()
        session.add("(assert (and p1_0 p0_0))")
        assert session.check(assumptions=["p2_2"]) == Answer(Status.UNSAT)
        session.pop()
        assert session.check(0.2).reason == "timeout"
        assert session.check(5.0, ["p0_1"]) == Answer(Status.UNSAT)
