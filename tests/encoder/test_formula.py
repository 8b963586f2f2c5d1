"""Ψ and Φ in every encoding, evaluated at points: a formula holds exactly where its definition does.

No solver is asked: every symbol is given the value that it means, and the formula is simplified.
"""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.fnode import FNode

from fairbox.encoder import boxes
from fairbox.encoder.boxes import Box
from fairbox.encoder.cells import Axis
from fairbox.encoder.ensemble import LEAF, Tree
from fairbox.encoder.errors import FormulaError
from fairbox.encoder.formula import ENCODINGS, Encoding, Side, build_encoding
from fairbox.encoder.formula.queries import (
    Query,
    not_on_paths,
    opposite,
    phi_kappa,
    phi_not_kappa,
    phi_of_tuple,
    phi_outbox,
    phi_unfair,
    tuples_base,
    violations_base,
)
from fairbox.encoder.names import symbol_components
from fairbox.encoder.problem import PathTuple, Problem, build_problem
from fairbox.encoder.properties import Fairness, Robustness
from fairbox.encoder.space import InputSpace, boolean, categorical, integer, tier
from tests import oracle
from tests.encoder.test_cells import cell_of
from tests.encoder.test_problem import cells_of, path_tuples, points, sees
from tests.strategies import Case, cases
from tests.test_oracle import forest

SMALL = cases(max_attributes=3, max_trees=2, max_depth=2)
RANDOM = st.randoms(use_true_random=False)
every_encoding = pytest.mark.parametrize("name", sorted(ENCODINGS))


def walk(tree: Tree, row: Any) -> int:
    """The node number of the leaf that an input reaches."""
    node = 0
    while tree.feature[node] != LEAF:
        below = row[tree.feature[node]] < Fraction(tree.threshold[node])
        node = tree.left[node] if below else tree.right[node]
    return node


class World:
    """What every symbol of an encoding means when x and y are two given points."""

    def __init__(self, encoding: Encoding, x: oracle.Point, y: oracle.Point | None = None) -> None:
        self.encoding = encoding
        self.points: dict[str, oracle.Point | None] = {"x": x, "y": y, "v": x, "p": x, "w": y, "q": y}

    def holds(self, formula: FNode) -> bool:
        """The truth value of a formula at the two points."""
        environment, manager = self.encoding.environment, self.encoding.manager
        meaning = {symbol: self._value(symbol) for symbol in environment.fvo.get_free_variables(formula)}
        constant = environment.simplifier.simplify(environment.substituter.substitute(formula, meaning))
        assert constant in (manager.TRUE(), manager.FALSE())
        return bool(constant.is_true())

    def hold(self, query: Query) -> bool:
        return all(self.holds(assertion) for assertion in query.assertions)

    def _value(self, symbol: FNode) -> FNode:
        manager, problem = self.encoding.manager, self.encoding.problem
        letter, *rest = symbol_components(symbol.symbol_name())
        point = self.points[letter]
        assert point is not None, f"{symbol} is of the other input"
        if letter in "xy":
            i = problem.space.names.index(rest[0])
            return self._input(symbol, problem.space.attributes[i], point[i], rest[1:])
        tree = problem.ensemble.trees[int(rest[0])]
        leaf = walk(tree, oracle.model_row(problem.ensemble, problem.space, point))
        if letter in "vw":
            return manager.Real(Fraction(tree.value[leaf]) * problem.scale)
        return manager.Bool(leaf == int(rest[1])) if rest[1:] else manager.Int(leaf)

    def _input(self, symbol: FNode, attribute: Any, value: Any, rest: list[str]) -> FNode:
        """`x!age` is the value, `x!job!a` the 0/1 column, `x!age!>=30` and `x!job!=0,2` what they say."""
        manager = self.encoding.manager
        if not rest:
            real = symbol.symbol_type().is_real_type()
            return manager.Real(Fraction(value)) if real else manager.Int(int(value))
        if rest[0].startswith(">="):
            return manager.Bool(value >= Fraction(rest[0][2:]))
        if rest[0].startswith("="):
            return manager.Bool(str(value) in rest[0][1:].split(","))
        return manager.Bool(value >= 0 and attribute.columns[int(value)] == rest[0])


def paths_of(problem: Problem, point: oracle.Point) -> PathTuple:
    row = oracle.model_row(problem.ensemble, problem.space, point)
    found = []
    for tree, paths in zip(problem.ensemble.trees, problem.trees, strict=True):
        found.append([path.id for path in paths].index(walk(tree, row)))
    return tuple(found)


@every_encoding
@settings(max_examples=30)
@given(case=SMALL, random=RANDOM)
def test_trees_fix_paths_and_values(name: str, case: Case, random: Any) -> None:
    """At any point Ψ_trees holds of the paths the model takes, and with the paths of another point of none else."""
    problem = build_problem(*case)
    encoding = build_encoding(problem, name)
    query = tuples_base(encoding)
    everything = points(case)
    for point in random.sample(everything, min(8, len(everything))):
        world = World(encoding, point)
        assert world.hold(query)
        assert world.holds(encoding.on_paths("x", paths_of(problem, point)))
        assert not world.holds(not_on_paths(encoding, "x", paths_of(problem, point)))
        other = random.choice(everything)
        if paths_of(problem, other) != paths_of(problem, point):
            world.points["p"] = world.points["v"] = other
            assert not world.hold(query)
            assert not world.holds(encoding.on_paths("x", paths_of(problem, point)))


@every_encoding
@settings(max_examples=30)
@given(case=SMALL, random=RANDOM)
def test_confidence_formulas(name: str, case: Case, random: Any) -> None:
    """Φ_κ and Φ_κ̄ decide under exact arithmetic and overlap under deployed: no input is in neither."""
    problem = build_problem(*case)
    encoding = build_encoding(problem, name)
    judge = oracle.Judge(*case)
    above, below = phi_kappa(encoding), phi_not_kappa(encoding)
    everything = points(case)
    for point in random.sample(everything, min(10, len(everything))):
        world, confident = World(encoding, point), judge(point).confident
        found = world.hold(above), world.hold(below)
        if case[2].arithmetic == "exact":
            assert found == (confident, not confident)
        else:
            assert found[0] or not confident
            assert found[1] or confident


@every_encoding
@settings(max_examples=50)
@given(case=SMALL, random=RANDOM)
def test_violations(name: str, case: Case, random: Any) -> None:
    """Φ_unfair, Φ_unfair^(π) and what is left of it under p = π, at pairs of points."""
    question = case[2]
    problem = build_problem(*case)
    encoding = build_encoding(problem, name)
    judge = oracle.Judge(*case)
    whole, shared = phi_unfair(encoding), violations_base(encoding)
    everything = points(case)
    for _ in range(6):
        x, y = random.choice(everything), random.choice(everything)
        if random.random() < 0.5:  # most attributes equal, or few pairs are near
            y = tuple(b if random.random() < 0.5 else a for a, b in zip(x, y, strict=True))
        world = World(encoding, x, y)
        fine = _related(case, problem, x, y) if name == "paper" else _cells_related(case, problem, x, y)
        verdict = judge(x)
        unfair = fine and verdict.confident and judge(y).label == -verdict.label
        found = world.hold(whole)
        assert world.hold(shared) == fine
        assert world.holds(phi_of_tuple(encoding, paths_of(problem, x)).assertions[-1])
        if question.arithmetic == "exact":
            assert found == unfair
        else:
            assert found or not unfair
        if verdict.confident:
            across = world.holds(opposite(encoding, verdict.label))
            if question.arithmetic == "exact":
                assert across == (judge(y).label == -verdict.label)
            else:
                assert across or judge(y).label != -verdict.label


def _related(case: Case, problem: Problem, x: oracle.Point, y: oracle.Point) -> bool:
    """Near outside S, different inside, point by point (SEMANTICS, section 3)."""
    _, space, question = case
    sensitive, widths = oracle.sensitive_names(space, question), oracle.tolerances(space, question)
    differs = False
    for attribute, a, b in zip(space.attributes, x, y, strict=True):
        if attribute.name in sensitive:
            differs |= a != b
        elif attribute.kind in ("integer", "continuous"):
            if abs(Fraction(a) - Fraction(b)) > widths[attribute.name]:
                return False
        elif a != b:
            return False
    return differs or question.property == "robustness"


def _cells_related(case: Case, problem: Problem, x: oracle.Point, y: oracle.Point) -> bool:
    """On the grid y stands for every value that tests do not tell from it: one of these must be related."""
    _, space, question = case
    around = tuple(_alike(axis, value) for axis, value in zip(problem.axes, y, strict=True))
    sensitive, widths = oracle.sensitive_names(space, question), oracle.tolerances(space, question)
    return sees(case, problem, x, around, sensitive, widths)


def _alike(axis: Axis, value: Any) -> int:
    """The cells between the two tests around a value."""
    first = last = cell_of(axis, value)
    while not axis.tested[first] and first > 0:
        first -= 1
    while last + 1 < len(axis.cells) and not axis.tested[last + 1]:
        last += 1
    return (1 << (last + 1)) - (1 << first)


@every_encoding
@settings(max_examples=40)
@given(case=SMALL, random=RANDOM)
def test_box_blocking_leaves_exactly_what_is_outside_the_region(name: str, case: Case, random: Any) -> None:
    """Φ_outbox, for x in the box of its path tuple (SEMANTICS, section 4; the paper prints ∧ for ∨)."""
    problem = build_problem(*case)
    encoding = build_encoding(problem, name)
    found = path_tuples(problem)
    grid = {
        point: cells_of(problem, point) for point in random.sample(points(case), min(40, len(points(case))))
    }
    for _ in range(4):
        (_, box), (_, other) = random.choice(found), random.choice(found)
        region = problem.region(box, other)
        if region is None:
            continue
        escape = phi_outbox(encoding, region, box)
        for point, cells in grid.items():
            if boxes.contains(box, cells):
                inside = any(boxes.contains(piece, cells) for piece in region.pieces())
                assert World(encoding, point).holds(escape) == (not inside)


@every_encoding
@settings(max_examples=30)
@given(case=SMALL, random=RANDOM)
def test_inside_a_box(name: str, case: Case, random: Any) -> None:
    problem = build_problem(*case)
    encoding = build_encoding(problem, name)
    box: Box = tuple(random.randint(1, axis.full) for axis in problem.axes)
    formula = encoding.inside_box("x", box)
    everything = points(case)
    for point in random.sample(everything, min(15, len(everything))):
        assert World(encoding, point).holds(formula) == boxes.contains(box, cells_of(problem, point))


@every_encoding
@settings(max_examples=30)
@given(case=SMALL)
def test_all_symbols_are_declared_in_order(name: str, case: Case) -> None:
    """A query lists every symbol that it uses, once, and its projection is among them."""
    encoding = build_encoding(build_problem(*case), name)
    free = encoding.environment.fvo.get_free_variables
    for query in (
        phi_kappa(encoding),
        phi_not_kappa(encoding),
        phi_unfair(encoding),
        violations_base(encoding),
    ):
        used = {symbol for assertion in query.assertions for symbol in free(assertion)}
        assert used <= set(query.symbols)
        assert set(query.projection) <= set(query.symbols)
        assert len(set(query.symbols)) == len(query.symbols)


@every_encoding
@settings(max_examples=30)
@given(case=SMALL)
def test_formulas_are_the_same_every_time(name: str, case: Case) -> None:
    """Two environments, one text: names and order do not depend on hashes or memory."""
    texts = []
    for _ in range(2):
        query = phi_unfair(build_encoding(build_problem(*case), name))
        texts.append([assertion.serialize() for assertion in (*query.assertions, *query.symbols)])
    assert texts[0] == texts[1]


@every_encoding
@settings(max_examples=30)
@given(case=SMALL, random=RANDOM)
def test_projections_decode_to_path_tuples(name: str, case: Case, random: Any) -> None:
    problem = build_problem(*case)
    encoding = build_encoding(problem, name)
    point = random.choice(points(case))
    world = World(encoding, point, point)
    sides: tuple[Side, ...] = ("x", "y")
    for side in sides:
        values = {s.symbol_name(): world._value(s).constant_value() for s in encoding.projection(side)}
        assert encoding.decode(side, values) == paths_of(problem, point)


# By hand ---------------------------------------------------------------------------------------------


def test_values_that_name_no_path_are_refused() -> None:
    problem = build_problem(forest((0, 1, 1.0, -1.0), features=1), InputSpace((boolean("a"),)), Robustness())
    paper, cells = build_encoding(problem, "paper"), build_encoding(problem, "cells")
    assert paper.decode("x", {"p!0": 2}) == (1,)
    assert cells.decode("x", {"p!0!1": False, "p!0!2": True}) == (1,)
    with pytest.raises(FormulaError):
        paper.decode("x", {"p!0": 7})
    for both in (True, False):
        with pytest.raises(FormulaError):
            cells.decode("x", {"p!0!1": both, "p!0!2": both})


def test_an_unknown_encoding_is_refused() -> None:
    problem = build_problem(forest(1.0, features=1), InputSpace((boolean("a"),)), Robustness())
    with pytest.raises(FormulaError, match=r"cells.*paper|paper.*cells"):
        build_encoding(problem, "ilp")


def test_the_domain_is_exactly_x() -> None:
    """In the paper's encoding: bounds, listed codes with gaps, and one-hot columns, with and without none."""
    space = InputSpace(
        (
            integer("a", 0, 2),
            categorical("c", [1, 2, 5]),
            tier("t", ["t0", "t1", "t2"]),
            tier("u", ["u0", "u1"], allow_none=True),
        )
    )
    model = forest((0, 1, 1.0, -1.0), features=7)
    encoding = build_encoding(build_problem(model, space, Robustness()), "paper")
    manager = encoding.manager
    domain = manager.And(encoding.domain("x", fine=False))
    symbols = {s.symbol_name(): s for s in encoding.inputs("x", fine=False)}

    def allowed(a: int, c: int, t: tuple[int, ...], u: tuple[int, ...]) -> bool:
        values: dict[str, Any] = {"x!a": manager.Int(a), "x!c": manager.Int(c)}
        values |= {f"x!t!t{k}": manager.Bool(bool(bit)) for k, bit in enumerate(t)}
        values |= {f"x!u!u{k}": manager.Bool(bool(bit)) for k, bit in enumerate(u)}
        assert values.keys() == symbols.keys()
        chosen = {symbols[key]: value for key, value in values.items()}
        environment = encoding.environment
        return bool(
            environment.simplifier.simplify(environment.substituter.substitute(domain, chosen)).is_true()
        )

    assert allowed(0, 1, (1, 0, 0), (0, 0))
    assert allowed(2, 5, (0, 0, 1), (0, 1))
    assert not allowed(-1, 1, (1, 0, 0), (0, 0))
    assert not allowed(3, 1, (1, 0, 0), (0, 0))
    for gap in (0, 3, 4, 6):
        assert not allowed(0, gap, (1, 0, 0), (0, 0))
    assert not allowed(0, 1, (0, 0, 0), (0, 0))
    assert not allowed(0, 1, (1, 0, 1), (0, 0))
    assert not allowed(0, 1, (1, 0, 0), (1, 1))


@every_encoding
def test_box_blocking_keeps_the_sensitive_point(name: str) -> None:
    """Class -1 only at a >= 2 with s = t = 0: the region of x leaves (s, t) = (0, 0) out, and nothing more.

    That point must stay unblocked; (0, 1) and (1, 0) share one value with it and are blocked.
    """
    model = forest((1, 1, (2, 1, (0, 2, 1.0, -1.0), 1.0), 1.0), features=3)
    space = InputSpace((integer("a", 0, 3), boolean("s"), boolean("t")))
    problem = build_problem(model, space, Fairness(sensitive=["s", "t"], tolerance={"a": 1}))
    (negative,) = (box for paths, box in path_tuples(problem) if problem.verdict(paths).label == -1)
    region = problem.region(problem.full, negative)
    assert region is not None
    encoding = build_encoding(problem, name)
    escape = phi_outbox(encoding, region, problem.full)
    free = [
        point for point in points((model, space, problem.question)) if World(encoding, point).holds(escape)
    ]
    assert free == [(a, s, t) for a in range(4) for s in (0, 1) for t in (0, 1) if a == 0 or (s, t) == (0, 0)]


def test_epsilon_zero_means_equal() -> None:
    """Nearness is <=, or ε = 0 would leave nothing near: Φ_unfair has a solution at x = y outside S."""
    model = forest((1, 1, 1.0, -1.0), features=2)
    space = InputSpace((integer("a", 0, 3), boolean("s")))
    problem = build_problem(model, space, Fairness(sensitive=["s"], arithmetic="exact"))
    for name in ENCODINGS:
        query = phi_unfair(encoding := build_encoding(problem, name))
        assert World(encoding, (2, 0), (2, 1)).hold(query)
        assert not World(encoding, (2, 0), (2, 0)).hold(query)
    paper = build_encoding(problem, "paper")
    assert not World(paper, (2, 0), (3, 1)).hold(phi_unfair(paper))
