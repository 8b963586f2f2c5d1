"""An engine with no formula: it answers the paper's three questions by trying every path tuple.

It is what a path enumerator is for a solver, without the solver, and it can be made to answer in bits, to
fail, and to say unknown, so that the orchestrator's bookkeeping is tested against every mood of a backend.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

from fairbox.encoder import boxes
from fairbox.encoder.boxes import Box
from fairbox.encoder.errors import SolverFailure
from fairbox.encoder.problem import PathTuple, Problem
from fairbox.orchestrator.jobs import Job, Report, answer
from fairbox.solvers.enumerator import BUDGET, Budget, TupleKind, Tuples, Violation, Violations


@dataclass
class BruteEnumerator:
    """`chance` of ending a call early at each solution, with one of `reasons`, or by an exception."""

    problem: Problem
    random: random.Random
    chance: float = 0.0
    reasons: tuple[str, ...] = (BUDGET,)
    failing: float = 0.0
    box_blocking: bool = True
    closed: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        every = product(*(range(len(tree)) for tree in self.problem.trees))
        self.everything = [paths for paths in every if self.problem.box(paths) is not None]

    def tuples(
        self, kind: TupleKind, prefix: PathTuple, blocked: Sequence[PathTuple], budget: Budget
    ) -> Tuples:
        self._maybe_fail()
        found: list[PathTuple] = []
        for paths in self._shuffled():
            if paths[: len(prefix)] != prefix or paths in blocked or not self._is(kind, paths):
                continue
            if reason := self._stops(len(found), budget):
                return Tuples(tuple(found), False, reason, len(found))
            found.append(paths)
        return Tuples(tuple(found), True, None, len(found) + 1)

    def violations(
        self, paths: PathTuple, part: Box, blocked: Sequence[PathTuple], budget: Budget
    ) -> Violations:
        self._maybe_fail()
        label = self.problem.verdict(paths).label
        left = [part]
        for opposite in blocked:
            left = boxes.subtract(left, self._region(label, part, opposite))
        found: list[Violation] = []
        for opposite in self._shuffled():
            region = self._region(label, part, opposite)
            pieces = [p for piece in left for r in region if (p := boxes.intersect(piece, r))]
            if not region or opposite in blocked or (self.box_blocking and not pieces):
                continue
            if reason := self._stops(len(found), budget):
                return Violations(tuple(found), False, reason, len(found))
            left = boxes.subtract(left, region)
            found.append(Violation(opposite, tuple(pieces)))
        return Violations(tuple(found), True, None, len(found) + 1)

    def close(self) -> None:
        self.closed = True

    def _region(self, label: int, part: Box, opposite: PathTuple) -> list[Box]:
        if self.problem.verdict(opposite).label != -label:
            return []
        box = self.problem.box(opposite)
        assert box is not None
        region = self.problem.region(part, box)
        return region.pieces() if region else []

    def _is(self, kind: TupleKind, paths: PathTuple) -> bool:
        return self.problem.verdict(paths).confident == (kind == "kappa")

    def _shuffled(self) -> list[PathTuple]:
        return self.random.sample(self.everything, len(self.everything))

    def _stops(self, count: int, budget: Budget) -> str | None:
        if count >= budget.solutions:
            return BUDGET
        return self.random.choice(self.reasons) if self.random.random() < self.chance else None

    def _maybe_fail(self) -> None:
        if self.random.random() < self.failing:
            raise SolverFailure("the engine was told to fail")


@dataclass
class ShuffledPool:
    """Workers that hand reports back in any order, some of them late."""

    problem: Problem
    enumerator: BruteEnumerator
    slots: int = 3
    waiting: list[Job] = field(default_factory=list)

    @property
    def free(self) -> int:
        return self.slots - len(self.waiting)

    def submit(self, batch: Sequence[Job]) -> None:
        self.waiting.extend(batch)

    def collect(self, timeout: float) -> list[Report]:
        assert timeout >= 0
        rng = self.enumerator.random
        rng.shuffle(self.waiting)
        taken = [self.waiting.pop() for _ in range(rng.randint(0, len(self.waiting)))]
        return [answer(self.problem, self.enumerator, job) for job in taken]

    def close(self) -> None:
        self.enumerator.close()
