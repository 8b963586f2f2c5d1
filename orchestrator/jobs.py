"""One job: what crosses to the process that answers it and back, and how it is answered there.

A job names its part and what is blocked; a report says what was found. The process that answers holds a
path enumerator, built from SMT-LIB text conventions and the sidecar alone.
"""

import time
from dataclasses import dataclass, replace

from fairbox.encoder import witness
from fairbox.encoder.boxes import Box
from fairbox.encoder.errors import SolverFailure
from fairbox.encoder.problem import PathTuple, Problem
from fairbox.encoder.witness import Point
from fairbox.orchestrator.tasks import Kind
from fairbox.solvers.enumerator import FAILED, Budget, PathEnumerator, TupleKind


@dataclass(frozen=True)
class Job:
    """A task's question at one moment."""

    task: int
    kind: Kind
    paths: PathTuple
    part: Box
    blocked: tuple[PathTuple, ...]
    budget: Budget


@dataclass(frozen=True)
class Piece:
    """A box of unfair x, the path tuple of the x' that shows it, and a concrete pair where one exists."""

    box: Box
    opposite: PathTuple
    pair: tuple[Point, Point] | None


@dataclass(frozen=True)
class Report:
    """What came of a job. `blocked`: solutions to exclude from now on; `pieces`: disjoint, newly unfair."""

    task: int
    blocked: tuple[PathTuple, ...] = ()
    pieces: tuple[Piece, ...] = ()
    finished: bool = False
    reason: str | None = None
    calls: int = 0
    seconds: float = 0.0


def answer(problem: Problem, enumerator: PathEnumerator, job: Job) -> Report:
    """Answer a job; a solver's failure is a report with nothing found, never an exception."""
    started = time.monotonic()
    try:
        report = (_violations if job.kind is Kind.VIOLATIONS else _tuples)(problem, enumerator, job)
    except SolverFailure as failure:
        report = Report(job.task, reason=f"{FAILED}{failure}")
    return replace(report, seconds=time.monotonic() - started)


def _tuples(problem: Problem, enumerator: PathEnumerator, job: Job) -> Report:
    kind: TupleKind = "kappa" if job.kind is Kind.KAPPA else "not_kappa"
    tuples = enumerator.tuples(kind, job.paths, job.blocked, job.budget)
    return Report(job.task, tuples.found, (), tuples.finished, tuples.reason, tuples.calls)


def _violations(problem: Problem, enumerator: PathEnumerator, job: Job) -> Report:
    answer = enumerator.violations(job.paths, job.part, job.blocked, job.budget)
    pieces = []
    for violation in answer.found:
        opposite = problem.box(violation.opposite)
        assert opposite is not None
        pieces += [
            Piece(box, violation.opposite, witness.pair(problem, box, opposite)) for box in violation.pieces
        ]
    blocked = tuple(violation.opposite for violation in answer.found)
    return Report(job.task, blocked, tuple(pieces), answer.finished, answer.reason, answer.calls)
