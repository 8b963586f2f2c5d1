"""Concrete inputs out of boxes: a pair (x, x') that shows a region, representable in the model's float32.

A value is chosen that a float32 holds exactly, so that the library sees the very number that is reported.
Some boxes hold no such point; then there is no witness, and the region says so.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from fairbox.encoder.boxes import Box
from fairbox.encoder.cells import Axis, bits, runs
from fairbox.encoder.numbers import Exact, float32, plain
from fairbox.encoder.problem import FLOAT32_WHOLE, Problem
from fairbox.encoder.space import InputSpace

FLOAT32_END = 2**128 - 2**103
"""From here on a number is too large for a float32."""

Point = tuple[Exact, ...]
"""One value per attribute: a number, or a code."""


@dataclass(frozen=True)
class Interval:
    """Values of a numeric axis between two ends, each of which belongs to it or not."""

    lower: Fraction
    upper: Fraction
    closed: bool
    whole: bool


def pair(problem: Problem, piece: Box, opposite: Box) -> tuple[Point, Point] | None:
    """Inputs x in `piece` and x' in `opposite` that are near, differ as asked, and are representable.

    `piece` is a part of the region that `opposite` makes unfair. None when no such pair was found among
    the ends and middles of the intervals.
    """
    xs: list[Exact] = []
    ys: list[Exact] = []
    for i, axis in enumerate(problem.axes):
        values = _axis_pair(axis, piece[i], opposite[i], free=i in problem.sensitive)
        if values is None:
            return None
        xs.append(values[0])
        ys.append(values[1])
    if problem.must_differ and all(xs[i] == ys[i] for i in problem.sensitive):
        return _differ(problem, xs, ys, piece, opposite)
    return tuple(xs), tuple(ys)


def _differ(
    problem: Problem, xs: list[Exact], ys: list[Exact], piece: Box, opposite: Box
) -> tuple[Point, Point] | None:
    """Change one sensitive value so that the pair differs."""
    for i in problem.sensitive:
        axis = problem.axes[i]
        for chosen, mask in ((ys, opposite[i]), (xs, piece[i])):
            other = next((v for v in values_of(axis, mask) if v != chosen[i]), None)
            if other is not None:
                chosen[i] = other
                return tuple(xs), tuple(ys)
    return None


def _axis_pair(axis: Axis, mask: int, opposite: int, *, free: bool) -> tuple[Exact, Exact] | None:
    if not axis.numeric:
        # The same code on both sides where there is one, so that a pair differs in as little as it must.
        x = next(values_of(axis, mask & opposite or mask), None)
        y = x if mask & opposite else next(values_of(axis, opposite), None)
        return None if x is None or y is None or (x != y and not free) else (x, y)
    for x in values_of(axis, mask):
        y = _closest(axis, opposite, x, None if free else axis.tolerance)
        if y is not None:
            return x, y
    return None


def _closest(axis: Axis, mask: int, x: Exact, reach: Fraction | None) -> Exact | None:
    """The representable value of a set of cells nearest to x, if it is within reach."""
    near = [value for interval in intervals(axis, mask) for value in _candidates(interval, x)]
    allowed = [value for value in near if reach is None or _size(value - x) <= reach]
    return min(allowed, key=lambda value: _size(value - x), default=None)


def values_of(axis: Axis, mask: int) -> Iterator[Exact]:
    """Some representable values of a set of cells: middles first, then ends; codes in order."""
    if not axis.numeric:
        yield from (code for k in bits(mask) for code in axis.cells[k].codes if is_float32(code))
        return
    for interval in intervals(axis, mask):
        yield from _candidates(interval, (interval.lower + interval.upper) / 2)


def intervals(axis: Axis, mask: int) -> Iterator[Interval]:
    """A set of cells of a numeric axis as intervals."""
    whole = axis.attribute.kind == "integer"
    for first, last in runs(mask):
        low, high = axis.cells[first].lower, axis.cells[last].upper
        assert low is not None and high is not None
        yield Interval(low, high, whole or axis.cells[last].closed, whole)


def _candidates(interval: Interval, target: Exact) -> Iterator[Exact]:
    """Representable values of an interval: nearest to the target, and at the ends."""
    low, high = plain(interval.lower), plain(interval.upper)
    aim = low if target < low else high if target > high else target
    ends: tuple[Exact, ...] = (aim, low, high)
    tries: list[Exact] = [math.floor(aim), math.ceil(aim), low, high] if interval.whole else []
    if not interval.whole or any(_size(value) > FLOAT32_WHOLE for value in ends):
        tries += [near for value in ends for near in _float32_around(value)]
    distinct: dict[Exact, None] = dict.fromkeys(tries)
    for value in distinct:
        inside = low <= value and (value < high or (interval.closed and value == high))
        if inside and is_float32(value):
            yield value


def _float32_around(value: Exact) -> list[Exact]:
    """The float32 nearest to a number, and its neighbours."""
    if _size(value) >= FLOAT32_END:
        return []
    near = np.float32(float(value))
    below, above = (np.nextafter(near, np.float32(s * np.inf)) for s in (-1, 1))
    return [plain(Fraction(float(v))) for v in (near, below, above) if np.isfinite(v)]


def _size(value: Exact) -> Fraction:
    """The absolute value, of one type for comparisons."""
    return abs(Fraction(value))


def is_float32(value: Exact) -> bool:
    """Whether a float32 holds the number exactly."""
    if isinstance(value, int) and abs(value) <= FLOAT32_WHOLE:
        return True
    return _size(value) < FLOAT32_END and Fraction(float32(float(value))) == value


def model_rows(problem: Problem, points: Sequence[Point]) -> npt.NDArray[np.float32]:
    """Points as the model takes them: float32, points x columns, in the model's order of columns."""
    columns = problem.space.columns
    order = [columns.index(name) for name in problem.ensemble.feature_names or columns]
    return np.array([model_row(problem.space, point) for point in points], dtype=np.float32)[:, order]


def model_row(space: InputSpace, point: Point) -> list[float]:
    """The model's columns, in its space's column order, for a point: tiers become their 0/1 columns."""
    values: dict[str, float] = {}
    for attribute, value in zip(space.attributes, point, strict=True):
        if attribute.kind == "tier":
            values |= {column: float(k == value) for k, column in enumerate(attribute.columns)}
        else:
            values[attribute.name] = float(value)
    return [values[column] for column in space.columns]
