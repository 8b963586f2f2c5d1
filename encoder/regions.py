"""Boxes as data and in words: intervals and codes instead of cells."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from fairbox.encoder.boxes import Box
from fairbox.encoder.cells import Axis, bits
from fairbox.encoder.numbers import Exact, show
from fairbox.encoder.problem import Problem
from fairbox.encoder.space import NONE_CODE, Attribute
from fairbox.encoder.witness import Interval, Point, intervals


def describe_axis(axis: Axis, mask: int) -> Any:
    """A set of cells as JSON data: a list of codes, or of intervals with exact ends.

    An interval is {"min", "max"} with both ends included, or {"min", "below"} without its upper end.
    """
    if axis.numeric:
        return [
            {"min": show(i.lower), "max" if i.closed else "below": show(i.upper)}
            for i in intervals(axis, mask)
        ]
    return codes_of(axis, mask)


def codes_of(axis: Axis, mask: int) -> list[int]:
    """The codes of a set of cells, ascending."""
    return sorted(code for k in bits(mask) for code in axis.cells[k].codes)


def axis_text(axis: Axis, mask: int) -> str:
    """A set of cells in a compact form: `30..49`, `[0, 1/2)`, `{1, 3}`."""
    if axis.numeric:
        return " or ".join(_interval_text(interval) for interval in intervals(axis, mask))
    return "{" + ", ".join(map(str, codes_of(axis, mask))) + "}"


def _interval_text(interval: Interval) -> str:
    low, high = show(interval.lower), show(interval.upper)
    if interval.lower == interval.upper:
        return low
    if interval.whole:
        return f"{low}..{high}"
    return f"[{low}, {high}{']' if interval.closed else ')'}"


def box_words(problem: Problem, box: Box) -> str:
    """A box in words: what it asks of each attribute that it restricts, with the names of codes."""
    parts = [
        f"{axis.attribute.name} {_words(axis, mask)}"
        for axis, mask in zip(problem.axes, box, strict=True)
        if mask != axis.full
    ]
    return " and ".join(parts) or "every input"


def _words(axis: Axis, mask: int) -> str:
    attribute = axis.attribute
    if not axis.numeric:
        codes, all_codes = codes_of(axis, mask), codes_of(axis, axis.full)
        if len(codes) > 1 and len(all_codes) - len(codes) == 1:
            (missing,) = set(all_codes) - set(codes)
            return f"is not {value_name(attribute, missing)}"
        names = [value_name(attribute, code) for code in codes]
        return f"is {' or '.join(names)}" if len(names) <= 3 else f"in {{{', '.join(names)}}}"
    return " or ".join(_range_words(attribute, interval) for interval in intervals(axis, mask))


def _range_words(attribute: Attribute, interval: Interval) -> str:
    low, high = number_text(interval.lower), number_text(interval.upper)
    if interval.lower == interval.upper:
        return f"= {low}"
    if interval.lower == attribute.lower:
        return f"{'<=' if interval.closed else '<'} {high}"
    if interval.closed and interval.upper == attribute.upper:
        return f">= {low}"
    return f"in {low}..{high}" if interval.whole else f"in [{low}, {high}{']' if interval.closed else ')'}"


def value_name(attribute: Attribute, value: Exact) -> str:
    """A value for people: its label where it has one, the column name of a tier's category."""
    if attribute.kind == "tier":
        return "none" if value == NONE_CODE else attribute.columns[int(value)]
    label = attribute.labels.get(int(value)) if not attribute.ordered else None
    return f"{show(value)} ({label})" if label else number_text(value)


def number_text(value: Exact) -> str:
    """A number for people: exact where its decimal is short, else the ratio's nearest decimal with ≈."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    digits = repr(float(value))
    return digits if Fraction(digits) == value and len(digits) <= 12 else f"≈{float(value):.6g}"


def point_words(problem: Problem, point: Point, only: Sequence[int] | None = None) -> str:
    """A point in words, all attributes or only some."""
    chosen = range(len(point)) if only is None else only
    return ", ".join(
        f"{problem.space.names[i]} = {value_name(problem.space.attributes[i], point[i])}" for i in chosen
    )
