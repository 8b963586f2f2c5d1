"""Train the example model from a German credit table of your own.

    python examples/credit/train.py credit.csv --output examples/credit/model.json

The table has one row per loan, only whole numbers, one column per attribute of `space.toml` in any order,
and a column `label` (1: a good risk, 0: a bad one). The committed `model.json` was made by this script; using
it needs neither the script nor a table.
"""

import argparse
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import xgboost as xgb

HERE = Path(__file__).resolve().parent


def read_table(path: Path) -> tuple[pd.DataFrame, pd.Series]:
    """The attributes of the space file, in its order, and the label."""
    space = tomllib.loads((HERE / "space.toml").read_text(encoding="utf-8"))
    columns = [attribute["name"] for attribute in space["attribute"]]
    table = pd.read_csv(path)
    missing = [name for name in [*columns, "label"] if name not in table.columns]
    if missing:
        raise SystemExit(
            f"{path}: no column named {', '.join(missing)}; the file has: {', '.join(table.columns)}"
        )
    return table[columns], table["label"]


def train(x: pd.DataFrame, label: pd.Series, trees: int, depth: int, rate: float) -> xgb.Booster:
    """A boosted ensemble whose result does not depend on the number of threads."""
    parameters = {
        "objective": "binary:logistic",
        "max_depth": depth,
        "eta": rate,
        "colsample_bytree": 0.8,
        "seed": 0,
        "nthread": 1,
    }
    return xgb.train(parameters, xgb.DMatrix(x, label), num_boost_round=trees)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "table", type=Path, help="CSV file with the attributes of space.toml and a column `label`"
    )
    parser.add_argument("--output", type=Path, default=HERE / "model.json")
    parser.add_argument("--trees", type=int, default=6)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=0.3)
    parser.add_argument(
        "--held-out", type=int, default=100, help="last rows kept back to measure the accuracy"
    )
    options = parser.parse_args()

    x, label = read_table(options.table)
    cut = len(x) - options.held_out
    if cut < 1:
        raise SystemExit(
            f"{options.table}: {len(x)} rows, and --held-out keeps back {options.held_out} of them"
        )
    model = train(x[:cut], label[:cut], options.trees, options.depth, options.learning_rate)
    if options.held_out:
        guess = model.predict(xgb.DMatrix(x[cut:])) > 0.5
        print(f"accuracy on the {options.held_out} rows kept back: {np.mean(guess == label[cut:]):.2f}")
    model.save_model(options.output)
    print(f"wrote {options.output}")


if __name__ == "__main__":
    main()
