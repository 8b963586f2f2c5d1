"""Questions: what is accepted, what it means exactly, and what is refused with a reason."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from fairbox.encoder.errors import FairboxError, QuestionError
from fairbox.encoder.properties import Fairness, Question, Robustness, parse_tolerances, question_from_dict
from fairbox.encoder.space import InputSpace, boolean, categorical, continuous, integer, tier
from tests import oracle
from tests.strategies import Case, cases

SPACE = InputSpace(
    (
        integer("age", 17, 90),
        continuous("rate", 0, Fraction(1, 2)),
        categorical("race", range(5), sensitive=True),
        boolean("sex"),
        tier("job", ["job_a", "job_b"]),
    )
)


@pytest.mark.parametrize("written", [0.1, "0.1", "1/10", Decimal("0.1"), Fraction(1, 10)])
def test_numbers_are_exact(written: Any) -> None:
    """A rate of 0.1 is 1/10, however it is written."""
    question = Robustness(tolerance_rate=written, confidence="0.7", tolerance={"age": 2.5})
    assert question.rate == Fraction(1, 10)
    assert question.kappa == Fraction(7, 10)
    assert question.tolerances(SPACE) == (Fraction(5, 2), Fraction(1, 20), 0, 0, 0)


def test_defaults() -> None:
    """ε = 0, κ = 1/2, ties have no class, and the library's own arithmetic decides."""
    question = Robustness()
    assert (question.rate, question.kappa, dict(question.tolerance)) == (0, Fraction(1, 2), {})
    assert (question.ties, question.arithmetic) == ("none", "deployed")


@given(cases())
def test_tolerances_and_sensitive_names_are_the_definition(case: Case) -> None:
    """rate * (hi - lo) on ordered attributes unless given by name; the sensitive ones are left out of ε."""
    _, space, question = case
    names, widths = oracle.sensitive_names(space, question), oracle.tolerances(space, question)
    assert set(question.sensitive_names(space)) == names
    assert question.tolerances(space) == tuple(
        0 if attribute.name in names else widths[attribute.name] for attribute in space.attributes
    )


def test_sensitive_attributes_are_those_named_else_those_flagged() -> None:
    assert Fairness().sensitive_names(SPACE) == ("race",)
    assert Fairness(sensitive=["sex", "age"]).sensitive_names(SPACE) == ("age", "sex")
    assert Robustness().sensitive_names(SPACE) == ()
    named = Fairness().for_space(SPACE)
    assert tuple(named.sensitive) == ("race",)


@given(cases())
def test_questions_survive_a_round_trip_through_plain_data(case: Case) -> None:
    question = case[2]
    assert question_from_dict(question.to_dict()) == question


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"confidence": 1}, "confidence"),
        ({"confidence": "1.0"}, "confidence"),
        ({"confidence": 0.49}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"tolerance_rate": -0.1}, "tolerance rate"),
        ({"tolerance_rate": "a tenth"}, "tolerance rate"),
        ({"tolerance_rate": float("inf")}, "tolerance rate"),
        ({"tolerance": {"age": -1}}, "age"),
        ({"tolerance": {"age": "nan"}}, "age"),
        ({"ties": "random"}, "ties"),
        ({"arithmetic": "float64"}, "arithmetic"),
    ],
)
@pytest.mark.parametrize("kind", [Fairness, Robustness])
def test_bad_questions_are_refused(kind: type[Question], options: dict[str, Any], says: str) -> None:
    """On one line that names the option."""
    with pytest.raises(QuestionError) as caught:
        kind(**options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("written", [None, [0.1], {}, object()])
def test_what_is_no_number_at_all_is_refused(written: Any) -> None:
    for options in ({"confidence": written}, {"tolerance_rate": written}, {"tolerance": {"age": written}}):
        with pytest.raises(QuestionError):
            Robustness(**options)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (Fairness(sensitive=["gender"]), "gender"),
        (Robustness(tolerance={"hours": 1}), "hours"),
        (Robustness(tolerance={"race": 1}), "race"),
        (Robustness(tolerance={"sex": 1}), "sex"),
        (Robustness(tolerance={"job": 1}), "job"),
        (Fairness(sensitive=["age"], tolerance={"age": 1}), "age"),
    ],
)
def test_questions_that_do_not_fit_the_space_are_refused(question: Question, says: str) -> None:
    with pytest.raises(QuestionError) as caught:
        question.tolerances(SPACE)
    assert repr(says) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_fairness_needs_a_sensitive_attribute() -> None:
    nothing_flagged = InputSpace((integer("age", 17, 90), boolean("sex")))
    with pytest.raises(QuestionError, match="sensitive"):
        Fairness().sensitive_names(nothing_flagged)
    with pytest.raises(QuestionError, match="list"):
        Fairness(sensitive="sex")


def test_tolerance_on_an_attribute_that_is_sensitive_elsewhere_is_fine() -> None:
    """Robustness ignores the flags of the space."""
    space = InputSpace((integer("age", 17, 90, sensitive=True),))
    assert Robustness(tolerance={"age": 2}).tolerances(space) == (2,)


def test_tolerances_from_the_command_line() -> None:
    assert parse_tolerances(["age=2", "a=b=0.5"]) == {"age": Fraction(2), "a=b": Fraction(1, 2)}
    for bad in ("age", "=1", "age=two", "age="):
        with pytest.raises(QuestionError):
            parse_tolerances([bad])


def test_errors_have_two_parents() -> None:
    assert issubclass(QuestionError, FairboxError)
    assert issubclass(QuestionError, ValueError)
