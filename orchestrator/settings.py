"""How a quantification is run: checked once, before anything starts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairbox.encoder.errors import QuestionError
from fairbox.encoder.formula import ENCODINGS
from fairbox.orchestrator.tasks import Kind

STRATEGIES = ("auto", "paths")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options of `quantify` that do not change the answer, only how it is reached.

    `time_limit` in seconds, None for no limit; `blocking_limit` is the number of blocked solutions at which
    a task is split (paper: 100); `worker_split` limits the jobs of each kind that run at once.
    """

    strategy: str = "auto"
    backend: str = "z3"
    encoding: str = "paper"
    workers: int = 1
    time_limit: float | None = None
    seed: int = 0
    box_blocking: bool = True
    decomposition: bool = True
    priority: bool = True
    blocking_limit: int = 100
    worker_split: Mapping[str, int] | None = None

    def __post_init__(self) -> None:
        _check_choice("strategy", self.strategy, STRATEGIES)
        _check_choice("encoding", self.encoding, tuple(ENCODINGS))
        _check_least("workers", self.workers, 1)
        _check_least("blocking limit", self.blocking_limit, 1)
        _check_least("seed", self.seed, 0)
        if self.time_limit is not None and not 0 < self.time_limit < float("inf"):
            raise QuestionError(f"time limit {self.time_limit} must be a number of seconds greater than 0")
        for kind, count in (self.worker_split or {}).items():
            _check_choice("kind of task in the worker split", kind, tuple(Kind))
            _check_least(f"worker split of {kind}", count, 1)

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON data."""
        return {
            "strategy": self.strategy,
            "encoding": self.encoding,
            "workers": self.workers,
            "time_limit": self.time_limit,
            "seed": self.seed,
            "box_blocking": self.box_blocking,
            "decomposition": self.decomposition,
            "priority": self.priority,
            "blocking_limit": self.blocking_limit,
            "worker_split": dict(self.worker_split) if self.worker_split else None,
        }


def _check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise QuestionError(f"unknown {what} {value!r}: use one of {', '.join(known)}")


def _check_least(what: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise QuestionError(f"{what} {value!r} must be a whole number of at least {least}")
