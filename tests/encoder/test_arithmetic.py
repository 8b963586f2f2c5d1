"""The library's float32 arithmetic: its cutoffs and the error bound, against plain evaluation."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder.arithmetic import (
    exact_cutoffs,
    float_cutoffs,
    float_decision,
    lattice_scale,
    rounding_error,
)
from fairbox.encoder.ensemble import logit32, probability
from fairbox.encoder.errors import ModelError
from fairbox.encoder.properties import Robustness
from tests import oracle
from tests.strategies import CONFIDENCES, LEAF_VALUES, base_of
from tests.test_oracle import forest

MARGINS = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(-1, 1, width=32),
    st.integers(-8, 8).map(lambda n: float(np.float32(n * 2.0**-25))),
)


@given(MARGINS)
def test_probability_is_the_library_formula(margin: float) -> None:
    """1 / (expf(-m) + 1) in float32; where expf overflows, XGBoost's cap keeps p just above 0."""
    ours, plain = probability(margin), float(oracle.probability(np.float32(margin)))
    assert ours == plain or (margin < -88 and 0 <= plain <= ours < 1e-38)


@given(st.floats(2.0**-20, 1 - 2.0**-20, width=32))
def test_logit32_is_the_library_formula(p: float) -> None:
    assert logit32(p) == base_of(p)


def test_probability_and_base_are_xgboosts() -> None:
    """On constant models, bit for bit."""
    xgboost = pytest.importorskip("xgboost")
    random = np.random.default_rng(1)
    rows = np.concatenate([random.normal(scale=s, size=300) for s in (1e-7, 1.0, 30.0)]).astype(np.float32)
    booster = xgboost.train(
        {"objective": "binary:logistic", "base_score": 0.5, "nthread": 1},
        xgboost.DMatrix(np.zeros((2, 1)), label=[0, 1]),
        num_boost_round=0,
    )
    data = xgboost.DMatrix(np.zeros((len(rows), 1)), base_margin=rows)
    assert booster.predict(data).tolist() == [np.float32(probability(float(m))) for m in rows]


@given(st.sampled_from(CONFIDENCES), st.sampled_from(["none", "library"]), st.integers(-40, 40), st.data())
def test_float_cutoffs_decide_as_the_probability_does(kappa: Any, ties: Any, ulps: int, data: Any) -> None:
    """Within 40 float32 steps of each cutoff, and anywhere else."""
    question = Robustness(confidence=kappa, ties=ties)
    cutoffs = float_cutoffs(question.kappa)
    decide = float_decision(question, cutoffs)
    near = [cutoffs.positive, cutoffs.negative, cutoffs.sure_positive, cutoffs.sure_negative]
    stepped = [_stepped(value, ulps) for value in near]
    for margin in (*stepped, np.float32(data.draw(MARGINS))):
        expected = oracle.judge_deployed(float(margin), [], question.kappa)
        found = decide(margin)
        assert found.label == (expected.label or (-1 if ties == "library" else 0))
        assert found.confident == expected.confident


def _stepped(value: float, ulps: int) -> np.float32:
    stepped = np.float32(value)
    for _ in range(abs(ulps)):
        stepped = np.nextafter(stepped, np.float32(np.inf * ulps))
    return stepped


@given(st.lists(st.lists(LEAF_VALUES, min_size=1, max_size=3), max_size=6), LEAF_VALUES, st.data())
def test_the_float32_sum_stays_within_the_error_bound(
    leaves: list[list[float]], base: float, data: st.DataObject
) -> None:
    bound = rounding_error(base, leaves)
    chosen = [data.draw(st.sampled_from(values)) for values in leaves]
    margin = Fraction(float(oracle.margin_float32(base, chosen)))
    assert abs(margin - Fraction(base) - sum(map(Fraction, chosen))) <= bound


def test_the_error_bound_covers_the_fixture() -> None:
    """1 + 2^-25 - 1: the float32 sum is off by 2^-25. And 1 + 2^-24, halfway, by as much as one addition can be."""
    assert rounding_error(0.0, [[1.0], [2.0**-25], [-1.0]]) >= Fraction(1, 2**25)
    assert oracle.margin_float32(1.0, [2.0**-24]) == 1
    assert rounding_error(1.0, [[2.0**-24]]) >= Fraction(1, 2**24)


def test_margins_that_overflow_float32_are_refused() -> None:
    with pytest.raises(ModelError):
        rounding_error(0.0, [[3e38], [3e38]])


@given(st.lists(LEAF_VALUES, min_size=1, max_size=4), st.sampled_from([0.0, 0.5, -(2.0**-30)]))
def test_the_lattice_holds_every_value(leaves: list[float], base: float) -> None:
    scale = lattice_scale(forest(*leaves, features=1, base=base))
    assert all((Fraction(value) * scale).denominator == 1 for value in [*leaves, base])
    halved = all((Fraction(value) * scale / 2).denominator == 1 for value in [*leaves, base])
    assert scale == 1 or not halved


@pytest.mark.parametrize(
    ("ties", "kappa", "expected"),
    [
        ("none", "1/2", (1, -1, 0, 0, 1, -1)),
        ("library", "1/2", (1, -1, 0, 0, 1, 0)),
        # floor(ln(7/3) * 2^10) = floor(867.63) = 867
        ("none", "0.7", (868, -868, -867, 867, 1, -1)),
    ],
)
def test_exact_cutoffs(ties: Any, kappa: Any, expected: tuple[int, ...]) -> None:
    found = exact_cutoffs(Robustness(ties=ties, confidence=kappa, arithmetic="exact"), 2**10)
    assert (
        found.confident_from,
        found.confident_to,
        found.doubtful_from,
        found.doubtful_to,
        found.positive_from,
        found.negative_to,
    ) == expected


def test_a_confidence_no_float32_probability_exceeds_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence"):
        float_cutoffs(1 - Fraction(1, 10**60))
