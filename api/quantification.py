"""`quantify`: a model, a space and a question become a run, and a run a result."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fairbox.encoder.problem import Problem
from fairbox.encoder.properties import Question
from fairbox.encoder.space import InputSpace
from fairbox.formulas import ground
from fairbox.orchestrator import quantify as engine
from fairbox.orchestrator.settings import Settings
from fairbox.result import Result, result_of

LEAST_SEARCH_SECONDS = 1.0
"""However long loading took, a search is given this much of its time limit."""


class Run(engine.Run):
    """A quantification under way. Iterate over it for bounds as they improve, or ask for the result.

    It works only while you iterate, in your own thread. `bounds`, `status`, `regions`, `counts`, `graph` and
    `trace` may be read at any moment; `stop()` ends it soon, `on_event(callback)` follows every task.
    """

    def __init__(self, problem: Problem, settings: Settings, asked: Settings | None = None) -> None:
        super().__init__(problem, settings)
        self.asked = asked or settings

    def result(self) -> Result:
        """Run to the end, if it has not ended yet, and return what came of it."""
        self.finish()
        return result_of(self, self.asked)


def quantify(
    model: object,
    space: InputSpace | str | Path,
    question: Question,
    *,
    strategy: str = "auto",
    backend: str = "z3",
    encoding: str = "paper",
    workers: int = 1,
    time_limit: float | None = None,
    seed: int = 0,
    box_blocking: bool = True,
    decomposition: bool = True,
    priority: bool = True,
    blocking_limit: int = 100,
    worker_split: Mapping[str, int] | None = None,
) -> Run:
    """Bounds on the share of confident inputs that are fair or robust, as a run to iterate over.

    `model` is an Ensemble or anything `load_model` takes; `space` an InputSpace or the path of a space file.
    `backend` answers the formulas (`list_backends()`, or `smtlib:COMMAND`), `workers` questions at a time.
    `time_limit` in seconds counts from when this call returns, the model then being loaded. The other options
    change how the answer is reached, never the answer: `encoding` (paper or cells) how formulas are written,
    `strategy` (auto or paths), `seed` the solvers' random seed; `box_blocking`, `decomposition` and `priority`
    switch the enhancements of the paper; `blocking_limit` is the number of blocking clauses at which a task is
    split; `worker_split` limits how many tasks of each kind (kappa, not_kappa, violations) run at once.
    Raises ModelError, SpaceError, QuestionError or BackendError before anything starts.
    """
    settings = Settings(
        strategy=strategy,
        backend=backend,
        encoding=encoding,
        workers=workers,
        time_limit=time_limit,
        seed=seed,
        box_blocking=box_blocking,
        decomposition=decomposition,
        priority=priority,
        blocking_limit=blocking_limit,
        worker_split=worker_split,
    )
    return start(ground(model, space, question), settings)


def start(problem: Problem, settings: Settings, *, spent: float = 0.0) -> Run:
    """A run on a problem; `spent` seconds of its time limit are used up already."""
    if settings.time_limit is None or not spent:
        return Run(problem, settings)
    left = max(settings.time_limit - spent, min(settings.time_limit, LEAST_SEARCH_SECONDS))
    return Run(problem, replace(settings, time_limit=left), settings)
