"""The summary of a result, as text: how it ended, what is proven, where, and one pair to look at."""

import io
from collections.abc import Iterator
from fractions import Fraction

from rich.console import Console
from rich.table import Table

from fairbox.encoder.numbers import plain, show
from fairbox.encoder.problem import Problem
from fairbox.encoder.regions import box_words, number_text, point_words
from fairbox.figures import decimals, percent, quantity, quantity_range, share_text
from fairbox.orchestrator.bounds import CLASSES
from fairbox.orchestrator.quantify import Status, UnfairRegion
from fairbox.result import Result
from fairbox.tables import SIDES, Prediction, pair_predictions

SHOWN_REGIONS = 5
_LONGEST_EXACT = 60
_WIDEST = 200
"""Enough columns for any row of the totals."""
_LABELS = {1: 1, -1: 0}
"""The label the model's library prints for each class."""


def summary(result: Result) -> str:
    """Several lines, without a line break at the end."""
    return "\n".join(_lines(result))


def _lines(result: Result) -> Iterator[str]:
    yield _title(result.problem)
    yield _ending(result)
    yield ""
    yield from _measure(result)
    yield ""
    yield from _regions(result)
    yield from _pair(result)
    for note in result.notes:
        yield f"Note: {note}."
    yield _how(result)


def _title(problem: Problem) -> str:
    question, ensemble = problem.question, problem.ensemble
    about = ""
    if problem.sensitive:
        about = f" towards {', '.join(problem.space.names[i] for i in problem.sensitive)}"
    return (
        f"{question.property.capitalize()}{about} of {ensemble.source} ({len(ensemble.trees)} trees): "
        f"{len(problem.axes)} attributes, a space of measure {quantity(problem.total, up=False)}"
    )


def _ending(result: Result) -> str:
    if result.status is Status.CONVERGED:
        if result.vacuous:
            return "Vacuous: no input is confident enough, so the share says nothing."
        return "Converged: the bounds have met, the answer is exact."
    proven = "The bounds are proven but have not met: the share lies between them."
    if result.status is Status.TIME_LIMIT:
        return f"Stopped at the time limit of {result.settings.time_limit:g} s. {proven}"
    if result.status is Status.UNDECIDED:
        reasons = "; ".join(f"{reason} ({count} tasks)" for reason, count in sorted(result.undecided.items()))
        return f"Undecided: all was tried, but the solver left parts open: {reasons or 'no reason given'}. {proven}"
    return f"Interrupted. {proven}"


def _measure(result: Result) -> Iterator[str]:
    bounds, question = result.bounds, result.problem.question
    right = "fair" if question.property == "fairness" else "robust"
    inputs = (
        "inputs"
        if question.kappa == Fraction(1, 2)
        else f"inputs of confidence above {number_text(question.kappa)}"
    )
    yield f"Share of {inputs} that are {right}:"
    yield f"    {share_text(bounds.lower, bounds.upper)}"
    exact = show(bounds.lower)
    if result.converged and len(exact) <= _LONGEST_EXACT and "/" in exact:
        yield f"    exactly {exact}"
    yield from _totals(result)


def _totals(result: Result) -> Iterator[str]:
    """A row per class, as lines of plain text whatever the terminal."""
    table = Table(box=None, pad_edge=False, padding=(0, 4, 0, 0))
    table.add_column("Measure of inputs")
    for heading in ("confident", _wrong(result.problem)):
        table.add_column(heading, justify="right", no_wrap=True)
    for label, name in CLASSES.items():
        confident, wrong = result.bounds.confident_range(label), result.bounds.unfair_range(label)
        table.add_row(
            f"  {name} ({_LABELS[label]})",
            quantity_range(confident.lower, confident.upper),
            quantity_range(wrong.lower, wrong.upper),
        )
    text = io.StringIO()
    Console(file=text, width=_WIDEST, color_system=None).print(table)
    for line in text.getvalue().splitlines():
        yield line.rstrip()


def _wrong(problem: Problem) -> str:
    return "unfair" if problem.question.property == "fairness" else "not robust"


def _regions(result: Result) -> Iterator[str]:
    problem, regions = result.problem, result.regions
    unfair = _wrong(problem)
    if not regions:
        yield f"No region is {unfair}." if result.converged else f"No {unfair} region has been found so far."
        yield ""
        return
    shown = regions[:SHOWN_REGIONS]
    found = _share(sum((Fraction(region.measure) for region in regions), Fraction(0)), problem)
    yield f"{len(regions)} {unfair} regions, {found} of the space; the largest:"
    for number, region in enumerate(shown, 1):
        part = _share(Fraction(region.measure), problem)
        yield (
            f"  {number}. {part} of the space, decided {CLASSES[region.label]}: {box_words(problem, region.box)}"
        )
    yield ""


def _share(measure: Fraction, problem: Problem) -> str:
    share = measure / problem.total
    return percent(share, decimals(share, share), up=False)


def _pair(result: Result) -> Iterator[str]:
    """The witness of the largest region that has one, with what the model says of both inputs."""
    for region in result.regions:
        if region.pair is not None:
            (predicted,) = pair_predictions(result.problem, [region])
            assert predicted is not None
            yield from _pair_lines(result.problem, region, predicted)
            return
    if result.regions:
        yield "No region found so far holds a pair of inputs that 32-bit floats represent."
        yield ""


def _pair_lines(
    problem: Problem, region: UnfairRegion, predicted: tuple[Prediction, Prediction]
) -> Iterator[str]:
    assert region.pair is not None
    one, other = region.pair
    apart = [i for i in range(len(one)) if one[i] != other[i]]
    alike = [i for i in range(len(one)) if one[i] == other[i]]
    yield "A pair of inputs and what the model predicts:"
    for name, point, prediction in zip(SIDES, region.pair, predicted, strict=True):
        yield (
            f"  {name:<3} {point_words(problem, point, apart)}: class {prediction.label}, "
            f"probability of class 1 is {prediction.probability:.7g}"
        )
    if alike:
        yield f"  both: {point_words(problem, one, alike)}"
    yield ""


def _how(result: Result) -> str:
    counts, strategy = result.counts, result.strategy
    asked = f" (auto: {strategy.why})" if strategy.asked == "auto" else ""
    undecided = plain(result.bounds.undecided)
    left = f", measure {quantity(undecided, up=True)} undecided" if undecided else ""
    failures = f", {counts.failures} solver failures" if counts.failures else ""
    return (
        f"{result.settings.backend} {result.backend_version}, strategy {strategy.used}{asked}; "
        f"{result.seconds:.1f} s, {counts.solver_calls} solver calls, {counts.tuples} path tuples, "
        f"{counts.violations} violations{failures}{left}"
    )
