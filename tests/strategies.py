"""Random small ensembles, input spaces and questions, and a writer that lets XGBoost itself load an ensemble.

Everything is small enough for the oracle and leans towards the corners: thresholds on, next to and
outside the ends of a domain, leaf values that make ties and margins of one float32 step, one-value
attributes, several sensitive attributes, tolerances that reach over the edge.
"""

import ctypes
import ctypes.util
import json
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fairbox.encoder.ensemble import LEAF, Ensemble, Tree
from fairbox.encoder.properties import Fairness, Question, Robustness
from fairbox.encoder.space import Attribute, InputSpace, boolean, categorical, continuous, integer, tier

Case = tuple[Ensemble, InputSpace, Question]
Draw = st.DrawFn

_libm = ctypes.CDLL(ctypes.util.find_library("m"))
_libm.logf.restype = ctypes.c_float
_libm.logf.argtypes = [ctypes.c_float]

KINDS = ("integer", "categorical", "boolean", "continuous", "tier")
REAL_ENDS = [Fraction(n, d) for n, d in [(-1, 1), (-1, 3), (0, 1), (1, 10), (1, 2), (1, 1), (7, 5), (3, 1)]]
RATES = [0.34, "0.5", Fraction(1, 5), 0, "0.1", 1]
TOLERANCES = [0, "1/3", 0.5, 1, "1.5", 2]
CONFIDENCES = ["1/2", 0.5, "0.5", 0.6, "0.7", Fraction(2, 3), "0.50000003"]
"""Written in every way a user may write a number. 0.50000003 lies between two float32 probabilities."""
LEAVES = [1.0, -1.0, -0.5, 0.5, 0.25, -0.75, 0.0]
FINE_LEAVES = [s * v for v in (2.0**-25, 2.0**-24, 1e-7, 0.4054651, 0.8472979) for s in (1, -1)]
"""Sums make exact ties, ties in float32 only, and margins of one step, also at logit 0.6 and 0.7."""
BASE_SCORES = [0.5, 0.5, 0.5, 0.4, 0.49850464, 0.50000006, 0.6]


def float32(value: float | Fraction) -> float:
    """The nearest float32, held in a Python float."""
    return float(np.float32(float(value)))


def step(value: float, ulps: int) -> float:
    """The float32 that is `ulps` (-1, 0 or 1) float32 steps from the nearest float32 of `value`."""
    start = np.float32(value)
    return float(np.nextafter(start, np.float32(np.inf * ulps)) if ulps else start)


# Spaces ----------------------------------------------------------------------------------------------


@st.composite
def attributes(draw: Draw, name: str, kinds: tuple[str, ...] = KINDS) -> Attribute:
    """An attribute of at most five values, or a short real interval."""
    kind = draw(st.sampled_from(kinds))
    options: dict[str, Any] = {"sensitive": draw(st.booleans())}
    if kind == "integer":
        lower = draw(st.integers(-2, 2))
        return integer(name, lower, lower + draw(st.integers(0, 4)), **options)
    if kind == "categorical":
        codes = draw(st.sets(st.integers(0, 5), min_size=1, max_size=4))
        return categorical(name, codes, **options)
    if kind == "boolean":
        return boolean(name, **options)
    if kind == "continuous":
        ends = sorted(draw(st.permutations(REAL_ENDS))[:2])
        return continuous(name, ends[0], ends[1], **options)
    columns = [f"{name}_{code}" for code in range(draw(st.integers(1, 3)))]
    return tier(name, columns, allow_none=draw(st.booleans()), **options)


def counts(most: int) -> st.SearchStrategy[int]:
    """1 to `most`, and one seldom: a single attribute or tree rarely has an answer of note."""
    return st.sampled_from([min(n, most) for n in (2, 3, 1, 4, 2, 3, 4)])


@st.composite
def spaces(
    draw: Draw, max_attributes: int = 4, kinds: tuple[str, ...] = KINDS, max_reals: int = 2
) -> InputSpace:
    """One to `max_attributes` attributes, at most `max_reals` of them continuous."""
    chosen: list[Attribute] = []
    for i in range(draw(counts(max_attributes))):
        full = sum(a.kind == "continuous" for a in chosen) >= max_reals
        allowed = tuple(kind for kind in kinds if not (full and kind == "continuous"))
        chosen.append(draw(attributes(f"a{i}", allowed or kinds)))
    columns = [column for attribute in chosen for column in attribute.columns]
    if any(len(a.columns) > 1 for a in chosen) and draw(st.booleans()):
        columns = draw(st.permutations(columns))  # one-hot columns need not stand side by side in the model
    return InputSpace(tuple(chosen), tuple(columns))


# Ensembles -------------------------------------------------------------------------------------------


ULPS = st.sampled_from([0, 0, 0, -1, 1])


def thresholds(attribute: Attribute) -> st.SearchStrategy[float]:
    """Thresholds on, one float32 step beside, between and outside the values of an attribute."""
    if attribute.kind in ("tier", "boolean"):
        return st.sampled_from([0.5, 1.0, 0.5, 1.0, 0.0, -0.5, step(1.0, 1), step(0.0, 1), 1.5])
    if attribute.kind == "continuous":
        assert attribute.lower is not None and attribute.upper is not None
        low, high = attribute.lower, attribute.upper
        inner = [low + (high - low) * Fraction(k, 5) for k in range(6)]
        outer = [low - 1, high + Fraction(1, 2)]
        return st.builds(step, st.sampled_from([float(v) for v in inner + outer]), ULPS)
    values = values_of(attribute)
    span = range(values[0], values[-1] + 2)
    places = [v + shift for v in span for shift in (0.0, 0.0, -0.5)] + [values[0] - 1.0]
    return st.builds(step, st.sampled_from(places), ULPS)


def values_of(attribute: Attribute) -> list[int]:
    """The values of a counted attribute."""
    if attribute.kind == "integer":
        assert attribute.lower is not None and attribute.upper is not None
        return list(range(int(attribute.lower), int(attribute.upper) + 1))
    return sorted(attribute.codes)


LEAF_VALUES = st.one_of(
    st.sampled_from(LEAVES),
    st.sampled_from(LEAVES),
    st.sampled_from(FINE_LEAVES).map(float32),
    st.integers(-(2**24), 2**24).map(lambda n: float32(Fraction(n, 2**23))),
)


@st.composite
def trees(draw: Draw, tests: dict[int, st.SearchStrategy[float]], max_depth: int = 3) -> Tree:
    """A tree over the features of `tests`; children are numbered in pairs, as XGBoost numbers them."""
    feature, threshold, left, right, value = [LEAF], [0.0], [-1], [-1], [0.0]
    open_nodes = [(0, 0)]
    while open_nodes:
        node, depth = open_nodes.pop(0)
        if depth == max_depth or draw(st.integers(0, 15)) >= (15, 12, 8)[depth]:
            value[node] = draw(LEAF_VALUES)
            continue
        feature[node] = draw(st.sampled_from(sorted(tests)))
        threshold[node] = draw(tests[feature[node]])
        left[node], right[node] = len(feature), len(feature) + 1
        for column, fill in ((feature, LEAF), (threshold, 0.0), (left, -1), (right, -1), (value, 0.0)):
            column += [fill, fill]
        open_nodes += [(left[node], depth + 1), (right[node], depth + 1)]
    return Tree(tuple(feature), tuple(threshold), tuple(left), tuple(right), tuple(value))


@st.composite
def ensembles(draw: Draw, space: InputSpace, max_trees: int = 4, max_depth: int = 3) -> Ensemble:
    """An ensemble for a space: features by position, or by name in an order of their own."""
    owner = {column: attribute for attribute in space.attributes for column in attribute.columns}
    named = draw(st.booleans())
    columns = draw(st.permutations(space.columns)) if named else space.columns
    tests = {feature: thresholds(owner[column]) for feature, column in enumerate(columns)}
    grown = [draw(trees(tests, max_depth)) for _ in range(draw(counts(max_trees)))]
    return Ensemble(
        trees=tuple(grown),
        base=base_of(draw(st.sampled_from(BASE_SCORES))),
        n_features=len(columns),
        feature_names=tuple(columns) if named else (),
        library="xgboost",
        source="made by hand",
    )


# Questions -------------------------------------------------------------------------------------------


@st.composite
def questions(draw: Draw, space: InputSpace) -> Question:
    """Robustness, or fairness with one or two sensitive attributes, named or flagged in the space."""
    options: dict[str, Any] = {
        "tolerance_rate": draw(st.sampled_from(RATES)),
        "confidence": draw(st.sampled_from(CONFIDENCES)),
        "ties": draw(st.sampled_from(["none", "library"])),
        "arithmetic": draw(st.sampled_from(["deployed", "exact"])),
    }
    names = [a.name for a in space.attributes]
    sensitive: tuple[str, ...] = ()
    fair: bool = draw(st.sampled_from([True, True, False]))
    if fair:
        flagged = [a.name for a in space.attributes if a.sensitive]
        by_flag: bool = draw(st.booleans())
        if flagged and by_flag:
            sensitive = tuple(flagged)
        else:
            sensitive = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)))
            options["sensitive"] = sensitive
    free = [a.name for a in space.attributes if a.ordered and a.name not in sensitive]
    by_name: bool = draw(st.booleans())
    if free and by_name:
        chosen = st.dictionaries(st.sampled_from(free), st.sampled_from(TOLERANCES), max_size=2)
        options["tolerance"] = draw(chosen)
    return Fairness(**options) if fair else Robustness(**options)


@st.composite
def cases(
    draw: Draw, max_attributes: int = 4, max_trees: int = 4, max_depth: int = 3, **options: Any
) -> Case:
    """An ensemble, its input space and a question about them."""
    space = draw(spaces(max_attributes, **options))
    return draw(ensembles(space, max_trees, max_depth)), space, draw(questions(space))


# Ensembles as XGBoost files --------------------------------------------------------------------------


def base_of(score: float | np.float32) -> float:
    """XGBoost's base margin of a probability: -logf(1/p - 1) in float32, by the C library's logf."""
    p = np.float32(score)
    return float(np.float32(-_libm.logf(ctypes.c_float(float(np.float32(1) / p - np.float32(1)))))) + 0.0


def base_score_of(base: float) -> float:
    """A float32 probability whose base margin is `base`; ValueError when there is none."""
    p = np.float32(1 / (1 + np.exp(-np.float64(base))))
    for direction in (np.float32(0), np.float32(1)):
        candidate = p
        for _ in range(64):
            if base_of(candidate) == base:
                return float(candidate)
            candidate = np.nextafter(candidate, direction)
    raise ValueError(f"no float32 probability has the base margin {base!r}")


def xgboost_json(ensemble: Ensemble) -> dict[str, Any]:
    """The ensemble as the parsed JSON of an XGBoost 3 binary:logistic model."""
    count = len(ensemble.trees)
    return {
        "version": [3, 0, 0],
        "learner": {
            "attributes": {},
            "feature_names": list(ensemble.feature_names),
            "feature_types": ["float"] * len(ensemble.feature_names),
            "learner_model_param": {
                "base_score": f"[{np.float32(base_score_of(ensemble.base))}]",
                "boost_from_average": "1",
                "num_class": "0",
                "num_feature": str(ensemble.n_features),
                "num_target": "1",
            },
            "objective": {"name": "binary:logistic", "reg_loss_param": {"scale_pos_weight": "1"}},
            "gradient_booster": {
                "name": "gbtree",
                "model": {
                    "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
                    "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(count)},
                    "iteration_indptr": list(range(count + 1)),
                    "tree_info": [0] * count,
                    "trees": [_tree_json(i, t, ensemble.n_features) for i, t in enumerate(ensemble.trees)],
                },
            },
        },
    }


def _tree_json(number: int, tree: Tree, n_features: int) -> dict[str, Any]:
    nodes = range(len(tree.feature))
    leaf = [f == LEAF for f in tree.feature]
    parents = {c: n for n in nodes if not leaf[n] for c in (tree.left[n], tree.right[n])}
    return {
        "id": number,
        "base_weights": [0.0 for _ in nodes],
        "categories": [],
        "categories_nodes": [],
        "categories_segments": [],
        "categories_sizes": [],
        "default_left": [0 for _ in nodes],
        "left_children": [-1 if leaf[n] else tree.left[n] for n in nodes],
        "right_children": [-1 if leaf[n] else tree.right[n] for n in nodes],
        "parents": [parents.get(n, 2147483647) for n in nodes],
        "loss_changes": [0.0 for _ in nodes],
        "split_conditions": [tree.value[n] if leaf[n] else tree.threshold[n] for n in nodes],
        "split_indices": [0 if leaf[n] else tree.feature[n] for n in nodes],
        "split_type": [0 for _ in nodes],
        "sum_hessian": [1.0 for _ in nodes],
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_features),
            "num_nodes": str(len(tree.feature)),
            "size_leaf_vector": "1",
        },
    }


def booster(ensemble: Ensemble) -> Any:
    """The ensemble loaded by XGBoost itself."""
    import xgboost

    loaded = xgboost.Booster(params={"nthread": 1})
    loaded.load_model(bytearray(json.dumps(xgboost_json(ensemble)), "utf-8"))
    return loaded
