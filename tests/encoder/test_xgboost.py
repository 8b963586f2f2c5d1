"""XGBoost models: every way in gives the same exact ensemble, it predicts alike, the rest is refused."""

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from fairbox.encoder.ensemble import (
    LEAF,
    Ensemble,
    Tree,
    ensemble_from_dict,
    ensemble_to_dict,
    leaves_of,
    margins,
    probability,
)
from fairbox.encoder.errors import FairboxError, ModelError
from fairbox.encoder.loading import library_margins, load_model
from tests.strategies import Case, booster, cases, float32, xgboost_json
from tests.test_oracle import forest

xgboost = pytest.importorskip("xgboost")

TINY = forest((0, 0.5, (1, 1.5, -1.0, 1.0), 0.5), (1, 2.0, 0.25, -0.25), features=2)
Json = dict[str, Any]


def data(rows: int = 400, columns: int = 5) -> tuple[Any, Any]:
    """Inputs of integers, a few values and reals, and labels that depend on them with noise."""
    random = np.random.default_rng(7)
    X = np.column_stack(
        [random.integers(0, 6, rows), random.integers(0, 2, rows), *random.normal(size=(columns - 2, rows))]
    ).astype(np.float32)
    y = (X[:, 0] + 2 * X[:, 2] * X[:, 1] - X[:, 3] + random.normal(size=rows) > 1.5).astype(int)
    return X, y


TRAINED: dict[str, Json] = {
    "plain": {"max_depth": 3},
    "deep": {"max_depth": 6, "eta": 1.0},
    "exact": {"max_depth": 4, "tree_method": "exact"},
    "pruned": {"max_depth": 4, "tree_method": "exact", "gamma": 3.0},
    "base score": {"max_depth": 2, "base_score": 0.123},
    "weighted": {"max_depth": 3, "scale_pos_weight": 3.0, "max_delta_step": 0.7},
    "leafwise": {"grow_policy": "lossguide", "max_leaves": 7, "tree_method": "hist"},
    "forest": {"num_parallel_tree": 3, "subsample": 0.5, "max_depth": 3},
    "stumps": {"max_depth": 1, "gamma": 1e9},
}


def train(rounds: int = 12, **options: Any) -> Any:
    X, y = data()
    matrix = xgboost.DMatrix(X, label=y)
    return xgboost.train({"objective": "binary:logistic", "nthread": 1, "seed": 0} | options, matrix, rounds)


@pytest.fixture(scope="module", params=TRAINED.keys())
def trained(request: pytest.FixtureRequest) -> Any:
    """Boosters trained in every way that is supported."""
    return train(**TRAINED[request.param])


def probes(ensemble: Ensemble, rows: int = 3000) -> Any:
    """Inputs on thresholds, one float32 step beside them, and anywhere."""
    random = np.random.default_rng(11)
    X = random.normal(scale=3, size=(rows, ensemble.n_features)).astype(np.float32)
    for feature, cuts in ensemble.thresholds().items():
        at = np.array(cuts, dtype=np.float32)
        places = [np.nextafter(at, np.float32(-np.inf)), at, np.nextafter(at, np.float32(np.inf))]
        chosen = random.random(rows) < 0.8
        X[chosen, feature] = random.choice(np.concatenate(places), chosen.sum())
    return X


# The same model, however it comes ---------------------------------------------------------------------


def test_every_way_in_gives_the_same_ensemble(trained: Any, tmp_path: Path) -> None:
    paths = [tmp_path / "model.json", tmp_path / "model.ubj"]
    for path in paths:
        trained.save_model(path)
    loaded = [load_model(model) for model in (trained, *paths, str(paths[0]))]
    assert all(one.trees == loaded[0].trees for one in loaded)
    assert len({one.sha256 for one in loaded}) == 1
    assert all(one == ensemble_from_dict(ensemble_to_dict(one), one.source) for one in loaded)


def test_a_ubj_file_is_known_by_its_content(tmp_path: Path) -> None:
    model = booster(TINY)
    for name, form in (("a.json", "ubj"), ("b.ubj", "json"), ("c", "ubj"), ("d.bin", "json")):
        (tmp_path / name).write_bytes(model.save_raw(form))
        assert load_model(tmp_path / name).trees == TINY.trees


def test_a_classifier_gives_the_same_ensemble() -> None:
    pytest.importorskip("sklearn")
    X, y = data()
    model = xgboost.XGBClassifier(n_estimators=8, max_depth=3, n_jobs=1).fit(X, y)
    assert load_model(model).trees == load_model(model.get_booster()).trees
    assert (margins(load_model(model), X) == model.predict(X, output_margin=True)).all()


def test_early_stopping_is_what_the_models_own_predict_does() -> None:
    """XGBClassifier predicts up to its best iteration, Booster with every round; the note tells them apart."""
    pytest.importorskip("sklearn")
    X, y = data()
    model = xgboost.XGBClassifier(n_estimators=60, eta=1.0, early_stopping_rounds=3, n_jobs=1)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    rounds = model.get_booster().num_boosted_rounds()
    assert model.best_iteration + 1 < rounds, "training must have stopped early"
    stopped, everything = load_model(model), load_model(model.get_booster())
    assert (len(stopped.trees), len(everything.trees)) == (model.best_iteration + 1, rounds)
    assert (margins(stopped, X) == model.predict(X, output_margin=True)).all()
    assert (
        margins(everything, X) == model.get_booster().predict(xgboost.DMatrix(X), output_margin=True)
    ).all()
    assert (library_margins(stopped, X) == margins(stopped, X)).all()
    assert any("early" in note for note in everything.notes)
    assert not stopped.notes


@pytest.mark.parametrize("span", [(0, 1), (0, 5), (3, 7), (11, 12), (4, 0)])
@pytest.mark.parametrize("parallel", [1, 2])
def test_a_range_of_rounds(span: tuple[int, int], parallel: int) -> None:
    """As `predict(iteration_range=…)`, where an end of 0 means all; with several trees a round too."""
    model = train(num_parallel_tree=parallel, max_depth=2)
    ensemble = load_model(model, iteration_range=span)
    X = probes(ensemble, 500)
    assert (
        margins(ensemble, X) == model.predict(xgboost.DMatrix(X), output_margin=True, iteration_range=span)
    ).all()
    assert (library_margins(ensemble, X) == margins(ensemble, X)).all()


@pytest.mark.parametrize("span", [(0, 13), (5, 5), (7, 3), (-1, 4)])
def test_a_range_outside_the_model_is_refused(span: tuple[int, int]) -> None:
    with pytest.raises(ModelError, match="iteration_range"):
        load_model(train(max_depth=1), iteration_range=span)


def test_names_and_size_are_kept() -> None:
    X, y = data()
    names = ["age", "sex", "capital gain", "x/y", "ünï"]
    model = xgboost.train(
        {"objective": "binary:logistic"}, xgboost.DMatrix(X, label=y, feature_names=names), 2
    )
    ensemble = load_model(model)
    assert ensemble.feature_names == tuple(names)
    assert ensemble.n_features == 5
    assert ensemble.library == "xgboost"
    assert load_model(train(2)).feature_names == ()


@pytest.mark.parametrize("stored", ["2.5E-1", "[2.5E-1]", "[0.25]", "0.25"])
def test_base_scores_old_and_new(stored: str, tmp_path: Path) -> None:
    """A probability, in a list since XGBoost 3: -logf(1/p - 1) = -ln 3 here."""
    model = xgboost_json(TINY)
    model["learner"]["learner_model_param"]["base_score"] = stored
    path = tmp_path / "model.json"
    path.write_text(json.dumps(model))
    assert load_model(path).base == -float32(np.log(3))


# It predicts as XGBoost does --------------------------------------------------------------------------


def test_replay_is_bit_for_bit_the_librarys_margin(trained: Any) -> None:
    """On random inputs, on every threshold, and one float32 step either side of it."""
    ensemble = load_model(trained)
    X = probes(ensemble)
    ours, theirs = margins(ensemble, X), trained.predict(xgboost.DMatrix(X), output_margin=True)
    assert ours.dtype == theirs.dtype == np.float32
    assert (ours.view(np.int32) == theirs.view(np.int32)).all()
    likely = trained.predict(xgboost.DMatrix(X))
    assert (likely == np.array([probability(float(m)) for m in ours], dtype=np.float32)).all()


def test_inputs_are_cast_to_float32_as_the_library_does(trained: Any) -> None:
    """A double between two float32 numbers lands on the nearer one before it is compared."""
    ensemble = load_model(trained)
    X = probes(ensemble, 1000).astype(np.float64) * (1 + 2.0**-30)
    assert (margins(ensemble, X) == trained.predict(xgboost.DMatrix(X), output_margin=True)).all()


def test_leaves_are_the_librarys(trained: Any) -> None:
    ensemble = load_model(trained)
    X = probes(ensemble, 500)
    theirs = trained.predict(xgboost.DMatrix(X), pred_leaf=True).reshape(len(X), -1)
    for j, tree in enumerate(ensemble.trees):
        ours = leaves_of(tree, X)
        assert (ours == theirs[:, j]).all()
        assert set(ours) <= set(tree.leaves)


@settings(max_examples=30)
@given(cases())
def test_hand_made_ensembles_load_as_they_are(case: Case) -> None:
    """An ensemble written as XGBoost's JSON is read back unchanged, and predicts the same."""
    ensemble = case[0]
    loaded = load_model(booster(ensemble))
    assert loaded.trees == ensemble.trees
    assert loaded.base == ensemble.base
    assert loaded.feature_names == ensemble.feature_names
    X = probes(ensemble, 200)
    assert (margins(ensemble, X) == library_margins(loaded, X)).all()


def test_the_float32_fixture_is_a_tie_for_xgboost() -> None:
    """Leaves 1, 2^-25, -1: margin 0, p = 1/2, label 0."""
    ensemble = load_model(booster(forest(1.0, 2.0**-25, -1.0, features=1)))
    X = np.zeros((1, 1))
    assert margins(ensemble, X).tolist() == library_margins(ensemble, X).tolist() == [0.0]
    assert probability(0.0) == 0.5


def test_depth_and_leaves() -> None:
    tree = Tree(
        (0, LEAF, 1, LEAF, LEAF), (1.0, 0, 2.0, 0, 0), (1, -1, 3, -1, -1), (2, -1, 4, -1, -1), (0, 1, 0, 2, 3)
    )
    assert (tree.depth, tree.leaves) == (2, (1, 3, 4))
    assert TINY.thresholds() == {0: (0.5,), 1: (1.5, 2.0)}


def test_the_hash_is_of_what_decides_predictions() -> None:
    other = Ensemble(TINY.trees, TINY.base, 2, library="xgboost", source="elsewhere", notes=("seen",))
    assert other.sha256 == TINY.sha256
    changed = Ensemble(
        TINY.trees, float(np.nextafter(np.float32(TINY.base), np.float32(1))), 2, library="xgboost"
    )
    assert changed.sha256 != TINY.sha256


# Refused by name --------------------------------------------------------------------------------------


def refuse(model: Any, *says: str) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(model)
    for word in says:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "objective",
    ["reg:squarederror", "reg:logistic", "binary:logitraw", "binary:hinge", "count:poisson", "rank:pairwise"],
)
def test_other_objectives_are_refused(objective: str) -> None:
    refuse(train(2, objective=objective), objective, "binary:logistic")


def test_multi_class_is_refused() -> None:
    X, y = data()
    model = xgboost.train(
        {"objective": "multi:softprob", "num_class": 3, "nthread": 1}, xgboost.DMatrix(X, label=y), 2
    )
    refuse(model, "multi:softprob", "3 classes")


def test_several_targets_are_refused() -> None:
    X, y = data()
    both = np.column_stack([y, 1 - y])
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        options = {"objective": "binary:logistic", "multi_strategy": strategy, "nthread": 1}
        refuse(xgboost.train(options, xgboost.DMatrix(X, label=both), 2), "output")


@pytest.mark.parametrize("kind", ["gblinear", "dart"])
def test_other_boosters_are_refused(kind: str, tmp_path: Path) -> None:
    model = train(2, booster=kind)
    refuse(model, kind, "gbtree")
    for form in ("json", "ubj"):
        model.save_model(tmp_path / f"model.{form}")
        refuse(tmp_path / f"model.{form}", kind, form)


def test_categorical_splits_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    X, _ = data()
    frame = pandas.DataFrame({"a": pandas.Categorical(X[:, 0].astype(int)), "b": X[:, 2]})
    matrix = xgboost.DMatrix(frame, label=X[:, 0].astype(int) % 2, enable_categorical=True)
    model = xgboost.train(
        {"objective": "binary:logistic", "tree_method": "hist", "max_cat_to_onehot": 1}, matrix, 2
    )
    refuse(model, "categorical")


def test_unfitted_and_foreign_objects_are_refused() -> None:
    pytest.importorskip("sklearn")
    refuse(xgboost.XGBClassifier(), "fit")
    X, y = data()
    refuse(xgboost.XGBRegressor(n_estimators=2).fit(X, y), "reg:squarederror")
    for thing in (None, 3, {"learner": {}}, object()):
        refuse(thing, type(thing).__name__)


def test_a_model_without_trees_is_refused() -> None:
    refuse(train(0, base_score=0.5), "no tree")


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    refuse(tmp_path / "absent.json", "absent.json", "exist")
    refuse(tmp_path, str(tmp_path), "folder")
    contents = {
        "empty.json": b"",
        "text.json": b"hello",
        "list.json": b"[1, 2]",
        "number.json": b"3",
        "object.json": b"{}",
        "other.json": b'{"learner": 3}',
        "null.json": b'{"learner": null}',
        "deep.json": b"{" + b'"a":{' * 100_000,
        "latin.json": b'{"a": "\xff"}',
        "model.txt": b"booster[0]:\n0:[f0<1] yes=1,no=2",
        "model.pkl": pickle.dumps({"a": 1}),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        refuse(tmp_path / name, name)


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    model = booster(TINY)
    for form in ("json", "ubj"):
        content = bytes(model.save_raw(form))
        for kept in (1, 2, 10, len(content) // 2, len(content) - 1):
            path = tmp_path / f"cut.{form}"
            path.write_bytes(content[:kept])
            refuse(path, str(path))


def test_reasons_of_the_library_are_readable(tmp_path: Path) -> None:
    (tmp_path / "cut.ubj").write_bytes(bytes(booster(TINY).save_raw("ubj"))[:100])
    model = xgboost_json(TINY)
    _tree(model)["sum_hessian"] = [1.0]
    (tmp_path / "odd.json").write_text(json.dumps(model))
    for name in ("cut.ubj", "odd.json"):
        with pytest.raises(ModelError) as caught:
            load_model(tmp_path / name)
        assert "[bt]" not in str(caught.value)


def _model(data: Json) -> Json:
    found: Json = data["learner"]["gradient_booster"]["model"]
    return found


def _tree(data: Json) -> Json:
    found: Json = _model(data)["trees"][0]
    return found


def _put(values: Any, key: Any, value: Any) -> None:
    values[key] = value


MALFORMED: dict[str, tuple[Callable[[Json], Any], str]] = {
    "NaN threshold": (lambda m: _put(_tree(m)["split_conditions"], 0, float("nan")), "nan"),
    "infinite threshold": (lambda m: _put(_tree(m)["split_conditions"], 0, float("inf")), "inf"),
    "NaN leaf": (lambda m: _put(_tree(m)["split_conditions"], 4, float("nan")), "nan"),
    "no float32": (lambda m: _put(_tree(m)["split_conditions"], 0, 1e39), "1e+39"),
    "no number": (lambda m: _put(_tree(m)["split_conditions"], 0, None), "not an XGBoost model"),
    "a node its own child": (lambda m: _put(_tree(m)["left_children"], 0, 0), "node 0"),
    "a cycle": (lambda m: _put(_tree(m)["right_children"], 1, 0), "node 0"),
    "a shared node": (lambda m: _put(_tree(m)["left_children"], 0, 2), "node 2"),
    "child out of range": (lambda m: _put(_tree(m)["left_children"], 0, 99), "99"),
    "negative child": (lambda m: _put(_tree(m)["right_children"], 0, -7), "-7"),
    "feature out of range": (lambda m: _put(_tree(m)["split_indices"], 0, 2), "feature 2"),
    "negative feature": (lambda m: _put(_tree(m)["split_indices"], 0, -2), "feature -2"),
    "no nodes": (lambda m: _tree(m).update(left_children=[], right_children=[]), "empty"),
    "arrays of unequal length": (lambda m: _tree(m)["split_conditions"].pop(), "length"),
    "other arrays of unequal length": (lambda m: _put(_tree(m), "default_left", [0]), "model.json"),
    "a missing array": (lambda m: _tree(m).pop("split_indices"), "split_indices"),
    "wrong number of nodes": (lambda m: _put(_tree(m)["tree_param"], "num_nodes", "3"), "model.json"),
    "wrong number of trees": (
        lambda m: _put(_model(m)["gbtree_model_param"], "num_trees", "7"),
        "model.json",
    ),
    "vector leaves": (lambda m: _put(_tree(m)["tree_param"], "size_leaf_vector", "2"), "vector"),
    "categorical split": (lambda m: _put(_tree(m)["split_type"], 0, 1), "categorical"),
    "too few names": (lambda m: _put(m["learner"], "feature_names", ["a"]), "names"),
    "base score 0": (lambda m: _put(m["learner"]["learner_model_param"], "base_score", "[0]"), "base_score"),
    "base score NaN": (
        lambda m: _put(m["learner"]["learner_model_param"], "base_score", "nan"),
        "base_score",
    ),
    "two base scores": (
        lambda m: _put(m["learner"]["learner_model_param"], "base_score", "[.2,.3]"),
        "entries",
    ),
    "no objective": (lambda m: m["learner"].pop("objective"), "objective"),
    "no feature": (lambda m: _put(m["learner"]["learner_model_param"], "num_feature", "0"), "feature"),
}


def malformed(change: Callable[[Json], Any], folder: Path) -> Path:
    model = copy.deepcopy(xgboost_json(TINY))
    change(model)
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    return path


@pytest.mark.parametrize(("change", "says"), MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_models_are_refused(change: Callable[[Json], Any], says: str, tmp_path: Path) -> None:
    refuse(malformed(change, tmp_path), "model.json", says)


@pytest.mark.parametrize(
    "change",
    [
        lambda m: _put(m["learner"], "feature_names", ["a", "a"]),
        lambda m: _put(m["learner"]["learner_model_param"], "num_feature", str(10**12)),
    ],
    ids=["a name twice", "features beyond memory"],
)
def test_models_that_the_self_check_cannot_hold_are_refused(
    change: Callable[[Json], Any], tmp_path: Path
) -> None:
    refuse(malformed(change, tmp_path), "model.json")


def test_a_tree_of_another_class_is_refused(tmp_path: Path) -> None:
    """In a process of its own, which XGBoost would take down."""
    path = malformed(lambda m: _put(_model(m), "tree_info", [0, 3]), tmp_path)
    code = (
        "import sys; from fairbox.encoder.errors import ModelError; from fairbox.encoder.loading import load_model\n"
        "try: load_model(sys.argv[1])\n"
        "except ModelError: sys.exit(42)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=False).returncode
        == 42
    )


def test_errors_have_two_parents() -> None:
    assert issubclass(ModelError, FairboxError)
    assert issubclass(ModelError, ValueError)


@pytest.mark.shared
def test_reference_models_load_and_replay(shared: Path) -> None:
    """The trained reference models, bit for bit at their thresholds."""
    paths = [*sorted((shared / "models").glob("*_10x3.json")), shared / "models" / "adult_100x6.json"]
    assert len(paths) > 1
    for path in paths:
        ensemble = load_model(path)
        X = probes(ensemble, 2000)
        assert (margins(ensemble, X) == library_margins(ensemble, X)).all(), path.name
