"""The task graph: what is asked, what it came from, and which part of the space each task owns.

Three kinds of task (paper, section 3.5): κ and κ̄ tasks own the path tuples that begin with a prefix, s(π)
tasks own a part of the box of a path tuple. Parts of open tasks of one kind never overlap. The graph is a
networkx DiGraph whose nodes are task numbers; an edge says "came from" (`why="split"`) or "must be done
before" (`why="found"`: a tuple is found before its violations are searched).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

import networkx as nx

from fairbox.encoder import boxes
from fairbox.encoder.boxes import Box
from fairbox.encoder.numbers import Exact
from fairbox.encoder.problem import PathTuple, Problem


class Kind(StrEnum):
    """What a task searches for."""

    KAPPA = "kappa"
    NOT_KAPPA = "not_kappa"
    VIOLATIONS = "violations"


class State(StrEnum):
    """Where a task is in its life."""

    OPEN = "open"
    RUNNING = "running"
    DONE = "done"
    SPLIT = "split"
    CANCELLED = "cancelled"
    UNDECIDED = "undecided"


@dataclass(slots=True)
class Task:
    """One search over one part.

    `paths` is the prefix of a κ or κ̄ task, and the whole path tuple of an s(π) task; `part` the box that
    holds every x it may find; `measure` the measure of that box not yet decided; `blocked` the solutions
    excluded already; `label` the class of the tuple of an s(π) task, `unfair` the disjoint boxes of its part
    proven unfair so far.
    """

    id: int
    kind: Kind
    paths: PathTuple
    part: Box
    measure: Exact
    blocked: list[PathTuple] = field(default_factory=list)
    label: int = 0
    unfair: list[Box] = field(default_factory=list)
    state: State = State.OPEN
    reason: str | None = None
    check_seconds: float = 0.0
    failures: int = 0
    calls: int = 0

    @property
    def finished(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state not in (State.OPEN, State.RUNNING)


class TaskGraph:
    """The tasks of one run. `graph` may be read at any moment; node attribute `task` is the Task."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.graph: nx.DiGraph[int] = nx.DiGraph()

    def add(
        self,
        kind: Kind,
        paths: PathTuple,
        part: Box,
        measure: Exact,
        *,
        parent: Task | None = None,
        why: str = "split",
        blocked: list[PathTuple] | None = None,
        label: int = 0,
    ) -> Task:
        """Add a task that came from `parent`."""
        task = Task(self.graph.number_of_nodes(), kind, paths, part, measure, blocked or [], label)
        self.graph.add_node(task.id, task=task)
        if parent is not None:
            task.check_seconds = parent.check_seconds if why == "split" else 0.0
            self.graph.add_edge(parent.id, task.id, why=why)
        return task

    def __iter__(self) -> Iterator[Task]:
        return (data["task"] for _, data in self.graph.nodes(data=True))

    def __getitem__(self, number: int) -> Task:
        task: Task = self.graph.nodes[number]["task"]
        return task

    def split(self, task: Task) -> list[Task]:
        """Divide a task into children with disjoint parts and hand its blocked solutions down to them.

        Returns no child when the part cannot be divided. The task itself becomes SPLIT.
        """
        split = self._split_violations if task.kind is Kind.VIOLATIONS else self._split_tuples
        children = split(task)
        if children:
            task.state = State.SPLIT
        return children

    def _split_tuples(self, task: Task) -> list[Task]:
        """One child for each path of the next tree that meets the part."""
        depth = len(task.paths)
        if depth == len(self.problem.trees):
            return []
        children = []
        for position, path in enumerate(self.problem.trees[depth]):
            part = boxes.intersect(task.part, path.box)
            if part is None:
                continue
            blocked = [paths for paths in task.blocked if paths[depth] == position]
            known = sum(self.problem.measure(box) for b in blocked if (box := self.problem.box(b)))
            measure = self.problem.measure(part) - known
            child = self.add(task.kind, (*task.paths, position), part, measure, parent=task, blocked=blocked)
            children.append(child)
        return children

    def _split_violations(self, task: Task) -> list[Task]:
        """Two halves of the part; a blocked pair goes to each half that its region meets."""
        halves = boxes.halves(task.part)
        if halves is None:
            return []
        children = []
        for half in halves:
            blocked = [paths for paths in task.blocked if self._concerns(half, paths)]
            unfair = [common for box in task.unfair if (common := boxes.intersect(box, half))]
            measure = self.problem.measure(half) - sum(map(self.problem.measure, unfair))
            child = self.add(
                task.kind, task.paths, half, measure, parent=task, blocked=blocked, label=task.label
            )
            child.unfair = unfair
            children.append(child)
        return children

    def _concerns(self, part: Box, opposite: PathTuple) -> bool:
        box = self.problem.box(opposite)
        return box is not None and self.problem.region(part, box) is not None
