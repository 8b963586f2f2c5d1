"""Exact box and region algebra on the grid of cells.

A box is a tuple of masks, one per axis (`cells`); it is empty when any mask is 0. A region is a list of
pairwise disjoint boxes.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from fairbox.encoder.cells import Axis
from fairbox.encoder.numbers import Exact, plain

Box = tuple[int, ...]


def full_box(axes: Sequence[Axis]) -> Box:
    """The whole input space."""
    return tuple(axis.full for axis in axes)


def intersect(a: Box, b: Box) -> Box | None:
    """The common part of two boxes, None when it is empty."""
    common = tuple(x & y for x, y in zip(a, b, strict=True))
    return common if all(common) else None


def contains(outer: Box, inner: Box) -> bool:
    """Whether every cell of `inner` lies in `outer`."""
    return all(not x & ~y for x, y in zip(inner, outer, strict=True))


def difference(a: Box, b: Box) -> list[Box]:
    """`a` without `b`, as disjoint boxes."""
    if intersect(a, b) is None:
        return [a]
    pieces = []
    rest = list(a)
    for i, keep in enumerate(b):
        outside = rest[i] & ~keep
        if outside:
            pieces.append((*rest[:i], outside, *rest[i + 1 :]))
            rest[i] &= keep
    return pieces


def subtract(pieces: Iterable[Box], taken: Iterable[Box]) -> list[Box]:
    """A region without some boxes, which may overlap, as disjoint boxes."""
    left = list(pieces)
    for box in taken:
        left = [part for piece in left for part in difference(piece, box)]
        if not left:
            break
    return left


def measure(axes: Sequence[Axis], box: Box) -> Exact:
    """The measure of a box: the product over its axes."""
    product: Exact = 1
    for axis, mask in zip(axes, box, strict=True):
        product *= axis.measure(mask)
    return plain(product)


def region_measure(axes: Sequence[Axis], pieces: Iterable[Box]) -> Exact:
    """The measure of disjoint boxes."""
    return plain(sum((measure(axes, piece) for piece in pieces), Fraction(0)))


def disjoint(boxes: Iterable[Box]) -> list[Box]:
    """The union of boxes that may overlap, as disjoint boxes."""
    pieces: list[Box] = []
    for box in boxes:
        pieces += subtract([box], pieces)
    return pieces


def halves(box: Box) -> tuple[Box, Box] | None:
    """Cut a box into two along the axis with the most cells, None when every axis has a single cell."""
    axis = max(range(len(box)), key=lambda i: box[i].bit_count())
    count = box[axis].bit_count()
    if count < 2:
        return None
    rest, low = box[axis], 0
    for _ in range(count // 2):
        low |= rest & -rest
        rest &= rest - 1
    return (*box[:axis], low, *box[axis + 1 :]), (*box[:axis], rest, *box[axis + 1 :])
