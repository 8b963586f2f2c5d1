"""What a result says is what the oracle says, in every form it takes."""

import json
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairbox as fb
from fairbox.encoder.boxes import intersect
from fairbox.encoder.ensemble import LEAF, Ensemble, Tree
from fairbox.encoder.loading import load_model
from fairbox.encoder.space import boolean, integer
from fairbox.output import write_result
from fairbox.report import summary
from tests import oracle
from tests.api.conftest import Loan
from tests.strategies import booster

EXACT = re.compile(r"-?\d+(/\d+)?")


def ensemble_of(*trees: Tree, features: int, names: tuple[str, ...] = ()) -> Ensemble:
    return Ensemble(trees, 0.0, features, names, library="xgboost")


def stump(feature: int, threshold: float, left: float, right: float) -> Tree:
    return Tree((feature, LEAF, LEAF), (threshold, 0.0, 0.0), (1, -1, -1), (2, -1, -1), (0.0, left, right))


def shape(value: Any, expected: Any, where: str = "result") -> None:
    """`value` has the form of `expected`: a type, a predicate, a dict of forms, or a list with one form."""
    if isinstance(expected, dict):
        assert isinstance(value, dict) and set(value) == set(expected), where
        for key, form in expected.items():
            shape(value[key], form, f"{where}.{key}")
    elif isinstance(expected, list):
        assert isinstance(value, list), where
        for i, item in enumerate(value):
            shape(item, expected[0], f"{where}[{i}]")
    elif isinstance(expected, type):
        assert type(value) is expected, f"{where}: {value!r} is not {expected}"
    else:
        assert expected(value), f"{where}: {value!r}"


def exact(value: Any) -> bool:
    return isinstance(value, str) and EXACT.fullmatch(value) is not None and str(Fraction(value)) == value


def anything(value: Any) -> bool:
    return True


def pair_or_nothing(value: Any) -> bool:
    if value is not None:
        shape(value, {"x": INPUT, "x'": INPUT}, "witness")
    return True


RANGE = {"lower": exact, "upper": exact}
BY_CLASS = {"positive": RANGE, "negative": RANGE}
MEASURE = {**RANGE, "lower_float": float, "upper_float": float}
INPUT = {"values": anything, "margin": float, "probability": float, "label": int}
RESULT = {
    "schema": lambda value: value == "fairbox.result/1",
    "status": lambda value: value in ("converged", "time_limit", "interrupted", "undecided"),
    "converged": bool,
    "vacuous": bool,
    "measure": MEASURE,
    "totals": {"space": exact, "confident": BY_CLASS, "unfair": BY_CLASS},
    "question": {
        "property": str,
        "sensitive": [str],
        "tolerance_rate": exact,
        "tolerance": dict,
        "confidence": exact,
        "ties": str,
        "arithmetic": str,
    },
    "model": {
        "sha256": lambda value: re.fullmatch("[0-9a-f]{64}", value),
        "library": str,
        "source": str,
        "trees": int,
        "depth": int,
        "leaves": int,
        "columns": int,
        "rounds": [int],
    },
    "space": anything,
    "backend": {"name": str, "version": str},
    "strategy": {"asked": str, "used": str, "why": str},
    "settings": anything,
    "counts": {"solver_calls": int, "tuples": int, "violations": int, "failures": int},
    "undecided": dict,
    "seconds": float,
    "regions": {
        "count": int,
        "measure": {"positive": exact, "negative": exact},
        "largest": [
            {
                "box": dict,
                "measure": exact,
                "measure_float": float,
                "share": float,
                "class": lambda value: value in ("positive", "negative"),
                "witness": pair_or_nothing,
            }
        ],
    },
    "trace": [{"seconds": float, **MEASURE}],
    "notes": [str],
}


def test_json_has_its_documented_form(result: fb.Result) -> None:
    content = json.loads(result.to_json())
    shape(content, RESULT)
    assert content == result.to_dict()
    assert content["regions"]["count"] > 0
    assert content["strategy"]["asked"] == "auto" and content["strategy"]["used"] == "paths"
    assert content["question"]["sensitive"] == ["sex"]


def test_totals_are_those_of_brute_force(loan: Loan, result: fb.Result) -> None:
    truth = oracle.answer(
        load_model(loan.model), fb.InputSpace.from_schema(loan.space), result.problem.question
    )
    content = result.to_dict()
    assert result.converged
    assert Fraction(content["measure"]["lower"]) == Fraction(content["measure"]["upper"]) == truth.measure
    assert Fraction(content["totals"]["space"]) == truth.space
    for label, name in ((1, "positive"), (-1, "negative")):
        for what, expected in (("confident", truth.confident), ("unfair", truth.unfair)):
            bounds = content["totals"][what][name]
            assert Fraction(bounds["lower"]) == Fraction(bounds["upper"]) == expected[label]


def test_regions_are_disjoint_sorted_and_add_up(result: fb.Result) -> None:
    regions = result.regions
    assert all(a.measure >= b.measure for a, b in pairwise(regions))
    assert not any(intersect(a.box, b.box) for i, a in enumerate(regions) for b in regions[:i])
    for label in (1, -1):
        assert sum(r.measure for r in regions if r.label == label) == result.bounds.unfair[label]


def test_trace_narrows_from_nothing_to_the_answer(result: fb.Result) -> None:
    trace = [(Fraction(e["lower"]), Fraction(e["upper"])) for e in result.to_dict()["trace"]]
    assert trace[0] == (Fraction(0), Fraction(1)) and trace[-1] == (result.lower, result.upper)
    for (low, high), (lower, upper) in pairwise(trace):
        assert low <= lower <= upper <= high


def test_result_is_readable_and_immutable(result: fb.Result) -> None:
    assert re.fullmatch(
        r"<Result fairness: M = \d+\.\d+… % \(converged\), \d+ regions, \d+\.\d s>", repr(result)
    )
    with pytest.raises(AttributeError):
        result.seconds = 0.0  # type: ignore[misc]


def test_frame_has_boxes_measures_and_witnesses_that_the_model_confirms(
    loan: Loan, result: fb.Result
) -> None:
    frame = result.to_frame()
    assert len(frame) == len(result.regions)
    assert sum(map(Fraction, frame["measure"])) == sum(map(Fraction, result.bounds.unfair.values()))
    assert frame["measure_float"].is_monotonic_decreasing
    assert set(frame["class"]) <= {"positive", "negative"}
    paired = frame.dropna(subset="x.age")
    assert len(paired) > 0
    import xgboost

    model = xgboost.Booster(model_file=loan.model)
    for side in ("x", "x'"):
        columns = paired[[f"{side}.age", f"{side}.sex", f"{side}.debt"]].to_numpy(dtype=np.float32)
        home = paired[f"{side}.home"].to_numpy(dtype=int)
        rows = np.column_stack([columns, home == 0, home == 1]).astype(np.float32)
        matrix = xgboost.DMatrix(rows, feature_names=model.feature_names)
        predicted = model.predict(matrix)
        assert (predicted == paired[f"{side}_probability"].to_numpy(dtype=np.float32)).all()
        assert (
            model.predict(matrix, output_margin=True) == paired[f"{side}_margin"].to_numpy(np.float32)
        ).all()
        assert ((predicted > 0.5) == paired[f"{side}_label"].to_numpy(bool)).all()
    assert (paired["x_label"] != paired["x'_label"]).all()
    assert (paired["x.sex"] != paired["x'.sex"]).all()


def test_files_hold_the_frame_and_the_json(result: fb.Result, tmp_path: Path) -> None:
    paths = write_result(tmp_path, result)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(p.name for p in paths)
    assert sorted(p.name for p in paths) == ["regions.csv", "regions.parquet", "result.json"]
    frame = result.to_frame()
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "regions.parquet"), frame)
    table = pd.read_csv(tmp_path / "regions.csv", dtype={"measure": str})
    assert list(table.columns) == list(frame.columns)
    assert list(table["measure"]) == list(frame["measure"])
    assert list(table["debt"]) == list(frame["debt"])
    assert (tmp_path / "result.json").read_text() == result.to_json() + "\n"


def test_summary_shows_bounds_regions_and_a_pair(result: fb.Result) -> None:
    text = summary(result)
    assert "Converged" in text and f"exactly {result.lower}" in text
    assert "sex is 0 (male)" in text or "sex is 1 (female)" in text
    assert "x   " in text and "x'  " in text and "probability of class 1" in text
    assert not re.search(r"\x1b|\r", text)


def test_attribute_named_like_a_column_of_the_frame_keeps_its_own_column() -> None:
    model = fb.load_model(booster(ensemble_of(stump(0, 0.5, -1.0, 1.0), features=2)))
    space = fb.InputSpace((boolean("class", sensitive=True), integer("measure", 0, 3)))
    frame = fb.quantify(model, space, fb.Fairness()).result().to_frame()
    assert set(frame["box.class"]) == {"{0}", "{1}"}
    assert set(frame["class"]) == {"positive", "negative"}
    assert set(frame["box.measure"]) == {"0..3"} and set(frame["measure"]) == {"4"}


def test_predictions_follow_the_order_of_the_models_columns() -> None:
    model = fb.load_model(booster(ensemble_of(stump(0, 0.5, -1.0, 1.0), features=2, names=("s", "a"))))
    space = fb.InputSpace((integer("a", 5, 9), boolean("s", sensitive=True)))
    frame = fb.quantify(model, space, fb.Fairness()).result().to_frame()
    assert len(frame) == 2
    assert (frame["x_label"] == frame["x.s"]).all() and (frame["x'_label"] == frame["x'.s"]).all()


def test_result_without_confident_input_is_vacuous() -> None:
    model = fb.load_model(booster(ensemble_of(stump(0, 0.5, -0.1, 0.1), features=1)))
    space = fb.InputSpace((boolean("a", sensitive=True),))
    result = fb.quantify(model, space, fb.Fairness(confidence="0.9")).result()
    assert result.vacuous and result.converged and result.lower == result.upper == 1
    assert "Vacuous" in summary(result) and "vacuous" in repr(result)
    assert result.to_frame().empty and "x'_label" in result.to_frame().columns


def test_measures_beyond_every_float_are_still_reported() -> None:
    model = fb.load_model(booster(ensemble_of(stump(0, 0.5, -1.0, 1.0), features=60)))
    names = [f"a{i}" for i in range(59)]
    space = fb.InputSpace((boolean("s", sensitive=True), *(integer(name, 1, 10**6) for name in names)))
    result = fb.quantify(model, space, fb.Fairness()).result()
    content = json.loads(result.to_json())
    assert content["totals"]["space"] == str(2 * 10**354) and content["measure"]["upper"] == "0"
    assert content["regions"]["largest"][0]["measure_float"] is None
    assert "2.000e+354" in summary(result)


def test_bounds_stay_apart_where_the_run_was_stopped(loan: Loan) -> None:
    run = fb.quantify(loan.model, loan.space, fb.Fairness())
    run.stop()
    result = run.result()
    assert result.status == "interrupted" and not result.converged
    assert (result.lower, result.upper) == (Fraction(0), Fraction(1))
    assert "Interrupted" in summary(result) and "0.000 % <= M <= 100.000 %" in summary(result)
