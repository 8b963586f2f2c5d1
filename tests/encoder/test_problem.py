"""Laws of a ground problem: paths, margins and verdicts against the model, regions against the definition."""

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairbox.encoder import boxes
from fairbox.encoder.arithmetic import Cutoffs, Verdict
from fairbox.encoder.boxes import Box
from fairbox.encoder.ensemble import Ensemble
from fairbox.encoder.errors import QuestionError, SpaceError
from fairbox.encoder.problem import PathTuple, Problem, build_problem
from fairbox.encoder.properties import Fairness, Robustness
from fairbox.encoder.space import InputSpace, boolean, categorical, continuous, integer, tier
from tests import oracle
from tests.encoder.test_cells import cell_of
from tests.strategies import Case, cases
from tests.test_oracle import forest

SMALL = cases(max_attributes=3, max_trees=2, max_depth=2)


def points(case: Case) -> list[oracle.Point]:
    """Representatives of every part of the space that tests, or tests ± ε, tell apart: cuts and middles."""
    ensemble, space, question = case
    widths = oracle.tolerances(space, question)
    axes: list[list[Any]] = []
    for attribute in space.attributes:
        tests = oracle.thresholds(ensemble, space, attribute)
        if attribute.kind == "continuous":
            width = widths[attribute.name]
            cuts = oracle.cut_points(attribute, [t + k * width for t in tests for k in (-1, 0, 1)])
            axes.append(cuts + [(a + b) / 2 for a, b in pairwise(cuts)])
        else:
            axes.append(oracle.counted_values(attribute))
    return list(product(*axes))


def cells_of(problem: Problem, point: oracle.Point) -> Box:
    """The box of the one cell per axis that holds a point."""
    return tuple(1 << cell_of(axis, value) for axis, value in zip(problem.axes, point, strict=True))


def path_tuples(problem: Problem) -> list[tuple[PathTuple, Box]]:
    """Every path tuple with a box, by trying all."""
    everything = product(*(range(len(tree)) for tree in problem.trees))
    return [(paths, box) for paths in everything if (box := problem.box(paths)) is not None]


@given(cases())
def test_path_boxes_of_a_tree_partition_the_space(case: Case) -> None:
    problem = build_problem(*case)
    for tree in problem.trees:
        assert boxes.region_measure(problem.axes, [path.box for path in tree]) == case[1].total
        for i, a in enumerate(tree):
            assert all(boxes.intersect(a.box, b.box) is None for b in tree[i + 1 :])
        assert not boxes.subtract([problem.full], [path.box for path in tree])


@given(cases(), st.randoms(use_true_random=False))
def test_a_point_lies_in_the_box_of_the_paths_the_model_takes(case: Case, random: Any) -> None:
    """At any point: its leaf in every tree, the exact margin, and the verdict under the question."""
    ensemble, space, question = case
    problem = build_problem(*case)
    judge = oracle.Judge(ensemble, space, question)
    everything = points(case)
    for point in random.sample(everything, min(30, len(everything))):
        cells = cells_of(problem, point)
        leaves = oracle.leaf_values(ensemble, oracle.model_row(ensemble, space, point))
        paths = []
        for tree, leaf in zip(problem.trees, leaves, strict=True):
            (taken,) = (k for k, path in enumerate(tree) if boxes.contains(path.box, cells))
            assert tree[taken].leaf == leaf
            assert Fraction(tree[taken].value, problem.scale) == Fraction(leaf)
            paths.append(taken)
        box = problem.box(tuple(paths))
        assert box is not None
        assert boxes.contains(box, cells)
        exact = Fraction(ensemble.base) + sum(map(Fraction, leaves))
        assert Fraction(problem.margin(tuple(paths)), problem.scale) == exact
        verdict = judge(point)
        assert problem.verdict(tuple(paths)) == Verdict(verdict.label, verdict.confident)


@given(SMALL)
def test_path_ids_are_leaf_node_numbers(case: Case) -> None:
    problem = build_problem(*case)
    for tree, paths in zip(case[0].trees, problem.trees, strict=True):
        assert all(tree.feature[path.id] == -1 and tree.value[path.id] == path.leaf for path in paths)
        ids = [path.id for path in paths]
        assert ids == sorted(set(ids))


@given(SMALL)
def test_path_tuples_partition_the_space(case: Case) -> None:
    """Boxes of path tuples are disjoint, cover X, and by verdict add up to the oracle's confident totals."""
    problem = build_problem(*case)
    found = path_tuples(problem)
    assert boxes.region_measure(problem.axes, [box for _, box in found]) == case[1].total
    assert not boxes.subtract([problem.full], [box for _, box in found])
    confident: dict[int, Any] = {1: 0, -1: 0}
    for paths, box in found:
        verdict = problem.verdict(paths)
        if verdict.confident:
            confident[verdict.label] += problem.measure(box)
    assert confident == oracle.answer(*case).confident


@given(SMALL)
def test_a_tuple_without_a_box_meets_nowhere(case: Case) -> None:
    """box(π) is None exactly when some two paths of it have boxes that do not meet."""
    problem = build_problem(*case)
    for paths in product(*(range(len(tree)) for tree in problem.trees)):
        own = [tree[k].box for tree, k in zip(problem.trees, paths, strict=True)]
        apart = any(boxes.intersect(a, b) is None for i, a in enumerate(own) for b in own[:i])
        assert (problem.box(paths) is None) == apart


@given(SMALL)
def test_regions_are_the_pointwise_definition(case: Case) -> None:
    """x of a box is in the region iff some x' of the other is near and differs (SEMANTICS, section 4)."""
    _, space, question = case
    problem = build_problem(*case)
    sensitive = oracle.sensitive_names(space, question)
    widths = oracle.tolerances(space, question)
    found = path_tuples(problem)[:6]
    grid = {point: cells_of(problem, point) for point in points(case)[:200]}
    for (_, box), (_, opposite) in product(found, found):
        region = problem.region(box, opposite)
        pieces = region.pieces() if region else []
        for point, cells in grid.items():
            if not boxes.contains(box, cells):
                continue
            expected = sees(case, problem, point, opposite, sensitive, widths)
            assert any(boxes.contains(piece, cells) for piece in pieces) == expected, (point, box, opposite)
        for i, piece in enumerate(pieces):
            assert all(boxes.intersect(piece, other) is None for other in pieces[:i])


def sees(
    case: Case,
    problem: Problem,
    point: oracle.Point,
    opposite: Box,
    sensitive: frozenset[str],
    widths: dict[str, Fraction],
) -> bool:
    """Whether some x' of the box `opposite` is near the point, and differs from it where it must."""
    ensemble, space, question = case
    candidates = []
    for i, (attribute, value) in enumerate(zip(space.attributes, point, strict=True)):
        tests = oracle.thresholds(ensemble, space, attribute)
        width = None if attribute.name in sensitive else widths[attribute.name]
        near = oracle.near_values(attribute, tests, value, width)
        kept = [v for v in near if opposite[i] >> cell_of(problem.axes[i], v) & 1]
        if not kept:
            return False
        candidates.append((attribute.name in sensitive, value, kept))
    if question.property == "robustness":
        return True
    return any(any(other != value for other in kept) for free, value, kept in candidates if free)


@given(SMALL)
def test_the_union_of_regions_is_the_unfair_part(case: Case) -> None:
    """Over all pairs of opposite classes, measured without double counting: the oracle's unfair totals."""
    problem = build_problem(*case)
    judged = [(problem.verdict(paths), box) for paths, box in path_tuples(problem)]
    unfair: dict[int, Any] = {1: 0, -1: 0}
    for verdict, box in judged:
        if not verdict.confident:
            continue
        regions = [problem.region(box, other) for v, other in judged if v.label == -verdict.label]
        pieces = [piece for region in regions if region for piece in region.pieces()]
        unfair[verdict.label] += boxes.region_measure(problem.axes, boxes.disjoint(pieces))
    assert unfair == oracle.answer(*case).unfair


@given(cases(max_trees=3, max_depth=2))
def test_cutoffs_lose_no_path_tuple(case: Case) -> None:
    """Under exact arithmetic the cutoffs decide; under deployed they are widened, and nothing is missed."""
    problem = build_problem(*case)
    question = case[2]
    for paths, _ in path_tuples(problem):
        margin, verdict = problem.margin(paths), problem.verdict(paths)
        claims = _claims(problem.cutoffs, margin)
        truths = (
            verdict.confident and verdict.label == 1,
            verdict.confident and verdict.label == -1,
            not verdict.confident,
            verdict.label == 1,
            verdict.label == -1,
        )
        if question.arithmetic == "exact":
            assert claims == truths
        else:
            assert all(claim or not truth for claim, truth in zip(claims, truths, strict=True))


def _claims(cutoffs: Cutoffs, margin: int) -> tuple[bool, ...]:
    return (
        margin >= cutoffs.confident_from,
        margin <= cutoffs.confident_to,
        cutoffs.doubtful_from <= margin <= cutoffs.doubtful_to,
        margin >= cutoffs.positive_from,
        margin <= cutoffs.negative_to,
    )


# By hand ---------------------------------------------------------------------------------------------


def test_worked_case() -> None:
    """SEMANTICS, section 6: x = (500, 1, 40) lies in the box [300,600) x [0,2) x [0,50)."""
    model = forest(
        (1, 2, (0, 300, -0.5, 0.85), -0.5),
        (0, 600, (1, 3, 0.70, 0.25), (2, 80, -0.75, -0.25)),
        (2, 50, 0.72, -0.5),
        features=3,
    )
    space = InputSpace((continuous("x1", 0, 1000), continuous("x2", 0, 4), continuous("x3", 0, 100)))
    problem = build_problem(model, space, Robustness(confidence="0.9"))
    cells = cells_of(problem, (500, 1, 40))
    paths = tuple(
        next(k for k, path in enumerate(tree) if boxes.contains(path.box, cells)) for tree in problem.trees
    )
    box = problem.box(paths)
    assert box is not None
    assert problem.measure(box) == 300 * 2 * 50
    for inside in ((300, 0, 0), (599, 0, 49)):
        assert boxes.contains(box, cells_of(problem, inside))
    for outside in ((299, 0, 0), (600, 0, 0), (300, 2, 0), (300, 0, 50)):
        assert not boxes.contains(box, cells_of(problem, outside))
    assert problem.verdict(paths) == Verdict(1, True)


def test_the_sensitive_point_is_taken_out() -> None:
    """a in 0..3, s in {0, 1}, class -1 only at a >= 2 with s = 0. The box of x is everything else at a < 2.

    With two sensitive attributes s and t, where t is tested too, one point (s, t) is taken out and not a
    cross: x = (1, s, t) with s = 0 and t = 1 still differs from x' = (2, 0, 0).
    """
    model = forest((1, 1, (2, 1, (0, 2, 1.0, -1.0), 1.0), 1.0), features=3)
    space = InputSpace((integer("a", 0, 3), boolean("s"), boolean("t")))
    problem = build_problem(model, space, Fairness(sensitive=["s", "t"], tolerance={"a": 1}))
    (negative,) = (box for paths, box in path_tuples(problem) if problem.verdict(paths).label == -1)
    region = problem.region(problem.full, negative)
    assert region is not None
    taken = [p for p in product(range(4), (0, 1), (0, 1)) if _within(problem, region.pieces(), p)]
    assert taken == [(a, s, t) for a, s, t in product((1, 2, 3), (0, 1), (0, 1)) if (s, t) != (0, 0)]


def test_no_region_where_only_the_sensitive_point_is_left() -> None:
    """One sensitive value and no other: x' cannot differ."""
    model = forest((0, 2, 1.0, -1.0), features=2)
    space = InputSpace((integer("a", 0, 3), categorical("s", [4])))
    problem = build_problem(model, space, Fairness(sensitive=["s"], tolerance_rate=1))
    (a, b) = (box for _, box in path_tuples(problem))
    assert problem.region(a, b) is None
    assert problem.region(b, a) is None


def _within(problem: Problem, pieces: list[Box], point: oracle.Point) -> bool:
    return any(boxes.contains(piece, cells_of(problem, point)) for piece in pieces)


def test_float32_fixture() -> None:
    """Leaves 1, 2^-25, -1: a tie under deployed, class 1 under exact; the lattice holds 2^-25."""
    model = forest(1.0, 2.0**-25, -1.0, features=1)
    space = InputSpace((integer("x", 0, 3),))
    for arithmetic, expected in (("exact", Verdict(1, True)), ("deployed", Verdict(0, False))):
        problem = build_problem(model, space, Robustness(arithmetic=arithmetic))
        assert problem.verdict((0, 0, 0)) == expected
        assert Fraction(problem.margin((0, 0, 0)), problem.scale) == Fraction(1, 2**25)


# Model and space must fit ----------------------------------------------------------------------------


def _model(n: int, names: tuple[str, ...] = ()) -> Ensemble:
    return forest((n - 1, 1, 1.0, -1.0), features=n, names=names)


def test_columns_match_by_name_and_else_by_position() -> None:
    space = InputSpace((boolean("a"), tier("c", ["c0", "c1"])), ("c1", "a", "c0"))
    by_position = build_problem(_model(3), space, Robustness())
    by_name = build_problem(_model(3, ("a", "c0", "c1")), space, Robustness())
    assert by_position.grid.places == ((1, 1), (0, None), (1, 0))
    assert by_name.grid.places == ((0, None), (1, 0), (1, 1))


@pytest.mark.parametrize(
    ("names", "columns"),
    [(("a", "b"), ("a", "c")), ((), ("a",)), ((), ("a", "b", "c")), (("a", "b"), ("a",))],
)
def test_a_mismatch_shows_both_lists(names: tuple[str, ...], columns: tuple[str, ...]) -> None:
    space = InputSpace(tuple(boolean(column) for column in columns))
    with pytest.raises(SpaceError) as caught:
        build_problem(_model(2, names), space, Robustness())
    for name in {*names, *columns}:
        assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_questions_are_checked_against_the_space() -> None:
    space = InputSpace((boolean("a"), integer("b", 0, 3)))
    for question in (Fairness(), Fairness(sensitive=["z"]), Robustness(tolerance={"a": 1})):
        with pytest.raises(QuestionError):
            build_problem(_model(2), space, question)


def test_integers_that_float32_cannot_hold_are_noted() -> None:
    """2^24 + 1 is the first integer that a float32 rounds."""
    exact = InputSpace((integer("a", 0, 2**24),))
    rounded = InputSpace((integer("a", 0, 2**24 + 1),))
    model = forest((0, 5, 1.0, -1.0), features=1)
    assert not build_problem(model, exact, Robustness()).notes
    assert any("2^24" in note and "'a'" in note for note in build_problem(model, rounded, Robustness()).notes)
