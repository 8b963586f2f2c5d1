"""Any program that speaks SMT-LIB 2 on a pipe, by its command line: `smtlib:mathsat`, `smtlib:z3 -in`.

What a program can do is not believed but tried, once: every capability by a small dialogue of its own.

To add a solver under a name of its own, make a `PipeBackend` in a module of your own distribution:

    BACKEND = PipeBackend(
        name="mysolver",
        locate=lambda: probe_program("mysolver", "mysolver-dist", ("--stdin",), "get it from …"),
        capabilities=frozenset({Capability.INCREMENTAL, Capability.ASSUMPTIONS, Capability.LIRA}),
        missing={Capability.SEED: "it is deterministic", …},        # the other capabilities, each with a reason
        dialect=Dialect(limit="(set-option :time-limit {ms})"),     # where it departs from the standard
    )

and register it: `[project.entry-points."fairbox.backends"] mysolver = "mypackage:BACKEND"`. The conformance suite
(tests/solvers/test_conformance.py) then runs over it. A solver with no SMT-LIB program gets a host like
`fairbox/solvers/hosts/cvc5_host.py`, or implements `fairbox.solvers.protocols.Backend` itself.
"""

import shlex
import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType

from fairbox.encoder.errors import BackendError, SolverFailure
from fairbox.solvers.pipe import PipeBackend, PipeSession
from fairbox.solvers.protocols import Capability, Probe, Status

PREFIX = "smtlib:"
TRIAL_SECONDS = 5.0
"""Time for each trial, the start of the program included."""

_FORMULA = "(declare-const b Bool)(declare-const r Real)(assert b)(assert (= (* 3.0 r) (- 1.0)))"
_LRA = f"(set-logic QF_LRA){_FORMULA}"
_LIRA = f"(set-logic QF_LIRA){_FORMULA}(declare-const i Int)(assert (or (not b) (and (< i 3) (< 1 i))))"


@cache
def backend(command: str) -> PipeBackend:
    """The backend behind a command line, split as a POSIX shell splits it.

    Raises BackendError when the command cannot be split. For a program that is missing, or that does not hold
    the dialogue of a session, the backend's probe says so.
    """
    assumed = unexamined(command)
    program = assumed.probe().command[0]
    if shutil.which(program) is None:
        return _unusable(assumed, f"there is no program {program} that can be run")
    if problem := _problem(_try_dialogue, assumed):
        hint = "give the options that make it read commands from standard input and answer each at once"
        return _unusable(assumed, f"{program} does not hold the dialogue of a session: {problem}; {hint}")
    missing: dict[str, str] = dict(assumed.missing)
    for capability, trial in _TRIALS.items():
        if problem := _problem(trial, assumed):
            missing[capability] = problem
    with assumed.open(_LRA) as session:
        session.check(TRIAL_SECONDS)
        probe = Probe(True, version=session.info(":version"), command=assumed.probe().command)
    return replace(
        assumed,
        locate=lambda: probe,
        capabilities=assumed.capabilities - set(missing),
        missing=MappingProxyType(missing),
    )


def unexamined(command: str) -> PipeBackend:
    """The backend behind a command line, taken to do all of the standard: nothing is tried.

    Raises BackendError when the command cannot be split.
    """
    try:
        probe = Probe(True, command=tuple(shlex.split(command)))
    except ValueError as error:
        raise BackendError(f"{PREFIX}{command}: {error} in the command; write it as for a shell") from error
    if not probe.command:
        raise BackendError(f"{PREFIX} needs a command, as in '{PREFIX}yices-smt2 --incremental'")
    return PipeBackend(
        PREFIX + command,
        locate=lambda: probe,
        capabilities=frozenset(Capability) - {Capability.TIMEOUT},
        missing=MappingProxyType({Capability.TIMEOUT: "SMT-LIB has no option for it; the process is ended"}),
    )


def _unusable(assumed: PipeBackend, why_not: str) -> PipeBackend:
    return replace(assumed, locate=lambda: Probe(False, why_not=why_not), capabilities=frozenset())


# Trials ----------------------------------------------------------------------------------------------


def _problem(trial: Callable[[PipeBackend], object], backend: PipeBackend) -> str | None:
    """What went wrong in a trial; None when nothing did."""
    try:
        trial(backend)
    except SolverFailure as failure:
        return str(failure)
    return None


def _expect(session: PipeSession, status: Status, assumptions: tuple[str, ...] = ()) -> None:
    answer = session.check(TRIAL_SECONDS, assumptions)
    if answer.status is not status:
        why = f" ({answer.reason})" if answer.reason else ""
        raise SolverFailure(f"answered {answer.status}{why} where {status} is due")


def _try_dialogue(backend: PipeBackend) -> None:
    with backend.open(_LRA) as session:
        _expect(session, Status.SAT)
        values = session.values(["b", "r"], TRIAL_SECONDS)
        if values != {"b": True, "r": Fraction(-1, 3)}:
            raise SolverFailure(f"gave the values {values} where b is true and r is -1/3")
        session.push()
        session.add("(assert (not b))")
        _expect(session, Status.UNSAT)
        session.pop()
        _expect(session, Status.SAT)


def _try_assumptions(backend: PipeBackend) -> None:
    with backend.open(_LRA) as session:
        _expect(session, Status.UNSAT, ("(not b)",))
        _expect(session, Status.SAT, ("b",))


def _try_unsat_assumptions(backend: PipeBackend) -> None:
    with backend.open(_LRA, unsat_assumptions=True) as session:
        _expect(session, Status.UNSAT, ("(not b)",))
        session.unsat_assumptions()


def _try_statistics(backend: PipeBackend) -> None:
    with backend.open(_LRA) as session:
        _expect(session, Status.SAT)
        if all(name.startswith("session.") for name in session.statistics()):
            raise SolverFailure("gave no statistics")


def _try_lira(backend: PipeBackend) -> None:
    with backend.open(_LIRA) as session:
        _expect(session, Status.SAT)
        if session.values(["i"], TRIAL_SECONDS) != {"i": 2}:
            raise SolverFailure("gave another value where i is 2")


def _try_seed(backend: PipeBackend) -> None:
    with backend.open(f"{backend.dialect.seed.format(seed=7)}{_LRA}") as session:
        _expect(session, Status.SAT)


_TRIALS: Mapping[Capability, Callable[[PipeBackend], None]] = {
    Capability.ASSUMPTIONS: _try_assumptions,
    Capability.UNSAT_ASSUMPTIONS: _try_unsat_assumptions,
    Capability.STATISTICS: _try_statistics,
    Capability.LIRA: _try_lira,
    Capability.SEED: _try_seed,
}
