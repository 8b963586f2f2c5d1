"""Exact numbers: how users write them, how they are printed, and rigorous bounds on logit."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from numbers import Integral, Rational

import numpy as np

Exact = int | Fraction
MAX_DIGITS = 4000
"""Longer numbers are slips of the pen, and would take ages to compute with."""

Number = int | float | str | Decimal | Fraction
"""What a user may write; a float counts as its shortest decimal, so 0.1 is 1/10 (SEMANTICS, section 3)."""


def exact(number: Number) -> Fraction:
    """The exact rational a user means by `number`.

    Raises ValueError for NaN, infinities and text that is not a decimal or a ratio.
    """
    if isinstance(number, bool) or not isinstance(number, int | float | str | Decimal | Rational | np.number):
        raise ValueError(f"{number!r} is not a number")
    if isinstance(number, Rational | Integral):
        return Fraction(int(number.numerator), int(number.denominator))
    if isinstance(number, Decimal):
        if not number.is_finite():
            raise ValueError(f"{number} is not a finite number")
        if abs(number.adjusted()) > MAX_DIGITS or len(number.as_tuple().digits) > MAX_DIGITS:
            raise ValueError(f"{number:.3e} has more than {MAX_DIGITS} digits: write a shorter number")
        return Fraction(number)
    text = number.strip() if isinstance(number, str) else str(np.format_float_positional(number))
    shown = repr(text if len(text) <= 40 else f"{text[:40]}…")
    if len(text) > MAX_DIGITS or abs(_exponent(text)) > MAX_DIGITS:
        raise ValueError(f"{shown} has more than {MAX_DIGITS} digits: write a shorter number")
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise ValueError(f"{shown} is not a decimal number or a ratio n/d") from error


def _exponent(text: str) -> int:
    """The power of ten a decimal is written with, 0 where there is none."""
    mantissa, mark, exponent = text.lower().rpartition("e")
    try:
        return int(exponent) if mark and mantissa else 0
    except ValueError:
        return 0


def plain(value: Exact) -> Exact:
    """The same number as an int where it is whole: measures over counted attributes stay ints."""
    return int(value) if value.denominator == 1 else value


def show(value: Exact) -> str:
    """`n` or `n/d` in lowest terms, however long."""
    value = Fraction(value)
    whole = _digits(value.numerator)
    return whole if value.denominator == 1 else f"{whole}/{_digits(value.denominator)}"


def _digits(number: int) -> str:
    """`str(number)` without Python's limit on the length of texts, which decimals do not have."""
    return str(number) if number.bit_length() < 10_000 else f"{Decimal(number):f}"


def float32(value: float) -> float:
    """The nearest float32, held exactly in a Python float; infinite where none is near."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def logit_floor(kappa: Fraction, scale: int) -> int:
    """The floor of `logit(kappa) * scale`, proven.

    For rational kappa in (1/2, 1) the logit is irrational, so `m > logit(kappa) * scale` holds for an
    integer m exactly when m exceeds this floor. The correctly rounded `Decimal.ln` is taken at growing
    precision until its error interval lies between two integers.
    """
    if kappa == Fraction(1, 2):
        return 0
    odds = kappa / (1 - kappa)
    digits = 30 + len(str(scale))
    while True:
        with localcontext() as context:
            context.prec = digits
            value = Decimal(odds.numerator).ln() - Decimal(odds.denominator).ln()
            terms = Decimal(odds.numerator).ln() + Decimal(odds.denominator).ln() + 1
        # Each ln is off by half a unit in its last place and the subtraction by another.
        error = Fraction(terms) * Fraction(4, 10**digits)
        lower = math.floor((Fraction(value) - error) * scale)
        if lower == math.floor((Fraction(value) + error) * scale):
            return lower
        digits *= 2
