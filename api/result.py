"""What came of a run: an immutable result, its JSON form and its data frame."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

from fairbox.encoder.numbers import Exact, plain, show
from fairbox.encoder.problem import Problem
from fairbox.encoder.regions import describe_axis
from fairbox.encoder.schema import space_to_dict
from fairbox.encoder.witness import Point
from fairbox.figures import share_text
from fairbox.inspection import model_identity
from fairbox.orchestrator.bounds import CLASSES, Bounds
from fairbox.orchestrator.quantify import Counts, Run, Status, UnfairRegion
from fairbox.orchestrator.settings import Settings
from fairbox.tables import (
    SIDES,
    Prediction,
    approximate,
    pair_predictions,
    regions_frame,
    share_of,
)

if TYPE_CHECKING:
    import pandas as pd

SCHEMA = "fairbox.result/1"
LARGEST = 10
"""How many regions the JSON form shows; all of them are in the data frame."""
TRACE_POINTS = 1000
"""A longer trace is thinned out evenly; its first and last entries stay."""


@dataclass(frozen=True)
class Strategy:
    """Which strategy was asked for, which was used, and why."""

    asked: str
    used: str
    why: str


@dataclass(frozen=True)
class Result:
    """What came of a run. Every measure is exact; `regions` are disjoint boxes, largest first.

    `bounds` are the last ones, `trace` those over time. `undecided` says why parts were left undecided: the
    solver's reason, and how many tasks it ended. `seconds` is the wall time of the run.
    """

    status: Status
    bounds: Bounds
    regions: tuple[UnfairRegion, ...] = field(repr=False)
    trace: tuple[Bounds, ...] = field(repr=False)
    counts: Counts
    undecided: Mapping[str, int] = field(hash=False)
    seconds: float
    settings: Settings
    strategy: Strategy
    backend_version: str
    problem: Problem = field(repr=False, compare=False)

    @property
    def converged(self) -> bool:
        """Whether the bounds met and nothing is undecided."""
        return self.bounds.converged

    @property
    def vacuous(self) -> bool:
        """Whether no input is confident, so that M = 1 says nothing."""
        return self.bounds.vacuous

    @property
    def lower(self) -> Fraction:
        """Lower bound on the share M of confident inputs that are fair (or robust)."""
        return self.bounds.lower

    @property
    def upper(self) -> Fraction:
        """Upper bound on M."""
        return self.bounds.upper

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of the model and the space when reading the numbers."""
        return (*self.problem.ensemble.notes, *self.problem.notes)

    def to_dict(self) -> dict[str, Any]:
        """The result as plain JSON data (docs/reference/result.md), exact numbers as strings."""
        options = self.settings.to_dict()
        del options["strategy"]
        return {
            "schema": SCHEMA,
            "status": self.status.value,
            "converged": self.converged,
            "vacuous": self.vacuous,
            **self.bounds.to_dict(),
            "question": self.problem.question.to_dict(),
            "model": model_identity(self.problem.ensemble),
            "space": space_to_dict(self.problem.space),
            "backend": {"name": self.settings.backend, "version": self.backend_version},
            "strategy": vars(self.strategy),
            "settings": options,
            "counts": vars(self.counts),
            "undecided": dict(sorted(self.undecided.items())),
            "seconds": round(self.seconds, 3),
            "regions": self._regions_dict(),
            "trace": [_trace_entry(bounds) for bounds in self.trace],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text, ASCII only."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_frame(self) -> "pd.DataFrame":
        """All regions as a data frame, largest first (docs/reference/result.md)."""
        return regions_frame(self.problem, self.regions)

    def _regions_dict(self) -> dict[str, Any]:
        sums: dict[int, Exact] = dict.fromkeys(CLASSES, 0)
        for region in self.regions:
            sums[region.label] += region.measure
        largest = self.regions[:LARGEST]
        pairs = pair_predictions(self.problem, largest)
        return {
            "count": len(self.regions),
            "measure": {name: show(plain(sums[label])) for label, name in CLASSES.items()},
            "largest": [
                _region_entry(self.problem, region, predicted)
                for region, predicted in zip(largest, pairs, strict=True)
            ],
        }

    def __repr__(self) -> str:
        state = f"{self.status.value}, vacuous" if self.vacuous else self.status.value
        share = share_text(self.lower, self.upper)
        return (
            f"<Result {self.problem.question.property}: {share} ({state}), {len(self.regions)} regions, "
            f"{self.seconds:.1f} s>"
        )


def result_of(run: Run, asked: Settings | None = None) -> Result:
    """What came of a run so far; `asked` are its settings as the user gave them."""
    settings = asked or run.settings
    return Result(
        status=run.status,
        bounds=run.bounds,
        regions=tuple(sorted(run.regions, key=lambda region: (-region.measure, region.box))),
        trace=_thinned(run.trace),
        counts=replace(run.counts),
        undecided=dict(run.undecided_reasons),
        seconds=run.seconds,
        settings=settings,
        strategy=chosen_strategy(settings.strategy),
        backend_version=run.backend_version,
        problem=run.problem,
    )


def chosen_strategy(asked: str) -> Strategy:
    """What `auto` stands for."""
    why = "asked for" if asked == "paths" else "it proves exact bounds with every backend and needs no tuning"
    return Strategy(asked, "paths", why)


def _thinned(trace: Sequence[Bounds]) -> tuple[Bounds, ...]:
    if len(trace) <= TRACE_POINTS:
        return tuple(trace)
    last = len(trace) - 1
    return tuple(trace[i * last // (TRACE_POINTS - 1)] for i in range(TRACE_POINTS))


def _trace_entry(bounds: Bounds) -> dict[str, Any]:
    return {"seconds": round(bounds.seconds, 3), **bounds.to_dict()["measure"]}


def _region_entry(
    problem: Problem, region: UnfairRegion, predicted: tuple[Prediction, Prediction] | None
) -> dict[str, Any]:
    measure = approximate(region.measure)
    witness = None
    if region.pair is not None and predicted is not None:
        witness = {
            side: {"values": _values(problem, point), **vars(prediction)}
            for side, point, prediction in zip(SIDES, region.pair, predicted, strict=True)
        }
    return {
        "box": {
            axis.attribute.name: describe_axis(axis, mask)
            for axis, mask in zip(problem.axes, region.box, strict=True)
        },
        "measure": show(region.measure),
        "measure_float": measure if isfinite(measure) else None,
        "share": share_of(region.measure, problem.total),
        "class": CLASSES[region.label],
        "witness": witness,
    }


def _values(problem: Problem, point: Point) -> dict[str, str]:
    return {name: show(value) for name, value in zip(problem.space.names, point, strict=True)}
