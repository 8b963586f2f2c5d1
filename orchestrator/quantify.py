"""Quantification: run the task graph until the bounds meet, time is up, or someone says stop."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

import networkx as nx

from fairbox.encoder.boxes import Box
from fairbox.encoder.numbers import Exact
from fairbox.encoder.problem import PathTuple, Problem
from fairbox.encoder.witness import Point
from fairbox.orchestrator import bounds as ledger
from fairbox.orchestrator.bounds import Bounds
from fairbox.orchestrator.jobs import Job, Piece, Report
from fairbox.orchestrator.replay import Claim, check_replayable, replay
from fairbox.orchestrator.schedule import Schedule
from fairbox.orchestrator.settings import Settings
from fairbox.orchestrator.tasks import Kind, State, Task, TaskGraph
from fairbox.orchestrator.workers import Pool, ProcessPool, SerialPool, make_enumerator, write_order
from fairbox.solvers.enumerator import BUDGET, FAILED, Budget
from fairbox.solvers.registry import get_backend

FIRST_CHECK_SECONDS = 1.0
"""The first slice of a solver call; a task that needs more gets twice as much the next time."""
JOB_SECONDS = 0.25
"""A job reports at least this often, so that bounds move and a stop is heard."""
MAX_FAILURES = 3
"""How often a task is tried anew after its solver failed."""
POLL_SECONDS = 0.1
TRACE_SECONDS = 0.05


class Status(StrEnum):
    """How a run stands, or ended."""

    RUNNING = "running"
    CONVERGED = "converged"
    TIME_LIMIT = "time_limit"
    INTERRUPTED = "interrupted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class UnfairRegion:
    """A box of unfair inputs, disjoint from all others: class, measure, and a witness pair if one exists."""

    box: Box
    label: int
    measure: Exact
    paths: PathTuple
    opposite: PathTuple
    pair: tuple[Point, Point] | None


@dataclass(frozen=True)
class Event:
    """Something happened to a task; `bounds` are those that hold after it."""

    what: Literal["opened", "started", "reported", "split", "done", "undecided", "cancelled"]
    task: Task
    bounds: Bounds


@dataclass
class Counts:
    """What the run has done so far."""

    solver_calls: int = 0
    tuples: int = 0
    violations: int = 0
    failures: int = 0


class Run:
    """A quantification under way. Iterate over it for bounds as they improve; it runs only while you do.

    `bounds`, `status`, `regions`, `counts`, `graph`, `trace` may be read at any moment.
    """

    def __init__(self, problem: Problem, settings: Settings, pool: Pool | None = None) -> None:
        """Prepare a run; `pool` takes the place of the workers and backend that `settings` ask for."""
        check_replayable(problem.ensemble)
        self.problem = problem
        self.settings = settings
        self.backend_version = "" if pool else get_backend(settings.backend).probe().version or "unknown"
        self.bounds = Bounds(problem.total)
        self.status = Status.RUNNING
        self.regions: list[UnfairRegion] = []
        self.counts = Counts()
        self.trace: list[Bounds] = [self.bounds]
        self.undecided_reasons: dict[str, int] = {}
        self.tasks = TaskGraph(problem)
        self._callbacks: list[Callable[[Event], None]] = []
        self._schedule = Schedule(settings.priority, _split_by_kind(settings))
        self._pool = pool
        self._counted: set[PathTuple] = set()
        self._active = dict.fromkeys(Kind, 0)
        self._given_up = dict.fromkeys(Kind, 0)
        self._seconds_per_job = JOB_SECONDS
        self._stop: Status | None = None
        self._started = time.monotonic()
        self._ended: float | None = None
        self._steps: Iterator[Bounds] | None = None

    @property
    def graph(self) -> "nx.DiGraph[int]":
        """The task graph: nodes are task numbers with the attribute `task`."""
        return self.tasks.graph

    @property
    def seconds(self) -> float:
        """Wall time since the start, until the end."""
        return (self._ended or time.monotonic()) - self._started

    def on_event(self, callback: Callable[[Event], None]) -> None:
        """Call `callback` after every event, once the bounds account for it."""
        self._callbacks.append(callback)

    def stop(self) -> None:
        """End the run soon, from a signal handler, a callback or another thread; bounds stay valid."""
        self._stop = self._stop or Status.INTERRUPTED

    def close(self) -> None:
        """End the run now, wherever it is; for a run that is not iterated to its end."""
        self.stop()
        self.finish()

    def __iter__(self) -> Iterator[Bounds]:
        if self._steps is None:
            self._steps = self._execute()
        return self._steps

    def finish(self) -> Bounds:
        """Run to the end and return the last bounds."""
        for _ in self:
            pass
        return self.bounds

    def _execute(self) -> Iterator[Bounds]:
        try:
            self._pool = self._pool or self._make_pool()
            for kind in (Kind.KAPPA, Kind.NOT_KAPPA):
                self._open(self.tasks.add(kind, (), self.problem.full, self.problem.total))
            while not self._over():
                self._hand_out()
                reports = self._pool.collect(min(POLL_SECONDS, self._time_left()))
                if reports:
                    self._take_in(reports)
                    yield self.bounds
        finally:
            self._ended = time.monotonic()
            if self.status is Status.RUNNING:
                self.status = self._stop or Status.INTERRUPTED
            self._record_trace(always=True)
            if self._pool is not None:
                self._pool.close()
        yield self.bounds

    def _make_pool(self) -> Pool:
        order = write_order(self.problem, self.settings)
        if self.settings.workers > 1:
            return ProcessPool(order, self.settings.workers)
        return SerialPool(self.problem, make_enumerator(self.problem, order, self._must_stop))

    def _must_stop(self) -> bool:
        return self._stop is not None or self._time_left() <= 0

    def _time_left(self) -> float:
        if self.settings.time_limit is None:
            return float("inf")
        return max(self.settings.time_limit - (time.monotonic() - self._started), 0.0)

    def _over(self) -> bool:
        if self.bounds.converged:
            self.status = Status.CONVERGED
        elif self._stop is not None:
            self.status = self._stop
        elif self._time_left() <= 0:
            self.status = Status.TIME_LIMIT
        elif not any(self._active.values()):
            self.status = Status.UNDECIDED
        return self.status is not Status.RUNNING

    def _hand_out(self) -> None:
        assert self._pool is not None
        while self._pool.free > 0:
            # Enough jobs for about one job's time, so that short searches do not drown in messages.
            size = max(1, min(64, int(JOB_SECONDS / max(self._seconds_per_job, 1e-4))))
            batch: list[Job] = []
            while len(batch) < size and (task := self._schedule.take()) is not None:
                batch.append(self._job(task))
                self._tell("started", task)
            if not batch:
                return
            self._pool.submit(batch)

    def _job(self, task: Task) -> Job:
        task.check_seconds = task.check_seconds or FIRST_CHECK_SECONDS
        left = self._time_left()
        room = self.settings.blocking_limit - len(task.blocked)
        # A task that cannot be split still reports: its blocked solutions simply grow.
        solutions = room if room > 0 else self.settings.blocking_limit
        seconds = max(JOB_SECONDS, len(task.blocked) / 100)
        budget = Budget(solutions, min(task.check_seconds, left), min(seconds, left))
        return Job(task.id, task.kind, task.paths, task.part, tuple(task.blocked), budget)

    def _take_in(self, reports: list[Report]) -> None:
        replay(self.problem, self._claims(reports))
        for report in reports:
            self._apply(self.tasks[report.task], report)
            self._record_trace()

    def _claims(self, reports: list[Report]) -> Iterator[Claim]:
        for report in reports:
            for piece in report.pieces:
                if piece.pair is not None:
                    yield Claim(self.tasks[report.task].paths, piece.pair[0])
                    yield Claim(piece.opposite, piece.pair[1])

    def _apply(self, task: Task, report: Report) -> None:
        """Account for a report, then decide what becomes of its task."""
        before = task.measure
        self.counts.solver_calls += report.calls
        self._seconds_per_job += 0.1 * (report.seconds - self._seconds_per_job)
        task.calls += report.calls
        task.blocked += report.blocked
        if task.kind is Kind.VIOLATIONS:
            self.counts.violations += len(report.blocked)
            for piece in report.pieces:
                self._add_region(task, piece)
        else:
            for paths in report.blocked:
                self._add_tuple(task, paths)
        if report.finished:
            self._finish(task)
        decided = before if task.finished and task.kind is Kind.VIOLATIONS else before - task.measure
        self._schedule.returned(task, report.calls, decided)
        self._tell("reported", task)
        if not task.finished:
            self._go_on(task, report.reason)
        self._settle()

    def _add_tuple(self, task: Task, paths: PathTuple) -> None:
        """A path tuple was found: sort it by its replayed verdict, once."""
        box = self.problem.box(paths)
        assert box is not None
        measure = self.problem.measure(box)
        task.measure -= measure
        if paths in self._counted or self.bounds.unsorted == 0:
            # Counted by the other kind of search, or by the conclusion that all is sorted out.
            return
        self._counted.add(paths)
        self.counts.tuples += 1
        verdict = self.problem.verdict(paths)
        if not verdict.confident:
            self.bounds = ledger.add_not_confident(self.bounds, measure)
            return
        self.bounds = ledger.add_confident(self.bounds, verdict.label, measure)
        found = self.tasks.add(
            Kind.VIOLATIONS, paths, box, measure, parent=task, why="found", label=verdict.label
        )
        self._open(found)

    def _add_region(self, task: Task, piece: Piece) -> None:
        measure = self.problem.measure(piece.box)
        task.measure -= measure
        task.unfair.append(piece.box)
        self.bounds = ledger.add_unfair(self.bounds, task.label, measure)
        if measure:
            self.regions.append(
                UnfairRegion(piece.box, task.label, measure, task.paths, piece.opposite, piece.pair)
            )

    def _finish(self, task: Task) -> None:
        """A search is complete: what is left of an s(π) task's part is fair."""
        self._close(task, State.DONE, "done")
        if task.kind is Kind.VIOLATIONS:
            self.bounds = ledger.add_fair(self.bounds, task.label, task.measure)
            task.measure = 0
        task.blocked, task.unfair = [], []

    def _go_on(self, task: Task, reason: str | None) -> None:
        """A search is not complete: split it, try again with more time, or leave its part undecided."""
        reason = reason or BUDGET
        if reason.startswith(FAILED):
            self.counts.failures += 1
            task.failures += 1
            if task.failures >= MAX_FAILURES:
                self._give_up(task, reason)
                return
        elif reason == "timeout":
            task.check_seconds *= 2
        elif reason not in (BUDGET, "interrupted"):
            if not self._split(task):
                self._give_up(task, reason)
            return
        if len(task.blocked) >= self.settings.blocking_limit and self._split(task):
            return
        self._schedule.open(task)

    def _split(self, task: Task) -> bool:
        if not self.settings.decomposition:
            return False
        children = self.tasks.split(task)
        if children:
            self._active[task.kind] -= 1
            task.blocked, task.unfair = [], []
            self._tell("split", task)
        for child in children:
            self._open(child)
        return bool(children)

    def _give_up(self, task: Task, reason: str) -> None:
        task.reason = reason
        self.undecided_reasons[reason] = self.undecided_reasons.get(reason, 0) + 1
        self._given_up[task.kind] += 1
        self._close(task, State.UNDECIDED, "undecided")

    def _settle(self) -> None:
        """Draw the conclusions that complete searches allow, and cancel searches that have become idle."""
        if self._active[Kind.KAPPA] == 0 and not self._given_up[Kind.KAPPA] and self.bounds.unsorted:
            # Every confident tuple is known, so the rest of the space is not confident.
            self.bounds = ledger.add_not_confident(self.bounds, self.bounds.unsorted)
        if self.bounds.unsorted == 0:
            for kind in (Kind.KAPPA, Kind.NOT_KAPPA):
                if self._active[kind]:
                    self._cancel(kind)

    def _cancel(self, kind: Kind) -> None:
        for task in self.tasks:
            if task.kind is kind and task.state is State.OPEN:
                self._close(task, State.CANCELLED, "cancelled")

    def _open(self, task: Task) -> None:
        self._active[task.kind] += 1
        self._schedule.open(task)
        self._tell("opened", task)

    def _close(self, task: Task, state: State, what: Literal["done", "undecided", "cancelled"]) -> None:
        self._active[task.kind] -= 1
        task.state = state
        self._tell(what, task)

    def _tell(self, what: str, task: Task) -> None:
        for callback in self._callbacks:
            callback(Event(what, task, self.bounds))  # type: ignore[arg-type]

    def _record_trace(self, *, always: bool = False) -> None:
        now = self.seconds
        last = self.trace[-1]
        changed = (last.lower, last.upper) != (self.bounds.lower, self.bounds.upper)
        if always or (changed and now - last.seconds >= TRACE_SECONDS):
            self.bounds = replace(self.bounds, seconds=now)
            self.trace.append(self.bounds)


def _split_by_kind(settings: Settings) -> dict[Kind, int] | None:
    if settings.worker_split is None:
        return None
    return {Kind(kind): count for kind, count in settings.worker_split.items()}
