"""Guessing an input space from data: each kind of column, and what data cannot say."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fairbox.encoder.errors import SpaceError
from fairbox.encoder.space import InputSpace

pandas = pytest.importorskip("pandas")

BITS, WHOLE, FRACTIONS = [0, 1, 1], [3, -2, 40], [0.5, 0.1, 2.0]


@pytest.mark.parametrize(
    ("values", "dtype", "kind", "ends"),
    [
        ([False, True, True], "bool", "boolean", None),
        ([False, True, True], "boolean", "boolean", None),
        ([False, True, True], "bool[pyarrow]", "boolean", None),
        ([True, True, True], "bool", "boolean", None),
        (BITS, "int64", "boolean", None),
        (BITS, "uint8", "boolean", None),
        (BITS, "float32", "boolean", None),
        (WHOLE, "int32", "integer", (-2, 40)),
        (WHOLE, "Int64", "integer", (-2, 40)),
        (WHOLE, "int64[pyarrow]", "integer", (-2, 40)),
        (WHOLE, "float64", "integer", (-2, 40)),
        ([7, 7, 7], "int64", "integer", (7, 7)),
        (FRACTIONS, "float64", "continuous", (Fraction(1, 10), 2)),
        (FRACTIONS, "float32", "continuous", (Fraction(1, 10), 2)),
        (FRACTIONS, "Float64", "continuous", (Fraction(1, 10), 2)),
        (FRACTIONS, "double[pyarrow]", "continuous", (Fraction(1, 10), 2)),
    ],
)
def test_the_kind_of_a_column(values: list[Any], dtype: str, kind: str, ends: Any) -> None:
    """Ends of a real column are the shortest decimals of the extremes, 0.1 also where a float32 holds it."""
    if "pyarrow" in dtype:
        pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": pandas.Series(values, dtype=dtype)})
    (attribute,) = InputSpace.from_frame(frame).attributes
    assert attribute.kind == kind
    if ends:
        assert (attribute.lower, attribute.upper) == ends


def test_codes_and_flags_are_what_the_caller_says() -> None:
    frame = pandas.DataFrame({"job": [4, 1, 9], "sex": [0, 1, 1], "age": [20, 30, 40]})
    space = InputSpace.from_frame(frame, sensitive=["sex"], categorical=["job"])
    assert space.names == space.columns == ("job", "sex", "age")
    assert [a.kind for a in space.attributes] == ["categorical", "boolean", "integer"]
    assert space.attributes[0].codes == (1, 4, 9)
    assert space.sensitive == ("sex",)
    assert space.total == 3 * 2 * 21


def test_every_guess_is_told() -> None:
    frame = pandas.DataFrame({"a": [1, 2, 5], "b": [0.5, 1.5, 2.5]})
    notes = InputSpace.from_frame(frame).notes
    assert [note.split(":")[0] for note in notes] == ["a", "b"]
    assert "categorical" in notes[0]


@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        ({"a": ["x", "y"]}, {}, "a"),
        ({"a": pandas.to_datetime(["2020-01-01", "2020-01-02"])}, {}, "a"),
        ({"a": pandas.Categorical(["x", "y"])}, {}, "a"),
        ({"a": [1 + 2j, 3]}, {}, "a"),
        ({"a": [1.0, np.nan]}, {}, "missing"),
        ({"a": pandas.array([1, None], dtype="Int64")}, {}, "missing"),
        ({"a": [1.0, np.inf]}, {}, "infinite"),
        ({"a": [0.5, 0.5]}, {}, "0.5"),
        ({"a": [0.5, 1.5]}, {"categorical": ["a"]}, "whole"),
        ({"a": [0, 1]}, {"sensitive": ["z"]}, "'z'"),
        ({"a": [0, 1]}, {"categorical": ["z"]}, "'z'"),
        ({0: [0, 1]}, {}, "0"),
        ({"a": []}, {}, "no row"),
        ({}, {}, "no row"),
    ],
)
def test_what_cannot_be_guessed_is_refused(columns: Any, options: Any, says: str) -> None:
    with pytest.raises(SpaceError) as caught:
        InputSpace.from_frame(pandas.DataFrame(columns), **options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_columns_of_one_name_are_refused() -> None:
    frame = pandas.DataFrame([[0, 1], [1, 0]], columns=["a", "a"])
    with pytest.raises(SpaceError, match="'a'"):
        InputSpace.from_frame(frame)


def test_a_guess_holds_all_of_the_data() -> None:
    """Every row lies in the space that was guessed from it, decimals taken at their word."""
    random = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {
            "a": random.integers(-5, 5, 50),
            "b": random.normal(size=50),
            "c": random.normal(size=50).astype(np.float32),
            "d": random.integers(0, 9, 50) * 3,
        }
    )
    space = InputSpace.from_frame(frame, categorical=["d"])
    for attribute in space.attributes:
        for value in frame[attribute.name].to_numpy():
            if attribute.ordered:
                assert attribute.lower is not None and attribute.upper is not None
                exact = Fraction(np.format_float_positional(value) if value.dtype.kind == "f" else int(value))
                assert attribute.lower <= exact <= attribute.upper
            else:
                assert value in attribute.codes
