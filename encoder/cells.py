"""The finite grid: what tests, and thresholds plus and minus the tolerance, cut each attribute into.

On every axis the values that no test and no tolerance window can tell apart form a *cell*. A set of
values is then a bit mask of cells, a Python int whose bit k stands for cell k: intersection, union and
complement are `&`, `|` and `~`, whatever the type of the attribute.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from fairbox.encoder.numbers import Exact, plain
from fairbox.encoder.space import Attribute


@dataclass(frozen=True)
class Cell:
    """Values of one attribute that behave alike.

    On a numeric axis: the values from `lower` to `upper`; `lower` belongs to the cell, `upper` does
    where `closed`. On a categorical or tier axis: the `codes`.
    """

    measure: Exact
    lower: Fraction | None = None
    upper: Fraction | None = None
    closed: bool = True
    codes: tuple[int, ...] = ()

    @property
    def single(self) -> bool:
        """Whether the cell holds exactly one value."""
        return len(self.codes) == 1 if self.codes else self.lower == self.upper


@dataclass(frozen=True)
class Axis:
    """One attribute, cut into cells; `tolerance` is its ε and `tested[k]` whether a test cuts before cell k."""

    attribute: Attribute
    cells: tuple[Cell, ...]
    tolerance: Fraction
    tested: tuple[bool, ...]

    @cached_property
    def full(self) -> int:
        """The mask of all cells."""
        return (1 << len(self.cells)) - 1

    @cached_property
    def starts(self) -> tuple[Fraction, ...]:
        """Where each cell of a numeric axis begins."""
        return tuple(cell.lower for cell in self.cells if cell.lower is not None)

    @property
    def numeric(self) -> bool:
        """Whether cells are intervals (else sets of codes)."""
        return not self.cells[0].codes

    @cached_property
    def singles(self) -> int:
        """The mask of the cells that hold one value."""
        return sum(1 << k for k, cell in enumerate(self.cells) if cell.single)

    @cached_property
    def _measures(self) -> dict[int, Exact]:
        return {self.full: plain(sum((cell.measure for cell in self.cells), Fraction(0)))}

    def measure(self, mask: int) -> Exact:
        """Measure of a set of cells, kept for the next time it is asked."""
        found = self._measures.get(mask)
        if found is None:
            found = plain(sum((self.cells[k].measure for k in bits(mask)), Fraction(0)))
            self._measures[mask] = found
        return found

    def is_single_value(self, mask: int) -> bool:
        """Whether a set of cells holds exactly one value of the attribute."""
        return mask & (mask - 1) == 0 and mask & self.singles != 0

    @cached_property
    def _near(self) -> dict[int, int]:
        return {}

    def near(self, mask: int) -> int:
        """The cells of x that have a value of `mask` within the tolerance (SEMANTICS, section 4).

        `mask` is a set cut by tests alone: its borders plus and minus the tolerance are cell borders.
        """
        if self.tolerance == 0 or not self.numeric:
            return mask
        found = self._near.get(mask)
        if found is None:
            found = 0
            for first, last in runs(mask):
                found |= self._dilated(first, last)
            self._near[mask] = found
        return found

    def _dilated(self, first: int, last: int) -> int:
        low = self.cells[first].lower
        end = self.cells[last].upper
        assert low is not None and end is not None
        start = max(bisect_right(self.starts, low - self.tolerance) - 1, 0)
        if self.cells[last].closed and self.attribute.kind == "continuous":
            stop = bisect_right(self.starts, end + self.tolerance)
        elif self.attribute.kind == "integer":
            stop = bisect_right(self.starts, end + math.floor(self.tolerance))
        else:
            stop = bisect_left(self.starts, end + self.tolerance)
        return (1 << stop) - (1 << start)


def bits(mask: int) -> Iterator[int]:
    """The cells of a mask, in order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def runs(mask: int) -> Iterator[tuple[int, int]]:
    """The maximal runs of neighbouring cells in a mask, as (first, last)."""
    while mask:
        first = (mask & -mask).bit_length() - 1
        length = (~(mask >> first) & ((mask >> first) + 1)).bit_length() - 1
        yield first, first + length - 1
        mask &= -1 << (first + length)


def numeric_axis(attribute: Attribute, thresholds: Iterable[Fraction], tolerance: Fraction) -> Axis:
    """Cut an integer or continuous attribute at tests `x < t` and at their borders ± tolerance."""
    assert attribute.lower is not None and attribute.upper is not None
    lower, upper = attribute.lower, attribute.upper
    whole = attribute.kind == "integer"
    reach = Fraction(math.floor(tolerance)) if whole else tolerance
    tests = {Fraction(math.ceil(t)) if whole else t for t in thresholds}
    tests = {t for t in tests if lower < t <= upper}
    cuts = {lower} | {c for t in tests for c in (t, t - reach, t + reach) if lower < c <= upper}
    starts = sorted(cuts)
    if whole:
        ends = [following - 1 for following in starts[1:]] + [upper]
        cells = [Cell(int(b - a) + 1, a, b) for a, b in zip(starts, ends, strict=True)]
    else:
        ends = [*starts[1:], upper]
        cells = [
            Cell(plain(b - a), a, b, k == len(starts) - 1)
            for k, (a, b) in enumerate(zip(starts, ends, strict=True))
        ]
    return Axis(attribute, tuple(cells), reach, tuple(start in tests for start in starts))


def coded_axis(attribute: Attribute, tests: Iterable[frozenset[int]]) -> Axis:
    """Cut a categorical, boolean or tier attribute into classes of codes that no test separates."""
    tests = sorted(set(tests), key=sorted)
    classes: dict[tuple[bool, ...], list[int]] = {}
    for code in attribute.codes:
        classes.setdefault(tuple(code in test for test in tests), []).append(code)
    cells = tuple(Cell(len(codes), codes=tuple(codes)) for codes in classes.values())
    return Axis(attribute, cells, Fraction(0), (False,) + (True,) * (len(cells) - 1))
