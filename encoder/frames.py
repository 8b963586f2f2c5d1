"""A first draft of an input space from the columns of a data frame.

Data shows which values occur, not what they mean: whether a number is a quantity or a code cannot be seen.
So every guess comes with a sentence that says what was seen and what to do if the guess is wrong.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from fairbox.encoder.errors import SpaceError
from fairbox.encoder.numbers import exact
from fairbox.encoder.space import Attribute, InputSpace, boolean, categorical, continuous, integer

if TYPE_CHECKING:
    import pandas as pd

FEW = 10
"""An integer column of at most this many distinct values may well hold codes; the note says so."""

Guess = tuple[Attribute, str]
"""An attribute, and a sentence that says why it was made so."""


def space_from_frame(
    frame: "pd.DataFrame", sensitive: Collection[str] = (), categorical_names: Collection[str] = ()
) -> InputSpace:
    """The space that `guess_attributes` sees in a frame; `notes` says per attribute what was guessed."""
    guesses = guess_attributes(frame, sensitive, categorical_names)
    notes = tuple(f"{attribute.name}: {why}" for attribute, why in guesses)
    return InputSpace(tuple(attribute for attribute, _ in guesses), notes=notes)


def guess_attributes(
    frame: "pd.DataFrame", sensitive: Collection[str] = (), categorical_names: Collection[str] = ()
) -> list[Guess]:
    """One attribute per column (the model's inputs, in order, without a label), from its type and values.

    A bool column and an integer column of 0s and 1s become boolean; other whole numbers, also in a float
    column, an integer attribute from the smallest to the largest value seen, or, where `categorical_names`
    names the column, a categorical attribute of the codes seen; other floats a continuous attribute whose
    ends are the shortest decimals of the extremes. Raises SpaceError for text, dates, missing values,
    infinities, constant floats, and names that are not among the columns.
    """
    _check_frame(frame, sensitive, categorical_names)
    return [
        _guess(name, frame.iloc[:, i], name in sensitive, name in categorical_names)
        for i, name in enumerate(frame.columns)
    ]


def _check_frame(
    frame: "pd.DataFrame", sensitive: Collection[str], categorical_names: Collection[str]
) -> None:
    names = list(frame.columns)
    unnamed = [name for name in names if not isinstance(name, str) or not name]
    if unnamed:
        raise SpaceError(f"column name {unnamed[0]!r} is not a text: rename the columns of the data frame")
    for what, given in (("sensitive", sensitive), ("categorical", categorical_names)):
        for name in given:
            if name not in names:
                raise SpaceError(f"{what} column {name!r} is not in the data; it has: {', '.join(names)}")
    if not len(frame) or not names:
        raise SpaceError("the data has no row or no column: an input space cannot be guessed from it")
    texts = [name for i, name in enumerate(names) if not _is_numeric(frame.iloc[:, i])]
    if texts:
        raise SpaceError(
            f"columns {', '.join(texts)} do not hold numbers: encode them as the model was trained on them "
            "(integer codes, or 0/1 columns), or drop them if they are no inputs of the model"
        )


def _is_numeric(column: "pd.Series[Any]") -> bool:
    """Whether values are truth values, integers or floats, in numpy's, pandas' or Arrow's form."""
    from pandas.api import types

    kinds = (types.is_bool_dtype, types.is_integer_dtype, types.is_float_dtype)
    return any(is_kind(column.dtype) for is_kind in kinds)


def _guess(name: str, column: "pd.Series[Any]", sensitive: bool, as_codes: bool) -> Guess:
    missing = int(column.isna().sum())
    if missing:
        raise SpaceError(
            f"column {name!r} has {missing} missing values, which are not supported: fill them in or drop their rows"
        )
    values = np.unique(column.to_numpy())
    if values.dtype == np.bool_ and not as_codes:
        return boolean(name, sensitive=sensitive), "true and false"
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise SpaceError(f"column {name!r} has infinite values: a domain needs finite ends")
        if not (values == np.floor(values)).all():
            return _real(name, values, sensitive, as_codes)
    whole = [int(value) for value in values]
    if as_codes:
        return categorical(name, whole, sensitive=sensitive), f"the {len(whole)} codes seen"
    if whole == [0, 1]:
        return boolean(name, sensitive=sensitive), "0 and 1 only"
    return integer(name, whole[0], whole[-1], sensitive=sensitive), _whole_note(
        len(whole), values.dtype.kind == "f"
    )


def _whole_note(distinct: int, from_float: bool) -> str:
    if distinct == 1:
        return "one value only: it never changes"
    note = f"{distinct} different whole numbers"
    if distinct <= FEW:
        note += "; if they are codes, make it categorical"
    if from_float:
        note += "; stored as decimals: if fractions are possible, make it continuous"
    return note


def _real(name: str, values: Any, sensitive: bool, as_codes: bool) -> Guess:
    if as_codes:
        raise SpaceError(
            f"column {name!r} has values that are not whole and cannot be categorical: use integer codes"
        )
    lower, upper = (exact(shortest_decimal(value)) for value in (values[0], values[-1]))
    if lower == upper:
        raise SpaceError(
            f"column {name!r} is always {shortest_decimal(values[0])}: a continuous attribute needs two different "
            "ends; drop the column, or write its real range into a space file"
        )
    return continuous(name, lower, upper, sensitive=sensitive), "smallest and largest value seen"


def shortest_decimal(value: Any) -> str:
    """The shortest decimal that means this float of its own width (0.1 for a float32 0.1, too)."""
    return str(np.format_float_positional(value, trim="0"))
