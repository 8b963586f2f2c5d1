"""Bad input: one line that says what is wrong and what to do, exit code 2, and nothing written."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import xgboost as xgb

from fairbox.solvers import registry
from tests.api.conftest import Loan, Outcome

Fairbox = Callable[..., Outcome]
Arguments = list[str]


def refused(outcome: Outcome, *words: str) -> None:
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: "), outcome.err
    for word in words:
        assert word in lines[0]


def other_model(path: Path, **parameters: Any) -> Path:
    draw = np.random.default_rng(0)
    inputs, label = draw.normal(size=(40, 5)), draw.integers(0, 2, 40)
    xgb.train(parameters, xgb.DMatrix(inputs, label), num_boost_round=2).save_model(path)
    return path


MODELS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "regression": (
        {"objective": "reg:squarederror"},
        ("reg:squarederror", "supported: objective binary:logistic"),
    ),
    "gblinear": ({"objective": "binary:logistic", "booster": "gblinear"}, ("gblinear", "booster gbtree")),
    "dart": ({"objective": "binary:logistic", "booster": "dart"}, ("dart", "booster gbtree")),
    "multi-class": ({"objective": "multi:softprob", "num_class": 3}, ("multi-class", "binary:logistic")),
}


@pytest.mark.parametrize("kind", MODELS)
def test_model_of_another_kind_is_refused_by_name(
    fairbox: Fairbox, loan: Loan, tmp_path: Path, kind: str
) -> None:
    parameters, words = MODELS[kind]
    model = other_model(tmp_path / "model.json", **parameters)
    refused(fairbox("quantify", model, "--space", loan.space), str(model), *words)
    refused(fairbox("show", model), str(model), *words)


def without_learner(text: str) -> str:
    return "{}"


def cut_short(text: str) -> str:
    return text[: len(text) // 2]


def with_nan_threshold(text: str) -> str:
    data = json.loads(text)
    data["learner"]["gradient_booster"]["model"]["trees"][0]["split_conditions"][0] = math.nan
    return json.dumps(data)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: "sex,age\n0,18\n", ("not valid JSON", "save the model")),
        (lambda text: "", ("not valid JSON",)),
        (cut_short, ("not valid JSON", "save the model again")),
        (without_learner, ("not an XGBoost model", "save_model")),
        (with_nan_threshold, ("not a finite number",)),
    ],
)
def test_model_file_that_is_no_model_is_refused(
    fairbox: Fairbox, loan: Loan, tmp_path: Path, spoil: Callable[[str], str], words: tuple[str, ...]
) -> None:
    model = tmp_path / "model.json"
    model.write_text(spoil(loan.model.read_text()))
    refused(fairbox("quantify", model, "--space", loan.space), *words)


OPTIONS: dict[str, tuple[Arguments, tuple[str, ...]]] = {
    "unknown sensitive name": (["--sensitive", "gender"], ("'gender'", "age, sex, debt, home")),
    "tolerance on a categorical attribute": (
        ["--sensitive", "age", "--tolerance", "sex=1"],
        ("'sex'", "categorical", "leave it out"),
    ),
    "tolerance on a tier": (["--tolerance", "home=1"], ("'home'", "tier")),
    "tolerance on a sensitive attribute": (
        ["--sensitive", "age", "--tolerance", "age=1"],
        ("'age'", "sensitive"),
    ),
    "tolerance of an unknown attribute": (["--tolerance", "income=1"], ("'income'", "known: age")),
    "tolerance without a value": (["--tolerance", "age"], ("NAME=VALUE",)),
    "tolerance that is no number": (["--tolerance", "age=x"], ("'age'", "not a decimal")),
    "confidence 1": (["--confidence", "1"], ("[0.5, 1)",)),
    "confidence below a half": (["--confidence", "0.49"], ("[0.5, 1)",)),
    "confidence NaN": (["--confidence", "nan"], ("confidence", "not a decimal")),
    "negative tolerance rate": (["--tolerance-rate", "-0.1"], ("negative", "0 or more")),
    "negative tolerance": (["--tolerance", "age=-1"], ("negative", "0 or more")),
    "unknown property": (["--property", "privacy"], ("'privacy'", "fairness or robustness")),
    "robustness with a sensitive attribute": (
        ["--property", "robustness", "--sensitive", "sex"],
        ("robustness has no sensitive attribute",),
    ),
    "unknown ties": (["--ties", "both"], ("'both'", "none or library")),
    "unknown arithmetic": (["--arithmetic", "float"], ("'float'", "deployed or exact")),
    "unknown encoding": (["--encoding", "dense"], ("'dense'", "paper, cells")),
    "unknown strategy": (["--strategy", "guess"], ("'guess'", "auto, paths")),
    "unknown format": (["--format", "xml"], ("'xml'", "text or json")),
    "no worker": (["--workers", "0"], ("workers", "at least 1")),
    "workers that are no number": (["--workers", "many"], ("--workers", "fairbox quantify --help")),
    "time limit 0": (["--time-limit", "0"], ("time limit", "greater than 0")),
    "time limit NaN": (["--time-limit", "nan"], ("time limit", "greater than 0")),
    "negative seed": (["--seed", "-1"], ("seed", "at least 0")),
    "blocking limit 0": (["--blocking-limit", "0"], ("blocking limit", "at least 1")),
    "unknown option": (["--sensitiv", "sex"], ("--sensitiv", "--sensitive")),
    "unknown backend": (["--backend", "z4"], ("'z4'", "z3", "smtlib:COMMAND")),
    "program that is not there": (["--backend", "smtlib:no-such-solver"], ("no-such-solver",)),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_option_that_makes_no_sense_is_refused(
    fairbox: Fairbox, loan: Loan, tmp_path: Path, case: str
) -> None:
    options, words = OPTIONS[case]
    folder = tmp_path / "result"
    refused(fairbox("quantify", *loan.arguments, "--output", folder, *options), *words)
    assert not folder.exists()


SPACES: dict[str, tuple[Callable[[str], str], tuple[str, ...]]] = {
    "nothing sensitive": (
        lambda text: text.replace("sensitive = true", ""),
        ("fairness needs a sensitive attribute", "robustness"),
    ),
    "min > max": (lambda text: text.replace("max = 70", "max = 17"), ("'age'", "min 18", "max 17", "swap")),
    "min = max on a real axis": (lambda text: text.replace("max = 2.5", "max = 0"), ("'debt'", "min = max")),
    "too few attributes": (
        lambda text: text[text.index('[[attribute]]\nname = "sex"') :],
        ("only in the model: ['age']", "home_own"),
    ),
    "not TOML": (lambda text: "[[attribute", ("not valid TOML",)),
    "empty": (lambda text: "", ("[[attribute]]",)),
    "slip of the pen": (lambda text: text.replace("sensitive", "sensitve"), ("'sensitve'", "'sensitive'")),
    "unknown type": (lambda text: text.replace('"integer"', '"int"'), ("'int'", "integer, categorical")),
}


@pytest.mark.parametrize("case", SPACES)
def test_space_that_does_not_fit_is_refused(fairbox: Fairbox, loan: Loan, tmp_path: Path, case: str) -> None:
    change, words = SPACES[case]
    space = tmp_path / "space.toml"
    space.write_text(change(loan.space.read_text()))
    refused(fairbox("quantify", loan.model, "--space", space), *words)
    refused(fairbox("export", loan.model, "--space", space, "--output", tmp_path / "out"), *words)
    assert not (tmp_path / "out").exists()


def test_missing_files_are_named(fairbox: Fairbox, loan: Loan, tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    refused(fairbox("quantify", missing, "--space", loan.space), "model file", str(missing), "check the path")
    refused(fairbox("quantify", loan.model, "--space", missing), "space file", str(missing), "check the path")
    refused(fairbox("quantify", tmp_path, "--space", loan.space), "is a folder")
    refused(fairbox("show", missing), "model file", str(missing))
    refused(fairbox("space", missing), "data file", str(missing), "check the path")
    refused(fairbox("quantify", loan.model), "--space", "fairbox quantify --help")


@pytest.mark.parametrize("command", ["quantify", "export"])
def test_folder_that_cannot_be_written_is_refused_before_the_run(
    fairbox: Fairbox, loan: Loan, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "file"
    file.write_text("precious")
    for folder in (file, file / "below", Path("/proc/fairbox")):
        refused(fairbox(command, *loan.arguments, "--output", folder), str(folder), "choose another")
    assert file.read_text() == "precious"


def test_backend_that_is_not_installed_says_what_to_install(
    fairbox: Fairbox, loan: Loan, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = registry.Unusable("absent", "there is no program absent; install it with: pip install absent")
    backends = MappingProxyType({**registry._registered(), "absent": absent})
    monkeypatch.setattr(registry, "_registered", lambda: backends)
    refused(fairbox("quantify", *loan.arguments, "--backend", "absent"), "'absent'", "pip install absent")
    listed = fairbox("solvers")
    assert listed.code == 0 and "not here: there is no program absent; install it" in listed.out


def test_data_that_is_no_table_is_refused(fairbox: Fairbox, loan: Loan, tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    for content, words in (
        ("", ("not a CSV file",)),
        ("a;b\n1;2\n", ("commas",)),
        ("a,b\n1,x\n", ("b", "encode")),
        ("a,b\n1,\n", ("'b'", "missing")),
        ("a,b\n1,2\n3,4,5,6\n", ("not a CSV file",)),
    ):
        data.write_text(content)
        refused(fairbox("space", data), str(data), *words)
    refused(fairbox("space", loan.table, "--label", "bad"), "'bad'", "good")
    kept = tmp_path / "space.toml"
    kept.write_text("kept")
    refused(fairbox("space", loan.table, "--output", kept), str(kept), "--force")
    assert kept.read_text() == "kept"


def test_debug_shows_where_an_error_came_from(fairbox: Fairbox, tmp_path: Path) -> None:
    for arguments in (["--debug", "show", tmp_path], ["show", tmp_path, "--debug"]):
        outcome = fairbox(*arguments)
        assert outcome.code == 2 and "Traceback" in outcome.err and "error: model file" in outcome.err
