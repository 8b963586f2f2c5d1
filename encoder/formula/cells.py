"""The cells encoding: Boolean thresholds, Boolean paths, leaf values as nested if-then-else.

The grid of cells is finite, so an input is described by which borders it lies beyond: `x!age!>=30` holds
iff x_age >= 30. On a tier one Boolean per class of categories holds. Nearness and difference are exact on
the grid: borders of x include every threshold of y plus and minus the tolerance. The only arithmetic left
is the sum of leaf values.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from pysmt.fnode import FNode
from pysmt.typing import BOOL

from fairbox.encoder.cells import Axis, bits, runs
from fairbox.encoder.ensemble import LEAF
from fairbox.encoder.errors import FormulaError
from fairbox.encoder.formula.encoding import PATH_SYMBOL, Encoding, Side, Value
from fairbox.encoder.names import symbol_name
from fairbox.encoder.numbers import show
from fairbox.encoder.problem import PathTuple


class CellsEncoding(Encoding):
    """See the module."""

    name = "cells"

    def domain(self, side: Side, *, fine: bool) -> Iterator[FNode]:
        manager = self.manager
        for i, axis in enumerate(self.problem.axes):
            if axis.attribute.kind == "tier":
                yield manager.ExactlyOne(self._class(side, i, k) for k in range(len(axis.cells)))
                continue
            borders = self._borders(axis, fine=fine)
            for below, above in pairwise(borders):
                yield manager.Implies(self._beyond(side, i, above), self._beyond(side, i, below))

    def inputs(self, side: Side, *, fine: bool) -> Iterator[FNode]:
        for i, axis in enumerate(self.problem.axes):
            if axis.attribute.kind == "tier":
                yield from (self._class(side, i, k) for k in range(len(axis.cells)))
            else:
                yield from (self._beyond(side, i, k) for k in self._borders(axis, fine=fine))

    def inside(self, side: Side, axis: int, mask: int) -> FNode:
        manager, grid = self.manager, self.problem.axes[axis]
        if grid.attribute.kind == "tier":
            return manager.Or(self._class(side, axis, k) for k in bits(mask))
        choices = []
        for first, last in runs(mask):
            bounds = []
            if first > 0:
                bounds.append(self._beyond(side, axis, first))
            if last + 1 < len(grid.cells):
                bounds.append(manager.Not(self._beyond(side, axis, last + 1)))
            choices.append(manager.And(bounds))
        return manager.Or(choices)

    def tree(self, side: Side, tree: int) -> Iterator[FNode]:
        for position, path in enumerate(self.problem.trees[tree]):
            yield self.manager.Iff(self.takes(side, tree, position), self.inside_box(side, path.box))
        yield self.manager.Equals(self.value(side, tree), self._leaf_value(side, tree))

    def takes(self, side: Side, tree: int, position: int) -> FNode:
        path = self.problem.trees[tree][position]
        return self.manager.Symbol(symbol_name(PATH_SYMBOL[side], str(tree), str(path.id)), BOOL)

    def near(self, axis: int) -> Iterator[FNode]:
        """y >= t needs x >= t - ε, and y < t needs x < t + ε, for every threshold t of the tests."""
        manager, grid = self.manager, self.problem.axes[axis]
        if grid.attribute.kind == "tier":
            for k in range(len(grid.cells)):
                yield manager.Iff(self._class("x", axis, k), self._class("y", axis, k))
            return
        for k in self._borders(grid, fine=False):
            beyond = self._beyond("y", axis, k)
            lowest, highest = self._window(grid, k)
            if lowest > 0:
                yield manager.Implies(beyond, self._beyond("x", axis, lowest))
            if highest < len(grid.cells):
                yield manager.Implies(self._beyond("x", axis, highest), beyond)

    def same(self, axis: int) -> FNode:
        manager, grid = self.manager, self.problem.axes[axis]
        return manager.Or(
            manager.And(self.inside("x", axis, 1 << k), self.inside("y", axis, 1 << k))
            for k in bits(grid.singles)
        )

    def projection(self, side: Side) -> list[FNode]:
        return [
            self.takes(side, j, position)
            for j, tree in enumerate(self.problem.trees)
            for position in range(len(tree))
        ]

    def decode(self, side: Side, values: Mapping[str, Value]) -> PathTuple:
        paths = []
        for j, names in enumerate(self._names[side]):
            taken = [position for position, name in enumerate(names) if values[name]]
            if len(taken) != 1:
                raise FormulaError(f"{len(taken)} paths of tree {j} hold for {side}; exactly one must")
            paths.append(taken[0])
        return tuple(paths)

    @cached_property
    def _names(self) -> dict[str, list[list[str]]]:
        sides: tuple[Side, Side] = ("x", "y")
        return {
            side: [
                [self.takes(side, j, position).symbol_name() for position in range(len(tree))]
                for j, tree in enumerate(self.problem.trees)
            ]
            for side in sides
        }

    @staticmethod
    def _borders(axis: Axis, *, fine: bool) -> list[int]:
        return [k for k in range(1, len(axis.cells)) if fine or axis.tested[k]]

    def _beyond(self, side: Side, axis: int, cell: int) -> FNode:
        """The value lies in this cell or a later one."""
        grid = self.problem.axes[axis]
        border: Fraction | int = grid.starts[cell] if grid.numeric else grid.cells[cell].codes[0]
        return self.manager.Symbol(symbol_name(side, grid.attribute.name, f">={show(border)}"), BOOL)

    def _class(self, side: Side, axis: int, cell: int) -> FNode:
        grid = self.problem.axes[axis]
        codes = ",".join(map(str, grid.cells[cell].codes))
        return self.manager.Symbol(symbol_name(side, grid.attribute.name, f"={codes}"), BOOL)

    @staticmethod
    def _window(grid: Axis, cell: int) -> tuple[int, int]:
        """Cells of x where the reach of y >= t begins and where that of y < t ends, t the cell's start."""
        if not grid.numeric or grid.tolerance == 0:
            return cell, cell
        start = grid.starts[cell]
        lowest = next((k for k, s in enumerate(grid.starts) if s == start - grid.tolerance), 0)
        highest = next((k for k, s in enumerate(grid.starts) if s == start + grid.tolerance), len(grid.cells))
        return lowest, highest

    def _leaf_value(self, side: Side, tree: int) -> FNode:
        """The leaf value as if-then-else over the tests, in the shape of the tree."""
        nodes = self.problem.ensemble.trees[tree]
        by_leaf = {path.id: path for path in self.problem.trees[tree]}
        below = self.problem.grid.below
        terms: dict[int, FNode | None] = {}
        stack = [0]
        while stack:
            node = stack.pop()
            if nodes.feature[node] == LEAF:
                path = by_leaf.get(node)
                terms[node] = None if path is None else self.manager.Real(path.value)
            elif nodes.left[node] not in terms:
                stack += [node, nodes.left[node], nodes.right[node]]
            else:
                left, right = terms[nodes.left[node]], terms[nodes.right[node]]
                if left is None or right is None:
                    terms[node] = right if left is None else left
                else:
                    axis, mask = below(nodes.feature[node], Fraction(nodes.threshold[node]))
                    terms[node] = self.manager.Ite(self.inside(side, axis, mask), left, right)
        root = terms[0]
        assert root is not None
        return root
