"""What a data frame tells of an input space, and what it cannot."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairbox as fb
from fairbox.draft import draft_text
from fairbox.encoder.frames import guess_attributes
from fairbox.encoder.space import Attribute, boolean, categorical, continuous, integer

GUESSES: list[tuple[Any, Attribute, str]] = [
    ([True, False, True], boolean("a"), "true and false"),
    ([True, True, True], boolean("a"), "true and false"),
    ([0, 1, 1], boolean("a"), "0 and 1 only"),
    ([0.0, 1.0, 1.0], boolean("a"), "0 and 1 only"),
    ([0, 0, 0], integer("a", 0, 0), "one value only"),
    ([3, 9, 4], integer("a", 3, 9), "if they are codes, make it categorical"),
    (list(range(50)), integer("a", 0, 49), "50 different whole numbers"),
    ([-2.0, 5.0, 1e6], integer("a", -2, 10**6), "if fractions are possible, make it continuous"),
    ([0.1, 0.25, 3.5], continuous("a", Fraction(1, 10), Fraction(7, 2)), "smallest and largest value seen"),
    (np.array([0.1, 0.7], np.float32), continuous("a", Fraction(1, 10), Fraction(7, 10)), "smallest"),
    (pd.array([1, 2, 3], dtype="Int64"), integer("a", 1, 3), "3 different whole numbers"),
    (pd.array([True, False], dtype="boolean"), boolean("a"), "true and false"),
    (pd.Series([1, 5], dtype=pd.ArrowDtype(pa.int16())), integer("a", 1, 5), "2 different whole numbers"),
    ([2**60, 2**60 + 1], integer("a", 2**60, 2**60 + 1), "2 different whole numbers"),
]


@pytest.mark.parametrize(
    ("values", "attribute", "why"), GUESSES, ids=[g[2] + str(i) for i, g in enumerate(GUESSES)]
)
def test_type_is_guessed_from_the_values(values: Any, attribute: Attribute, why: str) -> None:
    space = fb.InputSpace.from_frame(pd.DataFrame({"a": values}))
    assert space.attributes == (attribute,)
    assert space.notes[0].startswith("a: ") and why in space.notes[0]


def test_named_columns_are_sensitive_and_categorical() -> None:
    frame = pd.DataFrame({"job": [2, 0, 7], "sex": [0, 1, 1], "age": [20, 31, 40]})
    space = fb.InputSpace.from_frame(frame, sensitive=["sex"], categorical=["job", "sex"])
    assert space.attributes == (
        categorical("job", [0, 2, 7]),
        categorical("sex", [0, 1], sensitive=True),
        integer("age", 20, 40),
    )
    assert space.columns == ("job", "sex", "age") and len(space.notes) == 3


REFUSED: list[tuple[Any, str]] = [
    (["x", "y"], "encode them"),
    (pd.Series([1, 2], dtype="category"), "encode them"),
    (pd.to_datetime(["2020-01-01", "2021-01-01"]), "encode them"),
    (pd.Series([Decimal("1.5")] * 2, dtype=object), "encode them"),
    ([1 + 2j, 3j], "encode them"),
    ([1.0, None], "1 missing values"),
    (pd.array([1, None], dtype="Int64"), "1 missing values"),
    ([1.5, np.inf], "infinite"),
    ([0.5, 0.5], "always 0.5"),
]


@pytest.mark.parametrize(("values", "message"), REFUSED, ids=[f"{r[1]} {i}" for i, r in enumerate(REFUSED)])
def test_what_cannot_be_a_domain_is_refused(values: Any, message: str) -> None:
    with pytest.raises(fb.SpaceError, match=message):
        fb.InputSpace.from_frame(pd.DataFrame({"a": values}))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda f: fb.InputSpace.from_frame(f, sensitive=["sx"]), "sensitive column 'sx' is not in the data"),
        (lambda f: fb.InputSpace.from_frame(f, categorical=["jb"]), "it has: job, debt"),
        (lambda f: fb.InputSpace.from_frame(f, categorical=["debt"]), "cannot be categorical"),
        (lambda f: fb.InputSpace.from_frame(f.iloc[:0]), "no row"),
        (lambda f: fb.InputSpace.from_frame(f[[]]), "no column"),
        (lambda f: fb.InputSpace.from_frame(f.rename(columns={"job": 3})), "not a text"),
        (lambda f: fb.InputSpace.from_frame(pd.concat([f, f], axis=1)), "appears twice"),
    ],
)
def test_names_and_sizes_that_make_no_sense_are_refused(
    ask: Callable[[pd.DataFrame], fb.InputSpace], message: str
) -> None:
    with pytest.raises(fb.SpaceError, match=message):
        ask(pd.DataFrame({"job": [1, 2], "debt": [0.5, 1.5]}))


COLUMNS = st.one_of(
    st.lists(st.integers(-(2**62), 2**62), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.lists(st.floats(-1e20, 1e20, allow_nan=False), min_size=4, max_size=4).filter(
        lambda v: len(set(v)) > 1
    ),
)


@given(
    st.dictionaries(st.text(min_size=1, max_size=8).filter(str.isprintable), COLUMNS, min_size=1, max_size=4),
    st.data(),
)
def test_draft_of_a_space_file_reads_back_as_the_guessed_space(
    columns: dict[str, Any], data: st.DataObject
) -> None:
    frame = pd.DataFrame(columns)
    sensitive = data.draw(st.sets(st.sampled_from(sorted(columns))))
    guesses = guess_attributes(frame, sensitive)
    import tomllib

    text = draft_text(guesses, "some\nfile.csv")
    space = fb.InputSpace.from_dict(tomllib.loads(text, parse_float=str))
    assert list(space.attributes) == [attribute for attribute, _ in guesses]
    for _, why in guesses:
        assert f"# {why}" in text
