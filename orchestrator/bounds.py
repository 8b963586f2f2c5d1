"""Any-time bounds: what is proven so far, and what follows from it (SEMANTICS, section 5; paper, Theorem 5).

Tasks report exact measures of disjoint parts of the space, each proven to be one of: not confident, fair,
unfair. The bounds are one formula over the sums.
"""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from fairbox.encoder.numbers import Exact, plain, show

POSITIVE, NEGATIVE = 1, -1
CLASSES = {POSITIVE: "positive", NEGATIVE: "negative"}


@dataclass(frozen=True)
class Range:
    """An exact measure that is known to lie between two others."""

    lower: Exact
    upper: Exact

    def to_dict(self) -> dict[str, str]:
        """Both ends as "n" or "n/d"."""
        return {"lower": show(self.lower), "upper": show(self.upper)}


@dataclass(frozen=True)
class Bounds:
    """What is proven at one moment: measures of disjoint parts of the space, and bounds that follow.

    `confident[c]`: known confident with class c, decided or not; `fair[c]`, `unfair[c]`: those of them that
    are decided; `not_confident`: known outside X_κ. All measures are exact.
    """

    total: Exact
    not_confident: Exact = 0
    confident: dict[int, Exact] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    fair: dict[int, Exact] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    unfair: dict[int, Exact] = field(default_factory=lambda: dict.fromkeys(CLASSES, 0))
    seconds: float = 0.0

    @property
    def undecided(self) -> Exact:
        """D: the measure of which nothing final is known."""
        return plain(self.total - self.not_confident - sum(self.fair.values()) - sum(self.unfair.values()))

    @property
    def unsorted(self) -> Exact:
        """R: the measure not yet known to be confident or not."""
        return plain(self.total - self.not_confident - sum(self.confident.values()))

    @property
    def lower(self) -> Fraction:
        """Lower bound on the measure M of fair inputs among the confident ones."""
        return _share(sum(self.fair.values()), self.total - self.not_confident)

    @property
    def upper(self) -> Fraction:
        """Upper bound on M."""
        return _share(sum(self.fair.values()) + self.undecided, self.total - self.not_confident)

    @property
    def gap(self) -> Fraction:
        """Upper minus lower bound."""
        return self.upper - self.lower

    @property
    def converged(self) -> bool:
        """Whether nothing is undecided, so that the bounds meet."""
        return self.undecided == 0

    @property
    def vacuous(self) -> bool:
        """Whether no input is confident, so that M = 1 says nothing."""
        return self.converged and self.total == self.not_confident

    def confident_range(self, label: int) -> Range:
        """Bounds on the measure of confident inputs of a class."""
        return Range(self.confident[label], plain(self.confident[label] + self.unsorted))

    def unfair_range(self, label: int) -> Range:
        """Bounds on the measure of unfair inputs of a class."""
        upper = self.confident[label] - self.fair[label] + self.unsorted
        return Range(self.unfair[label], plain(upper))

    def to_dict(self) -> dict[str, Any]:
        """The `measure` and `totals` objects of the result schema."""
        return {
            "measure": {
                "lower": show(self.lower),
                "upper": show(self.upper),
                "lower_float": _outward(self.lower, -math.inf),
                "upper_float": _outward(self.upper, math.inf),
            },
            "totals": {
                "space": show(self.total),
                "confident": {name: self.confident_range(c).to_dict() for c, name in CLASSES.items()},
                "unfair": {name: self.unfair_range(c).to_dict() for c, name in CLASSES.items()},
            },
        }

    def __repr__(self) -> str:
        # Rounded outward, so that what is shown is still a bound.
        low, high = math.floor(self.lower * 10**6), math.ceil(self.upper * 10**6)
        return f"Bounds({low / 1e6:.6f} <= M <= {high / 1e6:.6f}, gap {float(self.gap):.2g})"


def add_confident(bounds: Bounds, label: int, measure: Exact) -> Bounds:
    """A part is confident with a class; whether it is fair is open."""
    return replace(bounds, confident=_plus(bounds.confident, label, measure))


def add_not_confident(bounds: Bounds, measure: Exact) -> Bounds:
    """A part lies outside X_κ."""
    return replace(bounds, not_confident=plain(bounds.not_confident + measure))


def add_fair(bounds: Bounds, label: int, measure: Exact) -> Bounds:
    """A confident part is proven fair: its search is complete."""
    return replace(bounds, fair=_plus(bounds.fair, label, measure))


def add_unfair(bounds: Bounds, label: int, measure: Exact) -> Bounds:
    """A confident part is proven unfair."""
    return replace(bounds, unfair=_plus(bounds.unfair, label, measure))


def _plus(sums: dict[int, Exact], label: int, measure: Exact) -> dict[int, Exact]:
    return {**sums, label: plain(sums[label] + measure)}


def _share(part: Exact, whole: Exact) -> Fraction:
    """A ratio of measures, 0/0 being 1."""
    return Fraction(part) / Fraction(whole) if whole else Fraction(1)


def _outward(bound: Fraction, end: float) -> float:
    """The nearest float that is still a bound: not beyond it, seen from `end`."""
    near = float(bound)
    beyond = near > bound if end < 0 else near < bound
    return math.nextafter(near, end) if beyond else near
