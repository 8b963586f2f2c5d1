"""The exact, immutable model: trees, leaf values, base, and the library's own float32 arithmetic."""

import ctypes
import ctypes.util
import hashlib
import json
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

LEAF = -1
"""The feature number of a leaf."""

Float32Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Tree:
    """A decision tree in arrays, node 0 the root.

    A node with `feature[i] == LEAF` is a leaf of value `value[i]`; any other sends an input to `left[i]`
    when `float32(x[feature[i]]) < threshold[i]` and to `right[i]` otherwise. Thresholds and values are
    float32 numbers, held exactly.
    """

    feature: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    value: tuple[float, ...]

    @property
    def leaves(self) -> tuple[int, ...]:
        """Node numbers of the leaves, ascending; the library's `pred_leaf` speaks of the same numbers."""
        return tuple(i for i, feature in enumerate(self.feature) if feature == LEAF)

    @cached_property
    def depth(self) -> int:
        """Largest number of tests on a path."""
        depths, stack = [], [(0, 0)]
        while stack:
            node, level = stack.pop()
            if self.feature[node] == LEAF:
                depths.append(level)
            else:
                stack += [(self.left[node], level + 1), (self.right[node], level + 1)]
        return max(depths)


@dataclass(frozen=True)
class Ensemble:
    """A binary classifier: margin F(x) = base + sum of leaf values; class 1 iff F(x) > 0.

    `base` is the library's own base margin (a float32), `feature_names` is empty where the model has
    none, `library` and `source` say where it came from, `notes` what a user should know of the load.
    `raw` is the model as its library stored it and `rounds` the boosting rounds [begin, end) in use (None:
    all): with them the library itself can be asked to predict again.
    """

    trees: tuple[Tree, ...]
    base: float
    n_features: int
    feature_names: tuple[str, ...] = ()
    library: str = ""
    source: str = ""
    link: str = "logistic"
    notes: tuple[str, ...] = ()
    raw: bytes = field(default=b"", repr=False, compare=False)
    rounds: tuple[int, int] | None = field(default=None, compare=False)

    @cached_property
    def sha256(self) -> str:
        """Hash of what decides predictions: equal for equal models, whatever file they came in."""
        text = json.dumps(ensemble_to_dict(self), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def thresholds(self) -> dict[int, tuple[float, ...]]:
        """The distinct thresholds by feature number, ascending."""
        found: dict[int, set[float]] = {}
        for tree in self.trees:
            for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
                if feature != LEAF:
                    found.setdefault(feature, set()).add(threshold)
        return {feature: tuple(sorted(values)) for feature, values in sorted(found.items())}


def ensemble_to_dict(ensemble: Ensemble) -> dict[str, Any]:
    """The model as plain JSON data, floats as hexadecimal so that nothing is rounded."""
    return {
        "library": ensemble.library,
        "link": ensemble.link,
        "n_features": ensemble.n_features,
        "feature_names": list(ensemble.feature_names),
        "base": ensemble.base.hex(),
        "trees": [
            {
                "feature": list(tree.feature),
                "threshold": [t.hex() for t in tree.threshold],
                "left": list(tree.left),
                "right": list(tree.right),
                "value": [v.hex() for v in tree.value],
            }
            for tree in ensemble.trees
        ],
    }


def ensemble_from_dict(data: dict[str, Any], source: str = "") -> Ensemble:
    """The inverse of `ensemble_to_dict`."""
    trees = tuple(
        Tree(
            tuple(tree["feature"]),
            tuple(map(float.fromhex, tree["threshold"])),
            tuple(tree["left"]),
            tuple(tree["right"]),
            tuple(map(float.fromhex, tree["value"])),
        )
        for tree in data["trees"]
    )
    return Ensemble(
        trees,
        float.fromhex(data["base"]),
        data["n_features"],
        tuple(data["feature_names"]),
        data["library"],
        source,
        data["link"],
    )


def leaves_of(tree: Tree, inputs: Float32Array) -> npt.NDArray[np.int64]:
    """The leaf that each row of `inputs` (rows x features, float32) reaches."""
    feature, left, right = (np.array(a, dtype=np.int64) for a in (tree.feature, tree.left, tree.right))
    threshold = np.array(tree.threshold, dtype=np.float32)
    node = np.zeros(len(inputs), dtype=np.int64)
    active = np.flatnonzero(feature[node] != LEAF)
    while len(active):
        at = node[active]
        goes_left = inputs[active, feature[at]] < threshold[at]
        node[active] = np.where(goes_left, left[at], right[at])
        active = active[feature[node[active]] != LEAF]
    return node


def margins(ensemble: Ensemble, inputs: Any) -> Float32Array:
    """The library's float32 margin of each row, bit for bit: base first, then the trees in order.

    `inputs`: rows x features; values are cast to float32 first, as the library does.
    """
    rows = np.asarray(inputs, dtype=np.float32)
    total = np.full(len(rows), ensemble.base, dtype=np.float32)
    for tree in ensemble.trees:
        total += np.array(tree.value, dtype=np.float32)[leaves_of(tree, rows)]
    return total


@cache
def _libm() -> ctypes.CDLL:
    library = ctypes.CDLL(ctypes.util.find_library("m") or None)
    for name in ("expf", "logf"):
        function = getattr(library, name)
        function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
    return library


def probability(margin: float) -> float:
    """The library's float32 probability of class 1 at a float32 margin: 1 / (expf(-m) + 1).

    The exponent is capped at 88.7 as XGBoost does, so that it cannot overflow.
    """
    exponent = min(np.float32(-margin), np.float32(88.7))
    power = np.float32(_libm().expf(float(exponent)))
    return float(np.float32(1) / (power + np.float32(1)))


def logit32(p: float) -> float:
    """The library's float32 margin of a float32 probability: -logf(1 / p - 1)."""
    odds = np.float32(1) / np.float32(p) - np.float32(1)
    return -float(np.float32(_libm().logf(float(odds))))
