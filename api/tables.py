"""Regions and witnesses as rows: what the model's own library predicts, and data frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fairbox.encoder.cells import Axis
from fairbox.encoder.ensemble import probability
from fairbox.encoder.loading import library_margins
from fairbox.encoder.numbers import Exact, show
from fairbox.encoder.problem import Problem
from fairbox.encoder.regions import axis_text
from fairbox.encoder.space import Attribute
from fairbox.encoder.witness import Point, model_rows
from fairbox.orchestrator.bounds import CLASSES
from fairbox.orchestrator.quantify import UnfairRegion

if TYPE_CHECKING:
    import pandas as pd

SIDES = ("x", "x'")
_MEASURES = ("measure", "measure_float", "share", "class")
_PREDICTED = ("margin", "probability", "label")
_LARGEST_INTEGER = 2**63 - 1
"""The largest integer of an integer column in pandas and Parquet."""


@dataclass(frozen=True)
class Prediction:
    """What the model's library predicts: margin, probability of class 1, and label (1 or 0)."""

    margin: float
    probability: float
    label: int


def predictions(problem: Problem, points: Sequence[Point]) -> list[Prediction]:
    """The library's own margin of each point, and the probability and label that follow from it."""
    if not points:
        return []
    rows = model_rows(problem, points)
    margins = [float(margin) for margin in library_margins(problem.ensemble, rows)]
    likely = [probability(margin) for margin in margins]
    return [Prediction(m, p, int(p > 0.5)) for m, p in zip(margins, likely, strict=True)]


def pair_predictions(
    problem: Problem, regions: Sequence[UnfairRegion]
) -> list[tuple[Prediction, Prediction] | None]:
    """The predictions of each region's witness pair, None where it has no pair."""
    points = [point for region in regions if region.pair is not None for point in region.pair]
    found = iter(predictions(problem, points))
    return [None if region.pair is None else (next(found), next(found)) for region in regions]


def regions_frame(problem: Problem, regions: Sequence[UnfairRegion]) -> "pd.DataFrame":
    """One row per region: its box, measure and class, its witness pair and the pair's predictions.

    The column of an attribute holds the set of its values as text; where another column has its name
    already, it is called `box.NAME`. Witness columns are `x.NAME` and `x'.NAME`, empty where a region holds
    no representable pair. `measure` is exact, as text; `share` is that of the whole space.
    """
    import pandas as pd

    others = _other_columns(problem, regions)
    boxes = {
        attribute.name if attribute.name not in others else f"box.{attribute.name}": _box_column(
            problem.axes[i], [region.box[i] for region in regions]
        )
        for i, attribute in enumerate(problem.space.attributes)
    }
    return pd.DataFrame({**boxes, **others})


def _box_column(axis: Axis, masks: Sequence[int]) -> Any:
    import pandas as pd

    texts = {mask: axis_text(axis, mask) for mask in set(masks)}
    return pd.array([texts[mask] for mask in masks], dtype="string")


def _other_columns(problem: Problem, regions: Sequence[UnfairRegion]) -> dict[str, Any]:
    import pandas as pd

    measures: dict[str, Any] = {
        "measure": pd.array([show(region.measure) for region in regions], dtype="string"),
        "measure_float": pd.array([approximate(region.measure) for region in regions], dtype="float64"),
        "share": pd.array([share_of(region.measure, problem.total) for region in regions], dtype="float64"),
        "class": pd.array([CLASSES[region.label] for region in regions], dtype="string"),
    }
    pairs = pair_predictions(problem, regions)
    witnesses, predicted = {}, {}
    for side, name in enumerate(SIDES):
        for i, attribute in enumerate(problem.space.attributes):
            values = [None if region.pair is None else region.pair[side][i] for region in regions]
            witnesses[f"{name}.{attribute.name}"] = _witness_column(attribute, values)
        for what in _PREDICTED:
            shown = [None if pair is None else getattr(pair[side], what) for pair in pairs]
            predicted[f"{name}_{what}"] = pd.array(shown, dtype="Int64" if what == "label" else "Float64")
    return {**measures, **witnesses, **predicted}


def _witness_column(attribute: Attribute, values: Sequence[Exact | None]) -> Any:
    """Integers where they fit, else floats, which are exact: a witness is representable in float32."""
    import pandas as pd

    whole = attribute.kind != "continuous" and all(
        v is None or -_LARGEST_INTEGER <= v <= _LARGEST_INTEGER for v in values
    )
    if whole:
        return pd.array([None if v is None else int(v) for v in values], dtype="Int64")
    return pd.array([None if v is None else float(v) for v in values], dtype="Float64")


def approximate(value: Exact) -> float:
    """The nearest float, infinity for what is beyond them all."""
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def share_of(part: Exact, whole: Exact) -> float:
    """The ratio of two measures; 0 of nothing is nothing."""
    return float(Fraction(part) / Fraction(whole)) if whole else 0.0
