"""A model, a space and a question made ground: cells, path boxes, integer margins, exact decisions.

Everything downstream (formulas, solvers' answers, regions, bounds) is stated on a `Problem`.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from fairbox.encoder import boxes
from fairbox.encoder.arithmetic import (
    Cutoffs,
    FloatCutoffs,
    Verdict,
    exact_cutoffs,
    exact_decision,
    float_cutoffs,
    float_decision,
    lattice_scale,
    rounding_error,
    widened_cutoffs,
)
from fairbox.encoder.boxes import Box
from fairbox.encoder.cells import Axis, coded_axis, numeric_axis
from fairbox.encoder.ensemble import LEAF, Ensemble, Tree
from fairbox.encoder.errors import SpaceError
from fairbox.encoder.numbers import Exact
from fairbox.encoder.properties import Question
from fairbox.encoder.space import NONE_CODE, Attribute, InputSpace

PathTuple = tuple[int, ...]
"""One path per tree, each as its position in `Problem.trees[j]` (paper, section 2.2)."""

FLOAT32_WHOLE = 2**24
"""Beyond this a float32 no longer tells neighbouring integers apart."""


@dataclass(frozen=True)
class Path:
    """A path of a tree that some input takes: leaf node number, leaf value, and box.

    `value` is the leaf value on the integer lattice, `leaf` the library's float32.
    """

    id: int
    value: int
    leaf: np.float32
    box: Box


@dataclass(frozen=True)
class Region:
    """The inputs x of one box that a pair of path tuples makes unfair (SEMANTICS, section 4).

    `excluded` is the part of `box` where x has the one sensitive point that x' would need too.
    """

    box: Box
    excluded: Box | None

    def pieces(self) -> list[Box]:
        """The region as disjoint boxes."""
        return [self.box] if self.excluded is None else boxes.difference(self.box, self.excluded)


@dataclass(frozen=True)
class Grid:
    """Turns a test of the model into the mask of the cells that pass it."""

    axes: tuple[Axis, ...]
    places: tuple[tuple[int, int | None], ...]

    def below(self, feature: int, threshold: Fraction) -> tuple[int, int]:
        """Axis and mask of `column < threshold`."""
        i, code = self.places[feature]
        axis = self.axes[i]
        if axis.numeric:
            cut = Fraction(math.ceil(threshold)) if axis.attribute.kind == "integer" else threshold
            return i, (1 << bisect_left(axis.starts, cut)) - 1
        passing = codes_below(axis.attribute, code, threshold)
        return i, sum(1 << k for k, cell in enumerate(axis.cells) if cell.codes[0] in passing)


@dataclass(frozen=True)
class Problem:
    """A ground question. Margins are integers: F(x) = margin / `scale`."""

    ensemble: Ensemble
    space: InputSpace
    question: Question
    grid: Grid
    trees: tuple[tuple[Path, ...], ...]
    base: int
    scale: int
    sensitive: tuple[int, ...]
    cutoffs: Cutoffs
    notes: tuple[str, ...] = ()
    _by_margin: Callable[[int], Verdict] = field(repr=False, kw_only=True)
    _by_float: Callable[[np.float32], Verdict] = field(repr=False, kw_only=True)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """One axis per attribute, cut into cells."""
        return self.grid.axes

    @cached_property
    def full(self) -> Box:
        """The box of the whole space."""
        return boxes.full_box(self.axes)

    @property
    def total(self) -> Exact:
        """T_X."""
        return self.space.total

    @property
    def must_differ(self) -> bool:
        """Whether x and x' must differ in a sensitive attribute (fairness)."""
        return bool(self.sensitive)

    def box(self, paths: PathTuple) -> Box | None:
        """B^(π), the intersection of the paths' boxes; None when it is empty (paper, section 2.2)."""
        box = self.full
        for tree, position in zip(self.trees, paths, strict=True):
            box = tuple(map(int.__and__, box, tree[position].box))
        return box if all(box) else None

    def margin(self, paths: PathTuple) -> int:
        """The exact margin of every input on these paths, on the lattice."""
        return self.base + sum(tree[position].value for tree, position in zip(self.trees, paths, strict=True))

    def float_margin(self, paths: PathTuple) -> np.float32:
        """The library's float32 margin on these paths: base first, then the trees in order."""
        total = np.float32(self.ensemble.base)
        for tree, position in zip(self.trees, paths, strict=True):
            total = total + tree[position].leaf
        return total

    def verdict(self, paths: PathTuple) -> Verdict:
        """Class and confidence of every input on these paths, by the question's arithmetic."""
        if self.question.arithmetic == "exact":
            return self._by_margin(self.margin(paths))
        return self._by_float(self.float_margin(paths))

    def measure(self, box: Box) -> Exact:
        """The measure of a box."""
        return boxes.measure(self.axes, box)

    def near(self, box: Box) -> Box:
        """The x with a point of `box`, a box cut by tests, within the tolerance; free on sensitive axes."""
        return tuple(
            axis.full if i in self.sensitive else axis.near(mask)
            for i, (axis, mask) in enumerate(zip(self.axes, box, strict=True))
        )

    def region(self, box: Box, opposite: Box) -> Region | None:
        """The x of `box` that have an x' in `opposite`, a box of the other class; None when there is none."""
        common = boxes.intersect(box, self.near(opposite))
        if common is None:
            return None
        point = all(self.axes[i].is_single_value(opposite[i]) for i in self.sensitive)
        if not self.must_differ or not point:
            return Region(common, None)
        excluded = boxes.intersect(
            common,
            tuple(opposite[i] if i in self.sensitive else axis.full for i, axis in enumerate(self.axes)),
        )
        if excluded == common:
            return None
        return Region(common, excluded)


def build_problem(ensemble: Ensemble, space: InputSpace, question: Question) -> Problem:
    """Make a question ground.

    Raises SpaceError when model and space do not fit, QuestionError when question and space do not.
    """
    question = question.for_space(space)
    tolerances = question.tolerances(space)
    places = match_columns(ensemble, space)
    axes = _axes(ensemble, space, places, tolerances)
    scale = lattice_scale(ensemble)
    grid = Grid(axes, places)
    trees = tuple(tuple(_paths(tree, grid, scale)) for tree in ensemble.trees)
    base = int(Fraction(ensemble.base) * scale)
    floats = float_cutoffs(question.kappa)
    if question.arithmetic == "exact":
        cutoffs = exact_cutoffs(question, scale)
    else:
        cutoffs = _deployed_cutoffs(ensemble, question, trees, scale, floats)
    return Problem(
        ensemble=ensemble,
        space=space,
        question=question,
        grid=grid,
        trees=trees,
        base=base,
        scale=scale,
        sensitive=tuple(space.index(name) for name in question.sensitive_names(space)),
        cutoffs=cutoffs,
        notes=_precision_notes(space),
        _by_margin=exact_decision(question, scale),
        _by_float=float_decision(question, floats),
    )


def match_columns(ensemble: Ensemble, space: InputSpace) -> tuple[tuple[int, int | None], ...]:
    """For each feature of the model: the attribute's position, and the tier code of its 0/1 column.

    By name when the model has names, else by position. A mismatch is a SpaceError that shows both lists.
    """
    columns, names = space.columns, ensemble.feature_names
    where = {
        column: (i, k if attribute.kind == "tier" else None)
        for i, attribute in enumerate(space.attributes)
        for k, column in enumerate(attribute.columns)
    }
    if names and set(names) != set(columns):
        missing = sorted(set(names) - set(columns))
        unknown = sorted(set(columns) - set(names))
        raise SpaceError(
            f"model and input space name different columns (only in the model: {missing}; only in the space: "
            f"{unknown}): model has {list(names)}, space has {list(columns)}"
        )
    if len(columns) != ensemble.n_features:
        raise SpaceError(
            f"the model has {ensemble.n_features} columns ({', '.join(names) or 'without names'}) but the input "
            f"space has {len(columns)} ({', '.join(columns)}): describe every column of the model, in its order"
        )
    return tuple(where[name] for name in (names or columns))


def _axes(
    ensemble: Ensemble,
    space: InputSpace,
    places: Sequence[tuple[int, int | None]],
    tolerances: Sequence[Fraction],
) -> tuple[Axis, ...]:
    thresholds: dict[int, list[Fraction]] = {i: [] for i in range(len(space.attributes))}
    tests: dict[int, list[frozenset[int]]] = {i: [] for i in range(len(space.attributes))}
    for feature, values in ensemble.thresholds().items():
        i, code = places[feature]
        for value in map(Fraction, values):
            thresholds[i].append(value)
            tests[i].append(codes_below(space.attributes[i], code, value))
    return tuple(
        numeric_axis(attribute, thresholds[i], tolerances[i])
        if attribute.ordered
        else coded_axis(attribute, tests[i])
        for i, attribute in enumerate(space.attributes)
    )


def codes_below(attribute: Attribute, code: int | None, threshold: Fraction) -> frozenset[int]:
    """The codes whose model column is less than a threshold; `code` names the column of a tier."""
    if attribute.kind != "tier":
        return frozenset(c for c in attribute.codes if c < threshold)
    return frozenset(c for c in attribute.codes if int(c == code and c != NONE_CODE) < threshold)


def _paths(tree: Tree, grid: Grid, scale: int) -> list[Path]:
    """The paths some input takes, by leaf node number."""
    found = []
    stack = [(0, boxes.full_box(grid.axes))]
    while stack:
        node, box = stack.pop()
        if tree.feature[node] == LEAF:
            value = tree.value[node]
            found.append(Path(node, int(Fraction(value) * scale), np.float32(value), box))
            continue
        i, below = grid.below(tree.feature[node], Fraction(tree.threshold[node]))
        for child, mask in ((tree.left[node], box[i] & below), (tree.right[node], box[i] & ~below)):
            if mask:
                stack.append((child, (*box[:i], mask, *box[i + 1 :])))
    return sorted(found, key=lambda path: path.id)


def _deployed_cutoffs(
    ensemble: Ensemble,
    question: Question,
    trees: tuple[tuple[Path, ...], ...],
    scale: int,
    floats: FloatCutoffs,
) -> Cutoffs:
    leaf_values = [[float(path.leaf) for path in tree] for tree in trees]
    error = math.ceil(rounding_error(ensemble.base, leaf_values) * scale)
    return widened_cutoffs(question, floats, scale, error)


def _precision_notes(space: InputSpace) -> tuple[str, ...]:
    notes = []
    for attribute in space.attributes:
        whole = attribute.codes if attribute.kind != "integer" else (attribute.lower, attribute.upper)
        if any(abs(Fraction(value)) > FLOAT32_WHOLE for value in whole if value is not None):
            notes.append(
                f"attribute {attribute.name!r} has integers beyond 2^24, which the model rounds to float32 before "
                "it tests them: a boundary may be off by the rounding"
            )
    return tuple(notes)
