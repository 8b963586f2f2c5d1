"""The paper's encoding: Int path ids, Real leaf values, numeric inputs (paper, section 3.4).

Integer and categorical attributes are Int, continuous ones Real, a tier is one Boolean per column of which
exactly one holds (or none, where the encoder drops a category). Path ids are the leaf node numbers of the
model, leaf values are whole numbers on the lattice.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property

from pysmt.fnode import FNode
from pysmt.typing import BOOL, INT, REAL

from fairbox.encoder.cells import Axis, bits, runs
from fairbox.encoder.errors import FormulaError
from fairbox.encoder.formula.encoding import PATH_SYMBOL, Encoding, Side, Value
from fairbox.encoder.names import symbol_name
from fairbox.encoder.problem import PathTuple
from fairbox.encoder.space import NONE_CODE


class PaperEncoding(Encoding):
    """See the module."""

    name = "paper"

    def domain(self, side: Side, *, fine: bool) -> Iterator[FNode]:
        manager = self.manager
        for i, axis in enumerate(self.problem.axes):
            if axis.attribute.kind == "tier":
                columns = self._columns(side, i)
                if axis.attribute.allow_none:
                    yield manager.AtMostOne(columns)
                else:
                    yield manager.ExactlyOne(columns)
            elif axis.numeric:
                low, high = axis.cells[0].lower, axis.cells[-1].upper
                assert low is not None and high is not None
                yield manager.GE(self._variable(side, i), self._constant(axis, low))
                yield manager.LE(self._variable(side, i), self._constant(axis, high))
            else:
                yield self._one_of(side, i, axis.attribute.codes, limited=False)

    def inside(self, side: Side, axis: int, mask: int) -> FNode:
        grid = self.problem.axes[axis]
        if grid.numeric:
            return self.manager.Or(self._interval(side, axis, first, last) for first, last in runs(mask))
        codes = tuple(code for k in bits(mask) for code in grid.cells[k].codes)
        if grid.attribute.kind == "tier":
            return self._categories(side, axis, codes)
        return self._one_of(side, axis, codes, limited=True)

    def tree(self, side: Side, tree: int) -> Iterator[FNode]:
        manager = self.manager
        value = self.value(side, tree)
        for position, path in enumerate(self.problem.trees[tree]):
            yield manager.Implies(
                self.inside_box(side, path.box),
                manager.And(
                    manager.Equals(value, manager.Real(path.value)), self.takes(side, tree, position)
                ),
            )

    def takes(self, side: Side, tree: int, position: int) -> FNode:
        return self.manager.Equals(
            self._path(side, tree), self.manager.Int(self.problem.trees[tree][position].id)
        )

    def inputs(self, side: Side, *, fine: bool) -> Iterator[FNode]:
        for i, axis in enumerate(self.problem.axes):
            if axis.attribute.kind == "tier":
                yield from self._columns(side, i)
            else:
                yield self._variable(side, i)

    def near(self, axis: int) -> Iterator[FNode]:
        manager, grid = self.manager, self.problem.axes[axis]
        if grid.attribute.kind == "tier" or grid.tolerance == 0:
            yield self.same(axis)
            return
        x, y = self._variable("x", axis), self._variable("y", axis)
        reach = self._constant(grid, grid.tolerance)
        yield manager.LE(manager.Minus(x, y), reach)
        yield manager.LE(manager.Minus(y, x), reach)

    def same(self, axis: int) -> FNode:
        if self.problem.axes[axis].attribute.kind == "tier":
            pairs = zip(self._columns("x", axis), self._columns("y", axis), strict=True)
            return self.manager.And(self.manager.Iff(x, y) for x, y in pairs)
        return self.manager.Equals(self._variable("x", axis), self._variable("y", axis))

    def projection(self, side: Side) -> list[FNode]:
        return [self._path(side, j) for j in range(len(self.problem.trees))]

    def decode(self, side: Side, values: Mapping[str, Value]) -> PathTuple:
        paths = []
        for j, positions in enumerate(self._positions):
            name = self._path(side, j).symbol_name()
            if values[name] not in positions:
                raise FormulaError(f"{name} = {values[name]} names no path of tree {j}")
            paths.append(positions[int(values[name])])
        return tuple(paths)

    @cached_property
    def _positions(self) -> list[dict[int, int]]:
        return [{path.id: k for k, path in enumerate(tree)} for tree in self.problem.trees]

    def _path(self, side: Side, tree: int) -> FNode:
        return self.manager.Symbol(symbol_name(PATH_SYMBOL[side], str(tree)), INT)

    def _variable(self, side: Side, axis: int) -> FNode:
        attribute = self.problem.axes[axis].attribute
        sort = REAL if attribute.kind == "continuous" else INT
        return self.manager.Symbol(symbol_name(side, attribute.name), sort)

    def _columns(self, side: Side, axis: int) -> list[FNode]:
        attribute = self.problem.axes[axis].attribute
        return [self.manager.Symbol(symbol_name(side, attribute.name, c), BOOL) for c in attribute.columns]

    def _constant(self, axis: Axis, value: Fraction) -> FNode:
        return (
            self.manager.Real(value) if axis.attribute.kind == "continuous" else self.manager.Int(int(value))
        )

    def _interval(self, side: Side, axis: int, first: int, last: int) -> FNode:
        """A run of cells of a numeric axis; ends that the domain implies are left out."""
        manager, grid = self.manager, self.problem.axes[axis]
        variable = self._variable(side, axis)
        bounds = []
        if first > 0:
            bounds.append(manager.GE(variable, self._constant(grid, grid.starts[first])))
        if last + 1 < len(grid.cells):
            bounds.append(manager.LT(variable, self._constant(grid, grid.starts[last + 1])))
        return manager.And(bounds)

    def _one_of(self, side: Side, axis: int, codes: tuple[int, ...], *, limited: bool) -> FNode:
        """The code is one of some; `limited`: given that it is a code of the domain."""
        manager = self.manager
        variable = self._variable(side, axis)
        known = sorted(self.problem.axes[axis].attribute.codes)
        wanted = frozenset(codes)
        choices = []
        for run in _runs_within(known, wanted, consecutive=not limited):
            bounds = []
            if not limited or run[0] != known[0]:
                bounds.append(manager.GE(variable, manager.Int(run[0])))
            if not limited or run[-1] != known[-1]:
                bounds.append(manager.LE(variable, manager.Int(run[-1])))
            choices.append(manager.And(bounds))
        return manager.Or(choices)

    def _categories(self, side: Side, axis: int, codes: tuple[int, ...]) -> FNode:
        manager = self.manager
        columns = self._columns(side, axis)
        chosen = manager.Or(columns[code] for code in codes if code != NONE_CODE)
        if NONE_CODE not in codes:
            return chosen
        return manager.Or(chosen, manager.Not(manager.Or(columns)))


def _runs_within(known: list[int], wanted: frozenset[int], *, consecutive: bool) -> Iterator[list[int]]:
    """Runs of `wanted` among the sorted codes; `consecutive`: a gap between codes also ends a run."""
    run: list[int] = []
    for code in known:
        if run and (code not in wanted or (consecutive and code != run[-1] + 1)):
            yield run
            run = []
        if code in wanted:
            run.append(code)
    if run:
        yield run
