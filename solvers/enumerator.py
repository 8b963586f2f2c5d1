"""Path enumerators: the paper's three questions, and their answers by any session.

Confident path tuples, path tuples that are not confident, and the violations of one path tuple: the
orchestrator asks nothing else, so an engine with no formula at all can stand in the place of a solver.
Calls are stateless: each names the part it asks about and what is blocked already, so that any process can
answer the next one. An enumerator may keep its session as it was, and goes on there when it can.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pysmt.fnode import FNode

from fairbox.encoder import boxes
from fairbox.encoder.boxes import Box
from fairbox.encoder.errors import FormulaError, SolverFailure
from fairbox.encoder.formula import Encoding, queries
from fairbox.encoder.formula.encoding import Side
from fairbox.encoder.problem import PathTuple, Problem, Region
from fairbox.smtlib_out.printer import Printer
from fairbox.smtlib_out.writer import session_script
from fairbox.solvers.protocols import Answer, Backend, Session, Status

FAILED = "failed: "
"""How the reason begins when a session was given up: the solver died, erred or lied."""

BUDGET = "budget"
"""The reason when a call used its budget up and more may be found."""

TupleKind = Literal["kappa", "not_kappa"]


@dataclass(frozen=True)
class Budget:
    """How far one call may go: solutions, seconds for each check, seconds before no new check starts."""

    solutions: int
    check_seconds: float
    seconds: float


@dataclass(frozen=True)
class Tuples:
    """Path tuples found by one call. `finished`: there are no more; else `reason` says what stopped it."""

    found: tuple[PathTuple, ...]
    finished: bool
    reason: str | None
    calls: int


@dataclass(frozen=True)
class Violation:
    """An opposite path tuple, and the disjoint boxes of x that it newly makes unfair.

    No boxes: under deployed arithmetic replay refuted the pair, or others had covered its region.
    """

    opposite: PathTuple
    pieces: tuple[Box, ...]


@dataclass(frozen=True)
class Violations:
    """Violations found by one call; fields as in `Tuples`."""

    found: tuple[Violation, ...]
    finished: bool
    reason: str | None
    calls: int


class PathEnumerator(Protocol):
    """Answers the three questions of the paper."""

    def tuples(
        self, kind: TupleKind, prefix: PathTuple, blocked: Sequence[PathTuple], budget: Budget
    ) -> Tuples:
        """Path tuples, confident or not, that begin with `prefix` and are not `blocked`."""
        ...

    def violations(
        self, paths: PathTuple, part: Box, blocked: Sequence[PathTuple], budget: Budget
    ) -> Violations:
        """Opposites of `paths` for x in `part`, a part of its box, beyond those `blocked`."""
        ...

    def close(self) -> None:
        """End whatever runs."""
        ...


Blocker = Callable[[PathTuple], FNode]
"""Makes the clause that excludes what was found."""

Line = Literal["tuples", "violations"]
"""The two dialogues of an enumerator: about x alone, and about x' near a known part."""

SIDES: dict[Line, Side] = {"tuples": "x", "violations": "y"}


def base_scripts(encoding: Encoding) -> dict[Line, str]:
    """The SMT-LIB text each dialogue starts from: all a process needs of the formulas' bulk."""
    bases: dict[Line, queries.Query] = {
        "tuples": queries.tuples_base(encoding),
        "violations": queries.violations_base(encoding),
    }
    printer = Printer()
    return {
        line: session_script(query.assertions, printer, symbols=query.symbols)
        for line, query in bases.items()
    }


class SessionEnumerator:
    """A path enumerator over any SMT backend.

    `scripts` are the encoding's `base_scripts`, made here when they are not handed in; `box_blocking`:
    exclude the whole region of a violation, else only its pair of path tuples.
    """

    def __init__(
        self,
        encoding: Encoding,
        backend: Backend,
        scripts: Mapping[Line, str] | None = None,
        *,
        box_blocking: bool = True,
        seed: int = 0,
        interrupted: Callable[[], bool] | None = None,
    ) -> None:
        self.encoding = encoding
        self.problem: Problem = encoding.problem
        self.backend = backend
        self.scripts = scripts or base_scripts(encoding)
        self.box_blocking = box_blocking
        self.seed = seed
        self.interrupted = interrupted
        self.printer = Printer()
        self._lines: dict[Line, _Dialogue] = {}

    def tuples(
        self, kind: TupleKind, prefix: PathTuple, blocked: Sequence[PathTuple], budget: Budget
    ) -> Tuples:
        """See PathEnumerator."""
        line = self._line("tuples")
        line.turn_to((kind, prefix), blocked, self._tuple_question(kind, prefix), self._tuple_block(prefix))
        search = _Search(line, budget)
        found: list[PathTuple] = []
        seen = set(blocked)
        for paths in search:
            if paths in seen or not self._answers(kind, prefix, paths):
                search.fail(f"{self.backend.name} gave a model that does not satisfy the formula")
                break
            seen.add(paths)
            found.append(paths)
            search.block(paths)
        return Tuples(tuple(found), search.finished, search.reason, search.calls)

    def violations(
        self, paths: PathTuple, part: Box, blocked: Sequence[PathTuple], budget: Budget
    ) -> Violations:
        """See PathEnumerator."""
        line = self._line("violations")
        label = self.problem.verdict(paths).label
        line.turn_to(
            (paths, part), blocked, self._violation_question(label, part), self._region_block(label, part)
        )
        left = self._uncovered(label, part, blocked)
        search = _Search(line, budget, covered=not left)
        found: list[Violation] = []
        seen = set(blocked)
        for opposite in search:
            if opposite in seen or not self._violates(label, part, opposite):
                search.fail(f"{self.backend.name} gave a model that does not satisfy the formula")
                break
            seen.add(opposite)
            region = self._region(label, part, opposite)
            unfair = region.pieces() if region else []
            pieces = [p for piece in left for r in unfair if (p := boxes.intersect(piece, r))]
            left = boxes.subtract(left, unfair)
            found.append(Violation(opposite, tuple(pieces)))
            search.block(opposite)
            search.covered = not left
        return Violations(tuple(found), search.finished, search.reason, search.calls)

    def close(self) -> None:
        """End the sessions."""
        for line in self._lines.values():
            line.drop()

    def _line(self, name: Line) -> "_Dialogue":
        if name not in self._lines:
            self._lines[name] = _Dialogue(self, self.scripts[name], SIDES[name])
        return self._lines[name]

    def _tuple_question(self, kind: TupleKind, prefix: PathTuple) -> Iterator[FNode]:
        yield queries.psi_kappa(self.encoding) if kind == "kappa" else queries.psi_not_kappa(self.encoding)
        if prefix:
            yield self.encoding.on_paths("x", prefix)
            yield self.encoding.inside_box("x", boxes_of_prefix(self.problem, prefix))

    def _violation_question(self, label: int, part: Box) -> Iterator[FNode]:
        yield self.encoding.inside_box("x", part)
        yield queries.opposite(self.encoding, label)

    def _tuple_block(self, prefix: PathTuple) -> Blocker:
        return lambda paths: queries.not_on_paths(self.encoding, "x", paths, len(prefix))

    def _region_block(self, label: int, part: Box) -> Blocker:
        def block(opposite: PathTuple) -> FNode:
            region = self._region(label, part, opposite) if self.box_blocking else None
            if region is None:
                return queries.not_on_paths(self.encoding, "y", opposite)
            return queries.phi_outbox(self.encoding, region, part)

        return block

    def _region(self, label: int, part: Box, opposite: PathTuple) -> Region | None:
        """The unfair x of a pair, None where replay does not make it a violation."""
        box = self.problem.box(opposite)
        if box is None or self.problem.verdict(opposite).label != -label:
            return None
        return self.problem.region(part, box)

    def _uncovered(self, label: int, part: Box, blocked: Sequence[PathTuple]) -> list[Box]:
        left = [part]
        for opposite in blocked:
            region = self._region(label, part, opposite)
            left = boxes.subtract(left, region.pieces() if region else [])
        return left

    def _answers(self, kind: TupleKind, prefix: PathTuple, paths: PathTuple) -> bool:
        """Whether a path tuple satisfies the formula it was found for, by our own evaluation."""
        if paths[: len(prefix)] != prefix or self.problem.box(paths) is None:
            return False
        margin, cutoffs = self.problem.margin(paths), self.problem.cutoffs
        if kind == "kappa":
            return margin >= cutoffs.confident_from or margin <= cutoffs.confident_to
        return cutoffs.doubtful_from <= margin <= cutoffs.doubtful_to

    def _violates(self, label: int, part: Box, opposite: PathTuple) -> bool:
        box, margin, cutoffs = self.problem.box(opposite), self.problem.margin(opposite), self.problem.cutoffs
        right_class = margin <= cutoffs.negative_to if label > 0 else margin >= cutoffs.positive_from
        return box is not None and right_class and self.problem.region(part, box) is not None


def boxes_of_prefix(problem: Problem, prefix: PathTuple) -> Box:
    """The intersection of the boxes of the first paths, which is not empty."""
    box = problem.full
    for tree, position in zip(problem.trees, prefix, strict=False):
        common = boxes.intersect(box, tree[position].box)
        if common is None:
            raise FormulaError(f"the paths {prefix} have no input in common")
        box = common
    return box


class _Dialogue:
    """A session kept over calls: the base script, and on top of it the question that is open."""

    def __init__(self, owner: SessionEnumerator, script: str, side: Side) -> None:
        self._owner = owner
        self._script = script
        self.symbols = [symbol.symbol_name() for symbol in owner.encoding.projection(side)]
        self.side = side
        self.session: Session | None = None
        self._key: object = None
        self._blocked: list[PathTuple] = []
        self._blocker: Blocker | None = None

    def turn_to(
        self, key: object, blocked: Sequence[PathTuple], question: Iterator[FNode], blocker: Blocker
    ) -> None:
        """Open a question with some solutions blocked, or go on where it was left."""
        if self.session is not None and key == self._key and list(blocked) == self._blocked:
            return
        try:
            self._open(key, blocked, question, blocker)
        except SolverFailure:
            self.drop()
            raise

    def _open(
        self, key: object, blocked: Sequence[PathTuple], question: Iterator[FNode], blocker: Blocker
    ) -> None:
        if self.session is None:
            owner = self._owner
            self.session = owner.backend.open(self._script, seed=owner.seed, interrupted=owner.interrupted)
        elif self._key is not None:
            self.session.pop()
        self.session.push()
        self._key, self._blocked, self._blocker = key, [], blocker
        for formula in question:
            self._add(formula)
        for paths in blocked:
            self.block(paths)

    def block(self, paths: PathTuple) -> None:
        """Exclude a solution from the open question."""
        assert self._blocker is not None
        self._add(self._blocker(paths))
        self._blocked.append(paths)

    def drop(self) -> None:
        """Forget the session: the next question starts a new one."""
        if self.session is not None:
            self.session.close()
        self.session, self._key = None, None

    def _add(self, formula: FNode) -> None:
        assert self.session is not None
        self.session.add(self._owner.printer.assertion(formula))

    def next(self, limit: float) -> tuple[Answer, PathTuple | None]:
        """Check, and after sat the path tuple of the model."""
        assert self.session is not None
        answer, values = self.session.check_values(self.symbols, limit)
        if answer.status is not Status.SAT:
            return answer, None
        try:
            return answer, self._owner.encoding.decode(self.side, values)
        except FormulaError as error:
            raise SolverFailure(f"a model of {self._owner.backend.name} is no path tuple: {error}") from error


class _Search:
    """The loop check, read, block. Iterates over path tuples; says afterwards how it ended."""

    def __init__(self, line: _Dialogue, budget: Budget, *, covered: bool = False) -> None:
        self._line = line
        self._budget = budget
        self.covered = covered
        self.finished = False
        self.reason: str | None = None
        self.calls = 0

    def __iter__(self) -> Iterator[PathTuple]:
        end = time.monotonic() + self._budget.seconds
        solutions = 0
        while not self._stops(solutions, end):
            try:
                answer, paths = self._line.next(self._budget.check_seconds)
            except SolverFailure as failure:
                self.fail(str(failure))
                return
            self.calls += 1
            if paths is None:
                self.finished = answer.status is Status.UNSAT
                self.reason = answer.reason
                return
            solutions += 1
            yield paths

    def block(self, paths: PathTuple) -> None:
        """Exclude what was found; a session that cannot be told ends the search, and what was found stays."""
        try:
            self._line.block(paths)
        except SolverFailure as failure:
            self.fail(str(failure))

    def fail(self, why: str) -> None:
        """Give the session up. What was found before stays found; the rest is left undecided."""
        self._line.drop()
        self.reason = f"{FAILED}{why}"

    def _stops(self, solutions: int, end: float) -> bool:
        if self.covered:
            self.finished = True
        elif solutions >= self._budget.solutions or time.monotonic() >= end:
            self.reason = BUDGET
        return self.finished or self.reason is not None
