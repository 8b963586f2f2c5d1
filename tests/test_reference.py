"""The reference data: exact vectors and trained benchmark models with exact counts (needs FAIRBOX_SHARED)."""

import csv
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from fairbox.encoder.loading import load_model
from fairbox.encoder.problem import build_problem
from fairbox.encoder.properties import Fairness, Robustness
from fairbox.encoder.space import InputSpace
from fairbox.orchestrator.bounds import Bounds
from fairbox.orchestrator.quantify import Run, Status
from fairbox.orchestrator.settings import Settings
from fairbox.solvers.registry import list_backends
from tests.orchestrator.test_end_to_end import VARIANTS
from tests.test_oracle import read_vector

pytestmark = pytest.mark.shared

SHARED = os.environ.get("FAIRBOX_SHARED")
BACKENDS = [backend.name for backend in list_backends() if backend.probe().available]
TOTALS = ("confident_pos", "confident_neg", "unfair_pos", "unfair_neg")


def read_rows(*sizes: str) -> list[dict[str, str]]:
    """The rows of exact.csv of some sizes; none without the reference data."""
    if not SHARED:
        return []
    with (Path(SHARED) / "models" / "exact.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["size"] in sizes]


def row_name(row: dict[str, str]) -> str:
    return "-".join(row[key] for key in ("dataset", "size", "property", "sensitive", "r_eps", "kappa"))


def solve(shared: Path, row: dict[str, str], **options: Any) -> Run:
    """Quantify a row's question to the end."""
    space = InputSpace.from_schema(shared / "data" / f"{row['dataset']}.schema.toml")
    model = load_model(shared / "models" / f"{row['dataset']}_{row['size']}.json")
    common = {"tolerance_rate": row["r_eps"], "confidence": row["kappa"], "arithmetic": "exact"}
    question = (
        Fairness(sensitive=[row["sensitive"]], **common)
        if row["property"] == "fair"
        else Robustness(**common)
    )
    run = Run(build_problem(model, space, question), Settings(**options))
    run.finish()
    return run


def totals(bounds: Bounds) -> tuple[str, ...]:
    return tuple(str(n) for n in (*bounds.confident.values(), *bounds.unfair.values()))


def check_row(run: Run, row: dict[str, str]) -> None:
    assert run.status is Status.CONVERGED, run.undecided_reasons
    assert totals(run.bounds) == tuple(row[key] for key in TOTALS)


def vectors() -> list[dict[str, Any]]:
    return json.loads((Path(SHARED) / "vectors" / "vectors.json").read_text()) if SHARED else []


def check_vector(shared: Path, vector: dict[str, Any], **options: Any) -> None:
    _, space, question = read_vector(shared / "vectors", vector)
    model = load_model(shared / "vectors" / vector["model"])
    run = Run(build_problem(model, space, question), Settings(**options))
    run.finish()
    assert run.status is Status.CONVERGED, run.undecided_reasons
    assert totals(run.bounds) == tuple(vector[key] for key in ("kpos", "kneg", "upos", "uneg"))
    assert str(run.bounds.lower) == str(run.bounds.upper) == vector["M"]
    assert str(run.bounds.total) == vector["total"]


@pytest.mark.parametrize("encoding", ["paper", "cells"])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("vector", vectors(), ids=lambda v: v["name"])
def test_vectors(shared, vector, backend, encoding):
    check_vector(shared, vector, backend=backend, encoding=encoding)


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("encoding", ["paper", "cells"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_vectors_with_and_without_each_enhancement(shared, backend, encoding, variant, workers):
    for vector in vectors():
        check_vector(shared, vector, backend=backend, encoding=encoding, workers=workers, **VARIANTS[variant])


@pytest.mark.long
@pytest.mark.parametrize("row", read_rows("5x3"), ids=row_name)
def test_5x3_with_z3(shared, row):
    check_row(solve(shared, row, backend="z3", workers=2), row)


@pytest.mark.long
@pytest.mark.parametrize("backend", ["cvc5", "yices"])
@pytest.mark.parametrize("row", read_rows("5x3")[::3], ids=row_name)
def test_a_third_of_5x3_with_others(shared, row, backend):
    check_row(solve(shared, row, backend=backend, encoding="cells"), row)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("row", [r for r in read_rows("10x3") if r["r_eps"] == "0"], ids=row_name)
def test_10x3_without_tolerance(shared, row):
    run = solve(shared, row, backend="z3", workers=2)
    check_row(run, row)
    # Far above what it takes: a bound on getting stuck, not a measurement.
    assert run.seconds < (300 if row["dataset"] == "credit" else 120)


@pytest.mark.parametrize("seconds", [1, *(pytest.param(s, marks=pytest.mark.long) for s in (2, 5))])
@pytest.mark.parametrize("row", [r for r in read_rows("20x4") if r["r_eps"] == "0.1"], ids=row_name)
def test_bounds_at_a_limit_contain_the_truth(shared, row, seconds):
    run = solve(shared, row, backend="z3", time_limit=seconds)
    positive, negative, unfair_positive, unfair_negative = (int(row[key]) for key in TOTALS)
    truth = 1 - Fraction(unfair_positive + unfair_negative, positive + negative)
    assert run.seconds < seconds + 1.5
    assert run.bounds.lower <= truth <= run.bounds.upper
    for label, count in ((1, positive), (-1, negative)):
        assert run.bounds.confident_range(label).lower <= count <= run.bounds.confident_range(label).upper
    for label, count in ((1, unfair_positive), (-1, unfair_negative)):
        assert run.bounds.unfair_range(label).lower <= count <= run.bounds.unfair_range(label).upper
