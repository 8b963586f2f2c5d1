"""Which open task is next: the one expected to decide the largest measure per solver call.

An s(π) task of measure μ decides μ, so its worth is μ over the calls such a task takes on average. A κ or
κ̄ task sorts tuples out, and its worth is the measure its kind has sorted out per call so far. A kind that
has not been tried is worth its whole measure. Without priority, tasks are taken in the order they opened
(the paper's variant "no-prior").
"""

import heapq
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from fairbox.encoder.numbers import Exact
from fairbox.orchestrator.tasks import Kind, State, Task


@dataclass
class _Yield:
    """What a kind of task has brought so far."""

    calls: int = 0
    measure: Exact = 0
    finished: int = 0


@dataclass
class Schedule:
    """The open tasks. `split` limits how many jobs of each kind run at once (the paper's 2, 4 and 10)."""

    priority: bool = True
    split: Mapping[Kind, int] | None = None
    _heaps: dict[Kind, list[tuple[Exact, int, Task]]] = field(
        default_factory=lambda: {kind: [] for kind in Kind}
    )
    _queue: deque[Task] = field(default_factory=deque)
    _yields: dict[Kind, _Yield] = field(default_factory=lambda: {kind: _Yield() for kind in Kind})
    _running: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(Kind, 0))

    def open(self, task: Task) -> None:
        """Put a task among the open ones."""
        task.state = State.OPEN
        if self.priority:
            heapq.heappush(self._heaps[task.kind], (-task.measure, task.id, task))
        else:
            self._queue.append(task)

    def take(self) -> Task | None:
        """The next task to run, None when there is none that may run now."""
        task = self._best() if self.priority else self._first()
        if task is not None:
            task.state = State.RUNNING
            self._running[task.kind] += 1
        return task

    def returned(self, task: Task, calls: int, decided: Exact) -> None:
        """A task's job came back after some solver calls, having sorted out or decided a measure."""
        self._running[task.kind] -= 1
        seen = self._yields[task.kind]
        seen.calls += calls
        seen.measure += decided
        seen.finished += task.finished

    def _may_run(self, kind: Kind) -> bool:
        return self.split is None or self._running[kind] < self.split.get(kind, 1)

    def _first(self) -> Task | None:
        for _ in range(len(self._queue)):
            task = self._queue.popleft()
            if task.state is not State.OPEN:
                continue
            if self._may_run(task.kind):
                return task
            self._queue.append(task)
        return None

    def _best(self) -> Task | None:
        ready = [(self._worth(task), kind) for kind, task in self._heads() if self._may_run(kind)]
        if not ready:
            return None
        _, kind = max(ready, key=lambda entry: entry[0])
        return heapq.heappop(self._heaps[kind])[2]

    def _heads(self) -> Iterator[tuple[Kind, Task]]:
        for kind, heap in self._heaps.items():
            while heap and heap[0][2].state is not State.OPEN:
                heapq.heappop(heap)
            if heap:
                yield kind, heap[0][2]

    def _worth(self, task: Task) -> Fraction:
        seen = self._yields[task.kind]
        if not seen.calls:
            return Fraction(task.measure)
        if task.kind is Kind.VIOLATIONS:
            return Fraction(task.measure) * max(seen.finished, 1) / seen.calls
        return min(Fraction(seen.measure) / seen.calls, Fraction(task.measure))
