"""XGBoost: binary:logistic gbtree models from JSON, UBJ, Booster and XGBClassifier.

Thresholds and leaf values are read from the model's own JSON as float32, never from a text dump (two
thresholds one unit apart may print alike there). The base is the library's base margin: -logf(1/p - 1) of
the stored float32 probability p.
"""

import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fairbox.encoder.ensemble import LEAF, Ensemble, Tree, logit32, margins, probability
from fairbox.encoder.errors import ModelError, SoundnessError
from fairbox.encoder.numbers import float32

if TYPE_CHECKING:
    import xgboost

SUPPORTED = "supported: objective binary:logistic with booster gbtree"
CHECKED_ROWS = 1000
UBJ_HEADS = (b"{L", b"{l", b"{i", b"{I", b"{U", b"{$", b"{#")
NODE_ARRAYS = ("base_weights", "default_left", "loss_changes", "parents", "split_type", "sum_hessian")
"""Arrays of a tree that are not used here, but that the library reads without a look at their length."""
MAX_FEATURES = 100_000
"""More are refused: a self-check of CHECKED_ROWS rows would need gigabytes."""


class XGBoostFormat:
    """Models of the xgboost package."""

    name = "xgboost"

    def recognises_file(self, path: Path, head: bytes) -> bool:
        """JSON and UBJ both begin with an object; what is inside is judged on loading."""
        return head.lstrip()[:1] == b"{" or path.suffix in (".json", ".ubj")

    def recognises_object(self, model: object) -> bool:
        """A Booster or an XGBModel of the scikit-learn interface."""
        return any(
            base.__module__.partition(".")[0] == "xgboost" and base.__name__ in ("Booster", "XGBModel")
            for base in type(model).__mro__
        )

    def load_file(self, path: Path, iteration_range: tuple[int, int] | None) -> Ensemble:
        """Read a JSON or UBJ file; all boosting rounds unless told otherwise, as Booster.predict uses."""
        return _load(path.read_bytes(), str(path), iteration_range)

    def load_object(self, model: Any, iteration_range: tuple[int, int] | None) -> Ensemble:
        """Take a Booster (all rounds) or an XGBClassifier (up to its best iteration, as its predict does)."""
        source = type(model).__qualname__
        if hasattr(model, "get_booster"):
            model, iteration_range = _unwrap(model, source, iteration_range)
        return _load(bytes(model.save_raw("json")), source, iteration_range)

    def library_margins(self, ensemble: Ensemble, inputs: Any) -> Any:
        """Predict with xgboost itself: float32 margins (rows,) of float32 inputs (rows x features)."""
        return _predict(ensemble, inputs, margin=True)


FORMAT = XGBoostFormat()


def _unwrap(
    model: Any, source: str, iteration_range: tuple[int, int] | None
) -> tuple["xgboost.Booster", tuple[int, int] | None]:
    from sklearn.exceptions import NotFittedError

    try:
        booster = model.get_booster()
    except NotFittedError as error:
        raise ModelError(f"{source} is not fitted: call fit first") from error
    if iteration_range is None and booster.attr("best_iteration") is not None:
        iteration_range = (0, int(model.best_iteration) + 1)
    return booster, iteration_range


def _parse(content: bytes, source: str) -> Any:
    """The object that a JSON or UBJ file holds; neither reader trusts a length that the file states."""
    try:
        if content[:2] in UBJ_HEADS:
            import ubjson

            return ubjson.loadb(content)
        return json.loads(content)
    except (ValueError, RecursionError, MemoryError) as error:
        kind = "UBJ" if content[:2] in UBJ_HEADS else "JSON"
        raise ModelError(
            f"{source}: not valid {kind} ({error}): save the model again as JSON or UBJ"
        ) from error


def _reason(error: Exception) -> str:
    """The library's own words, without the time, source file and stack trace around them."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return re.sub(r"^(\[[\d:]+\]\s*)?(\S+?:\d+:\s*)?", "", lines[0]) if lines else type(error).__name__


def _load(raw: bytes, source: str, iteration_range: tuple[int, int] | None) -> Ensemble:
    data = _parse(raw, source)
    try:
        ensemble = _ensemble(data, raw, source, iteration_range)
    except ModelError as error:
        raise ModelError(f"{source}: {error}") from error
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, OverflowError) as error:
        raise ModelError(
            f"{source}: not an XGBoost model ({type(error).__name__}: {error}): save the model again"
        ) from error
    _self_check(ensemble)
    return ensemble


def _ensemble(data: Any, raw: bytes, source: str, iteration_range: tuple[int, int] | None) -> Ensemble:
    if not isinstance(data, Mapping) or "learner" not in data:
        raise ModelError("this JSON has no 'learner': not an XGBoost model; save one with save_model")
    learner = data["learner"]
    _refuse_unsupported(learner)
    parameters = learner["learner_model_param"]
    n_features = int(parameters["num_feature"])
    if not 0 < n_features <= MAX_FEATURES:
        raise ModelError(f"the model has {n_features} features; 1 to {MAX_FEATURES} are supported")
    names = tuple(learner.get("feature_names") or ())
    if len(set(names)) != len(names):
        raise ModelError("two features have the same name: rename one and train again")
    if names and len(names) != n_features:
        raise ModelError(f"{len(names)} feature names for {n_features} features")
    model = learner["gradient_booster"]["model"]
    if any(model["tree_info"]) or len(model["tree_info"]) != len(model["trees"]):
        raise ModelError("tree_info does not say class 0 for every tree: the file is damaged, save it again")
    trees = [_tree(tree, number, n_features) for number, tree in enumerate(model["trees"])]
    per_round = int(model["gbtree_model_param"].get("num_parallel_tree") or 1)
    chosen = _rounds(len(trees) // max(per_round, 1), iteration_range)
    notes = _early_stopping_note(learner, chosen)
    return Ensemble(
        tuple(trees[chosen[0] * per_round : chosen[1] * per_round]),
        _base_margin(parameters["base_score"]),
        n_features,
        names,
        library="xgboost",
        source=source,
        notes=notes,
        raw=raw,
        rounds=chosen,
    )


def _refuse_unsupported(learner: Mapping[str, Any]) -> None:
    objective = learner["objective"]["name"]
    booster = learner["gradient_booster"]["name"]
    if booster != "gbtree":
        raise ModelError(f"booster {booster!r} is not supported ({SUPPORTED})")
    classes = int(learner["learner_model_param"].get("num_class") or 0)
    if classes > 1 or objective.startswith("multi:"):
        raise ModelError(f"multi-class model ({objective}, {classes} classes) is not supported ({SUPPORTED})")
    if objective != "binary:logistic":
        raise ModelError(f"objective {objective!r} is not supported ({SUPPORTED})")
    if int(learner["learner_model_param"].get("num_target") or 1) > 1:
        raise ModelError(f"model with several outputs is not supported ({SUPPORTED})")


def _rounds(available: int, asked: tuple[int, int] | None) -> tuple[int, int]:
    if asked is None:
        return 0, available
    begin, end = asked
    end = end or available
    if not 0 <= begin < end <= available:
        raise ModelError(f"iteration_range {asked} is outside the model's {available} boosting rounds")
    return begin, end


def _early_stopping_note(learner: Mapping[str, Any], chosen: tuple[int, int]) -> tuple[str, ...]:
    best = learner.get("attributes", {}).get("best_iteration")
    if best is None or int(best) + 1 == chosen[1]:
        return ()
    return (
        f"training stopped early at round {best}, but rounds {chosen[0]} to {chosen[1] - 1} are used, as "
        f"Booster.predict does; XGBClassifier.predict would use iteration_range=(0, {int(best) + 1})",
    )


def _base_margin(stored: str) -> float:
    """Base margin of a stored base score: a probability, in a list since 3.x ("[5E-1]")."""
    entries = stored.strip("[]").split(",")
    if len(entries) != 1:
        raise ModelError(f"base_score {stored!r} has {len(entries)} entries; one is supported")
    p = float32(float(entries[0]))
    if not 0 < p < 1:
        raise ModelError(f"base_score {stored!r} is not a probability between 0 and 1")
    return logit32(p)


def _tree(data: Mapping[str, Any], number: int, n_features: int) -> Tree:
    if int(data["tree_param"].get("size_leaf_vector") or 1) > 1:
        raise ModelError(f"tree {number}: vector leaves (multi_output_tree) are not supported ({SUPPORTED})")
    if any(data.get("split_type", ())):
        raise ModelError(
            f"tree {number}: categorical splits are not supported; train on one-hot columns instead"
        )
    left, right = data["left_children"], data["right_children"]
    conditions = [
        _float32(value, f"tree {number}: node {i}") for i, value in enumerate(data["split_conditions"])
    ]
    size = len(left)
    if not size or not all(len(a) == size for a in (right, conditions, data["split_indices"])):
        raise ModelError(f"tree {number}: node arrays are empty or of unequal length")
    for name in NODE_ARRAYS:
        if name in data and len(data[name]) != size:
            raise ModelError(f"tree {number}: {name} has {len(data[name])} entries for {size} nodes")
    leaf = [a == -1 for a in left]
    tree = Tree(
        tuple(LEAF if leaf[i] else int(data["split_indices"][i]) for i in range(size)),
        tuple(0.0 if leaf[i] else conditions[i] for i in range(size)),
        tuple(int(a) for a in left),
        tuple(int(a) for a in right),
        tuple(conditions[i] if leaf[i] else 0.0 for i in range(size)),
    )
    _check_shape(tree, number, n_features)
    return tree


def _float32(value: Any, where: str) -> float:
    number = float(value)
    if not math.isfinite(number) or not math.isfinite(float32(number)):
        raise ModelError(f"{where}: threshold or leaf value {value!r} is not a finite number")
    return float32(number)


def _check_shape(tree: Tree, number: int, n_features: int) -> None:
    """Every node reachable at most once, every child and feature number in range: no cycle, no sharing."""
    seen, stack = set(), [0]
    while stack:
        node = stack.pop()
        if not 0 <= node < len(tree.feature):
            raise ModelError(f"tree {number}: child {node} does not exist")
        if node in seen:
            raise ModelError(f"tree {number}: node {node} is reached twice: not a tree")
        seen.add(node)
        if tree.feature[node] == LEAF:
            continue
        if not 0 <= tree.feature[node] < n_features:
            raise ModelError(f"tree {number}: node {node} tests feature {tree.feature[node]} of {n_features}")
        stack += [tree.left[node], tree.right[node]]


@lru_cache(maxsize=4)
def _booster(raw: bytes) -> "xgboost.Booster":
    import xgboost

    booster = xgboost.Booster(params={"nthread": 1})
    booster.load_model(bytearray(raw))
    return booster


def _predict(ensemble: Ensemble, inputs: Any, *, margin: bool) -> Any:
    import xgboost

    if not ensemble.raw:
        raise ModelError(
            "this ensemble has no stored model for xgboost to predict with: load it from its file"
        )
    booster = _booster(ensemble.raw)
    rows = np.asarray(inputs, dtype=np.float32)
    # One thread: for the few rows of a replay, waking more costs far more than it gains.
    data = xgboost.DMatrix(rows, feature_names=booster.feature_names, nthread=1)
    return booster.predict(
        data, output_margin=margin, iteration_range=ensemble.rounds or (0, 0), validate_features=False
    )


def _self_check(ensemble: Ensemble) -> None:
    """Compare margin and probability with xgboost's own, bit for bit, on random and at-threshold inputs."""
    if not ensemble.trees:
        raise ModelError(f"{ensemble.source}: the model has no tree: train it for at least one round")
    import xgboost

    inputs = probe_inputs(ensemble, CHECKED_ROWS)
    ours = margins(ensemble, inputs)
    try:
        theirs = _predict(ensemble, inputs, margin=True)
        likely = _predict(ensemble, inputs, margin=False)
    except xgboost.core.XGBoostError as error:
        raise ModelError(
            f"{ensemble.source}: xgboost cannot use this model ({_reason(error)}): save it again"
        ) from error
    own = np.array([probability(float(m)) for m in ours], dtype=np.float32)
    for what, a, b in (("margin", ours, theirs), ("probability", own, likely)):
        wrong = np.flatnonzero(a.view(np.int32) != b.astype(np.float32).view(np.int32))
        if len(wrong):
            row = wrong[0]
            raise SoundnessError(
                f"{ensemble.source}: xgboost predicts {what} {b[row]!r} and the loaded model {a[row]!r} "
                f"for input {inputs[row].tolist()}: please report this model"
            )


def probe_inputs(ensemble: Ensemble, rows: int) -> Any:
    """Float32 inputs (rows x features) at thresholds, one unit either side of them, and at random."""
    random = np.random.default_rng(0)
    inputs = random.normal(size=(rows, ensemble.n_features)).astype(np.float32)
    for feature, thresholds in ensemble.thresholds().items():
        cuts = np.array(thresholds, dtype=np.float32)
        below, above = (np.nextafter(cuts, np.float32(s * np.inf)) for s in (-1, 1))
        span = max(float(cuts[-1]) - float(cuts[0]), 1.0)
        spread = random.uniform(cuts[0] - span, cuts[-1] + span, size=rows // 2).astype(np.float32)
        inputs[:, feature] = random.choice(np.concatenate([cuts, below, above, spread]), size=rows)
    return inputs
