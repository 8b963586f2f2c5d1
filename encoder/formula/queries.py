"""Ψ and Φ of the paper (sections 3.4 and 3.5), stated once for every encoding.

Cutoffs come from `arithmetic`: under deployed arithmetic they are widened by the proven error of the
library's floating point, and each solution found is decided again by replay.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pysmt.fnode import FNode

from fairbox.encoder.boxes import Box
from fairbox.encoder.formula.encoding import Encoding, Side
from fairbox.encoder.problem import PathTuple, Region

Group = tuple[str, Iterator[FNode]]
"""A heading and the assertions under it."""


@dataclass(frozen=True)
class Query:
    """A formula as titled groups of assertions.

    `projection` are the symbols its solutions are projected on, `symbols` all that may occur, in order.
    """

    name: str
    title: str
    groups: tuple[tuple[str, tuple[FNode, ...]], ...]
    projection: tuple[FNode, ...]
    symbols: tuple[FNode, ...]

    @property
    def assertions(self) -> tuple[FNode, ...]:
        """All assertions in order."""
        return tuple(assertion for _, group in self.groups for assertion in group)


def psi_trees(encoding: Encoding, side: Side) -> Iterator[Group]:
    """Ψ_trees, one group per tree."""
    for j in range(len(encoding.problem.trees)):
        yield f"tree {j} over {side}", encoding.tree(side, j)


def psi_kappa(encoding: Encoding) -> FNode:
    """Ψ_κ: the confidence of x exceeds κ."""
    cutoffs = encoding.problem.cutoffs
    return encoding.manager.Or(
        encoding.at_least("x", cutoffs.confident_from), encoding.at_most("x", cutoffs.confident_to)
    )


def psi_not_kappa(encoding: Encoding) -> FNode:
    """The confidence of x does not exceed κ; under deployed arithmetic this overlaps Ψ_κ."""
    cutoffs = encoding.problem.cutoffs
    return encoding.manager.And(
        encoding.at_least("x", cutoffs.doubtful_from), encoding.at_most("x", cutoffs.doubtful_to)
    )


def opposite(encoding: Encoding, label: int) -> FNode:
    """y has the class opposite to `label` (1 or -1)."""
    cutoffs = encoding.problem.cutoffs
    if label > 0:
        return encoding.at_most("y", cutoffs.negative_to)
    return encoding.at_least("y", cutoffs.positive_from)


def psi_ineq(encoding: Encoding) -> FNode:
    """Ψ_ineq: x and y have opposite classes."""
    manager, cutoffs = encoding.manager, encoding.problem.cutoffs
    return manager.Or(
        manager.And(encoding.at_least("x", cutoffs.positive_from), opposite(encoding, 1)),
        manager.And(encoding.at_most("x", cutoffs.negative_to), opposite(encoding, -1)),
    )


def psi_near(encoding: Encoding) -> Iterator[FNode]:
    """|x_i - y_i| <= ε_i outside S, and for fairness some difference inside."""
    problem, manager = encoding.problem, encoding.manager
    for i in range(len(problem.axes)):
        if i not in problem.sensitive:
            yield from encoding.near(i)
    if problem.must_differ:
        yield manager.Not(manager.And(encoding.same(i) for i in problem.sensitive))


def psi_unfair(encoding: Encoding) -> Iterator[FNode]:
    """Ψ_unfair: x and y are near, differ as asked, and have opposite classes."""
    yield from psi_near(encoding)
    yield psi_ineq(encoding)


def phi_kappa(encoding: Encoding) -> Query:
    """Φ_κ: its projections on p are the confident path tuples."""
    groups = (*_side(encoding, "x", fine=False), ("confidence above kappa", iter([psi_kappa(encoding)])))
    return _query(encoding, "kappa", "confident path tuples", groups, "x")


def phi_not_kappa(encoding: Encoding) -> Query:
    """Φ_κ̄: its projections on p are the path tuples that are not confident."""
    groups = (
        *_side(encoding, "x", fine=False),
        ("confidence not above kappa", iter([psi_not_kappa(encoding)])),
    )
    return _query(encoding, "not_kappa", "path tuples that are not confident", groups, "x")


def phi_unfair(encoding: Encoding) -> Query:
    """Φ_unfair: its projections on p and q are the pairs of path tuples that hold a violation."""
    groups = (
        *_side(encoding, "x", fine=True),
        *_side(encoding, "y", fine=False),
        ("confidence above kappa", iter([psi_kappa(encoding)])),
        ("near, different, opposite", psi_unfair(encoding)),
    )
    return _query(encoding, "unfair", f"violations of {encoding.problem.question.property}", groups, "xy")


def phi_of_tuple(encoding: Encoding, paths: PathTuple) -> Query:
    """Φ_unfair^(π): the violations whose x takes the paths π."""
    whole = phi_unfair(encoding)
    fixed = ("x on the path tuple", (encoding.on_paths("x", paths),))
    title = f"violations of path tuple {paths}"
    return replace(whole, name="unfair_of_tuple", title=title, groups=(*whole.groups, fixed))


def tuples_base(encoding: Encoding) -> Query:
    """What every search for path tuples shares: x in X, and Ψ_trees over x."""
    return _query(encoding, "tuples", "path tuples", _side(encoding, "x", fine=False), "x")


def violations_base(encoding: Encoding) -> Query:
    """What Φ_unfair^(π) has for every π, once p = π has decided the trees over x.

    Under p = π the input x lies in B^(π) and its class and confidence are constants, so Ψ_trees over x and
    Ψ_κ drop out; `x_in` and `opposite` say what is left of them.
    """
    groups = (
        ("domain of x", encoding.domain("x", fine=True)),
        *_side(encoding, "y", fine=False),
        ("near and different", psi_near(encoding)),
    )
    inputs = encoding.inputs("x", fine=True)
    query = _query(encoding, "violations", "violations of one path tuple", groups, "y")
    return replace(query, symbols=(*inputs, *query.symbols))


def phi_outbox(encoding: Encoding, region: Region, within: Box) -> FNode:
    """Φ_outbox: x, known to lie in `within`, is outside a region (SEMANTICS, section 4).

    The misprinted ∧ of the paper is ∨ here, and the sensitive point that the region leaves out stays in.
    """
    escapes = [
        encoding.inside("x", i, within[i] & ~mask) for i, mask in enumerate(region.box) if within[i] & ~mask
    ]
    if region.excluded is not None:
        sensitive = encoding.problem.sensitive
        escapes.append(encoding.manager.And(encoding.inside("x", i, region.excluded[i]) for i in sensitive))
    return encoding.manager.Or(escapes)


def not_on_paths(encoding: Encoding, side: Side, paths: PathTuple, start: int = 0) -> FNode:
    """The input takes another path tuple; the first `start` trees are known to agree."""
    manager = encoding.manager
    return manager.Or(manager.Not(encoding.takes(side, j, paths[j])) for j in range(start, len(paths)))


def _side(encoding: Encoding, side: Side, *, fine: bool) -> tuple[Group, ...]:
    return (f"domain of {side}", encoding.domain(side, fine=fine)), *psi_trees(encoding, side)


def _query(
    encoding: Encoding, name: str, title: str, groups: tuple[Group, ...], sides: Literal["x", "y", "xy"]
) -> Query:
    built = tuple((heading, tuple(assertions)) for heading, assertions in groups)
    both = sides == "xy"
    chosen: tuple[Side, ...] = ("x", "y") if both else ("x",) if sides == "x" else ("y",)
    projection = tuple(symbol for side in chosen for symbol in encoding.projection(side))
    # Only where x and y meet do the borders of tolerance windows matter, and only on the side of x.
    symbols = tuple(s for side in chosen for s in encoding.symbols(side, fine=both and side == "x"))
    return Query(name, title, built, projection, symbols)
