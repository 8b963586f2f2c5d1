"""What an encoding provides, and what all encodings share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Literal

from pysmt.environment import Environment
from pysmt.fnode import FNode
from pysmt.typing import REAL

from fairbox.encoder.boxes import Box
from fairbox.encoder.names import symbol_name
from fairbox.encoder.problem import PathTuple, Problem

Side = Literal["x", "y"]
"""The input x whose fairness is in question, or y, the opposite input that the paper calls x'."""

PATH_SYMBOL = {"x": "p", "y": "q"}
VALUE_SYMBOL = {"x": "v", "y": "w"}

Value = bool | int | Fraction


class Encoding(ABC):
    """Variables and building blocks for one problem, in a pySMT environment of its own.

    Side x has the variables x, v, p of the paper; side y, which is the paper's x', has y, w, q.
    """

    name: ClassVar[str]

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.environment = Environment()
        self.manager = self.environment.formula_manager

    @abstractmethod
    def domain(self, side: Side, *, fine: bool) -> Iterator[FNode]:
        """x ∈ X. `fine` includes what is needed to speak of borders of tolerance windows."""

    @abstractmethod
    def inside(self, side: Side, axis: int, mask: int) -> FNode:
        """The value on an axis lies in a set of cells."""

    @abstractmethod
    def tree(self, side: Side, tree: int) -> Iterator[FNode]:
        """Ψ_trees for one tree: which path is taken, and its leaf value (paper, section 3.4)."""

    @abstractmethod
    def takes(self, side: Side, tree: int, position: int) -> FNode:
        """The tree's path is the one at a position of `Problem.trees[tree]`."""

    @abstractmethod
    def near(self, axis: int) -> Iterator[FNode]:
        """x and y are within the tolerance on a non-sensitive axis."""

    @abstractmethod
    def same(self, axis: int) -> FNode:
        """x and y cannot differ on a sensitive axis."""

    @abstractmethod
    def projection(self, side: Side) -> list[FNode]:
        """The path variables: a solution's values of these are its path tuple."""

    @abstractmethod
    def decode(self, side: Side, values: Mapping[str, Value]) -> PathTuple:
        """The path tuple that the values of the projection name; FormulaError when they name none."""

    @abstractmethod
    def inputs(self, side: Side, *, fine: bool) -> Iterator[FNode]:
        """The symbols that describe the input, in the space's order."""

    def symbols(self, side: Side, *, fine: bool) -> list[FNode]:
        """All symbols of a side, in order: inputs, leaf values, paths."""
        values = [self.value(side, j) for j in range(len(self.problem.trees))]
        return [*self.inputs(side, fine=fine), *values, *self.projection(side)]

    def value(self, side: Side, tree: int) -> FNode:
        """v_j, the leaf value of a tree on the lattice (a Real symbol)."""
        return self.manager.Symbol(symbol_name(VALUE_SYMBOL[side], str(tree)), REAL)

    def margin(self, side: Side) -> FNode:
        """The sum of leaf values on the lattice, without the base (a Real term)."""
        return self.manager.Plus([self.value(side, j) for j in range(len(self.problem.trees))])

    def inside_box(self, side: Side, box: Box, within: Box | None = None) -> FNode:
        """The input lies in a box, given that it lies in `within` (default: anywhere)."""
        known = within or self.problem.full
        return self.manager.And(self.inside(side, i, mask) for i, mask in enumerate(box) if known[i] & ~mask)

    def on_paths(self, side: Side, paths: Sequence[int]) -> FNode:
        """p = π for the first trees, as many as `paths` has entries."""
        return self.manager.And(self.takes(side, tree, position) for tree, position in enumerate(paths))

    def at_least(self, side: Side, cutoff: int) -> FNode:
        """The margin is at least a cutoff on the lattice."""
        return self.manager.GE(self.margin(side), self.manager.Real(cutoff - self.problem.base))

    def at_most(self, side: Side, cutoff: int) -> FNode:
        """The margin is at most a cutoff on the lattice."""
        return self.manager.LE(self.margin(side), self.manager.Real(cutoff - self.problem.base))
