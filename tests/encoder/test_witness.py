"""Witness pairs: what is shown to a user must hold, on numbers that the model can be given."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder import boxes, witness
from fairbox.encoder.boxes import Box
from fairbox.encoder.problem import Problem, build_problem
from fairbox.encoder.properties import Robustness
from fairbox.encoder.space import InputSpace, continuous, integer, tier
from tests import oracle
from tests.encoder.test_problem import cells_of, path_tuples, points
from tests.strategies import Case, cases
from tests.test_oracle import forest

COUNTED = ("integer", "categorical", "boolean", "tier")


def regions(problem: Problem) -> list[tuple[Box, Box]]:
    """(piece of a region, box of x') for the pairs of opposite classes."""
    judged = [(problem.verdict(paths), box) for paths, box in path_tuples(problem)]
    pairs = [
        (box, other)
        for (a, box), (b, other) in product(judged, judged)
        if a.confident and b.label == -a.label
    ]
    found = [(problem.region(box, other), other) for box, other in pairs[:25]]
    return [(piece, other) for region, other in found if region for piece in region.pieces()]


def check(
    case: Case, problem: Problem, piece: Box, opposite: Box, pair: tuple[oracle.Point, oracle.Point]
) -> None:
    """By definition (SEMANTICS, section 3): both in their boxes, near outside S, differing in S."""
    _, space, question = case
    sensitive, widths = oracle.sensitive_names(space, question), oracle.tolerances(space, question)
    x, other = pair
    assert boxes.contains(piece, cells_of(problem, x))
    assert boxes.contains(opposite, cells_of(problem, other))
    differs = False
    for attribute, a, b in zip(space.attributes, x, other, strict=True):
        if attribute.name in sensitive:
            differs |= a != b
        elif attribute.kind in ("integer", "continuous"):
            assert abs(Fraction(a) - Fraction(b)) <= widths[attribute.name]
        else:
            assert a == b
        if attribute.kind == "continuous":
            assert all(Fraction(float(np.float32(float(v)))) == v for v in (a, b))
    assert differs or question.property == "robustness"


@given(cases(max_attributes=3, max_trees=2, max_depth=2))
def test_a_witness_pair_is_what_it_claims(case: Case) -> None:
    problem = build_problem(*case)
    for piece, opposite in regions(problem):
        pair = witness.pair(problem, piece, opposite)
        if pair is not None:
            check(case, problem, piece, opposite, pair)
            judge = oracle.Judge(*case)
            assert judge(pair[0]).confident
            assert judge(pair[0]).label == -judge(pair[1]).label


@given(cases(max_attributes=3, max_trees=2, max_depth=2, kinds=COUNTED))
def test_counted_attributes_always_have_a_witness(case: Case) -> None:
    problem = build_problem(*case)
    for piece, opposite in regions(problem):
        assert witness.pair(problem, piece, opposite) is not None


def test_real_attributes_have_a_witness_where_there_is_room() -> None:
    """[0, 1] cut at x < 1/2, ε = 1/10: x in [2/5, 1/2) and x' in [1/2, 1], and the other way round."""
    model = forest((0, 0.5, 1.0, -1.0), features=1)
    case = (model, InputSpace((continuous("x", 0, 1),)), Robustness(tolerance={"x": 0.1}))
    problem = build_problem(*case)
    found = regions(problem)
    assert len(found) == 2
    for piece, opposite in found:
        pair = witness.pair(problem, piece, opposite)
        assert pair is not None
        check(case, problem, piece, opposite, pair)


def test_a_region_without_a_representable_point_has_no_witness() -> None:
    """Between 1 and the next float32 lies no float32: a domain inside it holds reals that no input can be."""
    low, high = Fraction(1) + Fraction(1, 2**26), Fraction(1) + Fraction(3, 2**26)
    model = forest((1, 1, 1.0, -1.0), features=2)
    space = InputSpace((continuous("x", low, high), integer("a", 0, 1)))
    problem = build_problem(model, space, Robustness(tolerance={"a": 1}))
    found = regions(problem)
    assert found
    assert all(witness.pair(problem, piece, opposite) is None for piece, opposite in found)


@given(cases(max_trees=1, max_depth=2), st.randoms(use_true_random=False))
def test_model_rows_are_in_the_models_order(case: Case, random: Any) -> None:
    """By name where the model has names, else by position; tiers spread over their columns."""
    problem = build_problem(*case)
    everything = points(case)
    chosen = random.sample(everything, min(10, len(everything)))
    rows = witness.model_rows(problem, chosen)
    expected = [[np.float32(float(v)) for v in oracle.model_row(case[0], case[1], p)] for p in chosen]
    assert rows.dtype == np.float32
    assert rows.tolist() == expected


def test_model_rows_spread_tiers_over_their_columns() -> None:
    space = InputSpace((tier("t", ["x", "y"], allow_none=True), integer("a", 0, 9)), ("y", "a", "x"))
    assert witness.model_row(space, (0, 7)) == [0.0, 7.0, 1.0]
    assert witness.model_row(space, (1, 7)) == [1.0, 7.0, 0.0]
    assert witness.model_row(space, (-1, 7)) == [0.0, 7.0, 0.0]
