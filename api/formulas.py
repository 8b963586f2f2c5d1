"""A model, a space and a question put together: as a ground problem, and as files for any solver."""

import os
from pathlib import Path

from fairbox.encoder.ensemble import Ensemble
from fairbox.encoder.errors import QuestionError
from fairbox.encoder.loading import load_model
from fairbox.encoder.problem import Problem, build_problem
from fairbox.encoder.properties import Question
from fairbox.encoder.space import InputSpace


def ground(model: object, space: InputSpace | str | os.PathLike[str], question: Question) -> Problem:
    """Load what is not loaded yet and fit model, space and question together.

    Raises ModelError, SpaceError or QuestionError for what cannot be read, makes no sense or does not fit.
    """
    if not isinstance(question, Question):
        raise QuestionError(f"question is a {type(question).__name__}: give a Fairness(…) or a Robustness(…)")
    if not isinstance(space, InputSpace):
        space = InputSpace.from_schema(Path(space))
    ensemble = model if isinstance(model, Ensemble) else load_model(model)
    return build_problem(ensemble, space, question)


def export(
    model: object,
    space: InputSpace | str | os.PathLike[str],
    question: Question,
    folder: str | os.PathLike[str],
    *,
    encoding: str = "paper",
) -> list[Path]:
    """Write the formulas of a question as SMT-LIB files (docs/reference/smtlib.md); return their paths.

    `model` and `space` are what `quantify` takes. No solver runs. Raises also FormulaError for an unknown
    encoding, and OutputError when the folder cannot be written.
    """
    from fairbox.smtlib_out.export import export_problem

    return export_problem(ground(model, space, question), encoding, folder)
