"""Every counterexample is shown to the model's own library before it counts."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fairbox.encoder.errors import SoundnessError
from fairbox.encoder.loading import library_margins
from fairbox.encoder.problem import PathTuple, Problem
from fairbox.encoder.witness import Point, model_row


@dataclass(frozen=True)
class Claim:
    """An input, and the path tuple it is said to take."""

    paths: PathTuple
    point: Point


def replay(problem: Problem, claims: Iterable[Claim]) -> None:
    """Compare the library's prediction of each input with the float32 sum over its claimed paths.

    Raises SoundnessError when one differs in a single bit.
    """
    claims = list(claims)
    if not claims:
        return
    rows = np.array([model_row(problem.space, claim.point) for claim in claims], dtype=np.float32)
    # The model's columns may come in another order than the space's.
    names = problem.ensemble.feature_names
    if names:
        order = [problem.space.columns.index(name) for name in names]
        rows = rows[:, order]
    predicted = library_margins(problem.ensemble, rows)
    for claim, margin in zip(claims, predicted, strict=True):
        claimed = problem.float_margin(claim.paths)
        if np.float32(margin).view(np.int32) != claimed.view(np.int32):
            raise SoundnessError(
                f"the library predicts margin {margin!r} for input {claim.point}, but its paths sum to {claimed!r}: "
                "please report this model"
            )
