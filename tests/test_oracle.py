"""The oracle itself: against answers worked out by hand, against XGBoost, and against the exact vectors."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder.ensemble import LEAF, Ensemble, Tree
from fairbox.encoder.properties import Fairness, Question, Robustness
from fairbox.encoder.space import Attribute, InputSpace, boolean, categorical, continuous, integer, tier
from tests import oracle
from tests.strategies import Case, booster, cases, float32

# A tree in nested form: a leaf value, or (feature, threshold, below, rest).
Nested = float | tuple[int, float, Any, Any]


def grow(nested: Nested) -> Tree:
    """The arrays of a tree written in nested form, parents before children."""
    feature: list[int] = []
    threshold: list[float] = []
    left: list[int] = []
    right: list[int] = []
    value: list[float] = []
    todo: list[tuple[Nested, tuple[list[int], int] | None]] = [(nested, None)]
    while todo:
        node, link = todo.pop(0)
        if link is not None:
            link[0][link[1]] = len(feature)
        split = node if isinstance(node, tuple) else None
        feature.append(split[0] if split else LEAF)
        threshold.append(float32(split[1]) if split else 0.0)
        value.append(0.0 if isinstance(node, tuple) else float32(node))
        left.append(-1)
        right.append(-1)
        if split:
            todo += [(split[2], (left, len(left) - 1)), (split[3], (right, len(right) - 1))]
    return Tree(tuple(feature), tuple(threshold), tuple(left), tuple(right), tuple(value))


def forest(*nested: Nested, features: int, base: float = 0.0, names: tuple[str, ...] = ()) -> Ensemble:
    return Ensemble(tuple(map(grow, nested)), base, features, names, library="xgboost")


def totals(ensemble: Ensemble, attributes: list[Attribute], question: Question) -> tuple[Any, ...]:
    """(T_X, confident of class 1, of class -1, unfair of class 1, of class -1, M)."""
    found = oracle.answer(ensemble, InputSpace(tuple(attributes)), question)
    return (
        found.space,
        *(part[c] for part in (found.confident, found.unfair) for c in (1, -1)),
        found.measure,
    )


# By hand ---------------------------------------------------------------------------------------------

# SEMANTICS, section 6 (Figure 1 of the paper); the leaf values the figure does not show are our own.
FIGURE = forest(
    (1, 2, (0, 300, -0.5, 0.85), -0.5),
    (0, 600, (1, 3, 0.70, 0.25), (2, 80, -0.75, -0.25)),
    (2, 50, 0.72, -0.5),
    features=3,
)
FIGURE_SPACE = [continuous("x1", 0, 1000), continuous("x2", 0, 4), continuous("x3", 0, 100)]


def test_worked_case_one_input() -> None:
    """x = (500, 1, 40): 0.85 + 0.70 + 0.72 = 2.27, class 1; its sigmoid 0.906 exceeds 0.9 but not 0.91."""
    space = InputSpace(tuple(FIGURE_SPACE))
    leaves = oracle.leaf_values(FIGURE, oracle.model_row(FIGURE, space, (500, 1, 40)))
    assert leaves == [float32(0.85), float32(0.70), float32(0.72)]
    for arithmetic in ("exact", "deployed"):
        for kappa, confident in (("0.9", True), ("0.91", False)):
            judge = oracle.Judge(FIGURE, space, Robustness(confidence=kappa, arithmetic=arithmetic))
            assert judge((500, 1, 40)) == oracle.Verdict(1, confident)


@pytest.mark.parametrize("arithmetic", ["exact", "deployed"])
def test_worked_case_totals(arithmetic: Any) -> None:
    """kappa = 0.9, |F| > 2.197: only the box [300,600) x [0,2) x [0,50), of volume 300 * 2 * 50 = 30000.

    Tolerance 100 on x1 and 10 on x3. An x' of class -1 with x2 < 2 has x3 >= 50 and x1 < 300 (-0.3) or
    600 <= x1 (-0.4 below x3 = 80): reached from x3 in [40,50) and x1 in [300,400) or [500,600), volume
    10 * (100 + 100) * 2 = 4000.
    """
    question = Robustness(confidence="0.9", tolerance={"x1": 100, "x3": 10}, arithmetic=arithmetic)
    assert totals(FIGURE, FIGURE_SPACE, question) == (400_000, 30_000, 0, 4_000, 0, Fraction(13, 15))


# a in 0..3, s in {0, 1}: class -1 only at a >= 2 with s = 0.
CORNER = forest((1, 1, (0, 2, 1.0, -1.0), 1.0), features=2)
CORNER_SPACE = [integer("a", 0, 3), boolean("s")]


def test_differs_clause_binds() -> None:
    """Tolerance 1 on a. (1,0) sees (2,0), but x' must differ in s, and all of s = 1 is of class 1: fair.

    Unfair of class 1: (1,1), (2,1), (3,1), which see (2,0) or (3,0); of class -1: (2,0), (3,0).
    """
    question = Fairness(sensitive=["s"], tolerance={"a": 1})
    assert totals(CORNER, CORNER_SPACE, question) == (8, 6, 2, 3, 2, Fraction(3, 8))


def test_robustness_has_no_differs_clause() -> None:
    """The same model: (1,0) and (2,0) see each other; s may not change."""
    assert totals(CORNER, CORNER_SPACE, Robustness(tolerance={"a": 1})) == (8, 6, 2, 1, 1, Fraction(3, 4))


def test_differs_clause_is_free_where_a_cell_holds_two_values() -> None:
    """s in {0, 1, 2}, tested only at s < 1 and now with class -1 at a >= 2 and s >= 1.

    From (1, 1) the opposite (2, 2) differs in s, so nothing binds: unfair of class 1 are all with s = 0 and
    a >= 1 (3 of them) and (1, 1), (1, 2); of class -1 all four (a in {2, 3}, s in {1, 2}), by s = 0.
    """
    model = forest((1, 1, 1.0, (0, 2, 1.0, -1.0)), features=2)
    space = [integer("a", 0, 3), categorical("s", [0, 1, 2])]
    question = Fairness(sensitive=["s"], tolerance={"a": 1})
    assert totals(model, space, question) == (12, 8, 4, 5, 4, Fraction(1, 4))


@pytest.mark.parametrize(("values", "unfair"), [([0, 1], 4), ([1], 0)])
def test_sensitive_attribute_that_no_tree_tests(values: list[int], unfair: int) -> None:
    """a in 0..3, class 1 below 2, tolerance 1: 1 and 2 see each other, under every s that can change."""
    model = forest((0, 2, 1.0, -1.0), features=2)
    space = [integer("a", 0, 3), categorical("s", values)]
    found = totals(model, space, Fairness(sensitive=["s"], tolerance={"a": 1}))
    assert found[3] + found[4] == unfair


@pytest.mark.parametrize("arithmetic", ["exact", "deployed"])
@pytest.mark.parametrize(("ties", "unfair"), [("none", (0, 0)), ("library", (1, 0))])
def test_tie(arithmetic: Any, ties: Any, unfair: tuple[int, int]) -> None:
    """F = 1/2, 0, -1/2 at x = 0, 1, 2, tolerance 1. The tie is never confident; XGBoost labels it 0,
    class -1, which makes it an opposite of x = 0 and not of x = 2."""
    model = forest((0, 2, (0, 1, 0.5, 0.0), -0.5), features=1)
    question = Robustness(tolerance={"x": 1}, ties=ties, arithmetic=arithmetic)
    assert totals(model, [integer("x", 0, 2)], question) == (3, 1, 1, *unfair, 1 - Fraction(sum(unfair), 2))


def test_float32_fixture() -> None:
    """1 + 2^-25 - 1 is 2^-25 exactly and 0 in float32, where XGBoost's probability is 1/2."""
    model = forest(1.0, 2.0**-25, -1.0, features=1)
    space = [integer("x", 0, 3)]
    assert totals(model, space, Robustness(arithmetic="exact")) == (4, 4, 0, 0, 0, 1)
    assert totals(model, space, Robustness(arithmetic="deployed")) == (4, 0, 0, 0, 0, 1)
    assert oracle.answer(model, InputSpace(tuple(space)), Robustness()).vacuous


@pytest.mark.parametrize(
    ("margin", "label"),
    [(2.0**-24, 0), (-(2.0**-24), 0), (2.0**-23, 1), (1e-7, 1), (-1e-7, 0), (-3e-7, -1), (0.0, 0)],
)
def test_margins_of_a_few_float32_steps(margin: float, label: int) -> None:
    """XGBoost's probability of a margin near 0, rounded at every step by hand.

    2^-24: expf(-m) = 1 - 2^-24, and 1 + that, 2 - 2^-24, is halfway and rounds to 2: p = 1/2.
    1e-7: expf(-m) = 1 - 2^-23, 2 - 2^-23 is a float32, p = 1/2 + 2^-25 + 2^-49 rounds up to 1/2 + 2^-24.
    -1e-7: expf(-m) = 1 + 2^-23, and 2 + 2^-23 is halfway and rounds to 2: p = 1/2.
    """
    model = forest(float32(margin), features=1)
    judge = oracle.Judge(model, InputSpace((integer("x", 0, 0),)), Robustness())
    assert judge((0,)).label == label
    p = float(booster(model).inplace_predict(np.zeros((1, 1), dtype=np.float32))[0])
    assert label == (p > 0.5) - (p < 0.5)


def test_threshold_at_the_end_of_a_real_axis() -> None:
    """[0, 1] cut at x < 1: class -1 only at the point 1, of measure 0 but a witness x' all the same."""
    model = forest((0, 1, 1.0, -1.0), features=1)
    question = Robustness(tolerance={"x": "1/4"})
    assert totals(model, [continuous("x", 0, 1)], question) == (1, 1, 0, Fraction(1, 4), 0, Fraction(3, 4))


def test_open_and_closed_ends() -> None:
    """[0, 4] cut at x < 2, tolerance 1: x in [1, 2) sees 2, and x in [2, 3) sees something below 2."""
    model = forest((0, 2, 1.0, -1.0), features=1)
    space = [continuous("x", 0, 4)]
    assert totals(model, space, Robustness(tolerance={"x": 1})) == (4, 2, 2, 1, 1, Fraction(1, 2))
    judge = oracle.Judge(model, InputSpace(tuple(space)), Robustness(tolerance={"x": 1}))
    for x, seen in ((Fraction(1), True), (Fraction(999, 1000), False), (Fraction(3), False)):
        near = oracle.near_values(space[0], [Fraction(2)], x, Fraction(1))
        assert any(judge((other,)).label == -judge((x,)).label for other in near) is seen


def test_integer_tolerance_is_rounded_down_and_windows_are_clipped() -> None:
    """0..9 at rate 0.2: epsilon 9/5 reaches one step. 0..3 with class -1 at 3: 2 and 3 see each other, and
    nothing beyond the edge exists."""
    model = forest((0, 9, 1.0, -1.0), features=1)
    assert totals(model, [integer("x", 0, 9)], Robustness(tolerance_rate=0.2))[3:5] == (1, 1)
    outside = forest((0, 4, 1.0, -1.0), features=1)
    assert totals(outside, [integer("x", 0, 3)], Robustness(tolerance_rate=1))[3:5] == (0, 0)


@pytest.mark.parametrize(("none", "expected"), [(True, (3, 2, 1, 2, 1, 0)), (False, (2, 1, 1, 1, 1, 0))])
def test_tier(none: bool, expected: tuple[int, ...]) -> None:
    """Columns c0, c1 and perhaps neither; class -1 where c0 is 1. A sensitive tier changes as one attribute,
    and without one it cannot change at all."""
    model = forest((0, 0.5, 1.0, -1.0), features=2)
    space = [tier("c", ["c0", "c1"], allow_none=none)]
    assert totals(model, space, Fairness(sensitive=["c"])) == expected
    assert totals(model, space, Robustness(tolerance_rate=1)) == (*expected[:3], 0, 0, 1)


def test_columns_match_by_name_where_the_model_has_names() -> None:
    """The model tests its feature 0, which is the space's second column: only b decides."""
    model = forest((0, 1, 1.0, -1.0), features=2, names=("b", "a"))
    space = [integer("a", 0, 4), boolean("b")]
    assert totals(model, space, Fairness(sensitive=["b"])) == (10, 5, 5, 5, 5, 0)
    assert totals(model, space, Fairness(sensitive=["a"]))[3:5] == (0, 0)


@pytest.mark.parametrize(
    ("value", "kappa", "exceeds"),
    [
        # ln(7/3) = 0.847297860387203613..., ln(3/2) = 0.405465108108164381...
        ("0.8472978603872036", "0.7", False),
        ("0.8472978603872037", "0.7", True),
        ("0.40546510810816438", "0.6", False),
        ("0.40546510810816439", "0.6", True),
        ("0", "1/2", False),
        ("1e-300", "1/2", True),
    ],
)
def test_logit_is_compared_rigorously(value: str, kappa: str, exceeds: bool) -> None:
    assert oracle.exceeds_logit(Fraction(value), Fraction(kappa)) is exceeds


# Against the definitions and the library --------------------------------------------------------------


@given(cases())
def test_pieces_cover_the_space(case: Case) -> None:
    """The measures of the pieces add up to T_X; confident and unfair parts are parts."""
    ensemble, space, question = case
    found = oracle.answer(ensemble, space, question)
    assert found.space == space.total
    assert sum(found.confident.values()) <= found.space
    assert all(0 <= found.unfair[c] <= found.confident[c] for c in (1, -1))


@given(cases(), st.randoms(use_true_random=False))
def test_pieces_are_constant_and_windows_complete(case: Case, random: Any) -> None:
    """At random exact points: what holds at a point holds at its piece's representative, and a random x'
    that is near and opposite is never missed."""
    ensemble, space, question = case
    judge = oracle.Judge(ensemble, space, question)
    sensitive, widths = oracle.sensitive_names(space, question), oracle.tolerances(space, question)
    everything = list(oracle.pieces(ensemble, space, question))
    for _ in range(3):
        piece = random.choice(everything)
        x = tuple(_nudged(a, v, w, random) for a, (v, w) in _axis_parts(ensemble, space, widths, piece))
        assert judge(x) == piece.verdict
        if piece.verdict.confident:
            witness = oracle.find_witness(judge, ensemble, space, question, x, sensitive, widths)
            assert (witness is None) == (piece.witness is None)
            other = tuple(
                _random_near(a, v, None if a.name in sensitive else widths[a.name], random)
                for a, v in zip(space.attributes, x, strict=True)
            )
            allowed = question.property == "robustness" or any(
                a.name in sensitive and v != o for a, v, o in zip(space.attributes, x, other, strict=True)
            )
            if allowed and judge(other).label == -piece.verdict.label:
                assert witness is not None


def _axis_parts(ensemble: Any, space: Any, widths: Any, piece: oracle.Piece) -> list[Any]:
    parts = []
    for attribute, value in zip(space.attributes, piece.point, strict=True):
        tests = oracle.thresholds(ensemble, space, attribute)
        weights = dict(oracle.x_values(attribute, tests, widths[attribute.name]))
        parts.append((attribute, (value, weights[value])))
    return parts


def _nudged(attribute: Attribute, value: Any, weight: Any, random: Any) -> Any:
    """Another value of the same open interval of a real axis."""
    if attribute.kind != "continuous":
        return value
    return value + weight * Fraction(random.randint(-499, 499), 1000)


def _random_near(attribute: Attribute, value: Any, width: Fraction | None, random: Any) -> Any:
    if attribute.kind == "continuous":
        assert attribute.lower is not None and attribute.upper is not None
        low = attribute.lower if width is None else max(attribute.lower, value - width)
        high = attribute.upper if width is None else min(attribute.upper, value + width)
        return low + (high - low) * Fraction(random.randint(0, 1000), 1000)
    values = oracle.counted_values(attribute)
    if width is not None:
        ordered = attribute.kind == "integer"
        values = [v for v in values if (abs(v - value) <= width if ordered else v == value)]
    return random.choice(values)


@given(cases())
def test_deployed_class_is_what_xgboost_predicts(case: Case) -> None:
    """At every representable point the oracle's margin and class are XGBoost's own, bit for bit."""
    ensemble, space, _ = case
    judge = oracle.Judge(ensemble, space, Robustness(arithmetic="deployed", ties="library"))
    points = [p.point for p in oracle.pieces(ensemble, space, Robustness(confidence="0.999999"))][:200]
    rows = [oracle.model_row(ensemble, space, point) for point in points]
    inputs = np.array([[float(v) for v in row] for row in rows], dtype=np.float32)
    kept = [i for i, row in enumerate(rows) if [Fraction(float(v)) for v in inputs[i]] == list(row)]
    if not kept:
        return
    model = booster(ensemble)
    model.feature_names = None
    margins = model.inplace_predict(inputs[kept], predict_type="margin")
    labels = model.inplace_predict(inputs[kept]) > 0.5
    for i, margin, label in zip(kept, margins, labels, strict=True):
        assert oracle.margin_float32(ensemble.base, oracle.leaf_values(ensemble, rows[i])) == margin
        assert judge(points[i]).label == (1 if label else -1)


# Against the exact vectors ----------------------------------------------------------------------------


@pytest.mark.shared
def test_exact_vectors(shared: Path) -> None:
    """Every stored vector, exactly."""
    vectors = json.loads((shared / "vectors" / "vectors.json").read_text())
    keys = ("total", "kpos", "kneg", "upos", "uneg", "M")
    expected = {vector["name"]: tuple(Fraction(vector[key]) for key in keys) for vector in vectors}
    found = {}
    for vector in vectors:
        ensemble, space, question = read_vector(shared / "vectors", vector)
        found[vector["name"]] = totals(ensemble, list(space.attributes), question)
    assert found == expected


def read_vector(folder: Path, vector: dict[str, Any]) -> Case:
    """Model, space and question of a vector, read plainly and without the product's loader."""
    learner = json.loads((folder / vector["model"]).read_text())["learner"]
    trees = []
    for data in learner["gradient_booster"]["model"]["trees"]:
        left, conditions = data["left_children"], [float32(c) for c in data["split_conditions"]]
        leaf = [child == -1 for child in left]
        trees.append(
            Tree(
                tuple(LEAF if end else f for end, f in zip(leaf, data["split_indices"], strict=True)),
                tuple(0.0 if end else c for end, c in zip(leaf, conditions, strict=True)),
                tuple(left),
                tuple(data["right_children"]),
                tuple(c if end else 0.0 for end, c in zip(leaf, conditions, strict=True)),
            )
        )
    base = float(Fraction(vector["base_margin"]))
    ensemble = Ensemble(tuple(trees), base, len(vector["domain"]), library="xgboost")
    attributes = []
    for i, entry in enumerate(vector["domain"]):
        name, low, high = f"a{i}", Fraction(entry["lo"]), Fraction(entry["hi"])
        if entry["cat"]:
            attributes.append(categorical(name, range(int(low), int(high) + 1)))
        elif entry["kind"] == "real":
            attributes.append(continuous(name, low, high))
        else:
            attributes.append(integer(name, int(low), int(high)))
    space = InputSpace(tuple(attributes))
    options: dict[str, Any] = {
        "tolerance_rate": vector["r_eps"],
        "confidence": vector["kappa"],
        "arithmetic": "exact",
    }
    if vector["property"] == "robustness":
        return ensemble, space, Robustness(**options)
    return ensemble, space, Fairness(sensitive=[f"a{i}" for i in vector["sensitive"]], **options)
