"""Exact numbers as people read them. A bound stays a bound: lower ones are rounded down, upper ones up."""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from fairbox.encoder.numbers import Exact

LEAST_DECIMALS, MOST_DECIMALS = 3, 12
SIGNIFICANT = 4
_PLAIN_BELOW = 10**15


def decimals(lower: Fraction, upper: Fraction) -> int:
    """How many decimals of a percentage show two digits of the gap, and of the distance to 0 and to 1."""
    distances = [d for d in (upper - lower, lower, 1 - upper) if d > 0]
    smallest = min((float(d) for d in distances), default=1.0)
    if smallest == 0.0:
        return MOST_DECIMALS
    return min(max(math.ceil(-math.log10(smallest)), LEAST_DECIMALS), MOST_DECIMALS)


def percent(share: Fraction, places: int, *, up: bool) -> str:
    """A share in percent, rounded up or down to some decimals: `98.125 %`."""
    scaled = share * 100 * 10**places
    whole = math.ceil(scaled) if up else math.floor(scaled)
    number, rest = divmod(whole, 10**places)
    return f"{number}.{rest:0{places}d} %"


def share_text(lower: Fraction, upper: Fraction) -> str:
    """Bounds on the share M in percent; one number, cut off where it goes on, when they have met."""
    places = decimals(lower, upper)
    below, above = percent(lower, places, up=False), percent(upper, places, up=True)
    if lower != upper:
        return f"{below} <= M <= {above}"
    return f"M = {below}" if below == above else f"M = {below.replace(' %', '… %')}"


def quantity(measure: Exact, *, up: bool) -> str:
    """A measure: exact where it is whole and not long, else four digits, rounded up or down."""
    if measure.denominator == 1 and measure < _PLAIN_BELOW:
        return f"{int(measure):,}"
    context = Context(
        prec=SIGNIFICANT, rounding=ROUND_CEILING if up else ROUND_FLOOR, Emax=10**6, Emin=-(10**6)
    )
    shown = context.divide(Decimal(measure.numerator), Decimal(measure.denominator))
    return f"{shown:f}" if -4 <= shown.adjusted() <= SIGNIFICANT else f"{shown:e}"


def quantity_range(lower: Exact, upper: Exact) -> str:
    """Bounds on a measure, as one number where they agree."""
    if lower == upper:
        return quantity(lower, up=False)
    return f"{quantity(lower, up=False)} to {quantity(upper, up=True)}"
