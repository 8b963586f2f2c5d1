"""Laws of an axis: its cells are a partition that tests and tolerance windows respect."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder.cells import Axis, Cell, bits, coded_axis, numeric_axis, runs
from fairbox.encoder.problem import codes_below
from fairbox.encoder.space import categorical, continuous, integer
from tests import oracle
from tests.strategies import attributes, thresholds

TOLERANCES = st.sampled_from(
    [Fraction(n, d) for n, d in [(0, 1), (1, 10), (1, 3), (1, 1), (3, 2), (2, 1), (9, 1)]]
)


@st.composite
def numeric_axes(draw: st.DrawFn) -> tuple[Axis, list[Fraction]]:
    """An integer or continuous axis with the thresholds it was cut at."""
    attribute = draw(attributes("a", ("integer", "continuous")))
    tests = [Fraction(t) for t in draw(st.lists(thresholds(attribute), max_size=4))]
    return numeric_axis(attribute, tests, draw(TOLERANCES)), tests


@st.composite
def coded_axes(draw: st.DrawFn) -> tuple[Axis, list[frozenset[int]]]:
    """A categorical, boolean or tier axis with the tests (sets of passing codes) it was cut at."""
    attribute = draw(attributes("a", ("categorical", "boolean", "tier")))
    columns = st.integers(0, len(attribute.columns) - 1)
    cuts = draw(st.lists(st.tuples(thresholds(attribute), columns), max_size=4))
    tests = [
        codes_below(attribute, column if attribute.kind == "tier" else None, Fraction(t))
        for t, column in cuts
    ]
    return coded_axis(attribute, tests), tests


def holds(axis: Axis, cell: Cell, value: Any) -> bool:
    """Whether a value lies in a cell, by the cell's own description."""
    if cell.codes:
        return value in cell.codes
    assert cell.lower is not None and cell.upper is not None
    closed = cell.closed or axis.attribute.kind == "integer"
    return cell.lower <= value < cell.upper or (closed and value == cell.upper)


def cell_of(axis: Axis, value: Any) -> int:
    """The one cell that holds a value."""
    (found,) = (k for k, cell in enumerate(axis.cells) if holds(axis, cell, value))
    return found


def values(axis: Axis, tests: list[Fraction]) -> list[Any]:
    """All values of a counted axis; on a real one the cuts, those plus and minus ε, and what lies between."""
    attribute, width = axis.attribute, axis.tolerance
    if attribute.kind != "continuous":
        return oracle.counted_values(attribute)
    shifts = [t + k * width for t in tests for k in (-2, -1, 0, 1, 2)]
    cuts = oracle.cut_points(attribute, shifts)
    return cuts + [(a + b) / 2 for a, b in pairwise(cuts)]


def below(axis: Axis, threshold: Fraction) -> int:
    """The cells of values less than a threshold, which no cell may straddle."""
    passing = [k for k, cell in enumerate(axis.cells) if cell.lower is not None and cell.lower < threshold]
    return sum(1 << k for k in passing)


@given(numeric_axes())
def test_cells_partition_a_numeric_axis(case: tuple[Axis, list[Fraction]]) -> None:
    axis, tests = case
    for value in values(axis, tests):
        cell_of(axis, value)
    assert axis.measure(axis.full) == axis.attribute.measure
    assert sum(cell.measure for cell in axis.cells) == axis.attribute.measure


@given(coded_axes())
def test_cells_partition_a_coded_axis(case: tuple[Axis, list[frozenset[int]]]) -> None:
    """Each code lies in one cell; codes share a cell iff no test tells them apart."""
    axis, tests = case
    codes = oracle.counted_values(axis.attribute)
    assert axis.measure(axis.full) == axis.attribute.measure == len(codes)
    for a in codes:
        for b in codes:
            alike = all((a in test) == (b in test) for test in tests)
            assert (cell_of(axis, a) == cell_of(axis, b)) == alike


@given(numeric_axes())
def test_no_cell_straddles_a_test(case: tuple[Axis, list[Fraction]]) -> None:
    axis, tests = case
    for test in tests:
        passing = below(axis, test)
        for value in values(axis, tests):
            assert bool(passing >> cell_of(axis, value) & 1) == (value < test)


@given(numeric_axes())
def test_a_cell_is_marked_tested_where_a_test_cuts(case: tuple[Axis, list[Fraction]]) -> None:
    """Between two neighbouring values some test tells apart lies a cell that is marked, and no other is."""
    axis, tests = case
    assert not axis.tested[0]
    for k in range(1, len(axis.cells)):
        start, before = axis.cells[k].lower, axis.cells[k - 1].lower
        assert start is not None and before is not None
        assert axis.tested[k] == any(before < test <= start for test in tests)


@given(numeric_axes(), st.data())
def test_near_is_the_pointwise_definition(case: tuple[Axis, list[Fraction]], data: st.DataObject) -> None:
    """x is near a set of values, cut by tests, iff some x' of the set has |x - x'| <= ε."""
    axis, tests = case
    mask = _cut_by_tests(axis, data)
    near = axis.near(mask)
    assert near & ~axis.full == 0
    for x in values(axis, tests):
        candidates = oracle.near_values(axis.attribute, tests, x, axis.tolerance)
        expected = any(mask >> cell_of(axis, other) & 1 for other in candidates)
        assert bool(near >> cell_of(axis, x) & 1) == expected, (x, bin(mask), bin(near))


def _cut_by_tests(axis: Axis, data: st.DataObject) -> int:
    """A random union of the parts into which tests alone cut the axis."""
    mask, chosen = 0, False
    for k, tested in enumerate(axis.tested):
        if k == 0 or tested:
            chosen = data.draw(st.booleans())
        mask |= chosen << k
    return mask


@given(coded_axes(), st.data())
def test_codes_are_near_only_to_themselves(
    case: tuple[Axis, list[frozenset[int]]], data: st.DataObject
) -> None:
    axis, _ = case
    mask = data.draw(st.integers(0, axis.full))
    assert axis.near(mask) == mask


@given(st.one_of(numeric_axes(), coded_axes()), st.data())
def test_measure_and_single_value_of_a_set_of_cells(case: tuple[Axis, Any], data: st.DataObject) -> None:
    axis = case[0]
    mask = data.draw(st.integers(0, axis.full))
    chosen = [cell for k, cell in enumerate(axis.cells) if mask >> k & 1]
    assert axis.measure(mask) == sum(cell.measure for cell in chosen)
    assert list(bits(mask)) == [k for k in range(len(axis.cells)) if mask >> k & 1]
    if axis.attribute.kind != "continuous":
        count = sum(
            any(holds(axis, cell, v) for cell in chosen) for v in oracle.counted_values(axis.attribute)
        )
        assert axis.measure(mask) == count
        assert axis.is_single_value(mask) == (count == 1)
    else:
        assert axis.is_single_value(mask) == (len(chosen) == 1 and chosen[0].lower == chosen[0].upper)


@given(st.integers(0, 2**70))
def test_runs_are_the_maximal_runs(mask: int) -> None:
    found = list(runs(mask))
    assert sum(((1 << (last - first + 1)) - 1) << first for first, last in found) == mask
    assert all(b[0] > a[1] + 1 for a, b in pairwise(found))


def test_integers_are_cut_where_whole_numbers_change_sides() -> None:
    """0..9 at x < 4.5 and x < 5: one cut, between 4 and 5; ε = 1.9 reaches one step."""
    axis = numeric_axis(integer("a", 0, 9), [Fraction("4.5"), Fraction(5)], Fraction("1.9"))
    assert [cell.lower for cell in axis.cells] == [0, 4, 5, 6]
    assert axis.tested == (False, False, True, False)
    assert axis.near(0b0011) == 0b0111


def test_a_threshold_at_the_end_of_a_real_axis_leaves_a_point() -> None:
    """[0, 1] at x < 1: the cell {1} of measure 0, one single value, near the last ε of the axis."""
    axis = numeric_axis(continuous("a", 0, 1), [Fraction(1)], Fraction(1, 4))
    assert [(cell.lower, cell.upper, cell.measure) for cell in axis.cells] == [
        (0, Fraction(3, 4), Fraction(3, 4)),
        (Fraction(3, 4), 1, Fraction(1, 4)),
        (1, 1, 0),
    ]
    assert axis.is_single_value(0b100)
    assert not axis.is_single_value(0b010)
    assert axis.near(0b100) == 0b110


def test_thresholds_outside_the_domain_cut_nothing() -> None:
    for attribute in (integer("a", 2, 6), continuous("a", 2, 6)):
        axis = numeric_axis(attribute, [Fraction(t) for t in (-1, 2, 7)], Fraction(0))
        assert len(axis.cells) == 1
    tests = [frozenset[int](), frozenset({1, 2})]
    assert len(coded_axis(categorical("a", [1, 2]), tests).cells) == 1
