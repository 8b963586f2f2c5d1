"""Watch the bounds close in, and stop when they are close enough.

At every step the true share lies between `lower` and `upper`, exact fractions; a run that is left early has
proven what it has proven.
"""

from pathlib import Path

import fairbox as fb

CREDIT = Path(__file__).resolve().parent / "credit"
CLOSE_ENOUGH = 0.05


def main() -> None:
    model = fb.load_model(CREDIT / "model.json")
    space = fb.InputSpace.from_schema(CREDIT / "space.toml")
    question = fb.Fairness(sensitive=["sex"])

    run = fb.quantify(model, space, question, time_limit=60)
    shown = 0.0
    for bounds in run:
        if bounds.gap <= CLOSE_ENOUGH:
            run.stop()
        if run.seconds - shown >= 0.5 or bounds.gap <= CLOSE_ENOUGH:
            shown = run.seconds
            print(f"{shown:6.1f} s   {float(bounds.lower):.4f} <= fair share <= {float(bounds.upper):.4f}")
    print(run.result())


if __name__ == "__main__":
    main()
