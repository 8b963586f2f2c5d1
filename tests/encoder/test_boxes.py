"""Laws of boxes and regions, each against counting points one by one."""

from fractions import Fraction
from itertools import product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder import boxes
from fairbox.encoder.boxes import Box
from fairbox.encoder.cells import Axis, coded_axis, numeric_axis
from fairbox.encoder.space import categorical, continuous, integer
from tests.encoder.test_cells import cell_of

Point = tuple[Any, ...]

AXES = (
    numeric_axis(integer("a", -2, 5), [Fraction(0), Fraction(1), Fraction(4)], Fraction(1)),
    coded_axis(categorical("b", [1, 3, 4, 7]), [frozenset({1, 3}), frozenset({1})]),
    numeric_axis(integer("c", 0, 3), [Fraction(2), Fraction(3)], Fraction(0)),
)
POINTS = list(product(range(-2, 6), [1, 3, 4, 7], range(4)))
CELLS = [{value: cell_of(axis, value) for value in {p[i] for p in POINTS}} for i, axis in enumerate(AXES)]

masks = st.tuples(*(st.integers(1, axis.full) for axis in AXES))
regions = st.lists(masks, max_size=5)


def inside(box: Box, point: Point) -> bool:
    return all(mask >> cells[v] & 1 for mask, cells, v in zip(box, CELLS, point, strict=True))


def covered(pieces: list[Box]) -> list[Point]:
    """The points of some boxes, one entry per box that holds them."""
    return [point for box in pieces for point in POINTS if inside(box, point)]


@given(masks, masks)
def test_intersection_holds_the_common_points(a: Box, b: Box) -> None:
    common = boxes.intersect(a, b)
    expected = [p for p in POINTS if inside(a, p) and inside(b, p)]
    assert (covered([common]) if common else []) == expected
    assert (common is None) == (not expected)


@given(masks, masks)
def test_containment_is_containment_of_points(a: Box, b: Box) -> None:
    assert boxes.contains(a, b) == (set(covered([b])) <= set(covered([a])))


@given(masks, masks)
def test_difference_is_disjoint_and_exact(a: Box, b: Box) -> None:
    pieces = boxes.difference(a, b)
    assert sorted(covered(pieces)) == sorted(p for p in POINTS if inside(a, p) and not inside(b, p))
    assert all(all(piece) for piece in pieces)


@given(regions.map(boxes.disjoint), regions)
def test_subtraction_is_disjoint_and_exact(region: list[Box], taken: list[Box]) -> None:
    left = boxes.subtract(region, taken)
    assert sorted(covered(left)) == sorted(set(covered(region)) - set(covered(taken)))


@given(regions)
def test_union_counts_every_point_once(parts: list[Box]) -> None:
    pieces = boxes.disjoint(parts)
    assert sorted(covered(pieces)) == sorted(set(covered(parts)))
    assert boxes.region_measure(AXES, pieces) == len(set(covered(parts)))


@given(masks)
def test_measure_counts_points(box: Box) -> None:
    assert boxes.measure(AXES, box) == len(covered([box]))
    assert isinstance(boxes.measure(AXES, box), int)


@given(masks)
def test_halves_are_two_disjoint_parts(box: Box) -> None:
    parts = boxes.halves(box)
    if parts is None:
        assert all(mask.bit_count() == 1 for mask in box)
    else:
        assert sorted(covered(list(parts))) == sorted(covered([box]))
        assert all(all(part) for part in parts)


def test_the_full_box_is_the_space() -> None:
    assert boxes.measure(AXES, boxes.full_box(AXES)) == len(POINTS)


def test_lengths_multiply_exactly() -> None:
    """[0, 1/3] x {0..4}, halved on the first axis at 1/6: 5/6 + 5/6."""
    axes: tuple[Axis, ...] = (
        numeric_axis(continuous("a", 0, Fraction(1, 3)), [Fraction(1, 6)], Fraction(0)),
        numeric_axis(integer("b", 0, 4), [], Fraction(0)),
    )
    assert boxes.measure(axes, (0b01, 1)) == boxes.measure(axes, (0b10, 1)) == Fraction(5, 6)
    assert boxes.measure(axes, boxes.full_box(axes)) == Fraction(5, 3)
