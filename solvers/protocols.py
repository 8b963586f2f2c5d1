"""What every solver backend offers: a session answers formulas, a backend opens sessions.

What goes in is SMT-LIB 2 text, what comes out are values of Python: nothing of a solver's own objects crosses
this border. A third party adds a solver by implementing `Backend` (see `fairbox.solvers.smtlib`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

Value = bool | int | Fraction
"""The value of a Bool, Int or Real symbol: a Real's value is a Fraction, also where it is whole."""


class Status(StrEnum):
    """What a solver says of a formula."""

    SAT = "sat"
    UNSAT = "unsat"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and, for `unknown` only, why: "timeout", "memout", "incomplete", "interrupted", or the
    solver's own words."""

    status: Status
    reason: str | None = None


class Capability(StrEnum):
    """What a backend may be able to do; what it cannot is in `Backend.missing`, with the reason."""

    INCREMENTAL = "incremental"
    """push, pop, and checks one after the other in one process."""
    ASSUMPTIONS = "assumptions"
    """check-sat-assuming (where it is missing, the session works with push and pop instead)."""
    UNSAT_ASSUMPTIONS = "unsat-assumptions"
    """which of the assumptions made a check unsat."""
    TIMEOUT = "timeout"
    """a time limit of the solver's own, for each check (where it is missing, the process is ended)."""
    STATISTICS = "statistics"
    """counters of the solver's own."""
    LIRA = "lira"
    """linear arithmetic over integers and reals in one formula."""
    SEED = "seed"
    """a seed that changes the search (where it is missing, the seed is not passed on)."""


@dataclass(frozen=True, slots=True)
class Probe:
    """Whether a backend can be used here: its version and command line, or why it cannot and what to do."""

    available: bool
    version: str | None = None
    why_not: str | None = None
    command: tuple[str, ...] = ()


class Session(Protocol):
    """A dialogue about one growing formula, with a process that it owns.

    Used by one thread at a time. Any method raises SolverFailure when the solver dies, reports an error or
    says something that is not an answer. The session itself survives: it remembers its commands, and the
    next call feeds them to a new process. (If one of them is what the solver refuses, it refuses it again,
    until the level that holds it is popped.)
    """

    @property
    def pid(self) -> int | None:
        """The process at work; None when there is none right now."""
        ...

    def add(self, commands: str) -> None:
        """Declare, define and assert: SMT-LIB commands, complete, without questions, push or pop.

        They may be held back until the next question, so an error in them may show only there.
        Raises FormulaError on unbalanced text and on commands that belong to the session's own methods.
        """
        ...

    def check(self, limit: float | None = None, assumptions: Sequence[str] = ()) -> Answer:
        """Is the formula satisfiable, given the assumptions (each a Boolean symbol `p` or `(not p)`)?

        `limit`: seconds; hard: the call ends within a second after it, whatever the solver does.
        """
        ...

    def values(self, symbols: Sequence[str], limit: float = ...) -> dict[str, Value]:
        """The values of symbols in the model of the latest check, which must have said sat."""
        ...

    def check_values(
        self, symbols: Sequence[str], limit: float | None = None, assumptions: Sequence[str] = ()
    ) -> tuple[Answer, dict[str, Value]]:
        """`check`, and after sat the values of the symbols (else an empty dict), all within one limit."""
        ...

    def block(self, symbols: Sequence[str]) -> None:
        """Assert that not all of the symbols have again the values of the latest check."""
        ...

    def push(self) -> None:
        """Open a level: what is added from here on goes away with `pop`."""
        ...

    def pop(self) -> None:
        """Drop the innermost level. Raises FormulaError when none is open."""
        ...

    def unsat_assumptions(self) -> list[str]:
        """Assumptions of the latest check (unsat) that cannot hold together; as they were given.

        Raises BackendError unless the session was opened with `unsat_assumptions=True`.
        """
        ...

    def statistics(self) -> dict[str, int | float | str]:
        """Counters of the session (`session.checks`, `session.starts`, `session.seconds`) and of the solver."""
        ...

    def close(self) -> None:
        """End the process and everything it started. May be called twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


@runtime_checkable
class Backend(Protocol):
    """A way to open sessions. Every capability is either in `capabilities` or in `missing` with a reason."""

    @property
    def name(self) -> str: ...

    @property
    def capabilities(self) -> frozenset[str]: ...

    @property
    def missing(self) -> Mapping[str, str]: ...

    def probe(self) -> Probe:
        """Whether the solver is here. Cheap: nothing heavy is imported, at most a program is asked its version."""
        ...

    def open(
        self,
        script: str,
        *,
        seed: int = 0,
        interrupted: Callable[[], bool] | None = None,
        unsat_assumptions: bool = False,
    ) -> Session:
        """A session that starts with the script: SMT-LIB text with a logic, declarations and assertions.

        `seed`: the solver's own default when 0. `interrupted` is asked at least every 50 ms while a solver
        works; once it says True, checks end with `unknown`, "interrupted". `unsat_assumptions` keeps what
        that question needs; it can slow a solver down by more than half.
        Raises BackendError when the solver is not here or lacks what is asked, FormulaError as `add` does.
        """
        ...
