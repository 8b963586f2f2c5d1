"""Brute force: the exact answer to a question about a small ensemble, straight from the definitions.

Slow on purpose. It knows the values (spaces, ensembles, questions) and nothing of the product's cells,
boxes, path tuples or lattice. Every input x is tried against every input x' that is near it; on a real
axis, where there are too many to try, one representative stands for all values that no test of the
ensemble and no edge of a tolerance window tells apart.

The section numbers in the comments are those of `SEMANTICS`, the definition of what is computed.
"""

import ctypes
import ctypes.util
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np

Exact = int | Fraction
Point = tuple[Exact, ...]
"""One value per attribute; a tier's value is its category's code, -1 where no column is 1."""

NONE_HOT = -1

_libm = ctypes.CDLL(ctypes.util.find_library("m"))
_libm.expf.restype = ctypes.c_float
_libm.expf.argtypes = [ctypes.c_float]


@dataclass(frozen=True)
class Verdict:
    """What the ensemble says of one input: class 1, -1 or 0 (none), and whether f_c > kappa."""

    label: int
    confident: bool


@dataclass(frozen=True)
class Piece:
    """A part of the space on which everything asked is constant, shown at one of its points."""

    point: Point
    measure: Exact
    verdict: Verdict
    witness: Point | None  # an x' that makes the point unfair, if it is confident and there is one


@dataclass(frozen=True)
class Totals:
    """The exact answer. `confident` and `unfair` are keyed by class, 1 and -1."""

    space: Exact
    confident: Mapping[int, Exact]
    unfair: Mapping[int, Exact]

    @property
    def vacuous(self) -> bool:
        return sum(self.confident.values()) == 0

    @property
    def measure(self) -> Fraction:
        """M = 1 - |X_unfair| / |X_kappa|, and 1 where X_kappa is empty (section 3)."""
        if self.vacuous:
            return Fraction(1)
        return 1 - Fraction(sum(self.unfair.values())) / Fraction(sum(self.confident.values()))


def answer(ensemble: Any, space: Any, question: Any) -> Totals:
    """The exact totals of a question, by trying everything."""
    confident: dict[int, Exact] = {1: 0, -1: 0}
    unfair: dict[int, Exact] = {1: 0, -1: 0}
    space_measure: Exact = 0
    for piece in pieces(ensemble, space, question):
        space_measure += piece.measure
        if piece.verdict.confident:
            confident[piece.verdict.label] += piece.measure
            if piece.witness is not None:
                unfair[piece.verdict.label] += piece.measure
    return Totals(space_measure, confident, unfair)


def pieces(ensemble: Any, space: Any, question: Any) -> Iterator[Piece]:
    """The whole space, cut into pieces on which class, confidence and fairness are constant."""
    judge = Judge(ensemble, space, question)
    sensitive = sensitive_names(space, question)
    widths = tolerances(space, question)
    axes = [
        x_values(attribute, thresholds(ensemble, space, attribute), widths[attribute.name])
        for attribute in space.attributes
    ]
    for values in product(*axes):
        point = tuple(value for value, _ in values)
        measure = prod((weight for _, weight in values), start=Fraction(1))
        verdict = judge(point)
        witness = None
        if verdict.confident:
            witness = find_witness(judge, ensemble, space, question, point, sensitive, widths)
        yield Piece(point, measure, verdict, witness)


# The property (section 3) ----------------------------------------------------------------------------


def find_witness(
    judge: "Judge",
    ensemble: Any,
    space: Any,
    question: Any,
    point: Point,
    sensitive: frozenset[str],
    widths: Mapping[str, Fraction],
) -> Point | None:
    """An x' in X that is near x outside S, differs from x in S (fairness), and has the opposite class."""
    label = judge(point).label
    axes = [
        near_values(
            attribute,
            thresholds(ensemble, space, attribute),
            value,
            None if attribute.name in sensitive else widths[attribute.name],
        )
        for attribute, value in zip(space.attributes, point, strict=True)
    ]
    positions = [i for i, attribute in enumerate(space.attributes) if attribute.name in sensitive]
    for other in product(*axes):
        # Opposite classes: 1 and -1. A tie that has no class (label 0) is opposite to nothing.
        if judge(other).label != -label:
            continue
        if question.property == "fairness" and all(other[i] == point[i] for i in positions):
            continue
        return other
    return None


def sensitive_names(space: Any, question: Any) -> frozenset[str]:
    """S is what the question names, else the flags of the space; robustness ignores both."""
    if question.property == "robustness":
        return frozenset()
    named = question.sensitive or [a.name for a in space.attributes if a.sensitive]
    return frozenset(named)


def tolerances(space: Any, question: Any) -> dict[str, Fraction]:
    """epsilon per attribute: given by name, else rate * (hi - lo) on ordered attributes, else 0."""
    rate = number(question.tolerance_rate)
    widths = {}
    for attribute in space.attributes:
        if attribute.name in question.tolerance:
            widths[attribute.name] = number(question.tolerance[attribute.name])
        elif attribute.kind in ("integer", "continuous"):
            widths[attribute.name] = rate * (attribute.upper - attribute.lower)
        else:
            widths[attribute.name] = Fraction(0)
    return widths


def number(value: Any) -> Fraction:
    """What a user means by a number: a Python float counts as its shortest decimal, 0.1 is 1/10."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


# Values on one axis (section 2) ----------------------------------------------------------------------


def x_values(attribute: Any, tests: Sequence[Fraction], width: Fraction) -> list[tuple[Exact, Exact]]:
    """Representatives of all values of x on an axis, each with the measure it stands for.

    A real axis is cut at its thresholds t and at t - eps and t + eps, where the set of cells in reach
    changes; each open interval between two cuts is shown by its middle. The cuts themselves have
    measure zero and carry nothing in a total.
    """
    if attribute.kind != "continuous":
        return [(value, 1) for value in counted_values(attribute)]
    cuts = cut_points(attribute, [t + shift for t in tests for shift in (-width, 0, width)])
    return [((a + b) / 2, b - a) for a, b in pairwise(cuts)]


def near_values(
    attribute: Any, tests: Sequence[Fraction], value: Exact, width: Fraction | None
) -> list[Exact]:
    """Values of x' on an axis that are near x, complete up to what a test can tell apart.

    `width` None: the attribute is sensitive, so any value of the domain is allowed; then x itself is a
    cut, so that for every x' other than x some candidate other than x passes and fails the same tests.
    On a real axis both the cuts (a threshold exactly at `hi` leaves a cell of measure zero that can
    still hold x', section 7) and the middles between them are candidates. Windows are clipped at the
    domain's edge because x' is in X.
    """
    if attribute.kind != "continuous":
        values: list[Exact] = [*counted_values(attribute)]
    else:
        reach = [] if width is None else [Fraction(value) - width, Fraction(value) + width]
        cuts = cut_points(attribute, [*tests, Fraction(value), *reach])
        values = [*cuts, *((a + b) / 2 for a, b in pairwise(cuts))]
    if width is None:
        return values
    if attribute.kind in ("integer", "continuous"):
        return [other for other in values if abs(Fraction(other) - value) <= width]
    return [other for other in values if other == value]


def counted_values(attribute: Any) -> list[int]:
    """Every value of an attribute that is measured by counting."""
    if attribute.kind == "integer":
        return list(range(int(attribute.lower), int(attribute.upper) + 1))
    if attribute.kind == "tier":
        return ([NONE_HOT] if attribute.allow_none else []) + list(range(len(attribute.columns)))
    if attribute.kind == "boolean":
        return [0, 1]
    return sorted(attribute.codes)


def cut_points(attribute: Any, points: Sequence[Fraction]) -> list[Fraction]:
    """The domain's ends and those of the points that lie between them, in order."""
    inside = {point for point in points if attribute.lower < point < attribute.upper}
    return sorted(inside | {attribute.lower, attribute.upper})


def thresholds(ensemble: Any, space: Any, attribute: Any) -> list[Fraction]:
    """All thresholds that some tree tests this attribute's columns against."""
    wanted = {
        feature for feature, name in enumerate(feature_columns(ensemble, space)) if name in attribute.columns
    }
    return sorted(
        {
            Fraction(threshold)
            for tree in ensemble.trees
            for feature, threshold in zip(tree.feature, tree.threshold, strict=True)
            if feature in wanted
        }
    )


# The model (section 1) -------------------------------------------------------------------------------


def feature_columns(ensemble: Any, space: Any) -> tuple[str, ...]:
    """The space's column behind each model feature: by name when the model has names, else by position."""
    columns = tuple(space.columns)
    names = tuple(ensemble.feature_names)
    assert len(columns) == ensemble.n_features, "the space must describe every model column"
    assert not names or sorted(names) == sorted(columns), "the names must match"
    return names or columns


def model_row(ensemble: Any, space: Any, point: Point) -> tuple[Exact, ...]:
    """The input as the model sees it: one number per feature, tiers spread into their 0/1 columns."""
    cells: dict[str, Exact] = {}
    for attribute, value in zip(space.attributes, point, strict=True):
        if attribute.kind == "tier":
            cells.update({column: int(code == value) for code, column in enumerate(attribute.columns)})
        else:
            cells[attribute.columns[0]] = value
    return tuple(cells[column] for column in feature_columns(ensemble, space))


def leaf_values(ensemble: Any, row: Sequence[Exact]) -> list[float]:
    """The value of the leaf that the input reaches in each tree: left iff x < threshold."""
    values = []
    for tree in ensemble.trees:
        node = 0
        while tree.feature[node] >= 0:
            goes_left = row[tree.feature[node]] < Fraction(tree.threshold[node])
            node = tree.left[node] if goes_left else tree.right[node]
        values.append(tree.value[node])
    return values


class Judge:
    """The class and confidence of any input, under one question's arithmetic, ties and kappa."""

    def __init__(self, ensemble: Any, space: Any, question: Any) -> None:
        self._ensemble = ensemble
        self._space = space
        self._kappa = number(question.confidence)
        self._tie = {"none": 0, "library": -1}[question.ties]  # XGBoost predicts label 0 on a tie
        self._decide = {"exact": judge_exact, "deployed": judge_deployed}[question.arithmetic]
        self._known: dict[Point, Verdict] = {}

    def __call__(self, point: Point) -> Verdict:
        if point not in self._known:
            leaves = leaf_values(self._ensemble, model_row(self._ensemble, self._space, point))
            verdict = self._decide(self._ensemble.base, leaves, self._kappa)
            # A tie may have a class by convention, and is never confident (section 1).
            self._known[point] = verdict if verdict.label else Verdict(self._tie, False)
        return self._known[point]


def judge_exact(base: float, leaves: Sequence[float], kappa: Fraction) -> Verdict:
    """The class is the sign of the exact margin F; confident iff |F| > logit(kappa)."""
    margin = Fraction(base) + sum(map(Fraction, leaves))
    return Verdict(sign(margin), exceeds_logit(abs(margin), kappa))


def judge_deployed(base: float, leaves: Sequence[float], kappa: Fraction) -> Verdict:
    """XGBoost's own evaluation: the class is the side of 1/2 on which the float32 probability lies."""
    p = Fraction(float(probability(margin_float32(base, leaves))))
    return Verdict(sign(p - Fraction(1, 2)), max(p, 1 - p) > kappa)


def margin_float32(base: float, leaves: Sequence[float]) -> np.float32:
    """The float32 sum in tree order, starting at the base."""
    margin = np.float32(base)
    for value in leaves:
        margin = np.float32(margin + np.float32(value))
    return margin


def probability(margin: np.float32) -> np.float32:
    """1 / (expf(-m) + 1) in float32, with the C library's expf."""
    with np.errstate(over="ignore"):
        power = np.float32(_libm.expf(ctypes.c_float(float(-margin))))
        return np.float32(np.float32(1) / np.float32(power + np.float32(1)))


def sign(value: Exact) -> int:
    return (value > 0) - (value < 0)


def exceeds_logit(value: Fraction, kappa: Fraction) -> bool:
    """Whether value > ln(kappa / (1 - kappa)), for a rational value.

    kappa = 1/2: the logit is 0. Otherwise it is irrational (the logarithm of a rational other than 1),
    never equal to the value, so enough digits always decide.
    """
    if kappa == Fraction(1, 2):
        return value > 0
    digits = 50
    while True:
        with localcontext() as context:
            context.prec = digits
            logit = Fraction(Decimal(kappa.numerator).ln() - Decimal((1 - kappa).numerator).ln())
            # kappa = a/b in lowest terms gives 1 - kappa = (b-a)/b in lowest terms: the odds are a/(b-a).
        error = (abs(logit) + 100) * Fraction(10, 10**digits)
        if abs(value - logit) > error:
            return value > logit
        digits *= 2
