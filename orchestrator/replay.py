"""Every counterexample is shown to the model's own library before it counts."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fairbox.encoder.ensemble import Ensemble
from fairbox.encoder.errors import ModelError, SoundnessError
from fairbox.encoder.loading import library_margins
from fairbox.encoder.problem import PathTuple, Problem
from fairbox.encoder.witness import Point, model_rows


@dataclass(frozen=True)
class Claim:
    """An input, and the path tuple it is said to take."""

    paths: PathTuple
    point: Point


def check_replayable(ensemble: Ensemble) -> None:
    """Raise ModelError for an ensemble whose library cannot be asked: better now than at the first witness."""
    if not ensemble.raw:
        raise ModelError(
            f"ensemble {ensemble.source!r} does not come from a model file or object, so its library cannot replay "
            "counterexamples: load it with load_model"
        )


def replay(problem: Problem, claims: Iterable[Claim]) -> None:
    """Compare the library's prediction of each input with the float32 sum over its claimed paths.

    Raises SoundnessError when one differs in a single bit.
    """
    claims = list(claims)
    if not claims:
        return
    rows = model_rows(problem, [claim.point for claim in claims])
    predicted = library_margins(problem.ensemble, rows)
    for claim, margin in zip(claims, predicted, strict=True):
        claimed = problem.float_margin(claim.paths)
        if np.float32(margin).view(np.int32) != claimed.view(np.int32):
            raise SoundnessError(
                f"the library predicts margin {margin!r} for input {claim.point}, but its paths sum to {claimed!r}: "
                "please report this model"
            )
