"""A loan model trained on the spot, small enough to be answered in an instant, and the command line to ask it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

import fairbox as fb
from fairbox import cli

LOAN_SPACE = """
[[attribute]]
name = "age"
type = "integer"
min = 18
max = 70

[[attribute]]
name = "sex"
type = "categorical"
min = 0
max = 1
sensitive = true
codes = { "0" = "male", "1" = "female" }

[[attribute]]
name = "debt"
type = "continuous"
min = 0
max = 2.5

[[tier]]
name = "home"
columns = ["home_rent", "home_own"]
drop_first = true
"""


@dataclass(frozen=True)
class Loan:
    """Files that ask about the loan model."""

    model: Path
    space: Path
    table: Path

    @property
    def arguments(self) -> tuple[str, ...]:
        return str(self.model), "--space", str(self.space)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def train(table: pd.DataFrame, label: "pd.Series[int]", trees: int, depth: int, path: Path) -> Path:
    parameters = {"objective": "binary:logistic", "max_depth": depth, "eta": 0.5, "seed": 0, "nthread": 1}
    xgb.train(parameters, xgb.DMatrix(table, label), num_boost_round=trees).save_model(path)
    return path


@pytest.fixture(scope="session")
def loan(tmp_path_factory: pytest.TempPathFactory) -> Loan:
    folder = tmp_path_factory.mktemp("loan")
    draw = np.random.default_rng(1)
    home = draw.integers(0, 3, 400)
    table = pd.DataFrame(
        {
            "age": draw.integers(18, 71, 400),
            "sex": draw.integers(0, 2, 400),
            "debt": draw.integers(0, 26, 400) / 10,
            "home_rent": (home == 1).astype(int),
            "home_own": (home == 2).astype(int),
        }
    )
    score = (
        table["age"] / 20 - table["debt"] + table["home_own"] - 0.8 * table["sex"] + draw.normal(0, 0.3, 400)
    )
    label = (score > 1.2).astype(int)
    model = train(table, label, 3, 2, folder / "loan.json")
    space = folder / "loan.toml"
    space.write_text(LOAN_SPACE)
    data = folder / "loan.csv"
    table.assign(good=label).to_csv(data, index=False)
    return Loan(model, space, data)


@pytest.fixture(scope="session")
def result(loan: Loan) -> fb.Result:
    """The whole answer to whether the loan model is fair."""
    return fb.quantify(loan.model, loan.space, fb.Fairness(tolerance_rate="0.05")).result()


@pytest.fixture
def fairbox(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """The command line, in this process."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(int(str(ended.value.code or 0)), captured.out, captured.err)

    return run
