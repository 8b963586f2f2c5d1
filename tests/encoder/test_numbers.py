"""Numbers mean what their writer meant, and logit(κ) is bounded with proof."""

import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder.numbers import exact, float32, logit_floor, plain, show
from tests import oracle


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        (Decimal("0.1"), Fraction(1, 10)),
        (Fraction(0.1), Fraction(3602879701896397, 36028797018963968)),
        ("1/3", Fraction(1, 3)),
        (" 0.25 ", Fraction(1, 4)),
        ("-1e-3", Fraction(-1, 1000)),
        (1e-7, Fraction(1, 10**7)),
        (1e22, Fraction(10**22)),
        (3, Fraction(3)),
        (np.int64(3), Fraction(3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
    ],
)
def test_a_number_is_the_rational_its_writer_meant(written: Any, meant: Fraction) -> None:
    """A float counts as its shortest decimal; a Fraction is kept as it is."""
    assert exact(written) == meant


@pytest.mark.parametrize(
    "written",
    [
        "nan",
        "inf",
        "-inf",
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("Infinity"),
        "",
        "x",
        "1/0",
        True,
    ],
)
def test_what_is_no_number_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"not a|number"):
        exact(written)


@pytest.mark.parametrize("written", ["1e999999999", "1e-999999999", "1" * 5000, "1/" + "3" * 5000])
def test_an_absurd_exponent_is_refused_at_once(written: str) -> None:
    """A slip of the pen on the command line or in a space file must not hang the program."""
    code = (
        "import sys; from fairbox.encoder.numbers import exact\n"
        "try: exact(sys.argv[1])\n"
        "except ValueError: sys.exit(42)"
    )
    run = subprocess.run([sys.executable, "-c", code, written], timeout=3, check=False)
    assert run.returncode == 42


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_counts_as_its_shortest_decimal(value: float) -> None:
    assert exact(value) == Fraction(repr(value))


@given(st.fractions())
def test_shown_numbers_read_back(value: Fraction) -> None:
    assert exact(show(value)) == value
    assert plain(value) == value
    assert isinstance(plain(value), int) == (value.denominator == 1)


@given(st.floats(-(2**100), 2**100))
def test_float32_is_the_nearest(value: float) -> None:
    found = float32(value)
    assert found == float(np.float32(value))
    for neighbour in (np.nextafter(np.float32(found), np.float32(s * np.inf)) for s in (-1, 1)):
        assert abs(Fraction(found) - Fraction(value)) <= abs(Fraction(float(neighbour)) - Fraction(value))


@given(
    st.fractions(Fraction(1, 2), Fraction(999999, 1000000), max_denominator=10**7),
    st.integers(0, 60).map(lambda k: 2**k),
)
def test_logit_floor_is_proven(kappa: Fraction, scale: int) -> None:
    """m / scale exceeds logit(κ) exactly when m exceeds the floor."""
    floor = logit_floor(kappa, scale)
    assert oracle.exceeds_logit(Fraction(floor + 1, scale), kappa)
    assert not oracle.exceeds_logit(Fraction(floor, scale), kappa)


@pytest.mark.parametrize("digits", range(10, 60, 3))
def test_logit_floor_where_many_digits_are_needed(digits: int) -> None:
    """Scales of the best rational approximations: logit(κ) * scale is as near to a whole number as it gets."""
    kappa = Fraction(7, 10)
    with localcontext() as context:
        context.prec = 200
        logit = Fraction(Decimal(7).ln() - Decimal(3).ln())
    scale = logit.limit_denominator(10**digits).denominator
    floor = logit_floor(kappa, scale)
    assert oracle.exceeds_logit(Fraction(floor + 1, scale), kappa)
    assert not oracle.exceeds_logit(Fraction(floor, scale), kappa)
