"""A displayed bound is still a bound."""

from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from fairbox.figures import MOST_DECIMALS, decimals, percent, quantity

SHARES = st.fractions(0, 1) | st.builds(lambda n: Fraction(1, 10**n), st.integers(0, 40))


def read(percentage: str) -> Fraction:
    return Fraction(percentage.removesuffix(" %")) / 100


@given(SHARES, SHARES)
def test_lower_bound_is_rounded_down_and_upper_bound_up(a: Fraction, b: Fraction) -> None:
    low, high = sorted((a, b))
    places = decimals(low, high)
    shown_low, shown_high = read(percent(low, places, up=False)), read(percent(high, places, up=True))
    step = Fraction(1, 100 * 10**places)
    assert low - step < shown_low <= low <= high <= shown_high < high + step
    if places < MOST_DECIMALS:
        # Neither end is shown as 0 or 100 % unless it is.
        assert (shown_low > 0) == (low > 0) and (shown_high < 1) == (high < 1)


MEASURES = st.integers(0, 10**30) | st.fractions(0, 10**6) | st.just(7 * 10**5000)


@given(MEASURES)
def test_measure_is_exact_or_rounded_the_safe_way(measure: int | Fraction) -> None:
    low, high = (Fraction(Decimal(quantity(measure, up=up).replace(",", ""))) for up in (False, True))
    assert low <= measure <= high
    if measure < 10**15 and Fraction(measure).denominator == 1:
        assert low == high
    else:
        assert high - low <= Fraction(measure) / 999
