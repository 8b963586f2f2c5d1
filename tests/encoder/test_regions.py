"""Boxes as data and in words say exactly what the box holds."""

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fairbox.encoder import boxes
from fairbox.encoder.problem import build_problem
from fairbox.encoder.properties import Robustness
from fairbox.encoder.regions import axis_text, box_words, describe_axis, value_name
from fairbox.encoder.space import InputSpace, categorical, continuous, integer, tier
from tests.encoder.test_problem import cells_of, points
from tests.strategies import Case, cases
from tests.test_oracle import forest


def described(data: list[Any], value: Any) -> bool:
    """Whether a value lies in what `describe_axis` says: codes, or intervals."""
    if not data or not isinstance(data[0], dict):
        return value in data
    return any(
        Fraction(part["min"]) <= value
        and (value <= Fraction(part["max"]) if "max" in part else value < Fraction(part["below"]))
        for part in data
    )


@settings(max_examples=40)
@given(cases(max_attributes=3, max_trees=2, max_depth=2), st.randoms(use_true_random=False))
def test_a_described_box_holds_the_same_points(case: Case, random: Any) -> None:
    problem = build_problem(*case)
    box = tuple(random.randint(1, axis.full) for axis in problem.axes)
    data = [describe_axis(axis, mask) for axis, mask in zip(problem.axes, box, strict=True)]
    everything = points(case)
    for point in random.sample(everything, min(40, len(everything))):
        inside = all(described(part, value) for part, value in zip(data, point, strict=True))
        assert inside == boxes.contains(box, cells_of(problem, point))


def test_words() -> None:
    """Only the attributes that a box restricts; labels for codes, column names for categories, none for -1."""
    space = InputSpace(
        (
            integer("age", 17, 90),
            continuous("rate", 0, 1),
            categorical("race", [0, 1, 2], labels={0: "White", 1: "Black"}),
            tier("job", ["clerk", "nurse"], allow_none=True),
        )
    )
    model = forest(
        (0, 30, 1.0, (0, 50, 1.0, -1.0)),
        (1, 0.5, 1.0, -1.0),
        (2, 1, 1.0, -1.0),
        (3, 1, 1.0, -1.0),
        features=5,
    )
    problem = build_problem(model, space, Robustness())
    assert box_words(problem, problem.full) == "every input"
    assert box_words(problem, (0b010, 0b01, 0b01, 0b01)) == (
        "age in 30..49 and rate < 0.5 and race is 0 (White) and job is not clerk"
    )
    texts = [axis_text(axis, 0b01) for axis in problem.axes]
    assert texts == ["17..29", "[0, 1/2)", "{0}", "{-1, 1}"]
    assert [axis_text(axis, axis.full) for axis in problem.axes[:2]] == ["17..90", "[0, 1]"]
    assert [value_name(space.attributes[3], code) for code in (-1, 0, 1)] == ["none", "clerk", "nurse"]
