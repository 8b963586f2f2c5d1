"""Where class and confidence change: on the exact integer lattice, and on the library's float32 margins.

A solver and an exact sum work with integers M = F * scale. Under `deployed` arithmetic the library's
float32 margin decides; it differs from the exact margin by a proven bound, so the cutoffs that a formula
uses are widened by it and every tuple found is decided again by replaying the float32 sum.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from fairbox.encoder.ensemble import Ensemble, probability
from fairbox.encoder.errors import ModelError, QuestionError, SoundnessError
from fairbox.encoder.numbers import logit_floor
from fairbox.encoder.properties import Question

UNIT = Fraction(1, 2**24)
"""Largest relative error of one float32 operation that rounds to nearest."""
STEPS = (*range(1, 2049), *(2**k for k in range(12, 24)))
"""At which float32 neighbours on either side of a cutoff the order of probabilities is checked."""


@dataclass(frozen=True)
class Verdict:
    """Class (1, -1, or 0 for a tie that has none) of an input, and whether its confidence exceeds κ."""

    label: int
    confident: bool


@dataclass(frozen=True)
class Cutoffs:
    """Integers on the lattice that include every margin M for which a statement may hold.

    Class 1 with confidence above κ only if M >= `confident_from`; class -1 so only if M <=
    `confident_to`; not confident only if `doubtful_from` <= M <= `doubtful_to`; the class an opposite
    input needs: 1 only if M >= `positive_from`, -1 only if M <= `negative_to`. Under exact arithmetic
    each "only if" is "if and only if".
    """

    confident_from: int
    confident_to: int
    doubtful_from: int
    doubtful_to: int
    positive_from: int
    negative_to: int


def lattice_scale(ensemble: Ensemble) -> int:
    """The smallest power of two that makes base and every leaf value whole."""
    values = [ensemble.base, *(tree.value[i] for tree in ensemble.trees for i in tree.leaves)]
    return max(value.as_integer_ratio()[1] for value in values)


def exact_cutoffs(question: Question, scale: int) -> Cutoffs:
    """The cutoffs under exact arithmetic; a tie the library decides has class -1 (XGBoost's label 0)."""
    floor = logit_floor(question.kappa, scale)
    tie = 0 if question.ties == "library" else -1
    return Cutoffs(floor + 1, -floor - 1, -floor, floor, 1, tie)


def exact_decision(question: Question, scale: int) -> Callable[[int], Verdict]:
    """Decide a path tuple by its exact margin on the lattice."""
    floor = logit_floor(question.kappa, scale)
    tie = -1 if question.ties == "library" else 0

    def decide(margin: int) -> Verdict:
        return Verdict(1 if margin > 0 else -1 if margin < 0 else tie, abs(margin) > floor)

    return decide


@dataclass(frozen=True)
class FloatCutoffs:
    """The float32 margins at which the library's own label and confidence change.

    p > 1/2 iff m >= `positive`; p < 1/2 iff m <= `negative`; p > κ iff m >= `sure_positive`;
    1 - p > κ iff m <= `sure_negative`.
    """

    positive: float
    negative: float
    sure_positive: float
    sure_negative: float


@cache
def float_cutoffs(kappa: Fraction) -> FloatCutoffs:
    """Find where the library's probability, a rounded function of the float32 margin, crosses 1/2 and κ."""
    half = Fraction(1, 2)
    return FloatCutoffs(
        positive=_first_margin(lambda p: p > half),
        negative=-_first_margin(lambda p: p < half, mirrored=True),
        sure_positive=_first_margin(lambda p: p > kappa),
        sure_negative=-_first_margin(lambda p: 1 - p > kappa, mirrored=True),
    )


def float_decision(question: Question, cutoffs: FloatCutoffs) -> Callable[[np.float32], Verdict]:
    """Decide by the library's float32 margin."""
    tie = -1 if question.ties == "library" else 0

    def decide(margin: np.float32) -> Verdict:
        label = 1 if margin >= cutoffs.positive else -1 if margin <= cutoffs.negative else tie
        return Verdict(label, bool(margin >= cutoffs.sure_positive or margin <= cutoffs.sure_negative))

    return decide


def widened_cutoffs(question: Question, cutoffs: FloatCutoffs, scale: int, error: int) -> Cutoffs:
    """The float32 cutoffs on the lattice, each moved outward by the error bound of the float32 sum."""

    def up(margin: float) -> int:
        return math.ceil(Fraction(margin) * scale) - error

    def down(margin: float) -> int:
        return math.floor(Fraction(margin) * scale) + error

    # A tie that the library calls class -1 lies strictly below the first positive margin.
    last_negative = down(cutoffs.positive) if question.ties == "library" else down(cutoffs.negative)
    return Cutoffs(
        confident_from=up(cutoffs.sure_positive),
        confident_to=down(cutoffs.sure_negative),
        doubtful_from=up(cutoffs.sure_negative),
        doubtful_to=down(cutoffs.sure_positive),
        positive_from=up(cutoffs.positive),
        negative_to=last_negative,
    )


def rounding_error(base: float, leaf_values: Sequence[Iterable[float]]) -> Fraction:
    """A bound on |float32 margin - exact margin| over all path tuples.

    Each addition rounds by at most UNIT times the sum it rounds, and that sum is the exact partial sum
    plus the error made so far: e_j = e_(j-1) + UNIT * (|S_j| + e_(j-1)).
    """
    low = high = Fraction(base)
    error = Fraction(0)
    for values in leaf_values:
        fractions = [Fraction(value) for value in values]
        low, high = low + min(fractions), high + max(fractions)
        error += UNIT * (max(abs(low), abs(high)) + error)
    if max(abs(low), abs(high)) + error >= Fraction(2) ** 127:
        raise ModelError(
            "leaf values are so large that the margin overflows float32: the model is not usable"
        )
    return error


def _first_margin(holds: Callable[[Fraction], bool], *, mirrored: bool = False) -> float:
    """The smallest float32 m (or, mirrored, the smallest -m) whose probability satisfies `holds`.

    The library's probability is a strictly increasing function, rounded. The C library's expf is right to
    within a unit in the last place, so only near neighbours can be out of order: bisection finds a
    cutoff, and the order is checked at `STEPS` on both sides of it and refused if it fails.
    """
    sign = -1.0 if mirrored else 1.0

    def at(position: int) -> bool:
        return holds(Fraction(probability(sign * _float_at(position))))

    low, high = -_position(200.0), _position(200.0)
    if not at(high) or at(low):
        raise QuestionError(
            "confidence is so near 1 that no float32 probability exceeds it: ask for a smaller one"
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if at(middle) else (middle, high)
    if any(at(high - step) for step in STEPS) or not all(at(high + step) for step in STEPS):
        raise SoundnessError("the C library's expf is not monotone near a cutoff: use arithmetic='exact'")
    return _float_at(high)


def _position(value: float) -> int:
    """Rank of a float32 among all of them: order-preserving, 0 for zero."""
    raw = int(np.float32(abs(value)).view(np.int32))
    return raw if value >= 0 else -raw


def _float_at(position: int) -> float:
    magnitude = float(np.int32(abs(position)).view(np.float32))
    return magnitude if position >= 0 else -magnitude
